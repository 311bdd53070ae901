//! The names a person probably meant: nearest first, by edit distance.

/// What is longer is nobody's typing mistake, and would take long to compare.
const MAX_NAME: usize = 256;

/// The `count` candidates most like `name`.
pub fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    if name.len() > MAX_NAME {
        return Vec::new();
    }
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (likeness(&wanted, &candidate.to_lowercase()), candidate))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
        .into_iter()
        .take(count)
        .map(|(_, candidate)| candidate)
        .collect()
}

/// Whoever names no server may know the tool all the same.
fn likeness(wanted: &str, candidate: &str) -> f64 {
    let whole = strsim::jaro_winkler(wanted, candidate);
    match candidate.split_once(':') {
        Some((_, tool)) if !wanted.contains(':') => whole.max(strsim::jaro_winkler(wanted, tool)),
        _ => whole,
    }
}

/// The candidate that `name` is most likely a typing mistake of, if there is one: one edit away in
/// a short word, two in a longer, three in a long one.
pub fn typo_of<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let allowed = match name.chars().count() {
        0..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    let wanted = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, candidate)| (*distance, *candidate))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_most_similar_names_come_first() {
        let tools = [
            "fs:read_file",
            "fs:write_file",
            "git:log",
            "fs:read_text",
            "time:now",
        ];
        let found = nearest("fs:readfile", tools, 3);
        assert_eq!(found[0], "fs:read_file");
        assert_eq!(found.len(), 3);
        assert_eq!(nearest("log", tools, 1), ["git:log"]);
    }

    #[test]
    fn nothing_is_near_to_a_name_without_end() {
        let endless = "x".repeat(15_000_000);
        assert!(nearest(&endless, ["xx"], 3).is_empty());
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
    }
}
