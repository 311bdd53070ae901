//! The arguments of a call as a question to a person shows them: every top-level key, shortened values,
//! as many of the keys below as fit, and a mark for everything that is left out. A call whose keys cannot
//! all be shown cannot be approved.

use pml_scrub::{ForeignValue, PlaceholderMap, Scrubbed};
use serde_json::Value;

use crate::visible_text::{quoted, visible_name};

/// The forms of a call, of which the first that fits is shown.
const FORMS: [Form; 8] = [
    Form::new(200, usize::MAX, 1_000),
    Form::new(80, usize::MAX, 1_000),
    Form::new(30, usize::MAX, 1_000),
    Form::new(10, usize::MAX, 1_000),
    Form::new(10, 400, 1_000),
    Form::new(10, 100, 1_000),
    Form::new(10, 40, 4_000),
    Form::new(0, 0, 8_000),
];
/// The characters of a key that every form shows.
const MIN_KEY_CHARS: usize = 30;
/// A text of up to this many characters is shown whole in every form.
const SHORT_TEXT_CHARS: usize = 10;
/// The characters of a tool's id that are shown.
const MAX_TOOL_CHARS: usize = 160;
/// The characters of a value that are scanned for private data: more than are shown, so that none is
/// cut in half before it is found.
const SCANNED_CHARS: usize = 2_000;
const MAX_ITEMS: usize = 50;
/// The keys of an object that are looked at. A call with more top-level keys cannot be approved.
pub(crate) const MAX_KEYS: usize = 200;
/// All values of a call that are looked at.
const MAX_NODES: usize = 1_000;

/// The id of a tool, scrubbed and escaped.
pub(crate) fn shown_tool(tool: &str, placeholders: &mut PlaceholderMap) -> Scrubbed<String> {
    let scrubbed = match placeholders.scrub_text(tool, None) {
        Ok(scrubbed) => scrubbed,
        Err(refusal) => return (&refusal).into(),
    };
    // A part of a scrubbed text is scrubbed; the second scan proves it.
    placeholders
        .scrub_text(&cut(&visible_name(&scrubbed), MAX_TOOL_CHARS), None)
        .unwrap_or_else(|refusal| (&refusal).into())
}

/// How much of a call is shown.
#[derive(Clone, Copy)]
struct Form {
    /// The characters of a text. With 0, longer texts and lists are a mark alone.
    value_chars: usize,
    /// The bytes below a top-level key after which further keys and items are left out.
    nested_bytes: usize,
    /// The characters of the whole call.
    max_chars: usize,
}

impl Form {
    const fn new(value_chars: usize, nested_bytes: usize, max_chars: usize) -> Self {
        Self {
            value_chars,
            nested_bytes,
            max_chars,
        }
    }
}

/// The arguments of a call, shortened to what is scanned.
pub(crate) struct ShortenedCall {
    args: Value,
    /// What was left out of every value, in order.
    left_out: Vec<usize>,
}

impl ShortenedCall {
    /// `None` if the call has too many keys to show them all.
    pub(crate) fn new(mut args: Value) -> Option<Self> {
        if args.as_object().is_some_and(|keys| keys.len() > MAX_KEYS) {
            return None;
        }
        let mut left_out = Vec::new();
        shorten(&mut args, &mut left_out);
        Some(Self { args, left_out })
    }

    /// The arguments, scrubbed, shortened and escaped, with the values that go to a server which they
    /// did not come from. `None` if the keys are too long to show them all, or if the scrubbing policy
    /// blocks a value: a question that does not show the call must not be answered.
    pub(crate) fn shown(
        self,
        foreign: &[ForeignValue],
        placeholders: &mut PlaceholderMap,
    ) -> Option<Scrubbed<String>> {
        let scrubbed = placeholders.scrub_json(self.args, None).ok()?;
        let mut forms = FORMS.into_iter();
        let mut text = forms.find_map(|form| rendered(&scrubbed, &self.left_out, form))?;
        for value in foreign {
            let servers: Vec<String> = value.from.iter().map(|name| visible_name(name)).collect();
            text += &format!(
                "\n  {} is sent as its value, which came from {}",
                value.placeholder,
                servers.join(", ")
            );
        }
        // A part of a scrubbed text is scrubbed; the second scan proves it.
        placeholders.scrub_text(&text, None).ok()
    }
}

/// The call in one form; `None` if it does not fit.
fn rendered(args: &Value, left_out: &[usize], form: Form) -> Option<String> {
    let mut rendering = Rendering {
        out: String::new(),
        left_out: left_out.iter().copied(),
        form,
        end: form.nested_bytes,
    };
    rendering.call(args);
    let text = rendering.out;
    (text.chars().count() <= form.max_chars).then_some(text)
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
    form: Form,
    /// The length of `out` from which on keys and items below a top-level key are left out.
    end: usize,
}

impl<I: Iterator<Item = usize>> Rendering<I> {
    /// Writes all arguments: no top-level key is left out.
    fn call(&mut self, args: &Value) {
        let Value::Object(fields) = args else {
            return self.value(args);
        };
        let left_out = self.left_out.next().unwrap_or_default();
        self.out.push('{');
        for (index, (key, value)) in fields.iter().enumerate() {
            self.comma(index);
            self.key(key);
            self.end = self.out.len().saturating_add(self.form.nested_bytes);
            self.value(value);
        }
        self.mark(left_out, fields.len(), "key");
        self.out.push('}');
    }

