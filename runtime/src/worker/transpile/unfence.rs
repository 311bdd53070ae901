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
                let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
                if ticks >= 3 && !trimmed[ticks..].contains('`') {
                    fence = Some(&trimmed[..ticks]);
                }
            }
            Some(ticks) if trimmed == ticks => return Some(inside),
            Some(_) => inside.push_str(line),
        }
        inside.push('\n');
    }
    // A block that was never closed still holds a script.
    fence.map(|_| inside)
}

/// The script of a text that begins with a fence; any other text unchanged.
pub fn unfence(source: &str) -> Cow<'_, str> {
    if !source.trim_start().starts_with("```") {
        return Cow::Borrowed(source);
    }
    inside_fence(source).map_or(Cow::Borrowed(source), Cow::Owned)
}

/// The script of a text with prose around its code block, for a text that is no script itself.
pub fn unfence_prose(source: &str) -> Option<String> {
    source.contains("\n```").then(|| inside_fence(source))?
}
