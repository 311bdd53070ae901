//! References in code.
//!
//! Code gets values, never text: the outputs are globals, and the only change to the source is that
//! `$OUTPUT[id]` becomes `$OUTPUT["id"]`, where `id` is the id of a task. Strings, comments and regular
//! expressions are left as they are. The scanner does not recurse, so hostile code cannot exhaust the
//! stack of the process that reads plans.

use crate::reference::{Names, Reference, Root};

/// Code that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedCode {
    /// The source with quoted ids.
    pub source: String,
    /// What it refers to.
    pub references: Vec<Reference>,
}

/// Finds the references of code and quotes their ids.
///
/// # Errors
///
/// A sentence about a reference to a task that does not exist.
pub fn prepare(source: &str, names: &Names) -> Result<PreparedCode, String> {
    let mut scanner = Scanner::new(source);
    let mut prepared = PreparedCode {
        source: String::with_capacity(source.len() + 16),
        references: Vec::new(),
    };
    while let Some((word, at)) = scanner.next_word() {
        let end = at + word.len();
        let Some(word) = word.strip_prefix('$') else {
            continue;
        };
        let root: fn(usize) -> Root = match word {
            "OUTPUT" => Root::Output,
            "ERROR" => Root::Error,
            "ITEM" | "INDEX" => {
                let root = if word == "ITEM" {
                    Root::Item
                } else {
                    Root::Index
                };
                prepared.references.push(reference(root, word));
                continue;
            }
            _ => {
                // `$1`, where a task has that number.
                if let Some(node) = names.get(word).filter(|_| is_number(word)) {
                    prepared
                        .references
                        .push(reference(Root::Output(node), word));
                }
                continue;
            }
        };
        if let Some((name, skip)) = bare_id(&source[end..], names) {
            let node = names.get(name).ok_or_else(|| names.unknown(name))?;
            prepared.references.push(reference(root(node), name));
            prepared.source.push_str(&source[scanner.copied..end]);
            // An id has neither quotes nor backslashes.
            prepared.source.push_str("[\"");
            prepared.source.push_str(name);
            prepared.source.push_str("\"]");
            scanner.copied = end + skip;
            scanner.at = end + skip;
            scanner.last_is_value = true;
        } else if let Some(name) = quoted_or_field(&source[end..]) {
            let node = names.get(name).ok_or_else(|| names.unknown(name))?;
            prepared.references.push(reference(root(node), name));
        }
    }
    prepared.source.push_str(&source[scanner.copied..]);
    Ok(prepared)
}

/// How far the end of an id or of a regular expression is looked for. Without a bound, a megabyte of
/// beginnings without an end would be scanned a megabyte times.
const MAX_LOOKAHEAD: usize = 1_000;

fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LOOKAHEAD)]
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn reference(root: Root, text: &str) -> Reference {
    Reference {
        root,
        path: Vec::new(),
        optional: 0,
        text: text.to_owned(),
    }
}

/// `[id]` where the text is a known id or looks like one, and its length.
fn bare_id<'a>(rest: &'a str, names: &Names) -> Option<(&'a str, usize)> {
    let inner = near(rest.strip_prefix('[')?);
    let end = inner.find(']')?;
    let name = inner[..end].trim();
    let is_word = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    (names.get(name).is_some() || is_word).then_some((name, end + 2))
}

/// The id in `["id"]` or `.id`; `None` for what is computed.
fn quoted_or_field(rest: &str) -> Option<&str> {
    let rest = near(rest);
    if let Some(inner) = rest.strip_prefix('[') {
        let inner = inner.trim_start();
        let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let inner = &inner[1..];
        let end = inner.find(quote)?;
        return inner[end + 1..]
            .trim_start()
            .starts_with(']')
            .then_some(&inner[..end]);
    }
    let inner = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'))?;
    let end = inner
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(inner.len());
    (end > 0).then_some(&inner[..end])
}

/// Finds identifiers of JavaScript outside of strings, comments and regular expressions.
struct Scanner<'a> {
    source: &'a str,
    at: usize,
    /// Up to where the source was copied.
    copied: usize,
    /// Open braces inside each `${` of a template.
    templates: Vec<usize>,
    /// Whether a `/` here divides.
    last_is_value: bool,
}

