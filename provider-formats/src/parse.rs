//! Calls out of the text that a model, or the interface of its provider, emitted.

use serde_json::Value;

use crate::call::{Batch, ModelCall};
use crate::format::Format;
use crate::{anthropic, anthropic_xml, gemini, json, openai};

/// The most calls of one text.
pub const MAX_CALLS: usize = 1_000;

/// Why a text has no calls.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Neither JSON nor calls as XML.
    #[error(
        "this is neither JSON nor calls as XML ({0}); expected what a model emitted, such as a message with `tool_calls` or `tool_use`"
    )]
    NotJson(String),
    /// JSON of another form.
    #[error("this JSON has no tool calls in the form {expected}; `--from` names another form")]
    NoCalls {
        /// The forms that were looked for.
        expected: String,
    },
    /// A call that was cut.
    #[error("<{element} name=\"{name}\"> is not closed: the text was cut")]
    Unclosed {
        /// The element.
        element: &'static str,
        /// Its attribute `name`.
        name: String,
    },
    /// More calls than are accepted.
    #[error("{0} calls at once are too many: at most {MAX_CALLS}")]
    TooMany(usize),
}

/// Finds the calls of a text: one JSON value, one per line, JSON in a code fence, or XML in prose. Without
/// `format`, the form is that of the first calls that are found.
///
/// # Errors
///
/// [`ParseError`], with what was expected.
pub fn parse(text: &str, format: Option<Format>) -> Result<Batch, ParseError> {
    let is_xml = match format {
        Some(format) => format == Format::AnthropicXml,
        None => anthropic_xml::is_in(text) && serde_json::from_str::<Value>(text).is_err(),
    };
    let batch = match is_xml {
        true => Batch {
            format: Format::AnthropicXml,
            calls: anthropic_xml::parse(text)?,
        },
        false => of_values(&values(text)?, format)?,
    };
    match batch.calls.len() {
        0 => Err(no_calls(format)),
        count if count > MAX_CALLS => Err(ParseError::TooMany(count)),
        _ => Ok(batch),
    }
}

fn of_values(values: &[Value], format: Option<Format>) -> Result<Batch, ParseError> {
    let candidates: Vec<Format> = match format {
        Some(format) => vec![format],
        None => Format::ALL.to_vec(),
    };
    // A message without a call has a form too, so calls in another form come first.
    let batches = candidates.into_iter().filter_map(|format| {
        let calls: Option<Vec<_>> = values.iter().map(|value| calls(value, format)).collect();
        let calls = calls?.into_iter().flatten().collect::<Vec<_>>();
        Some(Batch { format, calls })
    });
    batches
        .max_by_key(|batch| {
            (
                !batch.calls.is_empty(),
                std::cmp::Reverse(batch.format as u8),
            )
        })
        .ok_or_else(|| no_calls(format))
}

fn calls(value: &Value, format: Format) -> Option<Vec<ModelCall>> {
    match format {
        Format::OpenAi => openai::parse(value),
        Format::OpenAiResponses => openai::parse_response(value),
        Format::Anthropic => anthropic::parse(value),
        Format::AnthropicXml => None,
        Format::Gemini => gemini::parse(value),
        Format::Json => json::parse(value),
    }
}

fn no_calls(format: Option<Format>) -> ParseError {
    let expected = match format {
        Some(format) => format.to_string(),
        None => Format::ALL.map(Format::as_str).join(", "),
    };
    ParseError::NoCalls { expected }
}

/// The JSON values of a text.
fn values(text: &str) -> Result<Vec<Value>, ParseError> {
    let read = |text: &str| -> Result<Vec<Value>, serde_json::Error> {
        serde_json::Deserializer::from_str(text)
            .into_iter()
            .take(MAX_CALLS + 1)
            .collect()
    };
    let error = match read(text) {
        Ok(values) if !values.is_empty() => return Ok(values),
        Ok(_) => return Err(ParseError::NotJson("it is empty".to_owned())),
        Err(error) => error,
    };
    let fenced = fence(text).and_then(|inside| read(inside).ok());
    match fenced {
        Some(values) if !values.is_empty() => Ok(values),
        _ => Err(ParseError::NotJson(error.to_string())),
    }
}

