//! What a person decided about the kinds with the action `ask`: once per kind and session.

use std::cell::OnceCell;
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

    /// Which candidates are replaced: not those in an allowed place, and not those of a kind that a person
    /// decided to show. It is asked before overlaps are resolved: a kind that is shown must not show a value
    /// of another kind within it.
    pub(crate) fn hides<'s>(
        &'s self,
        tool: Option<&'s str>,
        pointer: &'s dyn Fn() -> String,
    ) -> impl Fn(&Candidate) -> bool + 's {
        let place = OnceCell::new();
        move |candidate| {
            let pointer = || place.get_or_init(pointer).as_str();
            !self.is_decided_shown(candidate, tool)
                && !self.scrubber().allows_place(candidate.kind, tool, pointer)
        }
    }

    /// Whether a person decided to show the values of a candidate's kind.
    pub(crate) fn is_decided_shown(&self, candidate: &Candidate, tool: Option<&str>) -> bool {
        let verdict = self
            .scrubber()
            .verdict(candidate.kind, candidate.detector, tool);
        self.decided(verdict.action, candidate.kind) == Action::Allow
    }

    /// The action, or what the person decided.
    pub(crate) fn decided(&self, action: Action, kind: Kind) -> Action {
        match action {
            Action::Ask => self.decisions.action(kind).unwrap_or(action),
            action => action,
        }
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
        let asks = |c: &Candidate| {
            let verdict = self.scrubber().verdict(c.kind, c.detector, tool);
            verdict.action == Action::Ask && self.decisions.action(c.kind).is_none()
        };
        let mut all = self.scrubber().scan(text, key, None, 0);
        all.retain(|c| !self.is_decided_shown(c, tool));
        // If the person shows a kind, what it overlaps has to be decided too.
        loop {
            let chosen = self.scrubber().chosen(text, tool, all.clone());
            let undecided: Vec<Kind> = chosen.iter().filter(|c| asks(c)).map(|c| c.kind).collect();
            if undecided.is_empty() {
                return;
            }
            all.retain(|c| !undecided.contains(&c.kind));
            kinds.extend(undecided);
        }
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
    fn a_kind_that_is_shown_shows_nothing_of_another_kind_within_it() {
        let config = serde_json::json!({
            "patterns": [{"name": "NOTE", "regex": "<[^>]*>", "policy": "ask"}],
            "detectors": {"email": "ask"}
        });
        let config: ScrubConfig = serde_json::from_value(config).expect("a configuration");
        let scrubber = Arc::new(Scrubber::new(&config).expect("a valid configuration"));
        let text = "<call +1 212 555 0187 or write to jo@example.org>";
        let mut map = PlaceholderMap::new(scrubber);
        let kinds: Vec<_> = map.undecided_text(text).into_iter().collect();
        let names: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names, ["EMAIL", "NOTE"]);
        map.decide(kinds[0], false);
        map.decide(kinds[1], true);
        let expected = "<call [PHONE_1] or write to [EMAIL_1]>";
        let scrubbed = map.scrub_text(text, None).expect("decided");
        assert_eq!(scrubbed.into_inner(), expected);
        let lines = map.scrub_lines(&[text.to_owned()], None).expect("decided");
        assert_eq!(lines.into_inner(), [expected]);
        let json = map.scrub_json(serde_json::json!({ "a": text }), None);
        assert_eq!(json.expect("decided").into_inner()["a"], expected);
    }

    #[test]
    fn a_place_that_allows_a_kind_shows_nothing_of_another_kind_within_it() {
        let config = serde_json::json!({
            "patterns": [{"name": "NOTE", "regex": "<[^>]*>"}],
            "allow": {"places": [{"tool": "crm:*", "pointer": "/note", "kind": "NOTE"}]}
        });
        let config: ScrubConfig = serde_json::from_value(config).expect("a configuration");
        let scrubber = Arc::new(Scrubber::new(&config).expect("a valid configuration"));
        let mut map = PlaceholderMap::new(scrubber);
        let value = serde_json::json!({"note": "<write to jo@example.org>", "other": "<x y>"});
        let scrubbed = map.scrub_json(value, Some("crm:get")).expect("no refusal");
        let expected = serde_json::json!({"note": "<write to [EMAIL_1]>", "other": "[NOTE_1]"});
        assert_eq!(scrubbed.into_inner(), expected);
    }

    #[test]
    fn other_kinds_need_no_answer() {
        let scrubbed = map().scrub_text("203.0.113.7", None).expect("no question");
        assert_eq!(scrubbed.into_inner(), "[IP_1]");
    }
}
