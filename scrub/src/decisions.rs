//! What a person decided about the kinds with the action `ask`: once per kind and session.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::config::Action;
use crate::scan::Candidate;
use crate::{Kind, PlaceholderMap, Scrubber};

/// The answers of a session.
#[derive(Default)]
pub(crate) struct Decisions(BTreeMap<Kind, bool>);

impl Decisions {
    /// The action for a kind with the action `ask`; `None` as long as there is no answer.
    pub(crate) fn action(&self, kind: Kind) -> Option<Action> {
        self.0.get(&kind).map(|show| match show {
            true => Action::Allow,
            false => Action::Redact,
        })
    }

    fn decide(&mut self, kind: Kind, show: bool) {
        self.0.insert(kind, show);
    }
}

impl PlaceholderMap {
    /// Whether any kind has the action `ask`, so that [`undecided_json`](Self::undecided_json) is of use.
    pub fn may_ask(&self) -> bool {
        self.scrubber().may_ask()
    }

    /// Notes what the person decided about a kind: its values are shown from now on, or redacted.
    pub fn decide(&mut self, kind: Kind, show: bool) {
        self.decisions.decide(kind, show);
    }

    /// The kinds in a text that a person has to decide about first.
    pub fn undecided_text(&self, text: &str) -> BTreeSet<Kind> {
        let mut kinds = BTreeSet::new();
        self.add_undecided(text, None, None, &mut kinds);
        kinds
    }

    /// The kinds in a JSON value that a person has to decide about first. `tool` is the tool that returned
    /// it, if it came directly from one.
    pub fn undecided_json(&self, value: &Value, tool: Option<&str>) -> BTreeSet<Kind> {
        let mut kinds = BTreeSet::new();
        if self.may_ask() {
            self.add_undecided_json(value, None, tool, &mut kinds);
        }
        kinds
    }

    fn add_undecided_json(
        &self,
        value: &Value,
        key: Option<&str>,
        tool: Option<&str>,
        kinds: &mut BTreeSet<Kind>,
    ) {
        match value {
            Value::String(text) => self.add_undecided(text, key, tool, kinds),
            Value::Number(number) => {
                self.add_undecided(&number.to_string(), key.or(Some("")), tool, kinds);
            }
            Value::Array(items) => {
                for item in items {
                    self.add_undecided_json(item, key, tool, kinds);
                }
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.add_undecided(key, None, tool, kinds);
                    self.add_undecided_json(value, Some(key), tool, kinds);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn add_undecided(
        &self,
        text: &str,
        key: Option<&str>,
        tool: Option<&str>,
        kinds: &mut BTreeSet<Kind>,
    ) {
        if !self.may_ask() {
            return;
        }
        let found = self.scrubber().candidates(text, key, tool, None);
        let asks = |c: &Candidate| {
            let verdict = self.scrubber().verdict(c.kind, c.detector, tool);
            verdict.action == Action::Ask && self.decisions.action(c.kind).is_none()
        };
        kinds.extend(found.iter().filter(|c| asks(c)).map(|c| c.kind));
    }
}

impl Scrubber {
    fn may_ask(&self) -> bool {
        self.asks
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{ScrubConfig, ScrubError};

    fn map() -> PlaceholderMap {
        let config = serde_json::json!({"detectors": {"email": "ask"}});
        let config: ScrubConfig = serde_json::from_value(config).expect("a configuration");
        PlaceholderMap::new(Arc::new(
            Scrubber::new(&config).expect("a valid configuration"),
        ))
    }

    const TEXT: &str = "write to jo@example.org, not to al@example.org";

    #[test]
    fn without_an_answer_the_text_is_refused_and_its_kinds_are_known() {
        let mut map = map();
        let error = map.scrub_text(TEXT, None).expect_err("a refusal");
        assert!(matches!(error, ScrubError::Undecided { .. }), "{error}");
        assert!(!error.to_string().contains("jo@"), "{error}");
        let value = serde_json::json!({"a": [TEXT, 4]});
        let kinds: Vec<_> = map.undecided_json(&value, None).into_iter().collect();
        assert_eq!(
            kinds.iter().map(|k| k.as_str()).collect::<Vec<_>>(),
            ["EMAIL"]
        );
    }

    #[test]
    fn an_answer_holds_for_the_session() {
        for (show, expected) in [
            (true, TEXT),
            (false, "write to [EMAIL_1], not to [EMAIL_2]"),
        ] {
            let mut map = map();
            let kind = *map.undecided_text(TEXT).first().expect("a kind");
            map.decide(kind, show);
            for _ in 0..2 {
                let scrubbed = map.scrub_text(TEXT, None).expect("decided").into_inner();
                assert_eq!(scrubbed, expected);
            }
            assert!(map.undecided_text(TEXT).is_empty());
        }
    }

    #[test]
    fn other_kinds_need_no_answer() {
        let scrubbed = map().scrub_text("203.0.113.7", None).expect("no question");
        assert_eq!(scrubbed.into_inner(), "[IP_1]");
    }
}
