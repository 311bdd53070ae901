//! Splits text into words, numbers, signs and placeholders.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, also with digits among them; apostrophes as in `O'Brien`.
    Word,
    /// Digits alone.
    Number,
    /// One character that is neither.
    Sign,
    /// `[EMAIL_1_k3f9]`: what replaced a value.
    Placeholder,
}

/// A piece of a text, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub start: usize,
    pub end: usize,
    pub kind: TokenKind,
    /// Whether white space precedes it.
    pub spaced: bool,
    /// Whether it is the first of its line.
    pub starts_line: bool,
}

/// A placeholder is shorter.
const MAX_PLACEHOLDER: usize = 64;

/// The tokens of a text.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 5);
    let (mut at, mut spaced, mut starts_line) = (0, false, true);
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            spaced = true;
            starts_line |= first == '\n';
            at += first.len_utf8();
            continue;
        }
        let (end, kind) = token_at(text, at, first);
        tokens.push(Token {
            start: at,
            end,
            kind,
            spaced,
            starts_line,
        });
        (at, spaced, starts_line) = (end, false, false);
    }
    tokens
}

fn token_at(text: &str, at: usize, first: char) -> (usize, TokenKind) {
    if first == '['
        && let Some(end) = placeholder_end(text, at)
    {
        return (end, TokenKind::Placeholder);
    }
    if !first.is_alphanumeric() {
        return (at + first.len_utf8(), TokenKind::Sign);
    }
    let mut end = at;
    let mut digits_only = true;
    for c in text[at..].chars() {
        if c.is_alphanumeric() || is_mark(c) {
            digits_only &= c.is_ascii_digit();
        } else if !(is_apostrophe(c) && joins(&text[end + c.len_utf8()..])) {
            break;
        }
        end += c.len_utf8();
    }
    match digits_only {
        true => (end, TokenKind::Number),
        false => (end, TokenKind::Word),
    }
}

/// Accents that are characters of their own.
fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

pub fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// Whether an apostrophe belongs to a word with this after it: in `O'Brien`, not in `Maria's` or `we'll`.
fn joins(after: &str) -> bool {
    after.chars().take_while(|c| c.is_alphabetic()).count() >= 3
}

fn placeholder_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at + 1..)?;
    if !rest.first()?.is_ascii_uppercase() {
        return None;
    }
    let inner = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'#');
    let length = rest
        .iter()
        .take(MAX_PLACEHOLDER)
        .take_while(|b| inner(b))
        .count();
    (length >= 3 && rest.get(length) == Some(&b']')).then_some(at + length + 2)
}
