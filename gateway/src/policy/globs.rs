//! The filter of tools that scripts may call.

pub use pml_policy::tool_glob::{GlobError, ToolGlob};
pub(crate) use pml_policy::tool_glob::{server_of, wildcard};

use super::refusal::{Refusal, RefusalKind};

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

    proptest! {
        #[test]
        fn nothing_denied_is_ever_allowed(deny in "[ab*]{1,3}:[ab*]{1,3}", id in "[ab]{1,4}:[ab]{1,4}") {
            let denied: ToolGlob = deny.parse().unwrap();
            let filter = ToolFilter::new(Some(globs(&["*"])), vec![denied.clone()]);
            prop_assert_eq!(filter.allows(&id), !denied.matches(&id));
        }
    }
}
