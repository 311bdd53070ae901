//! The name that somebody probably meant.

/// The candidate that `name` is a typing mistake of: one edit away in a short word, two in a
/// longer one, three in a long one. Nothing where two are equally near.
pub fn typo_of<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match name.chars().count() {
        0..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    let wanted = name.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    let mut tied = false;
    for candidate in candidates {
        // Far longer or shorter names need not be compared.
        if candidate.len().abs_diff(name.len()) > 2 * allowed {
            continue;
        }
        let distance = strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase());
        if distance > allowed || distance >= candidate.chars().count() {
            continue;
        }
        match best {
            Some((known, _)) if distance > known => {}
            Some((known, _)) if distance == known => tied = true,
            _ => {
                best = Some((distance, candidate));
                tied = false;
            }
        }
    }
    best.filter(|_| !tied).map(|(_, candidate)| candidate)
}

/// The `count` candidates most like `name`, best first, none that is nothing like it.
pub fn similar<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    const LIKE: f64 = 0.75;
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&wanted, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(score, _)| *score >= LIKE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
        .into_iter()
        .take(count)
        .map(|(_, candidate)| candidate)
        .collect()
}

/// `a`, `a and b`, `a, b or c`.
pub fn list(names: &[&str], word: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names = ["read_file", "write_file", "path", "paths"];
        assert_eq!(typo_of("raed_file", names), Some("read_file"));
        assert_eq!(typo_of("pth", names), Some("path"));
        assert_eq!(typo_of("encoding", names), None);
        // As near to one as to the other.
        assert_eq!(typo_of("ab", ["ac", "ad"]), None);
    }
}
