//! Extracts a script from the Markdown code block that a model put it in.

use std::borrow::Cow;

/// The info strings of code blocks with a script.
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

/// Blanks all lines outside the script's code block, so that lines keep their numbers. `None` without
/// a block.
///
/// The script is in the first block whose info string names a language of [`LANGUAGES`], otherwise in
/// the first block. Later blocks in one of these languages, or otherwise with the same, non-empty info
/// string, continue the script; others hold data or output. A block without a closing fence ends with the text.
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
                    let has_info = trimmed.len() > opening.len();
                    is_script = first.is_none_or(|first| match is_script_opening(first) {
                        true => is_script_opening(trimmed),
                        false => first == trimmed && has_info,
                    });
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

/// The opening line of the first block with an info string of [`LANGUAGES`].
fn first_script(source: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    for line in source.lines().map(str::trim) {
        match fence {
            None => {
                fence = opening(line);
                if is_script_opening(line) {
                    return Some(line);
                }
            }
            Some(opening) if line == opening => fence = None,
            Some(_) => {}
        }
    }
    None
}

/// Whether a line opens a block in a language of [`LANGUAGES`].
fn is_script_opening(line: &str) -> bool {
    let info = opening(line).map_or("", |fence| line[fence.len()..].trim());
    let language = info.split([' ', '{', ',']).next().unwrap_or_default();
    LANGUAGES.contains(&language.to_ascii_lowercase().as_str())
}

/// The fence of a line that opens a block.
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

/// The text before the first code block, and the script in the block. `None` without a block, or
/// where the fence may be part of a comment or a template literal.
pub fn split_prose(source: &str) -> Option<(&str, String)> {
    let fence = fence_after_prose(source, "```").or_else(|| fence_after_prose(source, "~~~"))?;
    let prose = &source[..fence];
    // An odd backtick opens a template literal, and the fence may be part of it.
    let in_template = prose.matches('`').count() % 2 == 1 || prose.contains("\\`");
    if prose.trim().is_empty() || prose.contains("/*") || in_template {
        return None;
    }
    Some((prose, inside_fence(source)?))
}

/// Where the line before the first fence ends. A fence in a list is indented.
fn fence_after_prose(source: &str, fence: &str) -> Option<usize> {
    let mut ends = source.match_indices('\n').map(|(end, _)| end);
    ends.find(|end| {
        source[end + 1..]
            .trim_start_matches([' ', '\t'])
            .starts_with(fence)
    })
}
