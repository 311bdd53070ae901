//! Which calls a person has to allow first.

use std::time::Duration;

use pml_units::HumanDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::globs::ToolGlob;

/// Whether somebody is asked before a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    NotNeeded,
    /// Without it the tool is not called.
    Needed,
    /// Somebody is asked if that can be done at all.
    IfPossible,
}

/// `policy.ask`.
#[derive(Debug, Clone, Default)]
pub struct AskRule {
    globs: Option<Vec<ToolGlob>>,
    time: AskTime,
}

/// How long a person has to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AskTime(HumanDuration);

impl Default for AskTime {
    fn default() -> Self {
        Self(HumanDuration::from_secs(120))
    }
}

impl AskRule {
    pub fn new(globs: Option<Vec<ToolGlob>>, time: AskTime) -> Self {
        Self { globs, time }
    }

    /// `annotations` is what the server says about its own tool. A server that does not mark a
    /// destructive tool is not asked about it; the operator's globs are what counts.
    pub fn verdict(&self, id: &str, annotations: Option<&Value>) -> Approval {
        match &self.globs {
            Some(globs) if globs.iter().any(|glob| glob.matches(id)) => Approval::Needed,
            Some(_) => Approval::NotNeeded,
            None => {
                let hint = |name: &str| annotations.and_then(|known| known.get(name)?.as_bool());
                let is_destructive = hint("destructiveHint") == Some(true);
                if is_destructive && hint("readOnlyHint") != Some(true) {
                    Approval::IfPossible
                } else {
                    Approval::NotNeeded
                }
            }
        }
    }

    pub fn time(&self) -> Duration {
        self.time.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rule(globs: Option<&[&str]>) -> AskRule {
        let globs = globs.map(|globs| globs.iter().map(|glob| glob.parse().unwrap()).collect());
        AskRule::new(globs, AskTime::default())
    }

    #[test]
    fn the_operators_globs_decide_where_there_are_any() {
        let marked = json!({ "destructiveHint": true });
        let rule = rule(Some(&["slack:post_*"]));
        assert_eq!(rule.verdict("slack:post_message", None), Approval::Needed);
        assert_eq!(
            rule.verdict("fs:delete", Some(&marked)),
            Approval::NotNeeded
        );
    }

    #[test]
    fn without_globs_what_is_marked_destructive_is_asked_for_if_possible() {
        let rule = rule(None);
        let marked = json!({ "destructiveHint": true });
        assert_eq!(
            rule.verdict("fs:delete", Some(&marked)),
            Approval::IfPossible
        );
        assert_eq!(
            rule.verdict("fs:read", Some(&json!({ "readOnlyHint": true }))),
            Approval::NotNeeded
        );
        assert_eq!(rule.verdict("fs:odd", None), Approval::NotNeeded);
    }

    #[test]
    fn an_empty_list_asks_for_nothing() {
        let marked = json!({ "destructiveHint": true });
        assert_eq!(
            rule(Some(&[])).verdict("fs:delete", Some(&marked)),
            Approval::NotNeeded
        );
    }
}
