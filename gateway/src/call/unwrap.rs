//! Converts an MCP result to the value that a script gets.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rmcp::model::{CallToolResult, ContentBlock};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::json_size;
use crate::transport::MAX_PARSED_BYTES;

/// What a script gets of a result.
#[derive(Debug, PartialEq)]
pub enum Unwrapped {
    Value(Value),
    /// The tool's error message.
    Error(String),
    /// The text is JSON that would take too much memory once it is parsed.
    TooManyValues,
}

/// The value of a result, or the tool's error message.
///
/// In this order: `isError` is an error; `structuredContent` is the value; text that is JSON is
/// that JSON; other text is a string; anything else (images, audio, resources, links) is the list
/// of content blocks as the server sent them.
pub fn unwrap(result: CallToolResult) -> Unwrapped {
    if result.is_error == Some(true) {
        return Unwrapped::Error(error_text(&result));
    }
    // Some servers send `null` for fields without a value.
    if let Some(structured) = result.structured_content.filter(|value| !value.is_null()) {
        return Unwrapped::Value(structured);
    }
    if result.content.is_empty() {
        return Unwrapped::Value(Value::Null);
    }
    match into_text(result.content) {
        Ok(text) => parse_text(text),
        Err(content) => Unwrapped::Value(blocks(&content)),
    }
}

/// The text as JSON if it is, else as a string.
fn parse_text(text: String) -> Unwrapped {
    // Checked first without memory: most large texts are not JSON.
    if json_size::exceeds(text.as_bytes(), MAX_PARSED_BYTES) {
        return match serde_json::from_str::<IgnoredAny>(&text) {
            Ok(_) => Unwrapped::TooManyValues,
            Err(_) => Unwrapped::Value(Value::String(text)),
        };
    }
    // The parser shares no state with anything else; a panic of it is text that is not JSON.
    let parse = || serde_json::from_str(&text).ok();
    let parsed = catch_unwind(AssertUnwindSafe(parse)).unwrap_or_default();
    Unwrapped::Value(parsed.unwrap_or(Value::String(text)))
}

/// [`unwrap`] for a result that does not fit the specification, for example with an unknown content
/// type.
pub fn unwrap_lenient(mut result: Value) -> Result<Value, String> {
    if result["isError"] == json!(true) {
        let content = result.get("content").unwrap_or(&result);
        return Err(blocks_text(content).unwrap_or_else(|| result.to_string()));
    }
    let taken = |result: &mut Value, key: &str| result.get_mut(key).map(Value::take);
    if let Some(structured) = taken(&mut result, "structuredContent")
        && !structured.is_null()
    {
        return Ok(structured);
    }
    Ok(taken(&mut result, "content").unwrap_or(result))
}

/// The text of `content` if it is nothing but text. A single block, which may be large, is moved.
fn into_text(mut content: Vec<ContentBlock>) -> Result<String, Vec<ContentBlock>> {
    match content.as_mut_slice() {
        [ContentBlock::Text(only)] => Ok(std::mem::take(&mut only.text)),
        _ => all_text(&content).ok_or(content),
    }
}

fn all_text(content: &[ContentBlock]) -> Option<String> {
    let mut texts = Vec::with_capacity(content.len());
    for block in content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text.as_str()),
            _ => return None,
        }
    }
    Some(texts.join("\n"))
}

fn blocks(content: &[ContentBlock]) -> Value {
    serde_json::to_value(content).unwrap_or(Value::Null)
}

fn error_text(result: &CallToolResult) -> String {
    let structured = result.structured_content.as_ref();
    blocks_text(&blocks(&result.content))
        .or_else(|| Some(structured.filter(|value| !value.is_null())?.to_string()))
        .unwrap_or_else(|| "the tool reported an error without saying which".to_owned())
}

