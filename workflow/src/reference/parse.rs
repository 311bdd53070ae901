//! Finds references in the strings of a plan.

use std::collections::HashMap;

use super::{Reference, Root, Segment};
use crate::error::{shown, suggestion};

/// The ids that a reference can name, with their places in the graph.
#[derive(Debug, Default)]
pub struct Names {
    nodes: HashMap<String, usize>,
}

impl Names {
    /// Adds a name. `false` if it is taken.
    pub fn add(&mut self, name: &str, node: usize) -> bool {
        if self.nodes.contains_key(name) {
            return false;
        }
        self.nodes.insert(name.to_owned(), node);
        true
    }

    /// The place of a name.
    pub fn get(&self, name: &str) -> Option<usize> {
        self.nodes.get(name).copied()
    }

    /// The sentence about a name that does not exist.
    pub fn unknown(&self, name: &str) -> String {
        let near = suggestion(name, self.nodes.keys().map(String::as_str));
        format!("there is no task {}{near}", shown(name))
    }
}

/// A piece of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// A reference.
    Reference(Reference),
}

/// Splits a string into text and references.
///
/// # Errors
///
/// A sentence about a reference to nothing, or one that is malformed.
pub fn scan(text: &str, names: &Names) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("$$")
            && is_reference_like(after)
        {
            plain.push('$');
            // The word behind the escape is text.
            let word = after.len()
                - after
                    .trim_start_matches(|c: char| c.is_alphanumeric())
                    .len();
            plain.push_str(&after[..word]);
            rest = &after[word..];
            continue;
        }
        let is_whole = plain.is_empty() && pieces.is_empty();
        match reference_at(rest, names, is_whole)? {
            Some((reference, length)) => {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Reference(reference));
                rest = &rest[length..];
            }
            None => {
                plain.push('$');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

fn is_reference_like(after: &str) -> bool {
    let words = ["OUTPUT", "INPUT", "ITEM", "INDEX", "ERROR", "{"];
    words.iter().any(|word| after.starts_with(word))
        || after.starts_with(|c: char| c.is_ascii_digit())
}

/// The reference that the text begins with, and its length; `None` if it is a dollar sign.
fn reference_at(
    text: &str,
    names: &Names,
    is_whole: bool,
) -> Result<Option<(Reference, usize)>, String> {
    if let Some(inner) = text.strip_prefix("${") {
        let inner = inner.strip_prefix('$').unwrap_or(inner);
        let Some(found) = Cursor::new(inner, names, Question::Everywhere).reference()? else {
            return Ok(None);
        };
        let (mut reference, length) = found;
        if !inner[length..].starts_with('}') {
            return Err(format!(
                "the reference {} has no `}}` behind its path",
                shown(text)
            ));
        }
        let length = text.len() - inner.len() + length + 1;
        reference.text = text[..length].to_owned();
        return Ok(Some((reference, length)));
    }
    // A question mark behind a reference in a sentence belongs to the sentence.
    let question = if is_whole {
        Question::AtEnd
    } else {
        Question::Inside
    };
    let found = Cursor::new(&text[1..], names, question).reference()?;
    Ok(found.map(|(mut reference, length)| {
        reference.text = text[..=length].to_owned();
        (reference, length + 1)
    }))
}

/// Where a `?` marks the path as optional.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Everywhere,
    /// Inside of a path, or as the last character of the string.
    AtEnd,
    /// Inside of a path.
    Inside,
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    names: &'a Names,
    question: Question,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str, names: &'a Names, question: Question) -> Self {
        Self {
            text,
            at: 0,
            names,
            question,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn reference(mut self) -> Result<Option<(Reference, usize)>, String> {
        let word = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        let root = match word {
            "INPUT" => Root::Input,
            "ITEM" => Root::Item,
            "INDEX" => Root::Index,
            "OUTPUT" | "ERROR" => match self.node(word)? {
                Some(node) if word == "OUTPUT" => Root::Output(node),
                Some(node) => Root::Error(node),
                None => return Ok(None),
            },
            // The numbers of LLMCompiler.
            _ if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) => {
                match self.names.get(word) {
                    Some(node) => Root::Output(node),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let (path, optional) = self.path()?;
        let reference = Reference {
            root,
            path,
            optional,
            text: String::new(),
        };
        Ok(Some((reference, self.at)))
    }

    /// The task behind `$OUTPUT`: `[id]`, `["id"]` or `.id`.
    fn node(&mut self, root: &str) -> Result<Option<usize>, String> {
        let rest = self.rest();
        let name = if rest.starts_with('[') {
            let Some(end) = rest.find(']') else {
                return Err(format!("`${root}[` has no `]`"));
            };
            self.at += end + 1;
            unquoted(rest[1..end].trim())
        } else if let Some(after) = rest.strip_prefix('.') {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let long = after.len() - after.trim_start_matches(|c| is_word(c) || c == '-').len();
            let short = after.len() - after.trim_start_matches(is_word).len();
            let length = match self.names.get(&after[..long]) {
                Some(_) => long,
                None => short,
            };
            if length == 0 {
                return Ok(None);
            }
            self.at += length + 1;
            &after[..length]
        } else {
            return Ok(None);
        };
        match self.names.get(name) {
            Some(node) => Ok(Some(node)),
            None => Err(self.names.unknown(name)),
        }
    }

    fn path(&mut self) -> Result<(Vec<Segment>, usize), String> {
        let (mut path, mut optional) = (Vec::new(), 0);
        loop {
            let rest = self.rest();
            let mut chars = rest.chars();
            match (chars.next(), chars.next()) {
                (Some('.'), Some(c)) if c.is_alphanumeric() || c == '_' => {
                    self.at += 1;
                    let key = self.word(|c| c.is_alphanumeric() || c == '_');
                    path.push(Segment::Key(key.to_owned()));
                }
                (Some('['), _) => path.push(self.bracket()?),
                (Some('?'), next) => {
                    let goes_on = matches!(next, Some('.' | '['));
                    let is_mark = match self.question {
                        Question::Everywhere => true,
                        Question::AtEnd => goes_on || next.is_none(),
                        Question::Inside => goes_on,
                    };
                    if !is_mark {
                        break;
                    }
                    self.at += 1;
                    // `?.[0]` as JavaScript has it.
                    if self.rest().starts_with(".[") {
                        self.at += 1;
                    }
                    optional = path.len();
                }
                _ => break,
            }
        }
        Ok((path, optional))
    }

    fn bracket(&mut self) -> Result<Segment, String> {
        let rest = self.rest();
        let inner = &rest[1..];
        let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''));
        let end = match quote {
            Some(quote) => {
                let close = format!("{quote}]");
                inner[1..].find(&close).map(|end| end + 2)
            }
            None => inner.find(']'),
        };
        let Some(end) = end else {
            return Err(format!("the path {} has no `]`", shown(rest)));
        };
        self.at += end + 2;
        let inner = &inner[..end];
        Ok(match (quote, inner.trim().parse()) {
            (None, Ok(index)) => Segment::Index(index),
            (None, Err(_)) => Segment::Key(inner.trim().to_owned()),
            (Some(_), _) => Segment::Key(unquoted(inner).to_owned()),
        })
    }
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote);
        if let Some(inner) = inner.and_then(|inner| inner.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        for (node, name) in ["t", "1", "read-all", "x y"].into_iter().enumerate() {
            assert!(names.add(name, node));
        }
        names
    }

    fn one(text: &str) -> Reference {
        match scan(text, &names()).unwrap().as_slice() {
            [Piece::Reference(reference)] => reference.clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn key(key: &str) -> Segment {
        Segment::Key(key.to_owned())
    }

    #[test]
    fn every_form_of_a_reference_is_read() {
        for (text, root, path) in [
            ("$OUTPUT[t]", Root::Output(0), vec![]),
            ("$OUTPUT.t", Root::Output(0), vec![]),
            ("$OUTPUT[\"x y\"]", Root::Output(3), vec![]),
            ("$OUTPUT.read-all.a", Root::Output(2), vec![key("a")]),
            ("$1", Root::Output(1), vec![]),
            ("${1}", Root::Output(1), vec![]),
            ("${OUTPUT[t].a}", Root::Output(0), vec![key("a")]),
            ("$ERROR[t].message", Root::Error(0), vec![key("message")]),
            ("$INPUT", Root::Input, vec![]),
            ("$INPUT.a", Root::Input, vec![key("a")]),
            ("$ITEM.a", Root::Item, vec![key("a")]),
            ("$INDEX", Root::Index, vec![]),
            (
                "$OUTPUT[t].a.b[0][\"x y\"]",
                Root::Output(0),
                vec![key("a"), key("b"), Segment::Index(0), key("x y")],
            ),
            (
                "$OUTPUT[t][0].labels",
                Root::Output(0),
                vec![Segment::Index(0), key("labels")],
            ),
            ("$OUTPUT[t][name]", Root::Output(0), vec![key("name")]),
            (
                "$OUTPUT[t].__proto__",
                Root::Output(0),
                vec![key("__proto__")],
            ),
        ] {
            let reference = one(text);
            assert_eq!((reference.root, reference.path), (root, path), "{text}");
        }
    }

    #[test]
    fn a_question_mark_makes_everything_before_it_optional() {
        assert_eq!(one("$OUTPUT[t].a.b?").optional, 2);
        assert_eq!(one("$OUTPUT[t].a?.b").optional, 1);
        assert_eq!(one("$OUTPUT[t]?.[0]").optional, 0);
        assert_eq!(one("${OUTPUT[t].a?}").optional, 1);
        assert_eq!(one("$OUTPUT[t].a").optional, 0);
    }

    #[test]
    fn a_sentence_keeps_its_punctuation() {
        let pieces = scan("Is it $OUTPUT[t].a? Or $OUTPUT[t].", &names()).unwrap();
        let texts: Vec<&str> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Reference(reference) => reference.text.as_str(),
            })
            .collect();
        let expected = ["Is it ", "$OUTPUT[t].a", "? Or ", "$OUTPUT[t]", "."];
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_escape_and_other_dollars_are_text() {
        for (text, expected) in [
            ("$$OUTPUT[t]", "$OUTPUT[t]"),
            ("$$INPUT.x", "$INPUT.x"),
            ("$$1", "$1"),
            ("costs $5 or $$", "costs $5 or $$"),
            ("${HOME} $HOME $", "${HOME} $HOME $"),
            ("$OUTPUT", "$OUTPUT"),
        ] {
            let pieces = scan(text, &names()).unwrap();
            assert_eq!(pieces, [Piece::Text(expected.to_owned())], "{text}");
        }
    }

    #[test]
    fn a_reference_to_nothing_names_the_nearest_task() {
        let error = scan("$OUTPUT[read-al]", &names()).unwrap_err();
        assert_eq!(
            error,
            "there is no task `read-al`; did you mean `read-all`?"
        );
        assert!(scan("$OUTPUT[t", &names()).is_err());
        assert!(scan("$OUTPUT[t].a[", &names()).is_err());
        assert!(scan("${OUTPUT[t].a", &names()).is_err());
    }
}
