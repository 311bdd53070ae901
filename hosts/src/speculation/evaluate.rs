//! The values of a plan, from the results of its earlier calls.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pml_protocol::PrefetchValue;
use serde_json::{Map, Value};

use super::calls::Ready;

/// What the values of a plan refer to.
#[derive(Default)]
pub(super) struct Known {
    pub results: HashMap<u32, Arc<Ready>>,
    pub items: HashMap<u32, Value>,
}

/// The numbers of the results that a value needs.
pub(super) fn needed(value: &PrefetchValue, into: &mut BTreeSet<u32>) {
    match value {
        PrefetchValue::Json(_) | PrefetchValue::Item(_) => {}
        PrefetchValue::Result(id) => {
            into.insert(*id);
        }
        PrefetchValue::Get(of, _) | PrefetchValue::At(of, _) | PrefetchValue::Slice(of, ..) => {
            needed(of, into);
        }
        PrefetchValue::Text(parts) | PrefetchValue::List(parts) => {
            parts.iter().for_each(|part| needed(part, into));
        }
        PrefetchValue::Object(fields) => {
            fields.iter().for_each(|(_, value)| needed(value, into));
        }
    }
}

/// The value; `None` if a part of it is missing, or reads otherwise in JavaScript.
pub(super) fn evaluate(value: &PrefetchValue, known: &Known) -> Option<Value> {
    match value {
        PrefetchValue::Text(parts) => {
            let mut text = String::new();
            for part in parts {
                text.push_str(&text_of(&evaluate(part, known)?)?);
            }
            Some(Value::String(text))
        }
        PrefetchValue::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| Some((key.clone(), evaluate(value, known)?)));
            Some(Value::Object(fields.collect::<Option<Map<_, _>>>()?))
        }
        PrefetchValue::List(items) => {
            let items = items.iter().map(|item| evaluate(item, known));
            Some(Value::Array(items.collect::<Option<_>>()?))
        }
        PrefetchValue::Slice(of, begin, end) => {
            let items = place(of, known)?.as_array()?;
            let end = end.map_or(items.len(), |end| (end as usize).min(items.len()));
            let begin = (*begin as usize).min(end);
            Some(Value::Array(items[begin..end].to_vec()))
        }
        path => place(path, known).cloned(),
    }
}

/// A part of a known value.
fn place<'a>(value: &'a PrefetchValue, known: &'a Known) -> Option<&'a Value> {
    match value {
        PrefetchValue::Json(json) => Some(json),
        PrefetchValue::Result(id) => known.results.get(id)?.value(),
        PrefetchValue::Item(id) => known.items.get(id),
        PrefetchValue::Get(of, key) => place(of, known)?.as_object()?.get(key),
        PrefetchValue::At(of, at) => place(of, known)?.as_array()?.get(*at as usize),
        PrefetchValue::Slice(..)
        | PrefetchValue::Text(_)
        | PrefetchValue::Object(_)
        | PrefetchValue::List(_) => None,
    }
}

/// Whole numbers up to this are printed by JavaScript as they are here.
const MAX_SAFE: i64 = 9_007_199_254_740_991;

/// A value in a template string.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some("null".to_owned()),
        Value::Number(number) => {
            let whole = number.as_i64().filter(|number| number.abs() <= MAX_SAFE);
            whole.map(|whole| whole.to_string())
        }
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known() -> Known {
        let raw = json!({ "files": ["a", "b", "c"], "n": 3, "x": 1.5, "none": null });
        let raw = serde_json::value::to_raw_value(&raw).unwrap();
        Known {
            results: HashMap::from([(0, Arc::new(Ready::new(raw)))]),
            items: HashMap::from([(7, json!({ "id": "i" }))]),
        }
    }

    fn get(of: PrefetchValue, key: &str) -> PrefetchValue {
        PrefetchValue::Get(Box::new(of), key.to_owned())
    }

    #[test]
    fn paths_templates_and_slices_of_results_have_their_values() {
        let result = || PrefetchValue::Result(0);
        let files = || get(result(), "files");
        let text = |part| PrefetchValue::Text(vec![PrefetchValue::Json(json!("d/")), part]);
        for (value, expected) in [
            (PrefetchValue::At(Box::new(files()), 1), Some(json!("b"))),
            (PrefetchValue::At(Box::new(files()), 9), None),
            (
                PrefetchValue::Slice(Box::new(files()), 1, None),
                Some(json!(["b", "c"])),
            ),
            (
                PrefetchValue::Slice(Box::new(files()), 2, Some(1)),
                Some(json!([])),
            ),
            (text(get(result(), "n")), Some(json!("d/3"))),
            (text(get(result(), "none")), Some(json!("d/null"))),
            // JavaScript prints it otherwise, or the property does not exist.
            (text(get(result(), "x")), None),
            (text(files()), None),
            (get(files(), "length"), None),
            (get(PrefetchValue::Item(7), "id"), Some(json!("i"))),
            (PrefetchValue::Result(5), None),
        ] {
            assert_eq!(evaluate(&value, &known()), expected, "{value:?}");
        }
    }
}
