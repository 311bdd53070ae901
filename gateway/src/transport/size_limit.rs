//! Replaces events over the size limit by an error with their size.

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use serde_json::json;
use sse_stream::Sse;

use super::id_scanner::IdScanner;
use super::repair::repair;
use super::{MAX_MESSAGE_BYTES, MAX_PARSED_BYTES, TOO_LARGE};
use crate::json_size;

/// The most that is read of one event: the largest message, its field name and line ends.
pub const MAX_EVENT_BYTES: usize = MAX_MESSAGE_BYTES + 64 * 1024;

/// Checks the size of one event of a stream, and repairs text that was cut within a character: the
/// transport would skip the event, and its call would wait.
pub fn limit_event(mut event: Sse) -> Sse {
    let Some(data) = &event.data else {
        return event;
    };
    if data.len() > MAX_MESSAGE_BYTES || json_size::exceeds(data.as_bytes(), MAX_PARSED_BYTES) {
        let mut scanner = IdScanner::default();
        scanner.feed(data.as_bytes());
        let error = too_large(scanner.id().map(RequestId::Number), data.len());
        event.data = serde_json::to_string(&error).ok();
    } else if data.contains("\\u")
        && let Some(repaired) = repair(data.as_bytes())
    {
        event.data = String::from_utf8(repaired).ok();
    }
    event
}

/// The error in place of a message that is too large, as text or as values.
pub fn too_large(id: Option<RequestId>, bytes: usize) -> ServerJsonRpcMessage {
    let error = ErrorData::new(
        TOO_LARGE,
        "the answer is too large",
        Some(json!({ "bytes": bytes, "values": bytes <= MAX_MESSAGE_BYTES })),
    );
    JsonRpcMessage::error(error, id)
}
