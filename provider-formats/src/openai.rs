//! OpenAI's forms: chat completions and responses.

use serde_json::{Value, json};

use crate::call::{Answer, Arguments, ModelCall};
use crate::definition::ToolDefinition;

/// The calls of a completion, a message, a list of calls, or one call. `None` if the value has none of
/// these forms.
pub fn parse(value: &Value) -> Option<Vec<ModelCall>> {
    if let Some(choices) = value["choices"].as_array() {
        let calls = choices.iter().map(|choice| parse(&choice["message"]));
        return Some(calls.flatten().flatten().collect());
    }
    if let Some(calls) = value["tool_calls"].as_array() {
        return Some(calls.iter().filter_map(call).collect());
    }
    if let Some(legacy) = value
        .get("function_call")
        .filter(|call| call["arguments"].is_string())
    {
        return Some(vec![function(None, legacy)?]);
    }
    match value {
        Value::Array(items) if items.iter().any(|item| call(item).is_some()) => {
            Some(items.iter().filter_map(call).collect())
        }
        Value::Object(_) => call(value).map(|call| vec![call]),
        _ => None,
    }
}

fn call(value: &Value) -> Option<ModelCall> {
    let id = value["id"].as_str().map(str::to_owned);
    function(id, value.get("function")?)
}

fn function(id: Option<String>, function: &Value) -> Option<ModelCall> {
    Some(ModelCall {
        id,
        name: function["name"].as_str()?.to_owned(),
        arguments: arguments(&function["arguments"]),
    })
}

/// The arguments are JSON in a text; some servers with the same interface send an object.
fn arguments(value: &Value) -> Arguments {
    match value {
        Value::String(text) => Arguments::from_text(text),
        Value::Null => Arguments::from_text(""),
        other => Arguments::Json(other.clone()),
    }
}

/// The calls of a response, or of a list of its items.
pub fn parse_response(value: &Value) -> Option<Vec<ModelCall>> {
    let items = value["output"].as_array().or_else(|| value.as_array());
    let calls: Vec<_> = match items {
        Some(items) => items.iter().filter_map(response_call).collect(),
        None => response_call(value).into_iter().collect(),
    };
    let is_response = !calls.is_empty() || value["output"].is_array();
    is_response.then_some(calls)
}

fn response_call(value: &Value) -> Option<ModelCall> {
    if value["type"] != "function_call" {
        return None;
    }
    Some(ModelCall {
        id: value["call_id"].as_str().map(str::to_owned),
        name: value["name"].as_str()?.to_owned(),
        arguments: arguments(&value["arguments"]),
    })
}

/// Messages of the role `tool`. OpenAI has no mark for errors: the text says it.
pub fn answers(answers: &[Answer<'_>]) -> Value {
    let message = |answer: &Answer<'_>| json!({ "role": "tool", "tool_call_id": answer.call.id, "content": content(answer) });
    answers.iter().map(message).collect()
}

/// Items of the next input.
pub fn response_answers(answers: &[Answer<'_>]) -> Value {
    let item = |answer: &Answer<'_>| json!({ "type": "function_call_output", "call_id": answer.call.id, "output": content(answer) });
    answers.iter().map(item).collect()
}

fn content(answer: &Answer<'_>) -> String {
    match answer.is_error() {
        true => format!("Error: {}", answer.text()),
        false => answer.text(),
    }
}

pub fn definition(tool: &ToolDefinition<'_>) -> Value {
    json!({ "type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.input_schema } })
}
