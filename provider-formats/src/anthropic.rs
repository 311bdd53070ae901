//! Anthropic's messages: `tool_use` and `tool_result`.

use serde_json::{Value, json};

use crate::call::{Answer, Arguments, ModelCall};
use crate::definition::ToolDefinition;

/// The calls of a message, a list of content blocks, or one block.
pub fn parse(value: &Value) -> Option<Vec<ModelCall>> {
    let blocks = value["content"].as_array().or_else(|| value.as_array());
    let calls: Vec<_> = match blocks {
        Some(blocks) => blocks.iter().filter_map(call).collect(),
        None => call(value).into_iter().collect(),
    };
    let is_message =
        !calls.is_empty() || (value["content"].is_array() && value["role"].is_string());
    is_message.then_some(calls)
}

fn call(block: &Value) -> Option<ModelCall> {
    if block["type"] != "tool_use" {
        return None;
    }
    Some(ModelCall {
        id: block["id"].as_str().map(str::to_owned),
        name: block["name"].as_str()?.to_owned(),
        arguments: Arguments::Json(block["input"].clone()),
    })
}

/// The next message of the user.
pub fn answers(answers: &[Answer<'_>]) -> Value {
    let block = |answer: &Answer<'_>| {
        let mut block = json!({
            "type": "tool_result", "tool_use_id": answer.call.id, "content": answer.text() });
        if answer.is_error() {
            block["is_error"] = Value::Bool(true);
        }
        block
    };
    json!({ "role": "user", "content": answers.iter().map(block).collect::<Vec<_>>() })
}

pub fn definition(tool: &ToolDefinition<'_>) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema })
}