/// The content of the first code fence.
fn fence(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```")?;
    let (_, inside) = rest.split_once('\n')?;
    inside.split_once("```").map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::call::Arguments;

    fn found(value: &Value) -> (Format, Vec<(Option<String>, String, Arguments)>) {
        let batch = parse(&value.to_string(), None).unwrap();
        let calls = batch.calls.into_iter();
        (
            batch.format,
            calls
                .map(|call| (call.id, call.name, call.arguments))
                .collect(),
        )
    }

    #[test]
    fn each_form_is_recognised() {
        let id = Some("c1".to_owned());
        let args = Arguments::Json(json!({ "a": 1 }));
        let one = |id: &Option<String>| vec![(id.clone(), "s__t".to_owned(), args.clone())];
        let tool_call = json!({ "id": "c1", "type": "function",
            "function": { "name": "s__t", "arguments": "{\"a\":1}" } });
        for value in [
            json!({ "choices": [{ "message": { "role": "assistant", "content": null, "tool_calls": [tool_call] } }] }),
            json!({ "role": "assistant", "tool_calls": [tool_call] }),
            json!([tool_call]),
            tool_call.clone(),
        ] {
            assert_eq!(found(&value), (Format::OpenAi, one(&id)), "{value}");
        }
        let legacy = json!({ "role": "assistant", "function_call": { "name": "s__t", "arguments": "{\"a\":1}" } });
        assert_eq!(found(&legacy), (Format::OpenAi, one(&None)));

        let item = json!({ "type": "function_call", "call_id": "c1", "name": "s__t", "arguments": "{\"a\":1}" });
        for value in [
            json!({ "output": [{ "type": "reasoning" }, item] }),
            json!([item]),
            item.clone(),
        ] {
            assert_eq!(
                found(&value),
                (Format::OpenAiResponses, one(&id)),
                "{value}"
            );
        }
        let block = json!({ "type": "tool_use", "id": "c1", "name": "s__t", "input": { "a": 1 } });
        for value in [
            json!({ "role": "assistant", "content": [{ "type": "text", "text": "x" }, block] }),
            json!([block]),
            block.clone(),
        ] {
            assert_eq!(found(&value), (Format::Anthropic, one(&id)), "{value}");
        }
        let part = json!({ "functionCall": { "name": "s__t", "args": { "a": 1 } } });
        for value in [
            json!({ "candidates": [{ "content": { "role": "model", "parts": [part] } }] }),
            json!({ "parts": [{ "text": "x" }, part] }),
            json!([part]),
            json!({ "function_call": { "name": "s__t", "args": { "a": 1 } } }),
        ] {
            assert_eq!(found(&value), (Format::Gemini, one(&None)), "{value}");
        }
        for value in [
            json!({ "tool": "s__t", "args": { "a": 1 } }),
            json!([{ "name": "s__t", "arguments": { "a": 1 } }]),
            json!({ "calls": [{ "tool": "s__t", "args": "{\"a\":1}" }] }),
        ] {
            assert_eq!(found(&value), (Format::Json, one(&None)), "{value}");
        }
    }

    #[test]
    fn lines_and_fences_of_json_are_read() {
        let lines = "{\"tool\":\"a:b\"}\n{\"tool\":\"a:c\"}\n";
        assert_eq!(parse(lines, None).unwrap().calls.len(), 2);
        let fenced = "I call it:\n```json\n{\"tool\":\"a:b\",\"args\":{}}\n```\n";
        assert_eq!(parse(fenced, None).unwrap().calls[0].name, "a:b");
    }

    #[test]
    fn a_text_without_calls_says_what_was_expected() {
        let message = |text: &str, format| parse(text, format).unwrap_err().to_string();
        assert!(message("hello", None).contains("neither JSON nor calls"));
        assert!(message("", None).contains("empty"));
        assert!(message("{\"a\":1}", None).contains("openai, openai-responses"));
        let answered = "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}";
        assert!(message(answered, None).contains("no tool calls"));
        let other = "{\"tool\":\"a:b\"}";
        assert!(message(other, Some(Format::Anthropic)).contains("form anthropic"));
        let many = format!("[{}]", vec!["{\"tool\":\"a:b\"}"; 1_001].join(","));
        assert_eq!(parse(&many, None), Err(ParseError::TooMany(1_001)));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[<>/a-z:= \"'{}\\[\\],]{0,200}", any in ".{0,100}") {
            let _ = parse(&text, None);
            let _ = parse(&any, None);
            let _ = parse(&format!("<invoke name=\"{any}\">{text}"), None);
        }
    }
}
