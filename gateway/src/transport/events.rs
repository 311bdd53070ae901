//! Splits a byte stream into server-sent events of bounded size.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::stream::BoxStream;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;

use super::body_memory::{ServerShare, TextMemory};
use super::id_scanner::IdScanner;
use super::size_limit::{MAX_EVENT_BYTES, limit_event, too_large};
use crate::off_loop::SMALL_TEXT;

/// Events that are parsed before the stream is polled again: a piece of the stream can hold many.
type Ready = VecDeque<Sse>;

/// Parses server-sent events; feed it the stream in pieces of any size.
///
/// Of an event over the limit, only the JSON-RPC id is kept, and an error with the size takes its place.
#[derive(Default)]
pub struct EventParser {
    /// The current line, without its end.
    line: Vec<u8>,
    event: Sse,
    /// Bytes of the fields of `event`.
    event_bytes: usize,
    /// The last line ended with a carriage return: a line feed belongs to it.
    after_return: bool,
    oversized: Option<Oversized>,
    ready: Ready,
}

/// An event that is too large to keep.
#[derive(Default)]
struct Oversized {
    scanner: IdScanner,
    bytes: usize,
    /// Bytes of the current line: an empty line ends the event.
    line_bytes: usize,
}

impl EventParser {
    /// Reads the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.extend_line(&rest[..end.unwrap_or(rest.len())]);
            let Some(end) = end else {
                return;
            };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_line();
        }
    }

    /// Bytes of the event that is not complete yet.
    fn held_bytes(&self) -> usize {
        self.line.len() + self.event_bytes
    }

    /// The next complete event. A large one is not checked: see [`limit_event`].
    pub fn pop(&mut self) -> Option<Sse> {
        self.ready.pop_front()
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        if self.oversized.is_none()
            && self.event_bytes + self.line.len() + bytes.len() > MAX_EVENT_BYTES
        {
            let mut oversized = Oversized::default();
            let data = self.event.data.take().unwrap_or_default();
            oversized.read(data.as_bytes());
            oversized.line_bytes = 0;
            oversized.read(self.line.strip_prefix(b"data:").unwrap_or(&self.line));
            self.line = Vec::new();
            self.event = Sse::default();
            self.oversized = Some(oversized);
        }
        match &mut self.oversized {
            Some(oversized) => oversized.read(bytes),
            None => self.line.extend_from_slice(bytes),
        }
    }

    fn end_line(&mut self) {
        if let Some(oversized) = &mut self.oversized {
            if oversized.line_bytes > 0 {
                oversized.line_bytes = 0;
                return;
            }
            let id = oversized.scanner.id().map(RequestId::Number);
            let error = too_large(id, oversized.bytes);
            self.ready.push_back(Sse {
                data: serde_json::to_string(&error).ok(),
                ..Sse::default()
            });
            self.oversized = None;
            self.event_bytes = 0;
            return;
        }
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            self.event_bytes = 0;
            if event != Sse::default() {
                let is_large = event
                    .data
                    .as_ref()
                    .is_some_and(|data| data.len() > SMALL_TEXT);
                self.ready.push_back(match is_large {
                    true => event,
                    false => limit_event(event),
                });
            }
            return;
        }
        self.event_bytes += line.len();
        self.read_field(&String::from_utf8_lossy(&line));
    }

    fn read_field(&mut self, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.event = Some(value.to_owned()),
            "id" => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok(),
            "data" => match &mut self.event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                none => *none = Some(value.to_owned()),
            },
            _ => {}
        }
    }
}

impl Oversized {
    fn read(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes);
        self.bytes += bytes.len();
        self.line_bytes += bytes.len();
    }
}

/// An event, and the memory of its text.
pub struct ReceivedEvent {
    pub event: Sse,
    /// Held until this is dropped.
    pub memory: TextMemory,
}

/// The events of the body of `response`.
pub fn events_of(
    response: reqwest::Response,
    share: ServerShare,
) -> BoxStream<'static, Result<ReceivedEvent, SseError>> {
    let state = EventStream {
        bytes: response.bytes_stream().boxed(),
        parser: EventParser::default(),
        memory: share.text(),
        share,
        failed: false,
    };
    futures::stream::unfold(state, |mut state| async move {
        let event = state.next().await?;
        Some((event, state))
    })
    .boxed()
}

struct EventStream<B> {
    bytes: B,
    parser: EventParser,
    share: ServerShare,
    /// Of the event that is being read.
    memory: TextMemory,
    failed: bool,
}

impl<B, P> EventStream<B>
where
    B: futures::Stream<Item = reqwest::Result<P>> + Unpin,
    P: AsRef<[u8]>,
{
    async fn next(&mut self) -> Option<Result<ReceivedEvent, SseError>> {
        loop {
            if self.failed {
                return None;
            }
            if let Some(event) = self.parser.pop() {
                let memory = std::mem::replace(&mut self.memory, self.share.text());
                return Some(Ok(ReceivedEvent { event, memory }));
            }
            let read = match self.bytes.next().await? {
                Ok(piece) => {
                    self.parser.feed(piece.as_ref());
                    let bytes = self.parser.held_bytes();
                    let covered = self.memory.cover(bytes, MAX_EVENT_BYTES).await;
                    covered.map_err(|error| SseError::Body(Box::new(error)))
                }
                Err(error) => Err(SseError::Body(Box::new(error))),
            };
            if let Err(error) = read {
                self.failed = true;
                return Some(Err(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::MAX_MESSAGE_BYTES;

    fn parse(text: &str, piece: usize) -> Vec<Sse> {
        let mut parser = EventParser::default();
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(piece) {
            parser.feed(piece);
            found.extend(std::iter::from_fn(|| parser.pop()));
        }
        found
    }

    #[test]
    fn events_are_parsed_from_pieces_of_any_size() {
        let text = ": hello\nevent: endpoint\r\ndata: /m?s=1\r\n\r\ndata: {\"a\":\rdata: 1}\r\rid: 3\nretry: 5\n\n\ndata: unfinished";
        for piece in [1, 2, 5, 1_000] {
            let found = parse(text, piece);
            assert_eq!(found.len(), 3, "{found:?}");
            assert_eq!(found[0].event.as_deref(), Some("endpoint"));
            assert_eq!(found[0].data.as_deref(), Some("/m?s=1"));
            assert_eq!(found[1].data.as_deref(), Some("{\"a\":\n1}"));
            assert_eq!(
                (found[2].id.as_deref(), found[2].retry),
                (Some("3"), Some(5))
            );
        }
    }

    #[test]
    fn an_event_that_is_too_large_becomes_an_error_for_its_request() {
        let long = "x".repeat(3 * MAX_MESSAGE_BYTES);
        let one_line = format!("data: {{\"result\":\"{long}\",\"id\":7}}\n\ndata: next\n\n");
        let line = format!("data: \"{}\",\n", "y".repeat(1 << 20));
        let many_lines = format!(
            "data: {{\"id\":7,\"result\":[\ndata: 1,\n{}data: 2]}}\n\ndata: next\n\n",
            line.repeat(40)
        );
        for text in [one_line, many_lines] {
            let found = parse(&text, 65_536);
            assert_eq!(found.len(), 2);
            let error: serde_json::Value =
                serde_json::from_str(found[0].data.as_deref().unwrap()).unwrap();
            assert_eq!(error["id"], 7);
            assert!(error["error"]["data"]["bytes"].as_u64().unwrap() > 30 << 20);
            assert_eq!(found[1].data.as_deref(), Some("next"));
        }
    }
}
