//! Who may answer which approval.

use std::time::Duration;

use pml_gateway::policy::globs::ToolGlob;

/// `pml.approvals`: who may answer which approval, and for how long.
#[derive(Debug, Clone)]
pub struct ApprovalRules {
    /// The names of those who may answer for the tools that a glob matches.
    pub approvers: Vec<(ToolGlob, Vec<String>)>,
    /// How long an approval can be answered.
    pub expires: Duration,
}

impl Default for ApprovalRules {
    fn default() -> Self {
        Self {
            approvers: Vec::new(),
            expires: Duration::from_secs(60 * 60),
        }
    }
}

impl ApprovalRules {
    /// The names of those who may answer for a tool; `None` if anyone may who can answer at all.
    pub fn approvers_of(&self, tool: &str) -> Option<Vec<&str>> {
        let mut rules = self.approvers.iter();
        let matching = rules.by_ref().filter(|(glob, _)| glob.matches(tool));
        let mut matching = matching.peekable();
        matching.peek()?;
        let mut names: Vec<&str> = matching
            .flat_map(|(_, names)| names.iter().map(String::as_str))
            .collect();
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    /// Whether `name` may answer for a tool.
    pub fn may_answer(&self, tool: &str, name: &str) -> bool {
        self.approvers_of(tool)
            .is_none_or(|names| names.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_without_a_rule_is_open_and_rules_add_up() {
        let rule = |glob: &str, names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            (glob.parse().unwrap(), names)
        };
        let rules = ApprovalRules {
            approvers: vec![rule("mail:*", &["ada"]), rule("mail:send", &["bob", "ada"])],
            ..ApprovalRules::default()
        };
        assert_eq!(rules.approvers_of("fs:delete"), None);
        assert!(rules.may_answer("fs:delete", "anyone"));
        assert_eq!(rules.approvers_of("mail:send"), Some(vec!["ada", "bob"]));
        assert!(!rules.may_answer("mail:draft", "bob"));
        assert!(!rules.may_answer("mail:draft", ""));
    }
}
