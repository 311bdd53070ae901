//! Plain JSON: `{ "tool": "server:tool", "args": { … } }`.

use serde_json::{Value, json};

use crate::call::{Answer, Arguments, ModelCall};

/// One call, or a list of calls. `name` and `arguments` are accepted for `tool` and `args`.
pub fn parse(value: &Value) -> Option<Vec<ModelCall>> {
    match value {
        Value::Array(items) => items.iter().map(call).collect(),
        Value::Object(fields) if fields.contains_key("calls") => parse(&value["calls"]),
        _ => call(value).map(|call| vec![call]),
    }
}

fn call(value: &Value) -> Option<ModelCall> {
    let field = |names: [&str; 3]| names.into_iter().find_map(|name| value.get(name));
    let arguments = match field(["args", "arguments", "input"]) {
        None => Arguments::from_text(""),
        Some(Value::String(text)) => Arguments::from_text(text),
        Some(value) => Arguments::Json(value.clone()),
    };
    Some(ModelCall {
        id: value["id"].as_str().map(str::to_owned),
        name: field(["tool", "name", "tool_name"])?.as_str()?.to_owned(),
        arguments,
    })
}

/// A list of results, in the order of the calls.
pub fn answers(answers: &[Answer<'_>]) -> Value {
    let item = |answer: &Answer<'_>| {
        let mut item = match &answer.result {
            Ok(value) => json!({ "tool": answer.call.name, "success": true, "result": value }),
            Err(message) => json!({ "tool": answer.call.name, "success": false, "error": message }),
        };
        if let Some(id) = &answer.call.id {
            item["id"] = Value::from(id.as_str());
        }
        item
    };
    answers.iter().map(item).collect()
}
