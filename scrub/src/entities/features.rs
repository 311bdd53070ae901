//! What the tagger sees of a token: the words around it, their clusters, their shapes, and the lists of
//! names that they are in.

use super::tokens::{Token, TokenKind};
use super::word_table::{self, COMMON, GIVEN_NAME, ORGANISATION, PLACE, TITLE, WordTable};

/// Features of one token.
pub const FEATURES: usize = 40;
/// The weights are in a table of 2 to this power rows.
pub const ROW_BITS: u32 = 18;

/// A token as the features use it.
#[derive(Clone, Copy, Default)]
pub struct Attributes {
    /// The hash of the word in lower case.
    word: u32,
    cased_cluster: u32,
    cluster: u32,
    flags: u32,
    shape: u32,
    prefix: u32,
    suffix: u32,
    short_suffix: u32,
    /// 0 within a sentence, 1 at the start of a line, 2 after the end of a sentence, 3 after another sign.
    /// Plus 4 at the end of a line.
    position: u32,
    /// Whether it may begin or end a name.
    pub candidate: bool,
}

impl Attributes {
    /// Forgets what is known of the word: the trainer hides names, so that the model learns from their context.
    #[allow(dead_code, reason = "the trainer in scrub/train uses it")]
    pub fn hide(&mut self) {
        (self.word, self.cased_cluster, self.cluster, self.flags) = (1, 0, 0, 0);
    }

    /// The word, if it is written like a name and is neither a common word nor a place.
    pub fn distinctive(&self) -> Option<u32> {
        let plain = self.flags & u32::from(COMMON | PLACE | ORGANISATION | TITLE) == 0;
        let written = matches!(self.shape, shape::TITLE | shape::MIXED);
        (plain && written && self.candidate).then_some(self.word)
    }
}

/// Shapes of tokens.
mod shape {
    // 0 is the shape of what is outside of the text.
    pub const LOWER: u32 = 1;
    pub const TITLE: u32 = 2;
    pub const UPPER: u32 = 3;
    pub const INITIAL: u32 = 4;
    pub const MIXED: u32 = 5;
    pub const WITH_DIGITS: u32 = 6;
    pub const NUMBER: u32 = 7;
    pub const PLACEHOLDER: u32 = 8;
    pub const OTHER_SCRIPT: u32 = 9;
    /// Signs have the value of their character above this.
    pub const SIGN: u32 = 16;
}

/// The attributes of all tokens.
pub fn attributes(text: &str, tokens: &[Token], table: &WordTable) -> Vec<Attributes> {
    let mut all: Vec<Attributes> = Vec::with_capacity(tokens.len());
    let mut lower = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let position = match (token.starts_line, all.last().map(|a| a.shape)) {
            (true, _) | (_, None) => 1,
            (_, Some(before)) if before < shape::SIGN => 0,
            (_, Some(before)) => match char::from_u32(before - shape::SIGN) {
                Some('.' | '!' | '?') => 2,
                Some(',' | '-' | '\'' | '&') => 0,
                _ => 3,
            },
        };
        let written = &text[token.start..token.end];
        let mut of = match token.kind {
            TokenKind::Word => of_word(written, &mut lower, table),
            TokenKind::Number => plain(shape::NUMBER, written.len().min(6) as u32),
            TokenKind::Placeholder => plain(shape::PLACEHOLDER, 0),
            TokenKind::Sign => {
                let sign = written.chars().next().map_or(0, u32::from);
                plain(shape::SIGN + sign, sign)
            }
        };
        let ends_line = tokens.get(at + 1).is_none_or(|next| next.starts_line);
        of.position = position + u32::from(ends_line) * 4;
        of.candidate &= !is_part_of_identifier(text, tokens, at);
        all.push(of);
    }
    all
}

/// Whether a word is part of an e-mail address, a host, a path or a name in code.
fn is_part_of_identifier(text: &str, tokens: &[Token], at: usize) -> bool {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
    let token = tokens[at];
    let before = token.start.checked_sub(1).map_or(b' ', byte);
    let after = byte(token.end);
    let joined = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    matches!(before, b'@' | b'_' | b'\\' | b'$')
        || matches!(after, b'@' | b'_' | b'\\')
        || (after == b'.'
            && joined(byte(token.end + 1))
            && byte(token.end + 1).is_ascii_lowercase())
        || (after == b':' && byte(token.end + 1) == b':')
        || (before == b':' && token.start >= 2 && byte(token.start - 2) == b':')
        || (before == b'.'
            && token.start >= 2
            && joined(byte(token.start - 2))
            && !token.spaced
            && at >= 2
            && tokens[at - 2].end - tokens[at - 2].start > 1)
        || (before == b'/' && token.start >= 2 && byte(token.start - 2) == b'/')
        || (after == b'(' && byte(token.end + 1) == b')')
}

fn plain(shape: u32, word: u32) -> Attributes {
    Attributes {
        shape,
        word: word.wrapping_add(shape << 8),
        ..Attributes::default()
    }
}

