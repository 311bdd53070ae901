//! Takes a script out of the Markdown code block a model put it in.

use std::borrow::Cow;

/// What a block says that holds a script.
const LANGUAGES: [&str; 8] = [
    "ts",
    "typescript",
    "js",
    "javascript",
    "tsx",
    "jsx",
    "mts",
    "mjs",
];

/// Blanks everything but the lines inside the first fenced block that says it holds a script, or
/// the first of all, so that lines keep their numbers. Blocks that begin like it and say what they
/// hold go on with it; others show data, or what a script prints. `None` if there is no block. One
/// that was never closed still holds a script.
fn inside_fence(source: &str) -> Option<String> {
    let mut inside = String::with_capacity(source.len());
    let mut first: Option<&str> = first_script(source);
    let mut fence: Option<&str> = None;
    let mut is_script = false;
    for line in source.lines() {
        let trimmed = line.trim();
        match fence {
            None => {
                if let Some(opening) = opening(trimmed) {
                    fence = Some(opening);
                    let says_what = trimmed.len() > opening.len();
                    is_script = first.is_none_or(|first| first == trimmed && says_what);
                    first = first.or(Some(trimmed));
                }
            }
            Some(opening) if trimmed == opening => fence = None,
            Some(_) if is_script => inside.push_str(line),
            Some(_) => {}
        }
        inside.push('\n');
    }
    first.map(|_| inside)
}

/// The line that opens the first block that says it holds a script.
fn first_script(source: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    for line in source.lines().map(str::trim) {
        match fence {
            None => {
                fence = opening(line);
                let said = fence.map_or("", |fence| line[fence.len()..].trim());
                let word = said.split([' ', '{', ',']).next().unwrap_or_default();
                if LANGUAGES.contains(&word.to_ascii_lowercase().as_str()) {
                    return Some(line);
                }
            }
            Some(opening) if line == opening => fence = None,
            Some(_) => {}
        }
    }
    None
}

/// The fence that a line opens a block with.
fn opening(line: &str) -> Option<&str> {
    let mark = if line.starts_with('~') { '~' } else { '`' };
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3 && !line[length..].contains(mark)).then(|| &line[..length])
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
    // An odd one opens a template, and the fence may be part of it.
    let in_template = prose.matches('`').count() % 2 == 1 || prose.contains("\\`");
    if prose.trim().is_empty() || prose.contains("/*") || in_template {
        return None;
    }
    Some((prose, inside_fence(source)?))
}
