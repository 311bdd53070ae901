//! Suggestions for mistyped names, by edit distance.
//!
//! [`typo_of`] answers "did you mean", [`nearest`] and [`similar`] list candidates, and
//! [`quoted_list`] writes them into a message. Upper and lower case count as equal. No candidate is
//! near to a name above 256 bytes: that is not a typing mistake, and comparing it takes long.
//!
//! ```
//! let commands = ["run", "serve", "search"];
//! assert_eq!(pml_nearest::typo_of("serach", commands), Some("search"));
//! assert_eq!(pml_nearest::typo_of("deploy", commands), None);
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

const MAX_NAME_BYTES: usize = 256;

/// The score from which [`similar`] names a candidate. Jaro-Winkler scores go from 0 to 1.
const MIN_SIMILARITY: f64 = 0.75;

/// The candidate that `name` is a typing mistake of; `None` where two candidates are equally near.
pub fn typo_of<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    match typos_of(name, candidates).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The candidates that `name` may be a typing mistake of, all equally near: one edit away in a short
/// word, two in a longer one, three in a long one. A name that must not be a mistyped key is checked
/// with this function: [`typo_of`] does not answer where there are two.
pub fn typos_of<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near: Vec<&str> = Vec::new();
    if name.len() > MAX_NAME_BYTES {
        return near;
    }
    let max_edits = match name.chars().count() {
        0..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    let wanted = name.to_lowercase();
    let mut fewest = max_edits;
    for candidate in candidates {
        // The lengths of UTF-8 texts with so few edits between them differ by less than this.
        if candidate.len().abs_diff(name.len()) > 4 * max_edits {
            continue;
        }
        let edits = strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase());
        if edits > fewest || edits >= candidate.chars().count() {
            continue;
        }
        if edits < fewest {
            near.clear();
            fewest = edits;
        }
        if !near.contains(&candidate) {
            near.push(candidate);
        }
    }
    near
}

/// The `count` candidates most like `name`, most similar first.
///
/// A name without a server is compared with the tool part of `server:tool` as well.
pub fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    ranked(name, candidates, count, |wanted, candidate| {
        let whole = strsim::jaro_winkler(wanted, candidate);
        Some(match candidate.split_once(':') {
            Some((_, tool)) if !wanted.contains(':') => {
                whole.max(strsim::jaro_winkler(wanted, tool))
            }
            _ => whole,
        })
    })
}

/// The at most `count` candidates that are similar to `name`, most similar first. Candidates that
/// have little in common with it are left out.
pub fn similar<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    ranked(name, candidates, count, |wanted, candidate| {
        let score = strsim::jaro_winkler(wanted, candidate);
        (score >= MIN_SIMILARITY).then_some(score)
    })
}

fn ranked<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count: usize,
    score: impl Fn(&str, &str) -> Option<f64>,
) -> Vec<&'a str> {
    if name.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((score(&wanted, &candidate.to_lowercase())?, candidate)))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
        .into_iter()
        .take(count)
        .map(|(_, candidate)| candidate)
        .collect()
}

/// The names in backticks, with `conjunction` before the last: `` `a` ``, `` `a` and `b` ``,
/// `` `a`, `b` or `c` ``.
pub fn quoted_list(names: &[&str], conjunction: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 5] = [
        "fs:read_file",
        "fs:write_file",
        "git:log",
        "fs:read_text",
        "time:now",
    ];

    #[test]
    fn the_three_most_similar_names_come_first() {
        let found = nearest("fs:readfile", TOOLS, 3);
        assert_eq!(found[0], "fs:read_file");
        assert_eq!(found.len(), 3);
        assert_eq!(nearest("log", TOOLS, 1), ["git:log"]);
    }

    #[test]
    fn two_names_that_are_equally_near_are_both_candidates() {
        assert_eq!(
            typos_of("rools", ["roots", "tools", "type"]),
            ["roots", "tools"]
        );
        assert_eq!(typo_of("rools", ["roots", "tools"]), None);
        assert!(typos_of("encoding", ["roots", "tools"]).is_empty());
    }

    #[test]
    fn candidates_that_are_nothing_like_the_name_are_not_similar() {
        assert_eq!(similar("fs:readfile", TOOLS, 1), ["fs:read_file"]);
        assert!(similar("zzz", TOOLS, 3).is_empty());
    }

    #[test]
    fn nothing_is_near_to_a_name_without_end() {
        let endless = "x".repeat(15_000_000);
        assert!(nearest(&endless, ["xx"], 3).is_empty());
        assert!(similar(&endless, ["xx"], 3).is_empty());
        assert_eq!(typo_of(&endless, ["xx"]), None);
    }

    #[test]
    fn a_typing_mistake_is_recognised_and_another_word_is_not() {
        assert_eq!(typo_of("comand", ["command", "args"]), Some("command"));
        assert_eq!(
            typo_of("MCPservers", ["mcpServers", "pml"]),
            Some("mcpServers")
        );
        assert_eq!(typo_of("autoApprove", ["command", "args"]), None);
        assert_eq!(typo_of("id", ["cwd", "env", "url"]), None);
        let names = ["read_file", "write_file", "path", "paths"];
        assert_eq!(typo_of("raed_file", names), Some("read_file"));
        assert_eq!(typo_of("pth", names), Some("path"));
        assert_eq!(typo_of("encoding", names), None);
    }

    #[test]
    fn a_name_as_near_to_one_candidate_as_to_another_is_a_typo_of_neither() {
        assert_eq!(typo_of("ab", ["ac", "ad"]), None);
        assert_eq!(typo_of("ab", ["ac", "ac"]), Some("ac"));
    }

    #[test]
    fn a_list_is_quoted_with_a_conjunction() {
        assert_eq!(quoted_list(&[], "or"), "");
        assert_eq!(quoted_list(&["a"], "or"), "`a`");
        assert_eq!(quoted_list(&["a", "b", "c"], "or"), "`a`, `b` or `c`");
    }
}
