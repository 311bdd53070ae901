//! Parses JSON-RPC messages of clients.
//!
//! Every request gets a response, also one that cannot be parsed. Other invalid input gets the error
//! that JSON-RPC defines for it, if it defines one.

use pml_gateway::json_size;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, NumberOrString, RequestId,
    ServerJsonRpcMessage,
};
use serde_json::{Map, Value};

use crate::tool_reply::refusal;

/// The largest message: a script of 1 MiB in its longest JSON escape (`\u0000`, 6 bytes for each), and
/// 2 MiB besides.
pub const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// Estimated bytes of a message as parsed values: about 300,000 numbers. 8 MiB of `[{},{},…]` would become
/// half a gigabyte.
pub const MAX_PARSED_BYTES: usize = 32 * 1024 * 1024;

/// The longest id of a request: ids are kept while requests are open, and logged.
const MAX_ID_BYTES: usize = 1_024;

/// The result of parsing one message.
pub enum Parsed {
    /// A valid message.
    Message(Box<ClientJsonRpcMessage>),
    /// The error that is sent back.
    Error(Box<ServerJsonRpcMessage>),
    /// A notification or response that cannot be parsed: JSON-RPC has no reply to it.
    Ignored,
}

/// Parses the bytes of one message.
pub fn parse(bytes: &[u8]) -> Parsed {
    if json_size::exceeds(bytes, MAX_PARSED_BYTES) {
        let message = "the message has too many values: parsed, they would take more than 32 MiB";
        return error(None, ErrorCode::INVALID_REQUEST, message);
    }
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return error(None, ErrorCode::PARSE_ERROR, "this is not JSON");
    };
    let Value::Object(fields) = value else {
        return error(
            None,
            ErrorCode::INVALID_REQUEST,
            "a message is one JSON object; there are no batches",
        );
    };
    let id = match parse_id(&fields) {
        Ok(id) => id,
        Err(()) => {
            return error(
                None,
                ErrorCode::INVALID_REQUEST,
                "an id is a string of at most 1,024 bytes or a whole number",
            );
        }
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return error(id, ErrorCode::INVALID_REQUEST, "jsonrpc must be \"2.0\"");
    }
    let is_response = fields.contains_key("result") || fields.contains_key("error");
    match fields.get("method") {
        Some(Value::String(_)) if !is_response => {}
        None if is_response => {
            return match to_message(fields) {
                Some(message) => Parsed::Message(message),
                None => Parsed::Ignored,
            };
        }
        _ => return error(id, ErrorCode::INVALID_REQUEST, "a request names its method"),
    }
    if fields
        .get("params")
        .is_some_and(|params| !params.is_object())
    {
        return match id {
            Some(id) => error(
                Some(id),
                ErrorCode::INVALID_PARAMS,
                "params must be an object",
            ),
            None => Parsed::Ignored,
        };
    }
    match (to_message(fields), id) {
        (Some(message), _) => Parsed::Message(message),
        (None, Some(id)) => error(
            Some(id),
            ErrorCode::INVALID_PARAMS,
            "the parameters do not fit the method",
        ),
        (None, None) => Parsed::Ignored,
    }
}

/// Whether this message may be the first of a connection.
pub fn may_be_first(message: &ClientJsonRpcMessage) -> bool {
    use rmcp::model::GetMeta;
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        other => other.get_meta().protocol_version().is_some(),
    }
}

fn to_message(fields: Map<String, Value>) -> Option<Box<ClientJsonRpcMessage>> {
    serde_json::from_value(Value::Object(fields))
        .ok()
        .map(Box::new)
}

/// The id of a message, if it has one; an error if it is neither a string nor an integer.
fn parse_id(fields: &Map<String, Value>) -> Result<Option<RequestId>, ()> {
    match fields.get("id") {
        None => Ok(None),
        Some(Value::String(text)) if text.len() > MAX_ID_BYTES => Err(()),
        Some(Value::String(text)) => Ok(Some(NumberOrString::String(text.as_str().into()))),
        Some(Value::Number(number)) => number
            .as_i64()
            .map(|number| Some(NumberOrString::Number(number)))
            .ok_or(()),
        Some(_) => Err(()),
    }
}

/// An error reply.
pub fn error(id: Option<RequestId>, code: ErrorCode, message: &'static str) -> Parsed {
    let data: ErrorData = refusal(code, message.into());
    Parsed::Error(Box::new(JsonRpcMessage::error(data, id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<(Option<String>, i32)> {
        match parse(text.as_bytes()) {
            Parsed::Error(error) => match *error {
                JsonRpcMessage::Error(error) => {
                    Some((error.id.map(|id| id.to_string()), error.error.code.0))
                }
                _ => None,
            },
            _ => None,
        }
    }

    #[test]
    fn invalid_input_gets_the_error_that_json_rpc_defines() {
        for (text, id, expected) in [
            ("", None, -32700),
            ("{", None, -32700),
            ("[]", None, -32600),
            (
                "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
                None,
                -32600,
            ),
            ("null", None, -32600),
            ("{}", None, -32600),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                Some("1"),
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                None,
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                None,
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None, -32600),
            (r#"{"jsonrpc":"2.0","id":7,"method":7}"#, Some("7"), -32600),
            (r#"{"jsonrpc":"2.0","id":7}"#, Some("7"), -32600),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}"#,
                Some("7"),
                -32602,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":"x"}"#,
                Some("a"),
                -32602,
            ),
        ] {
            assert_eq!(
                code(text),
                Some((id.map(str::to_owned), expected)),
                "{text}"
            );
        }
    }

    #[test]
    fn notifications_are_never_answered() {
        for text in [
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
        ] {
            assert!(
                !matches!(parse(text.as_bytes()), Parsed::Error(_)),
                "{text}"
            );
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        let text = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(code(&text), Some((None, -32700)));
    }
}