impl<'a> Scanner<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            at: 0,
            copied: 0,
            templates: Vec::new(),
            last_is_value: false,
        }
    }

    fn next_word(&mut self) -> Option<(&'a str, usize)> {
        loop {
            let rest = &self.source[self.at..];
            let c = rest.chars().next()?;
            match c {
                '"' | '\'' => self.string(c),
                '`' => {
                    self.at += 1;
                    self.template();
                }
                '/' if rest.starts_with("//") => self.at += rest.find('\n').unwrap_or(rest.len()),
                '/' if rest.starts_with("/*") => {
                    self.at += rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                }
                '/' if !self.last_is_value => self.regex(),
                '{' => {
                    if let Some(depth) = self.templates.last_mut() {
                        *depth += 1;
                    }
                    self.at += 1;
                    self.last_is_value = false;
                }
                '}' => {
                    self.at += 1;
                    match self.templates.last_mut() {
                        Some(0) => {
                            self.templates.pop();
                            self.template();
                        }
                        Some(depth) => *depth -= 1,
                        None => {}
                    }
                    // A block is more common before a regular expression than an object before a division.
                    self.last_is_value = false;
                }
                c if is_word(c) => {
                    let start = self.at;
                    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                    self.at += length;
                    let word = &rest[..length];
                    self.last_is_value = !KEYWORDS.contains(&word);
                    let is_field = self.source[..start].ends_with('.')
                        && !self.source[..start].ends_with("..");
                    if !is_field {
                        return Some((word, start));
                    }
                }
                c => {
                    self.at += c.len_utf8();
                    if !c.is_whitespace() {
                        self.last_is_value = matches!(c, ')' | ']');
                    }
                }
            }
        }
    }

    fn string(&mut self, quote: char) {
        self.at += 1;
        self.skip_until(|c| c == quote || c == '\n');
        self.last_is_value = true;
    }

    /// To the character behind the one that ends it. A backslash escapes.
    fn skip_until(&mut self, is_end: impl Fn(char) -> bool) {
        let mut escaped = false;
        for (offset, c) in self.source[self.at..].char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if is_end(c) {
                self.at += offset + c.len_utf8();
                return;
            }
        }
        self.at = self.source.len();
    }

    /// The text of a template, up to its end or to the next `${`.
    fn template(&mut self) {
        let mut escaped = false;
        let mut dollar = false;
        for (offset, c) in self.source[self.at..].char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == '`' {
                self.at += offset + 1;
                self.last_is_value = true;
                return;
            } else if c == '{' && dollar {
                self.at += offset + 1;
                self.templates.push(0);
                self.last_is_value = false;
                return;
            }
            dollar = c == '$';
        }
        self.at = self.source.len();
    }

    fn regex(&mut self) {
        let (mut escaped, mut in_class) = (false, false);
        let start = self.at + 1;
        for (offset, c) in self.source[start..].char_indices().take(MAX_LOOKAHEAD) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '\n' => break,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    self.at = start + offset + 1;
                    self.last_is_value = true;
                    return;
                }
                _ => {}
            }
        }
        // A division after all.
        self.at = start;
        self.last_is_value = false;
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Words behind which a `/` begins a regular expression.
const KEYWORDS: [&str; 12] = [
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(source: &str) -> Result<PreparedCode, String> {
        let mut names = Names::default();
        for (node, name) in ["list", "read-all", "1", "t2"].into_iter().enumerate() {
            names.add(name, node);
        }
        prepare(source, &names)
    }

    fn nodes(source: &str) -> Vec<usize> {
        let references = prepared(source).unwrap().references;
        references.iter().filter_map(Reference::node).collect()
    }

    #[test]
    fn ids_are_quoted_and_nothing_else_changes() {
        for (source, expected) in [
            (
                "return $OUTPUT[list].map(x => x)",
                "return $OUTPUT[\"list\"].map(x => x)",
            ),
            (
                "const list = $OUTPUT[list]",
                "const list = $OUTPUT[\"list\"]",
            ),
            ("$OUTPUT[read-all] / 2", "$OUTPUT[\"read-all\"] / 2"),
            (
                "`a ${$OUTPUT[list].n} $OUTPUT[list]`",
                "`a ${$OUTPUT[\"list\"].n} $OUTPUT[list]`",
            ),
            (
                "`${`${$OUTPUT[list]}`}` + $OUTPUT[t2]",
                "`${`${$OUTPUT[\"list\"]}`}` + $OUTPUT[\"t2\"]",
            ),
            (
                "'$OUTPUT[list]' // $OUTPUT[list]",
                "'$OUTPUT[list]' // $OUTPUT[list]",
            ),
            ("/* $OUTPUT[x] */ 1", "/* $OUTPUT[x] */ 1"),
            (
                "x.match(/\"[/]$OUTPUT[x]/) + $OUTPUT[t2]",
                "x.match(/\"[/]$OUTPUT[x]/) + $OUTPUT[\"t2\"]",
            ),
            ("$ERROR[list]?.message", "$ERROR[\"list\"]?.message"),
            ("a / b / $OUTPUT[list]", "a / b / $OUTPUT[\"list\"]"),
            ("$OUTPUT[ids[0]]", "$OUTPUT[ids[0]]"),
        ] {
            assert_eq!(prepared(source).unwrap().source, expected, "{source}");
        }
    }

    #[test]
    fn references_of_code_are_dependencies() {
        assert_eq!(
            nodes("$OUTPUT[list] + $OUTPUT.t2 + $OUTPUT[\"read-all\"]"),
            [0, 3, 1]
        );
        assert_eq!(nodes("return $1 + $2 + $ERROR.list"), [2, 0]);
        assert_eq!(nodes("'$OUTPUT[list]'"), Vec::<usize>::new());
        assert_eq!(nodes("foo.$OUTPUT"), Vec::<usize>::new());
        let error = prepared("$OUTPUT[lst]").unwrap_err();
        assert!(error.contains("did you mean `list`?"), "{error}");
    }

    #[test]
    fn hostile_code_is_scanned_in_one_pass() {
        for source in [
            "`${".repeat(100_000),
            "/[".repeat(100_000),
            "\"\\".repeat(100_000),
            "$OUTPUT[ ".repeat(100_000),
        ] {
            assert!(prepared(&source).is_ok());
        }
        assert!(prepared("\u{1F600}$OUTPUT[list]é").is_ok());
    }
}
