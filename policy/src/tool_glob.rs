//! Globs over tool ids.
//!
//! A glob is `server:tool`; `*` stands for any characters and `?` for one, on its own side of the
//! colon: `fs:read_*`, `*:delete_*`, `github:*`. A lone `*` is every tool. Globs are case-sensitive, as
//! servers are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The server of a `server:tool` id: the part before the first colon.
///
/// Tool names may contain colons, server names may not.
pub fn server_of(id: &str) -> &str {
    id.split_once(':').map_or(id, |(server, _)| server)
}

/// A glob that cannot match any tool id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// There is no colon.
    #[error(
        "invalid pattern `{0}`: write `{0}:*` for every tool of that server, or `*:{0}` for that tool of every server"
    )]
    NoColon(String),
    /// One side of the colon is empty.
    #[error("invalid pattern `{0}`: one side of the colon is empty; write `*` to match any")]
    EmptySide(String),
}

/// A glob over `server:tool` ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolGlob {
    server: String,
    tool: String,
}

impl ToolGlob {
    /// A glob over the tools of one server, as in its `tools.allow` and `tools.deny`.
    pub fn within(server: &str, tool: &str) -> Self {
        Self {
            server: server.to_owned(),
            tool: tool.to_owned(),
        }
    }

    /// The side before the colon.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The side after the colon.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Whether the glob matches a tool id.
    pub fn matches(&self, id: &str) -> bool {
        id.split_once(':').is_some_and(|(server, tool)| {
            wildcard(&self.server, server) && wildcard(&self.tool, tool)
        })
    }
}

impl FromStr for ToolGlob {
    type Err = GlobError;

    fn from_str(text: &str) -> Result<Self, GlobError> {
        if text == "*" {
            return Ok(Self::within("*", "*"));
        }
        match text.split_once(':') {
            None => Err(GlobError::NoColon(text.to_owned())),
            Some(("", _) | (_, "")) => Err(GlobError::EmptySide(text.to_owned())),
            Some((server, tool)) => Ok(Self::within(server, tool)),
        }
    }
}

impl fmt::Display for ToolGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.server, self.tool)
    }
}

impl<'de> Deserialize<'de> for ToolGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

impl Serialize for ToolGlob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Matches without recursion, in at most `pattern * text` steps: tool names come from servers and may
/// be hostile.
pub fn wildcard(mut pattern: &str, mut text: &str) -> bool {
    // The pattern after the last `*`, and the text from where it has to match next.
    let mut star: Option<(&str, &str)> = None;
    loop {
        let (mut pattern_chars, mut text_chars) = (pattern.chars(), text.chars());
        match (pattern_chars.next(), text_chars.next()) {
            (Some('*'), _) => {
                pattern = pattern_chars.as_str();
                star = Some((pattern, text));
            }
            (None, None) => return true,
            (Some(_), None) => return false,
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                pattern = pattern_chars.as_str();
                text = text_chars.as_str();
            }
            (_, Some(_)) => {
                // The last `*` takes one more character, and the rest of the pattern is tried again.
                let Some((after, from)) = star else {
                    return false;
                };
                let mut from = from.chars();
                from.next();
                (pattern, text) = (after, from.as_str());
                star = Some((after, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_stays_on_its_side_of_the_colon() {
        let glob: ToolGlob = "*:delete_*".parse().unwrap();
        assert!(glob.matches("fs:delete_file"));
        assert!(!glob.matches("delete_all:list"));
        assert!(!glob.matches("fs:group:delete_file"));
        assert!(
            "fs:*"
                .parse::<ToolGlob>()
                .unwrap()
                .matches("fs:group:delete")
        );
    }

    #[test]
    fn a_lone_star_is_every_tool() {
        assert!("*".parse::<ToolGlob>().unwrap().matches("any:thing"));
    }

    #[test]
    fn a_pattern_that_could_never_match_is_refused_with_the_remedy() {
        let error = "fs".parse::<ToolGlob>().unwrap_err().to_string();
        assert!(error.contains("`fs:*`"), "{error}");
        assert!("fs:".parse::<ToolGlob>().is_err());
        assert!(":read".parse::<ToolGlob>().is_err());
    }

    #[test]
    fn many_stars_do_not_make_matching_slow() {
        let pattern = "a*".repeat(40) + "b";
        let text = "a".repeat(4000);
        let start = std::time::Instant::now();
        assert!(!wildcard(&pattern, &text));
        assert!(start.elapsed().as_secs() < 2);
    }

    /// The definition by recursion: too slow for use, but obviously correct.
    fn by_definition(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|n| by_definition(rest, &text[n..])),
            Some((c, rest)) => text
                .split_first()
                .is_some_and(|(t, more)| (*c == '?' || c == t) && by_definition(rest, more)),
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_its_definition(pattern in "[ab*?]{0,8}", text in "[ab]{0,10}") {
            let (p, t): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
            prop_assert_eq!(wildcard(&pattern, &text), by_definition(&p, &t));
        }
    }
}