fn of_word(written: &str, lower: &mut String, table: &WordTable) -> Attributes {
    lower.clear();
    if written.is_ascii() {
        lower.push_str(written);
        lower.make_ascii_lowercase();
    } else {
        lower.extend(written.chars().flat_map(char::to_lowercase));
    }
    let hash = |text: &str| word_table::hash(text.bytes());
    let word = hash(lower);
    let (cluster, flags) = table.get(word);
    let shape = shape_of(written);
    let cased = match shape == shape::LOWER {
        true => cluster,
        false => table.get(hash(written)).0,
    };
    let known_name = flags & GIVEN_NAME != 0 && flags & COMMON == 0;
    let length = lower.chars().count();
    let tail = |count: usize| {
        let skipped = lower.char_indices().nth(length.saturating_sub(count));
        word_table::hash(lower[skipped.map_or(0, |(at, _)| at)..].bytes())
    };
    let prefix_end = lower
        .char_indices()
        .nth(3)
        .map_or(lower.len(), |(at, _)| at);
    Attributes {
        word,
        cased_cluster: u32::from(cased),
        cluster: u32::from(cluster),
        flags: u32::from(flags),
        shape,
        prefix: word_table::hash(lower[..prefix_end].bytes()),
        suffix: tail(3),
        short_suffix: tail(2),
        position: 0,
        candidate: match shape {
            shape::LOWER => known_name && length >= 3,
            shape::WITH_DIGITS => false,
            _ => true,
        },
    }
}

fn shape_of(word: &str) -> u32 {
    let (mut upper, mut lower, mut other, mut digits) = (0, 0, 0, 0);
    for c in word.chars() {
        if c.is_lowercase() {
            lower += 1;
        } else if c.is_uppercase() {
            upper += 1;
        } else if c.is_numeric() {
            digits += 1;
        } else if c.is_alphabetic() {
            other += 1;
        }
    }
    let title = word.chars().next().is_some_and(char::is_uppercase);
    match (upper, lower, other, digits) {
        (_, _, _, 1..) => shape::WITH_DIGITS,
        (_, _, 1.., _) => shape::OTHER_SCRIPT,
        (0, ..) => shape::LOWER,
        (1, 0, ..) => shape::INITIAL,
        (_, 0, ..) => shape::UPPER,
        (1, ..) if title => shape::TITLE,
        _ => shape::MIXED,
    }
}

/// The tokens that may be part of a name: candidates, and up to two other tokens between two of them.
pub fn eligible(attributes: &[Attributes], tokens: &[Token]) -> Vec<bool> {
    let mut eligible: Vec<bool> = attributes.iter().map(|a| a.candidate).collect();
    let mut last = None;
    for at in 0..tokens.len() {
        if tokens[at].starts_line {
            last = None;
        }
        if attributes[at].candidate {
            if let Some(before) = last
                && at - before <= 3
            {
                eligible[before..at].fill(true);
            }
            last = Some(at);
        }
    }
    eligible
}

/// Mixes parts into one hash.
fn mix(template: u32, a: u32, b: u32, c: u32) -> u32 {
    let hash = template
        .wrapping_mul(0x9e37_79b1)
        .wrapping_add(a.wrapping_mul(0x85eb_ca77))
        .rotate_left(13)
        .wrapping_add(b.wrapping_mul(0xc2b2_ae3d))
        .rotate_left(11)
        .wrapping_add(c.wrapping_mul(0x27d4_eb2f));
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    (hash ^ (hash >> 12)).wrapping_mul(0x297a_2d39) >> (32 - ROW_BITS)
}

/// The rows of the weights that score the token at `at`.
pub fn rows(attributes: &[Attributes], at: usize) -> [u32; FEATURES] {
    let get = |at: Option<usize>| {
        at.and_then(|at| attributes.get(at))
            .copied()
            .unwrap_or_default()
    };
    let here = attributes[at];
    let (one, two) = (get(at.checked_sub(1)), get(at.checked_sub(2)));
    let (next, after) = (get(Some(at + 1)), get(Some(at + 2)));
    let names = here.flags;
    let kind = |a: &Attributes| a.shape.min(shape::SIGN + 127);
    let of = |a: &Attributes| a.cased_cluster << 8 | a.cluster;
    let (s, s1, n1) = (kind(&here), kind(&one), kind(&next));
    let place = here.position;
    [
        mix(1, s, place, 0),
        mix(2, here.word, 0, 0),
        mix(3, one.word, s, 0),
        mix(4, next.word, s, 0),
        mix(5, two.word, s, 0),
        mix(6, after.word, s, 0),
        mix(7, one.word, here.word, 0),
        mix(8, here.word, next.word, 0),
        mix(9, of(&here), 0, 0),
        mix(10, of(&one), s, 0),
        mix(11, of(&next), s, 0),
        mix(12, of(&two), s, 0),
        mix(13, of(&after), s, 0),
        mix(14, one.cluster, here.cased_cluster, 0),
        mix(15, here.cased_cluster, next.cluster, 0),
        mix(16, one.cluster, next.cluster, s),
        mix(17, s1, s, place),
        mix(18, s, n1, place),
        mix(19, s1, s, n1),
        mix(20, here.suffix, s, 0),
        mix(21, here.short_suffix, s, 0),
        mix(22, here.prefix, s, 0),
        mix(23, names, s, place),
        mix(24, one.flags, names, s),
        mix(25, names, next.flags, s),
        mix(26, names, one.word, 0),
        mix(27, names, next.word, 0),
        mix(28, names, one.cluster, s),
        mix(29, names, next.cluster, s),
        mix(30, two.word, one.word, s),
        mix(31, next.word, after.word, s),
        mix(32, here.cased_cluster, names, s),
        mix(
            33,
            one.cased_cluster,
            here.cased_cluster,
            next.cased_cluster,
        ),
        mix(34, two.cluster, one.cluster, s),
        mix(35, next.cluster, after.cluster, s),
        mix(36, kind(&two), s1, s),
        mix(37, s, n1, kind(&after)),
        mix(38, one.flags, names, next.flags),
        mix(39, here.suffix, here.prefix, 0),
        mix(40, here.cluster, place, s),
    ]
}
