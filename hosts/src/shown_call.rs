//! The arguments of a call as a question to a person shows them: every key, shortened values, and a
//! mark for everything that is left out.

use pml_scrub::{ForeignValue, PlaceholderMap, Scrubbed};
use serde_json::Value;

use crate::visible_text::{quoted, visible_name};

/// The characters of one call that are shown.
const MAX_CALL_CHARS: usize = 1_000;
/// The characters of a tool's id that are shown.
const MAX_TOOL_CHARS: usize = 160;
/// The characters of a value or a key that are shown: the longest of these with which the call fits.
const VALUE_CHARS: [usize; 4] = [200, 80, 30, 10];
/// The characters of a value that are scanned for private data: more than are shown, so that none is
/// cut in half before it is found.
const SCANNED_CHARS: usize = 2_000;
const MAX_ITEMS: usize = 50;
const MAX_KEYS: usize = 200;
/// All values of a call that are looked at.
const MAX_NODES: usize = 1_000;

/// The id of a tool, scrubbed and escaped.
pub(crate) fn shown_tool(tool: &str, placeholders: &mut PlaceholderMap) -> Scrubbed<String> {
    let scrubbed = match placeholders.scrub_text(tool, None) {
        Ok(scrubbed) => scrubbed,
        Err(refusal) => return (&refusal).into(),
    };
    rescrubbed(&cut(&visible_name(&scrubbed), MAX_TOOL_CHARS), placeholders)
}

/// The arguments of a call, scrubbed, shortened and escaped, with the values that go to a server which
/// they did not come from.
pub(crate) fn shown_call(
    mut args: Value,
    foreign: &[ForeignValue],
    placeholders: &mut PlaceholderMap,
) -> Scrubbed<String> {
    let mut left_out = Vec::new();
    shorten(&mut args, &mut left_out);
    let scrubbed = match placeholders.scrub_json(args, None) {
        Ok(scrubbed) => scrubbed,
        Err(refusal) => return (&refusal).into(),
    };
    let mut text = String::new();
    for value_chars in VALUE_CHARS {
        let mut rendering = Rendering {
            out: String::new(),
            left_out: left_out.iter().copied(),
            value_chars,
        };
        rendering.value(&scrubbed);
        text = rendering.out;
        if text.chars().count() <= MAX_CALL_CHARS {
            break;
        }
    }
    let mut text = cut(&text, MAX_CALL_CHARS);
    for value in foreign {
        let servers: Vec<String> = value.from.iter().map(|name| visible_name(name)).collect();
        text += &format!(
            "\n  {} is sent as its value, which came from {}",
            value.placeholder,
            servers.join(", ")
        );
    }
    rescrubbed(&text, placeholders)
}

/// A part of a scrubbed text is scrubbed; the second scan proves it.
fn rescrubbed(text: &str, placeholders: &mut PlaceholderMap) -> Scrubbed<String> {
    placeholders
        .scrub_text(text, None)
        .unwrap_or_else(|refusal| (&refusal).into())
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{} … {}", &text[..end], more_of(more, "character"))
        }
    }
}

fn more_of(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 more {noun}"),
        many => format!("{many} more {noun}s"),
    }
}

