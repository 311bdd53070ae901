//! Replaces HTTP responses over the size limit by an error with their size.

use std::io;

use futures::StreamExt;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use serde_json::json;
use sse_stream::Sse;

use super::id_scanner::IdScanner;
use super::repair::repair;
use super::{MAX_MESSAGE_BYTES, TOO_LARGE};

/// The most that the transport reads: more than the limit, so that the size is known, and little enough
/// for memory.
pub const MAX_READ_BYTES: usize = 16 * MAX_MESSAGE_BYTES;

/// Checks the size of every message in `response` to `request`.
pub fn limit_response(
    response: StreamableHttpPostResponse,
    request: &ClientJsonRpcMessage,
) -> StreamableHttpPostResponse {
    match response {
        StreamableHttpPostResponse::Json(mut message, session) => {
            let mut size = Size(0);
            // The writer cannot fail; a message that cannot be serialized counts as small.
            let _ = serde_json::to_writer(&mut size, &message);
            let id = match request {
                JsonRpcMessage::Request(request) => Some(request.id.clone()),
                _ => None,
            };
            // The response to a POST belongs to its request, whatever id it has.
            if let (JsonRpcMessage::Error(error), Some(_)) = (&mut message, &id) {
                error.id.clone_from(&id);
            }
            let message = if size.0 > MAX_MESSAGE_BYTES {
                too_large(id, size.0)
            } else {
                message
            };
            StreamableHttpPostResponse::Json(message, session)
        }
        StreamableHttpPostResponse::Sse(events, session) => {
            let events = events.map(|event| event.map(limit_event)).boxed();
            StreamableHttpPostResponse::Sse(events, session)
        }
        other => other,
    }
}

/// Checks the size of one event of a stream, and repairs text that was cut within a character: the
/// transport would skip the event, and its call would wait.
pub fn limit_event(mut event: Sse) -> Sse {
    if let Some(data) = event.data.as_ref().filter(|data| data.contains("\\u"))
        && let Some(repaired) = repair(data.as_bytes())
    {
        event.data = String::from_utf8(repaired).ok();
    }
    if let Some(data) = event
        .data
        .as_ref()
        .filter(|data| data.len() > MAX_MESSAGE_BYTES)
    {
        let mut scanner = IdScanner::default();
        scanner.feed(data.as_bytes());
        let error = too_large(scanner.id().map(RequestId::Number), data.len());
        event.data = serde_json::to_string(&error).ok();
    }
    event
}

fn too_large(id: Option<RequestId>, bytes: usize) -> rmcp::model::ServerJsonRpcMessage {
    let error = ErrorData::new(
        TOO_LARGE,
        "the answer is too large",
        Some(json!({ "bytes": bytes })),
    );
    JsonRpcMessage::error(error, id)
}

/// Counts bytes.
struct Size(usize);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
