//! Refuses an HTTP answer over the size limit, with its size, in the place of the answer.

use std::io;

use futures::StreamExt;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use serde_json::json;
use sse_stream::Sse;

use super::repair::repair;
use super::scan::IdScanner;
use super::{MAX_MESSAGE_BYTES, TOO_LARGE};

/// What the transport below may read at most: more than the limit, so that the size can be told,
/// and little enough to hold.
pub const READ_AT_MOST: usize = 16 * MAX_MESSAGE_BYTES;

/// Looks at the size of every message in `response`, which answers `request`.
pub fn bounded(
    response: StreamableHttpPostResponse,
    request: &ClientJsonRpcMessage,
) -> StreamableHttpPostResponse {
    match response {
        StreamableHttpPostResponse::Json(mut message, session) => {
            let mut size = Size(0);
            // Counting cannot fail, and what cannot be written has no size to speak of.
            let _ = serde_json::to_writer(&mut size, &message);
            let id = match request {
                JsonRpcMessage::Request(request) => Some(request.id.clone()),
                _ => None,
            };
            // What answers this POST answers this request, whatever number it has.
            if let (JsonRpcMessage::Error(error), Some(_)) = (&mut message, &id) {
                error.id.clone_from(&id);
            }
            let message = if size.0 > MAX_MESSAGE_BYTES {
                refusal(id, size.0)
            } else {
                message
            };
            StreamableHttpPostResponse::Json(message, session)
        }
        StreamableHttpPostResponse::Sse(events, session) => {
            let events = events.map(|event| event.map(bounded_event)).boxed();
            StreamableHttpPostResponse::Sse(events, session)
        }
        other => other,
    }
}

/// The same for one event of a stream. A text that was cut in the middle of a character is mended
/// too: the transport would pass over the event, and its call would wait.
pub fn bounded_event(mut event: Sse) -> Sse {
    if let Some(data) = event.data.as_ref().filter(|data| data.contains("\\u"))
        && let Some(mended) = repair(data.as_bytes())
    {
        event.data = String::from_utf8(mended).ok();
    }
    if let Some(data) = event
        .data
        .as_ref()
        .filter(|data| data.len() > MAX_MESSAGE_BYTES)
    {
        let mut scanner = IdScanner::default();
        scanner.feed(data.as_bytes());
        let refusal = refusal(scanner.id().map(RequestId::Number), data.len());
        event.data = serde_json::to_string(&refusal).ok();
    }
    event
}

fn refusal(id: Option<RequestId>, bytes: usize) -> rmcp::model::ServerJsonRpcMessage {
    let error = ErrorData::new(
        TOO_LARGE,
        "the answer is too large",
        Some(json!({ "bytes": bytes })),
    );
    JsonRpcMessage::error(error, id)
}

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
