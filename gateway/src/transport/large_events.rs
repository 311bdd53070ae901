//! Parses large events off the event loop, before rmcp sees them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;

use super::body_memory::ServerShare;
use super::events::ReceivedEvent;
use super::parked_messages::ParkedMessages;
use super::size_limit::limit_event;
use crate::json_size::parsed_bytes;
use crate::off_loop::{SMALL_TEXT, off_loop};

/// Bytes of a response to the handshake, which rmcp parses itself.
const MAX_HANDSHAKE_BYTES: usize = 1024 * 1024;

/// What a stream or body responds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseTo {
    /// `initialize` or `server/discover`.
    Handshake,
    /// `tools/list`.
    ListTools,
    Other,
}

impl ResponseTo {
    pub fn message(message: &ClientJsonRpcMessage) -> Self {
        let JsonRpcMessage::Request(request) = message else {
            return Self::Other;
        };
        match &request.request {
            ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => {
                Self::Handshake
            }
            ClientRequest::ListToolsRequest(_) => Self::ListTools,
            _ => Self::Other,
        }
    }
}

/// Where messages are parked, and what they may hold.
#[derive(Debug, Clone)]
pub struct Parking {
    pub parked: Arc<ParkedMessages>,
    pub share: ServerShare,
}

impl Parking {
    /// The events as rmcp gets them: none of them takes long to parse. A large notification or request
    /// of the server is dropped.
    pub fn events(
        self,
        events: BoxStream<'static, Result<ReceivedEvent, SseError>>,
        to: ResponseTo,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        events
            .then(move |received| {
                let parking = self.clone();
                async move {
                    let ReceivedEvent { event, memory } = received?;
                    let event = parking.event(event, to).await?;
                    drop(memory);
                    Ok(event)
                }
            })
            .boxed()
    }

    async fn event(&self, event: Sse, to: ResponseTo) -> Result<Sse, SseError> {
        let server = self.share.server();
        let bytes = event.data.as_ref().map_or(0, String::len);
        let is_small = match to {
            ResponseTo::Handshake => bytes <= MAX_HANDSHAKE_BYTES,
            ResponseTo::ListTools => bytes == 0,
            ResponseTo::Other => bytes <= SMALL_TEXT,
        };
        if is_small {
            return Ok(event);
        }
        let mut event = off_loop(server, bytes, || limit_event(event));
        let Some(data) = event.data.take() else {
            return Ok(event);
        };
        let is_large = data.len() > SMALL_TEXT;
        let memory = match is_large {
            true => {
                let values = off_loop(server, data.len(), || parsed_bytes(data.as_bytes()));
                let memory = self.share.values(values).await;
                Some(memory.map_err(|error| SseError::Body(Box::new(error)))?)
            }
            false => None,
        };
        let parse = || serde_json::from_str::<ServerJsonRpcMessage>(&data).ok();
        // The parser shares no state with anything else.
        let parsed = off_loop(server, data.len(), || catch_unwind(AssertUnwindSafe(parse)));
        event.data = match parsed.ok().flatten() {
            Some(message @ JsonRpcMessage::Response(_)) => {
                let shown = self.parked.park(message, memory);
                serde_json::to_string(&shown).ok()
            }
            _ if is_large => {
                tracing::debug!("dropped a large event that is not a response");
                None
            }
            _ => Some(data),
        };
        Ok(event)
    }
}
