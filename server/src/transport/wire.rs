//! From bytes to a message of the protocol, or to the error that answers them.
//!
//! Whatever comes in, what goes out is proper: a request gets a response, and what is no request
//! gets one where JSON-RPC has one for it.

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, NumberOrString, RequestId,
    ServerJsonRpcMessage,
};
use serde_json::{Map, Value};

use crate::tool_reply::refusal;

/// What became of the bytes.
pub enum Read {
    Message(Box<ClientJsonRpcMessage>),
    /// This answers them.
    Error(Box<ServerJsonRpcMessage>),
    /// Nothing does: a notification that is not understood is dropped.
    Nothing,
}

pub fn read(bytes: &[u8]) -> Read {
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
    let id = match id(&fields) {
        Ok(id) => id,
        Err(()) => {
            return error(
                None,
                ErrorCode::INVALID_REQUEST,
                "an id is a string or a whole number",
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
            return match parse(fields) {
                Some(message) => Read::Message(message),
                None => Read::Nothing,
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
            None => Read::Nothing,
        };
    }
    match (parse(fields), id) {
        (Some(message), _) => Read::Message(message),
        (None, Some(id)) => error(
            Some(id),
            ErrorCode::INVALID_PARAMS,
            "the parameters do not fit the method",
        ),
        (None, None) => Read::Nothing,
    }
}

/// Whether this message may begin a connection.
pub fn begins(message: &ClientJsonRpcMessage) -> bool {
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

fn parse(fields: Map<String, Value>) -> Option<Box<ClientJsonRpcMessage>> {
    serde_json::from_value(Value::Object(fields))
        .ok()
        .map(Box::new)
}

fn id(fields: &Map<String, Value>) -> Result<Option<RequestId>, ()> {
    match fields.get("id") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(NumberOrString::String(text.as_str().into()))),
        Some(Value::Number(number)) => number
            .as_i64()
            .map(|number| Some(NumberOrString::Number(number)))
            .ok_or(()),
        Some(_) => Err(()),
    }
}

pub fn error(id: Option<RequestId>, code: ErrorCode, message: &'static str) -> Read {
    let data: ErrorData = refusal(code, message.into());
    Read::Error(Box::new(JsonRpcMessage::error(data, id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<(Option<String>, i32)> {
        match read(text.as_bytes()) {
            Read::Error(error) => match *error {
                JsonRpcMessage::Error(error) => {
                    Some((error.id.map(|id| id.to_string()), error.error.code.0))
                }
                _ => None,
            },
            _ => None,
        }
    }

    #[test]
    fn what_is_no_request_gets_the_error_json_rpc_has_for_it() {
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
            assert!(!matches!(read(text.as_bytes()), Read::Error(_)), "{text}");
        }
    }

    #[test]
    fn nesting_without_end_is_an_error_and_no_crash() {
        let text = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(code(&text), Some((None, -32700)));
    }
}
