//! Which of two rules of `pml.effects` applies to a tool that both match.

use std::cmp::{Ordering, Reverse};

use crate::policy::globs::ToolGlob;

/// How specific one side of a glob is. A name without wildcards is more specific than any pattern; of
/// two patterns, the one with more literal characters; then the one with more `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SideSpecificity {
    is_name: bool,
    literals: usize,
    single: usize,
}

impl SideSpecificity {
    fn of(side: &str) -> Self {
        let count = |counted: fn(char) -> bool| side.chars().filter(|c| counted(*c)).count();
        Self {
            is_name: !side.contains(['*', '?']),
            literals: count(|c| !matches!(c, '*' | '?')),
            single: count(|c| c == '?'),
        }
    }
}

/// How specific a glob is. One glob is more specific than another if one of its sides is, and the other
/// side is at least as specific: `fs:read_*` than `fs:*`. Of `fs:*` and `*:delete_*`, neither is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Specificity {
    server: SideSpecificity,
    tool: SideSpecificity,
}

impl Specificity {
    pub fn of(glob: &ToolGlob) -> Self {
        Self {
            server: SideSpecificity::of(glob.server()),
            tool: SideSpecificity::of(glob.tool()),
        }
    }

    /// A key for sorting by which a more specific glob comes first.
    pub fn sort_key(self) -> impl Ord {
        Reverse((self.server, self.tool))
    }
}

impl PartialOrd for Specificity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.server.cmp(&other.server), self.tool.cmp(&other.tool)) {
            (Ordering::Equal, order) | (order, Ordering::Equal) => Some(order),
            (server, tool) if server == tool => Some(server),
            _ => None,
        }
    }
}

/// The glob that decides between two of which neither is more specific, although they can match the
/// same tool: it has the more specific side of each. `None` if no such glob is needed, or if it would
/// be one of the two.
pub fn deciding_glob(one: &ToolGlob, other: &ToolGlob) -> Option<ToolGlob> {
    let (first, second) = (Specificity::of(one), Specificity::of(other));
    let (server, tool) = match (
        first.server.cmp(&second.server),
        first.tool.cmp(&second.tool),
    ) {
        (Ordering::Greater, Ordering::Less) => (one.server(), other.tool()),
        (Ordering::Less, Ordering::Greater) => (other.server(), one.tool()),
        _ => return None,
    };
    Some(ToolGlob::within(server, tool))
}

/// Whether a tool id can match both globs.
pub fn overlap(one: &ToolGlob, other: &ToolGlob) -> bool {
    patterns_overlap(one.server(), other.server()) && patterns_overlap(one.tool(), other.tool())
}

/// Whether a text can match both patterns, in at most `one * other` steps.
fn patterns_overlap(one: &str, other: &str) -> bool {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    // row[j]: whether some text matches both the rest of `one` from i and the rest of `other` from j.
    let mut below: Vec<bool> = Vec::new();
    for i in (0..=one.len()).rev() {
        let mut row = vec![false; other.len() + 1];
        for j in (0..=other.len()).rev() {
            row[j] = match (one.get(i), other.get(j)) {
                (None, None) => true,
                // A `*` ends here, or takes what the other pattern has next.
                (Some('*'), next) => below[j] || (next.is_some() && row[j + 1]),
                (next, Some('*')) => row[j + 1] || (next.is_some() && below[j]),
                (Some(a), Some(b)) => (a == b || *a == '?' || *b == '?') && below[j + 1],
                _ => false,
            };
        }
        below = row;
    }
    below[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::globs::wildcard;

    fn glob(text: &str) -> ToolGlob {
        text.parse().unwrap()
    }

    fn compare(one: &str, other: &str) -> Option<Ordering> {
        Specificity::of(&glob(one)).partial_cmp(&Specificity::of(&glob(other)))
    }

    #[test]
    fn a_name_is_more_specific_than_a_pattern_and_a_longer_pattern_than_a_shorter_one() {
        for (more, less) in [
            ("fs:read", "fs:read_*"),
            ("fs:read_*", "fs:*"),
            ("fs:*", "*"),
            ("fs:read", "f?:read"),
            ("fs:read_?", "fs:read_*"),
            ("f*:read", "*:read"),
        ] {
            assert_eq!(
                compare(more, less),
                Some(Ordering::Greater),
                "{more} {less}"
            );
            assert_eq!(compare(less, more), Some(Ordering::Less), "{less} {more}");
        }
        assert_eq!(compare("fs:a*b", "fs:ab*"), Some(Ordering::Equal));
        assert_eq!(compare("fs:*", "*:delete_*"), None);
    }

    #[test]
    fn the_more_specific_sides_of_two_globs_make_the_one_that_decides() {
        let decides = |one, other| deciding_glob(&glob(one), &glob(other));
        assert_eq!(decides("fs:*", "*:delete_*"), Some(glob("fs:delete_*")));
        assert_eq!(decides("*:delete_*", "fs:*"), Some(glob("fs:delete_*")));
        assert_eq!(decides("fs:*", "fs:delete_*"), None);
        assert_eq!(decides("fs:a*b", "fs:ab*"), None);
    }

    proptest! {
        #[test]
        fn patterns_that_match_one_text_overlap(
            one in "[ab*?]{0,6}", other in "[ab*?]{0,6}", text in "[ab]{0,8}"
        ) {
            if wildcard(&one, &text) && wildcard(&other, &text) {
                prop_assert!(patterns_overlap(&one, &other));
            }
        }

        #[test]
        fn patterns_without_a_common_text_do_not_overlap(
            one in "[ab*?]{0,4}", other in "[ab*?]{0,4}"
        ) {
            // Two patterns of this length that overlap match a common text of at most 8 letters.
            let texts = (0..=8).flat_map(|length| {
                (0..1_u32 << length).map(move |bits| -> String {
                    (0..length).map(|n| if bits >> n & 1 == 0 { 'a' } else { 'b' }).collect()
                })
            });
            let common = texts.into_iter().any(|text| wildcard(&one, &text) && wildcard(&other, &text));
            prop_assert_eq!(patterns_overlap(&one, &other), common);
        }
    }
}
