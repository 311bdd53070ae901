//! Lenient parsing of the lines that real servers print.

use std::collections::{HashSet, VecDeque};
use std::panic::AssertUnwindSafe;

use rmcp::model::{
    ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::id_scanner::IdScanner;
use super::repair::repair;
use super::traffic::Traffic;
use super::{MALFORMED, MAX_PARSED_BYTES, TOO_LARGE};
use crate::json_size;

/// Appends the messages of a line to `ready`: one, several of a batch, or none.
///
/// A response that cannot be parsed becomes an error for the request in `waiting` that it belongs
/// to. Any other line that is not JSON-RPC is skipped and counted. A line whose values would take too
/// much memory is not parsed, and a panic of a parser is an unreadable line.
pub fn parse_line(
    line: &[u8],
    waiting: &HashSet<RequestId>,
    traffic: &Traffic,
    ready: &mut VecDeque<ServerJsonRpcMessage>,
) {
    let line = message_in(line.trim_ascii());
    if line.is_empty() {
        return;
    }
    if json_size::exceeds(line, MAX_PARSED_BYTES) {
        match waiting_id(line, waiting) {
            Some(id) => ready.push_back(too_many_values(id, line.len())),
            None => traffic.count_skipped(line),
        }
        return;
    }
    let delivered = ready.len();
    // Messages that were parsed before a panic are dropped below, so none is half made.
    let parse = || parse_messages(line, waiting, traffic, ready);
    if std::panic::catch_unwind(AssertUnwindSafe(parse)).is_err() {
        ready.truncate(delivered);
        match waiting_id(line, waiting) {
            Some(id) => ready.push_back(unreadable(id, line, "a parser panicked", traffic)),
            None => traffic.count_skipped(line),
        }
    }
}

fn parse_messages(
    line: &[u8],
    waiting: &HashSet<RequestId>,
    traffic: &Traffic,
    ready: &mut VecDeque<ServerJsonRpcMessage>,
) {
    if let Ok(message) = serde_json::from_slice::<ServerJsonRpcMessage>(line)
        && !is_incomplete_initialize(&message)
    {
        ready.push_back(message);
        return;
    }
    match parse_or_repair(line) {
        Ok(Value::Array(batch)) => {
            for value in batch {
                ready.extend(message_from(value, waiting, traffic));
            }
        }
        Ok(value) => ready.extend(message_from(value, waiting, traffic)),
        Err(error) => match waiting_id(line, waiting) {
            Some(id) => ready.push_back(unreadable(id, line, &error.to_string(), traffic)),
            None => traffic.count_skipped(line),
        },
    }
}

/// The error in place of a response that is longer than a message may be.
pub(super) fn too_large(id: i64, bytes: usize) -> ServerJsonRpcMessage {
    let data = json!({ "bytes": bytes });
    error_response(id, TOO_LARGE, "the answer is too large", data)
}

/// The error in place of a response whose values would take too much memory.
fn too_many_values(id: i64, bytes: usize) -> ServerJsonRpcMessage {
    let data = json!({ "bytes": bytes, "values": true });
    error_response(id, TOO_LARGE, "the answer has too many values", data)
}

/// The message on a line: after a byte order mark, or after text that a server printed without a
/// line feed.
fn message_in(line: &[u8]) -> &[u8] {
    const BEGINNING: &[u8] = b"{\"jsonrpc\"";
    if matches!(line.first(), None | Some(b'{' | b'[')) {
        return line;
    }
    let found = line.windows(BEGINNING.len()).position(|w| w == BEGINNING);
    &line[found.unwrap_or(0)..]
}

/// Whether this is a response to `initialize` that lacks a field: rmcp parses it as a result of
/// unknown type.
fn is_incomplete_initialize(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Response(response)
        if matches!(&response.result, ServerResult::CustomResult(result)
            if result.0.get("protocolVersion").is_some()))
}

fn parse_or_repair(line: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(line).or_else(|error| match repair(line) {
        Some(repaired) => serde_json::from_slice(&repaired),
        None => Err(error),
    })
}

/// The id of the waiting request that a line which cannot be parsed responds to.
fn waiting_id(line: &[u8], waiting: &HashSet<RequestId>) -> Option<i64> {
    let mut scanner = IdScanner::default();
    scanner.feed(line);
    let id = scanner.id()?;
    waiting.contains(&RequestId::Number(id)).then_some(id)
}

fn unreadable(id: i64, line: &[u8], reason: &str, traffic: &Traffic) -> ServerJsonRpcMessage {
    let message = match serde_json::from_slice::<IgnoredAny>(line) {
        Ok(_) => "the answer is nested too deeply to be read",
        Err(_) => "the answer is not valid JSON",
    };
    let data = json!({ "answer": traffic.shorten(line), "reason": reason });
    error_response(id, MALFORMED, message, data)
}

/// The message in `value`. A response of the wrong shape still ends the request that it belongs to;
/// anything else is skipped.
fn message_from(
    mut value: Value,
    waiting: &HashSet<RequestId>,
    traffic: &Traffic,
) -> Option<ServerJsonRpcMessage> {
    normalize(&mut value);
    let error = match serde_json::from_value::<ServerJsonRpcMessage>(value.clone()) {
        Ok(message) => return Some(message),
        Err(error) => error,
    };
    let id = match &value["id"] {
        Value::Number(number) if value.get("method").is_none() => number.as_i64(),
        _ => None,
    };
    // A line of a log may have an `id` too.
    let id = id.filter(|id| waiting.contains(&RequestId::Number(*id)) && is_response(&value));
    let text = value.to_string();
    match id {
        Some(id) => Some(error_response(
            id,
            MALFORMED,
            "the answer is not valid JSON-RPC",
            json!({ "answer": traffic.shorten(text.as_bytes()), "reason": error.to_string() }),
        )),
        None => {
            traffic.count_skipped(text.as_bytes());
            None
        }
    }
}

fn is_response(value: &Value) -> bool {
    ["jsonrpc", "result", "error"]
        .iter()
        .any(|key| value.get(key).is_some())
}

/// Removes a `result` or `error` that is null beside the other one, and adds the `serverInfo` that
/// some servers leave out of their response to `initialize`.
fn normalize(value: &mut Value) {
    let Some(message) = value.as_object_mut() else {
        return;
    };
    if message.contains_key("result") && message.get("error") == Some(&Value::Null) {
        message.remove("error");
    }
    if message.contains_key("error") && message.get("result") == Some(&Value::Null) {
        message.remove("result");
    }
    let Some(Value::Object(result)) = message.get_mut("result") else {
        return;
    };
    if !result.contains_key("protocolVersion") {
        return;
    }
    let info = result.entry("serverInfo").or_insert_with(|| json!({}));
    if let Value::Object(info) = info {
        for key in ["name", "version"] {
            info.entry(key).or_insert_with(|| json!("unknown"));
        }
    }
}

/// Our own ids are numbers, so only a number can be the id of a request of ours.
fn error_response(
    id: i64,
    code: ErrorCode,
    message: &'static str,
    data: Value,
) -> ServerJsonRpcMessage {
    JsonRpcMessage::error(
        ErrorData::new(code, message, Some(data)),
        Some(RequestId::Number(id)),
    )
}
