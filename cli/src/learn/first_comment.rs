//! What a script is about: the comment at its top.

/// The comment at the top of a script, without its marks; `None` if there is none.
pub fn first_comment(source: &str) -> Option<String> {
    let lines = source
        .lines()
        .map(str::trim)
        .skip_while(|line| line.starts_with("#!"));
    let is_comment = |line: &&str| {
        ["//", "/*", "*"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let words = lines
        .take_while(is_comment)
        .map(|line| line.trim_matches(|c: char| matches!(c, '/' | '*') || c.is_whitespace()));
    let text = words.collect::<Vec<_>>().join(" ");
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::first_comment;

    #[test]
    fn the_comment_at_the_top_says_what_a_script_is_about() {
        let about = |source: &str| first_comment(source).unwrap_or_default();
        assert_eq!(
            about("// Sums up\n// the bill\nreturn 1"),
            "Sums up the bill"
        );
        assert_eq!(
            about("#!/usr/bin/env pml\n/** Lists files. */\nlet a;"),
            "Lists files."
        );
        assert_eq!(first_comment("let a; // no"), None);
        assert_eq!(first_comment(""), None);
    }
}
