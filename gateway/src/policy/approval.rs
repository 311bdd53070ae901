//! The calls that the user has to approve.

use std::time::Duration;

use pml_units::HumanDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::globs::ToolGlob;

/// Whether a call needs the approval of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// It is made without asking.
    NotNeeded,
    /// It is made only with approval.
    Needed,
    /// The user is asked if the client can do that; else the call is made.
    IfPossible,
}

/// The rule of `policy.ask`.
#[derive(Debug, Clone, Default)]
pub struct AskRule {
    globs: Option<Vec<ToolGlob>>,
    time: AskTime,
}

/// How long the user has to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AskTime(HumanDuration);

impl Default for AskTime {
    fn default() -> Self {
        Self(HumanDuration::from_secs(120))
    }
}

impl AskRule {
    /// A rule from the operator's globs, if any, and the time to answer.
    pub fn new(globs: Option<Vec<ToolGlob>>, time: AskTime) -> Self {
        Self { globs, time }
    }

    /// Whether a call of the tool needs approval. With globs, only they count; without, the server's
    /// `annotations` do, which may be wrong.
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

    /// How long the user has to answer.
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
    fn without_globs_destructive_tools_are_asked_for_if_possible() {
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