/// The text of the blocks, one per line. Other blocks are named only: an image would fill the message
/// with its bytes.
fn blocks_text(content: &Value) -> Option<String> {
    let Some(content) = content.as_array() else {
        return Some(content.to_string());
    };
    let lines: Vec<String> = content
        .iter()
        .map(|block| match (&block["text"], &block["type"]) {
            (Value::String(text), _) => text.clone(),
            (_, Value::String(kind)) => format!("({kind})"),
            _ => block.to_string(),
        })
        .filter(|line| !line.is_empty())
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(result: Value) -> Result<Value, String> {
        match unwrap(serde_json::from_value(result).unwrap()) {
            Unwrapped::Value(value) => Ok(value),
            Unwrapped::Error(text) => Err(text),
            Unwrapped::TooManyValues => Err("too many values".to_owned()),
        }
    }

    #[test]
    fn text_that_would_become_a_gigabyte_of_values_is_refused() {
        let zeros = format!("[{}0]", "0,".repeat(2_000_000));
        let result = |text: &str| run(json!({ "content": [{ "type": "text", "text": text }] }));
        assert_eq!(result(&zeros), Err("too many values".to_owned()));
        let prose = ", ".repeat(2_000_000);
        assert_eq!(result(&prose), Ok(json!(prose)), "text that is not JSON");
    }

    #[test]
    fn structured_content_comes_before_text() {
        let result = json!({ "content": [{ "type": "text", "text": "x" }], "structuredContent": { "a": 1 } });
        assert_eq!(run(result), Ok(json!({ "a": 1 })));
    }

    #[test]
    fn text_is_json_when_it_parses_and_a_string_when_not() {
        let text = |text: &str| run(json!({ "content": [{ "type": "text", "text": text }] }));
        assert_eq!(text("{\"a\":[1,2]}"), Ok(json!({ "a": [1, 2] })));
        assert_eq!(text("hello {"), Ok(json!("hello {")));
        assert_eq!(
            run(
                json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] })
            ),
            Ok(json!("a\nb"))
        );
    }

    #[test]
    fn images_audio_resources_and_links_survive() {
        let content = json!([
            { "type": "text", "text": "see" },
            { "type": "image", "data": "aGk=", "mimeType": "image/png" },
            { "type": "audio", "data": "aGk=", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "a:b", "text": "t", "mimeType": "text/plain" } },
            { "type": "resource_link", "uri": "c:d", "name": "n" },
        ]);
        assert_eq!(run(json!({ "content": content })), Ok(content));
    }

    #[test]
    fn an_error_of_the_tool_has_the_tools_message() {
        let result =
            json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true });
        assert_eq!(run(result), Err("no such file".to_owned()));
        assert_eq!(
            run(json!({ "content": [], "isError": true })),
            Err("the tool reported an error without saying which".to_owned())
        );
    }

    #[test]
    fn an_error_with_an_image_has_its_text_and_not_its_bytes() {
        let content = json!([
            { "type": "text", "text": "the page crashed" },
            { "type": "image", "data": "aGk=", "mimeType": "image/png" },
        ]);
        let result = json!({ "content": content, "isError": true });
        let message = Err("the page crashed\n(image)".to_owned());
        assert_eq!(run(result.clone()), message);
        assert_eq!(unwrap_lenient(result), message);
    }

    #[test]
    fn structured_content_that_is_null_is_none() {
        let content = json!([{ "type": "text", "text": "x" }]);
        let result = json!({ "content": content, "structuredContent": null });
        assert_eq!(run(result), Ok(json!("x")));
        let failed = json!({ "content": content, "structuredContent": null, "isError": true });
        assert_eq!(run(failed), Err("x".to_owned()));
    }

    #[test]
    fn nothing_at_all_is_null() {
        assert_eq!(run(json!({ "content": [] })), Ok(Value::Null));
    }

    #[test]
    fn an_unknown_content_type_is_passed_on() {
        let result = json!({ "content": [{ "type": "hologram", "z": 1 }] });
        assert_eq!(
            unwrap_lenient(result),
            Ok(json!([{ "type": "hologram", "z": 1 }]))
        );
    }
}