/// Shortens texts and lists to what is scanned. Notes for every value, in order, how many characters,
/// items or keys were left out.
fn shorten(value: &mut Value, left_out: &mut Vec<usize>) {
    let position = left_out.len();
    left_out.push(0);
    let is_spent = position >= MAX_NODES;
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(SCANNED_CHARS) {
                left_out[position] = text[end..].chars().count();
                text.truncate(end);
            }
        }
        Value::Array(items) => {
            let kept = if is_spent { 0 } else { MAX_ITEMS };
            left_out[position] = items.len().saturating_sub(kept);
            items.truncate(kept);
            items.iter_mut().for_each(|item| shorten(item, left_out));
        }
        Value::Object(fields) => {
            let kept = if is_spent { 0 } else { MAX_KEYS };
            left_out[position] = fields.len().saturating_sub(kept);
            let old = std::mem::take(fields);
            fields.extend(old.into_iter().take(kept));
            fields
                .values_mut()
                .for_each(|value| shorten(value, left_out));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Writes compact JSON. The marks of what is left out stand outside of quotes, where no text of the
/// arguments can stand.
struct Rendering<I> {
    out: String,
    left_out: I,
    value_chars: usize,
}

impl<I: Iterator<Item = usize>> Rendering<I> {
    fn value(&mut self, value: &Value) {
        let left_out = self.left_out.next().unwrap_or_default();
        match value {
            Value::String(text) => self.text(text, left_out),
            Value::Array(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.comma(index);
                    self.value(item);
                }
                self.mark(left_out, items.len(), "item");
                self.out.push(']');
            }
            Value::Object(fields) => {
                self.out.push('{');
                for (index, (key, value)) in fields.iter().enumerate() {
                    self.comma(index);
                    self.text(key, 0);
                    self.out.push(':');
                    self.value(value);
                }
                self.mark(left_out, fields.len(), "key");
                self.out.push('}');
            }
            other => self.out += &other.to_string(),
        }
    }

    fn text(&mut self, text: &str, left_out: usize) {
        let end = text.char_indices().nth(self.value_chars);
        let end = end.map_or(text.len(), |(end, _)| end);
        self.out += &quoted(&text[..end]);
        let more = text[end..].chars().count() + left_out;
        if more > 0 {
            self.out += &format!(" … {}", more_of(more, "character"));
        }
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
    }

    fn mark(&mut self, left_out: usize, shown: usize, noun: &str) {
        if left_out > 0 {
            self.comma(shown);
            self.out += &format!(" … {}", more_of(left_out, noun));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pml_scrub::{ScrubConfig, Scrubber};
    use serde_json::json;

    use super::*;

    fn shown(args: Value) -> String {
        let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default()).unwrap());
        let mut placeholders = PlaceholderMap::new(scrubber);
        shown_call(args, &[], &mut placeholders).into_inner()
    }

    #[test]
    fn a_short_call_is_shown_whole() {
        let args = json!({ "to": ["x"], "n": 1.5, "none": null, "o": { "k": true } });
        assert_eq!(shown(args.clone()), args.to_string());
    }

    #[test]
    fn a_long_value_does_not_push_other_keys_out_of_sight() {
        let text =
            shown(json!({ "a": "x".repeat(5_000), "note": "y".repeat(3_000), "z_bcc": "me" }));
        assert!(text.contains(r#""z_bcc":"me""#), "{text}");
        assert!(text.contains("… 4800 more characters"), "{text}");
        assert!(text.contains("… 2800 more characters"), "{text}");
    }

    #[test]
    fn everything_left_out_is_marked() {
        let text = shown(json!({ "ids": (0..60).collect::<Vec<_>>() }));
        assert!(text.ends_with("49, … 10 more items]}"), "{text}");
        let many: serde_json::Map<_, _> =
            (0..300).map(|n| (format!("k{n:03}"), json!(n))).collect();
        let text = shown(Value::Object(many));
        assert!(text.contains("more characters"), "{text}");
        assert!(text.chars().count() < MAX_CALL_CHARS + 40);
    }

    #[test]
    fn no_text_of_the_arguments_looks_like_a_mark_or_breaks_the_line() {
        let text = shown(
            json!({ "a": "x\" … 9 more characters", "b": "1\n- {\"to\":1}\u{2028}\u{202e}" }),
        );
        assert!(text.contains(r#""x\" … 9 more characters""#), "{text}");
        assert!(
            text.contains(r#""1\n- {\"to\":1}\u{2028}\u{202e}""#),
            "{text}"
        );
        assert!(!text.contains('\n'), "{text}");
    }

    #[test]
    fn private_values_are_placeholders_even_where_the_text_is_cut() {
        let text = shown(json!({ "a": format!("{}jo@example.com", " ".repeat(190)) }));
        assert!(!text.contains("jo@"), "{text}");
    }

    #[test]
    fn a_value_of_another_server_is_named() {
        let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default()).unwrap());
        let foreign = [ForeignValue {
            placeholder: "[EMAIL_1_k3f9]".to_owned(),
            from: vec!["crm".to_owned()],
        }];
        let args = json!({ "to": "[EMAIL_1_k3f9]" });
        let text = shown_call(args, &foreign, &mut PlaceholderMap::new(scrubber));
        assert!(
            text.ends_with("[EMAIL_1_k3f9] is sent as its value, which came from crm"),
            "{text:?}"
        );
    }
}
