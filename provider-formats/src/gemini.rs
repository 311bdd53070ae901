//! Gemini's parts: `functionCall` and `functionResponse`.

use serde_json::{Map, Value, json};

use crate::call::{Answer, Arguments, ModelCall};
use crate::definition::ToolDefinition;

/// The calls of a response, a content, a list of parts, or one part.
pub fn parse(value: &Value) -> Option<Vec<ModelCall>> {
    if let Some(candidates) = value["candidates"].as_array() {
        let calls = candidates
            .iter()
            .map(|candidate| parse(&candidate["content"]));
        return Some(calls.flatten().flatten().collect());
    }
    let parts = value["parts"].as_array().or_else(|| value.as_array());
    let calls: Vec<_> = match parts {
        Some(parts) => parts.iter().filter_map(call).collect(),
        None => call(value).into_iter().collect(),
    };
    let is_content = !calls.is_empty() || value["parts"].is_array();
    is_content.then_some(calls)
}

fn call(part: &Value) -> Option<ModelCall> {
    // Client libraries in Python write names with an underscore.
    let call = part
        .get("functionCall")
        .or_else(|| part.get("function_call"))?;
    Some(ModelCall {
        id: call["id"].as_str().map(str::to_owned),
        name: call["name"].as_str()?.to_owned(),
        arguments: Arguments::Json(call["args"].clone()),
    })
}

/// The next content. A response is an object: `output` or `error`, as Gemini's documentation has it.
pub fn answers(answers: &[Answer<'_>]) -> Value {
    let part = |answer: &Answer<'_>| {
        let mut response = Map::new();
        response.insert("name".to_owned(), answer.call.name.as_str().into());
        if let Some(id) = &answer.call.id {
            response.insert("id".to_owned(), id.as_str().into());
        }
        let value = match &answer.result {
            Ok(value @ Value::Object(_)) => value.clone(),
            Ok(value) => json!({ "output": value }),
            Err(message) => json!({ "error": message }),
        };
        response.insert("response".to_owned(), value);
        json!({ "functionResponse": response })
    };
    json!({ "role": "user", "parts": answers.iter().map(part).collect::<Vec<_>>() })
}

pub fn definition(tool: &ToolDefinition<'_>) -> Value {
    json!({ "name": tool.name, "description": tool.description,
            "parametersJsonSchema": tool.input_schema })
}
