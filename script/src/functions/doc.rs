//! JSDoc comments: a description and tags.

use swc_core::common::comments::{CommentKind, SingleThreadedComments};
use swc_core::common::{BytePos, SourceFile};

/// A JSDoc comment.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Doc {
    /// The text before the first tag.
    pub text: String,
    /// The tags in their order: the name without `@`, and its text.
    pub tags: Vec<(String, String)>,
}

impl Doc {
    /// The JSDoc comment directly before a place.
    pub fn before(comments: &DocComments<'_>, at: BytePos) -> Self {
        let text = comments.before(at);
        text.map(Self::parse).unwrap_or_default()
    }

    /// The text of the first tag with one of these names.
    pub fn tag(&self, names: &[&str]) -> Option<&str> {
        let mut tags = self.tags.iter();
        let found = tags.find(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, text)| text.as_str())
    }

    /// The description of a parameter: `@param name text`, or of one of its properties,
    /// `@param options.name text`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let params = self
            .tags
            .iter()
            .filter(|(tag, _)| matches!(tag.as_str(), "param" | "arg" | "argument"));
        params
            .filter_map(|(_, text)| split_parameter(text))
            .find_map(|(path, text)| {
                let last = path.rsplit('.').next().unwrap_or(path);
                (last == name && !text.is_empty()).then_some(text)
            })
    }

    fn parse(comment: &str) -> Self {
        let mut doc = Self::default();
        for line in comment.lines() {
            let line = line.trim();
            let line = line.strip_prefix('*').unwrap_or(line).trim();
            let tag = line
                .strip_prefix('@')
                .filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
            match tag {
                Some(tag) => {
                    let end = tag.find(char::is_whitespace).unwrap_or(tag.len());
                    let text = tag[end..].trim().to_owned();
                    doc.tags.push((tag[..end].to_owned(), text));
                }
                None => {
                    let text = match doc.tags.last_mut() {
                        Some((_, text)) => text,
                        None => &mut doc.text,
                    };
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(line);
                }
            }
        }
        doc.text.truncate(doc.text.trim_end().len());
        for (_, text) in &mut doc.tags {
            text.truncate(text.trim_end().len());
        }
        doc
    }
}

/// The comments of a file, by their places. The parser calls a comment behind a token of the same line a
/// part of that token, so a comment is found by what is between it and a place: nothing but white space and
/// other comments.
pub struct DocComments<'a> {
    /// In the order of their places.
    comments: Vec<FoundComment>,
    file: &'a SourceFile,
}

struct FoundComment {
    from: BytePos,
    to: BytePos,
    /// The text of a JSDoc comment; `None` for others.
    doc: Option<String>,
}

impl<'a> DocComments<'a> {
    pub fn new(comments: &SingleThreadedComments, file: &'a SourceFile) -> Self {
        let (leading, trailing) = comments.borrow_all();
        let all = leading.values().chain(trailing.values()).flatten();
        let mut comments: Vec<FoundComment> = all
            .map(|comment| {
                let is_doc = comment.kind == CommentKind::Block && comment.text.starts_with('*');
                FoundComment {
                    from: comment.span.lo,
                    to: comment.span.hi,
                    doc: is_doc.then(|| comment.text.to_string()),
                }
            })
            .collect();
        comments.sort_by_key(|comment| comment.from);
        comments.dedup_by_key(|comment| comment.from);
        Self { comments, file }
    }

    fn before(&self, mut at: BytePos) -> Option<&str> {
        let end = self.comments.partition_point(|comment| comment.to <= at);
        for comment in self.comments[..end].iter().rev() {
            let between = (comment.to - self.file.start_pos)..(at - self.file.start_pos);
            let between = self
                .file
                .src
                .get(between.start.0 as usize..between.end.0 as usize)?;
            if !between.trim().is_empty() {
                return None;
            }
            if let Some(doc) = &comment.doc {
                return Some(doc);
            }
            at = comment.from;
        }
        None
    }
}

/// The name and the description of `{type} [name=default] - description`.
fn split_parameter(text: &str) -> Option<(&str, &str)> {
    let text = match text.starts_with('{') {
        true => text[text.find('}')? + 1..].trim_start(),
        false => text,
    };
    let (name, rest) = match text.strip_prefix('[') {
        Some(optional) => {
            let (inside, rest) = optional.split_once(']')?;
            (inside.split('=').next().unwrap_or(inside), rest)
        }
        None => {
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            text.split_at(end)
        }
    };
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    Some((name.trim(), rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_has_a_text_and_tags_over_several_lines() {
        let doc = Doc::parse(
            "*\n * Finds notes.\n * All of them.\n *\n * @param text - what\n *   to find\n * @param {number} [limit=3] how many\n * @effect read\n * @returns the notes",
        );
        assert_eq!(doc.text, "Finds notes.\nAll of them.");
        assert_eq!(doc.parameter("text"), Some("what\nto find"));
        assert_eq!(doc.parameter("limit"), Some("how many"));
        assert_eq!(doc.parameter("other"), None);
        assert_eq!(doc.tag(&["effect"]), Some("read"));
        assert_eq!(doc.tag(&["return", "returns"]), Some("the notes"));
    }

    #[test]
    fn an_address_of_mail_is_no_tag_and_an_unclosed_brace_no_name() {
        let doc = Doc::parse("* Ask @ or a@b.example");
        assert_eq!(doc.tags, []);
        let doc = Doc::parse("* @param {string text");
        assert_eq!(doc.parameter("text"), None);
    }
}