    fn value(&mut self, value: &Value) {
        let left_out = self.left_out.next().unwrap_or_default();
        match value {
            Value::String(text) => self.text(text, left_out),
            Value::Array(items) => {
                self.out.push('[');
                let items = items.iter().map(|item| (None, item));
                self.children(items, left_out, "item");
                self.out.push(']');
            }
            Value::Object(fields) => {
                self.out.push('{');
                let fields = fields.iter().map(|(key, value)| (Some(key), value));
                self.children(fields, left_out, "key");
                self.out.push('}');
            }
            other => self.out += &other.to_string(),
        }
    }

    /// Writes keys and items below the top level, as many as fit.
    fn children<'v>(
        &mut self,
        children: impl Iterator<Item = (Option<&'v String>, &'v Value)>,
        mut left_out: usize,
        noun: &str,
    ) {
        let mut shown = 0;
        for (key, child) in children {
            if self.out.len() >= self.end {
                self.skip(child);
                left_out += 1;
                continue;
            }
            self.comma(shown);
            if let Some(key) = key {
                self.key(key);
            }
            self.value(child);
            shown += 1;
        }
        self.mark(left_out, shown, noun);
    }

    /// Leaves out a value and all below it.
    fn skip(&mut self, value: &Value) {
        self.left_out.next();
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.skip(item)),
            Value::Object(fields) => fields.values().for_each(|value| self.skip(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn key(&mut self, key: &str) {
        self.beginning(key, self.form.value_chars.max(MIN_KEY_CHARS), 0);
        self.out.push(':');
    }

    fn text(&mut self, text: &str, left_out: usize) {
        let is_short = text.chars().nth(SHORT_TEXT_CHARS).is_none();
        match self.form.value_chars {
            0 if !is_short => self.out.push('…'),
            chars => self.beginning(text, chars.max(SHORT_TEXT_CHARS), left_out),
        }
    }

    /// Writes the first characters of a text.
    fn beginning(&mut self, text: &str, chars: usize, left_out: usize) {
        let end = text.char_indices().nth(chars);
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
            match self.form.value_chars {
                0 => self.out.push('…'),
                _ => self.out += &format!(" … {}", more_of(left_out, noun)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pml_scrub::{ScrubConfig, Scrubber};
    use serde_json::json;

    use super::*;

    fn shown_if_it_fits(args: Value) -> Option<String> {
        let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default()).unwrap());
        let mut placeholders = PlaceholderMap::new(scrubber);
        let shown = ShortenedCall::new(args)?.shown(&[], &mut placeholders);
        shown.map(Scrubbed::into_inner)
    }

    fn shown(args: Value) -> String {
        shown_if_it_fits(args).unwrap()
    }

    /// Keys that come before `bcc`, each with a long value.
    fn padded(keys: usize, value: &Value) -> serde_json::Map<String, Value> {
        let padding = (0..keys).map(|n| (format!("a_padding_{n:05}"), value.clone()));
        padding.chain([("bcc".to_owned(), json!("me"))]).collect()
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
    }

    #[test]
    fn no_number_of_keys_pushes_another_out_of_sight() {
        for (keys, value) in [
            (25, json!("x".repeat(500))),
            (199, json!("x".repeat(500))),
            (199, json!({ "k": ["x".repeat(500)] })),
            (
                3,
                json!((0..200).map(|n| format!("item {n}")).collect::<Vec<_>>()),
            ),
        ] {
            let text = shown(Value::Object(padded(keys, &value)));
            assert!(text.ends_with(r#","bcc":"me"}"#), "{text}");
            for key in padded(keys, &value).keys() {
                assert!(text.contains(&format!("\"{key}\":")), "{key}: {text}");
            }
            assert!(text.chars().count() <= 8_000, "{text}");
        }
    }

    #[test]
    fn a_call_whose_keys_do_not_fit_is_not_shown() {
        for keys in [200, 10_000] {
            let many = Value::Object(padded(keys, &json!(1)));
            assert_eq!(shown_if_it_fits(many), None);
        }
        let invisible = |n: usize| format!("{}{n:03}", "\u{202e}".repeat(30));
        let wide = (0..200).map(|n| (invisible(n), json!(1))).collect();
        assert_eq!(shown_if_it_fits(Value::Object(wide)), None);
        let text = shown(json!({ ("k".repeat(5_000)): 1, "bcc": "me" }));
        assert!(text.contains(r#""bcc":"me""#), "{text}");
        assert!(text.contains("… 4800 more characters:1"), "{text}");
    }

    #[test]
    fn keys_below_the_top_level_are_shown_as_far_as_they_fit() {
        let nested = Value::Object(padded(100, &json!("x".repeat(500))));
        let text = shown(json!({ "a": { "b": nested }, "bcc": "me" }));
        assert!(text.contains(r#""a_padding_00000":"#), "{text}");
        assert!(text.contains(" more keys}}"), "{text}");
        assert!(text.ends_with(r#","bcc":"me"}"#), "{text}");
        assert!(text.chars().count() <= 1_000, "{text}");
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
        let call = ShortenedCall::new(args).unwrap();
        let text = call.shown(&foreign, &mut PlaceholderMap::new(scrubber));
        let text = text.unwrap();
        assert!(
            text.ends_with("[EMAIL_1_k3f9] is sent as its value, which came from crm"),
            "{text:?}"
        );
    }
}
