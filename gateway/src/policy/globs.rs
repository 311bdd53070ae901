//! Globs over tool ids, and the filter of tools that scripts may call.
//!
//! A glob is `server:tool`; `*` stands for any characters and `?` for one, on its own side of the
//! colon: `fs:read_*`, `*:delete_*`, `github:*`. A lone `*` is every tool. Globs are case-sensitive, as
//! servers are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::refusal::{Refusal, RefusalKind};

/// The server of a `server:tool` id: the part before the first colon.
///
/// Tool names may contain colons, server names may not.
pub(crate) fn server_of(id: &str) -> &str {
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
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The side after the colon.
    pub(crate) fn tool(&self) -> &str {
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
pub(crate) fn wildcard(mut pattern: &str, mut text: &str) -> bool {
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

/// The tools that scripts may call. Other tools are not listed, searched or described either, so a
/// script cannot find out that they exist.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// `None` allows every tool, an empty list none.
    allow: Option<Vec<ToolGlob>>,
    deny: Vec<ToolGlob>,
}

impl ToolFilter {
    /// A filter; `allow` of `None` allows every tool.
    pub fn new(allow: Option<Vec<ToolGlob>>, deny: Vec<ToolGlob>) -> Self {
        Self { allow, deny }
    }

    /// Whether the tool is allowed. Deny wins over allow.
    pub fn allows(&self, id: &str) -> bool {
        self.verdict(id).is_ok()
    }

    /// [`ToolFilter::allows`] as a result.
    ///
    /// # Errors
    /// The tool is not allowed; the message names the rule.
    pub fn verdict(&self, id: &str) -> Result<(), Refusal> {
        if let Some(rule) = self.deny.iter().find(|glob| glob.matches(id)) {
            return Err(Refusal::permanent(
                RefusalKind::Denied,
                format!(
                    "`{id}` may not be called: the operator's policy denies `{rule}`; use another tool"
                ),
            ));
        }
        match &self.allow {
            Some(allow) if !allow.iter().any(|glob| glob.matches(id)) => Err(Refusal::permanent(
                RefusalKind::Denied,
                format!(
                    "`{id}` may not be called: it is not among the tools the operator's policy allows; use another tool"
                ),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn globs(patterns: &[&str]) -> Vec<ToolGlob> {
        patterns.iter().map(|p| p.parse().unwrap()).collect()
    }

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
    fn deny_wins_over_allow() {
        let filter = ToolFilter::new(Some(globs(&["fs:*"])), globs(&["fs:delete_*"]));
        assert!(filter.allows("fs:read_file"));
        assert!(!filter.allows("fs:delete_file"));
        assert!(!filter.allows("git:log"));
    }

    #[test]
    fn no_allow_list_allows_every_tool_and_an_empty_one_none() {
        assert!(ToolFilter::default().allows("fs:read_file"));
        assert!(!ToolFilter::new(Some(vec![]), vec![]).allows("fs:read_file"));
    }

    #[test]
    fn the_refusal_names_the_tool_and_the_rule() {
        let filter = ToolFilter::new(None, globs(&["*:delete_*"]));
        let refusal = filter.verdict("fs:delete_file").unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Denied);
        assert!(!refusal.retryable);
        assert!(refusal.message.contains("`fs:delete_file`"));
        assert!(refusal.message.contains("`*:delete_*`"));
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

        #[test]
        fn nothing_denied_is_ever_allowed(deny in "[ab*]{1,3}:[ab*]{1,3}", id in "[ab]{1,4}:[ab]{1,4}") {
            let denied: ToolGlob = deny.parse().unwrap();
            let filter = ToolFilter::new(Some(globs(&["*"])), vec![denied.clone()]);
            prop_assert_eq!(filter.allows(&id), !denied.matches(&id));
        }
    }
}
