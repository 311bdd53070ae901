//! Values that were restored for a tool. A server can send them back anywhere, so they are hidden by
//! value in everything that is said later, whether a detector recognises them or not.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};

use crate::boundary::stands_alone;
use crate::json;

/// A shorter value is hidden only where it stands alone.
const MIN_PART_BYTES: usize = 6;

/// The restored values of a session, at most as many as it has placeholders.
#[derive(Default)]
pub(crate) struct RestoredValues {
    values: Vec<RestoredValue>,
    /// The placeholders of `values`.
    placeholders: HashSet<String>,
    /// The first place in `values` of each value.
    by_value: HashMap<String, usize>,
    /// Made when a text is searched, dropped when a value is added.
    automaton: OnceLock<Option<AhoCorasick>>,
}

struct RestoredValue {
    value: String,
    placeholder: String,
}

impl RestoredValues {
    pub(crate) fn add(&mut self, value: &str, placeholder: &str) {
        if value.is_empty() || !self.placeholders.insert(placeholder.to_owned()) {
            return;
        }
        let place = self.values.len();
        self.by_value.entry(value.to_owned()).or_insert(place);
        self.values.push(RestoredValue {
            value: value.to_owned(),
            placeholder: placeholder.to_owned(),
        });
        self.automaton = OnceLock::new();
    }

    /// The text with placeholders in the place of the values; `None` if it has none of them.
    pub(crate) fn hide(&self, text: &str) -> Option<String> {
        let automaton = self.automaton()?;
        let mut out = String::new();
        let mut at = 0;
        for hit in automaton.find_iter(text) {
            let whole = hit.len() >= MIN_PART_BYTES
                || stands_alone(text.as_bytes(), hit.start(), hit.end());
            if whole {
                out.push_str(&text[at..hit.start()]);
                out.push_str(&self.values[hit.pattern().as_usize()].placeholder);
                at = hit.end();
            }
        }
        (at > 0).then(|| out + &text[at..])
    }

    /// Hides the values in the strings, keys and numbers of a JSON value.
    pub(crate) fn hide_in_json(&self, value: &mut Value) {
        if self.values.is_empty() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Some(hidden) = self.hide(text) {
                    *text = hidden;
                }
            }
            Value::Number(number) => {
                if let Some(place) = self.by_value.get(&number.to_string()) {
                    *value = Value::String(self.values[*place].placeholder.clone());
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in_json(item)),
            Value::Object(fields) => {
                self.hide_in_keys(fields);
                fields
                    .values_mut()
                    .for_each(|value| self.hide_in_json(value));
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn hide_in_keys(&self, fields: &mut Map<String, Value>) {
        let hidden = |key: &String| Some((key.clone(), self.hide(key)?));
        let renamed: HashMap<String, String> = fields.keys().filter_map(hidden).collect();
        json::rename(fields, &renamed);
    }

    fn automaton(&self) -> Option<&AhoCorasick> {
        if self.values.is_empty() {
            return None;
        }
        let build = || {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .ascii_case_insensitive(true)
                .build(self.values.iter().map(|known| &known.value))
                .ok()
        };
        self.automaton.get_or_init(build).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values() -> RestoredValues {
        let mut values = RestoredValues::default();
        values.add("Johanna Quistorp", "[NAME_1_aaaa]");
        values.add("Bo", "[NAME_2_bbbb]");
        values.add("536221234", "[US_SSN_1_cccc]");
        values
    }

    #[test]
    fn a_restored_value_is_hidden_wherever_it_stands() {
        let hidden = values().hide("xJOHANNA QUISTORP, Bo and Bob");
        let expected = "x[NAME_1_aaaa], [NAME_2_bbbb] and Bob";
        assert_eq!(hidden.as_deref(), Some(expected));
        assert_eq!(values().hide("nothing of it"), None);
    }

    #[test]
    fn keys_and_numbers_are_hidden_as_well() {
        let mut value = json!({
            "Johanna Quistorp": [536_221_234, { "a": "Bo" }],
            "johanna quistorp": 1,
        });
        values().hide_in_json(&mut value);
        let expected = json!({
            "[NAME_1_aaaa]": ["[US_SSN_1_cccc]", { "a": "[NAME_2_bbbb]" }],
            "[NAME_1_aaaa] (2)": 1,
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn a_placeholder_is_added_once() {
        let mut values = values();
        for _ in 0..3 {
            values.add("Bo", "[NAME_2_bbbb]");
        }
        assert_eq!(values.values.len(), 3);
    }
}
