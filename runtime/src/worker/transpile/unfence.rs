//! Takes a script out of the Markdown code block a model put it in.

use std::borrow::Cow;

/// Blanks everything but the lines inside the first fenced block, so that lines keep their
/// numbers. `None` if there is no such block.
fn inside_fence(source: &str) -> Option<String> {
    let mut inside = String::with_capacity(source.len());
    let mut fence: Option<&str> = None;
    for line in source.lines() {
        let trimmed = line.trim();
        match fence {
            None => {
                let mark = if trimmed.starts_with('~') { '~' } else { '`' };
                let length = trimmed.len() - trimmed.trim_start_matches(mark).len();
                if length >= 3 && !trimmed[length..].contains(mark) {
                    fence = Some(&trimmed[..length]);
                }
            }
            Some(opening) if trimmed == opening => return Some(inside),
            Some(_) => inside.push_str(line),
        }
        inside.push('\n');
    }
    // A block that was never closed still holds a script.
    fence.map(|_| inside)
}

/// The script of a text that begins with a fence; any other text unchanged.
pub fn unfence(source: &str) -> Cow<'_, str> {
    let start = source.trim_start();
    if !start.starts_with("```") && !start.starts_with("~~~") {
        return Cow::Borrowed(source);
    }
    inside_fence(source).map_or(Cow::Borrowed(source), Cow::Owned)
}

/// The words before the first code block, and the script in it. `None` without a block, or where
/// the fence may be part of a comment or a template.
pub fn split_prose(source: &str) -> Option<(&str, String)> {
    let fence = source.find("\n```").or_else(|| source.find("\n~~~"))?;
    let prose = &source[..fence];
    if prose.contains("/*") || prose.contains('`') {
        return None;
    }
    Some((prose, inside_fence(source)?))
}
