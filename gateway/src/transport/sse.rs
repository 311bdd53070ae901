//! HTTP+SSE of protocol 2024-11-05, for old servers: a long GET returns the messages, and its first
//! event names the endpoint for POST.

use std::collections::VecDeque;

use ::http::HeaderMap;
use futures::StreamExt;
use futures::stream::BoxStream;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use sse_stream::Sse;
use url::Url;

use super::size_limit::{MAX_READ_BYTES, limit_event};
use super::{Login, http};
use crate::config::Remote;

/// An error of this transport.
#[derive(Debug, thiserror::Error)]
pub enum SseError {
    #[error("{0}")]
    Request(#[from] reqwest::Error),
    #[error("the server answered HTTP {0}")]
    Status(u16),
    #[error("the server did not send an event stream: is this the address of an SSE server?")]
    NoStream,
    #[error("the stream did not begin with an `endpoint` event")]
    NoEndpoint,
    #[error("the server named an endpoint on another host ({0}), which is not allowed")]
    ForeignEndpoint(String),
}

/// An open connection to an SSE server.
pub struct SseTransport {
    client: reqwest::Client,
    login: Option<Login>,
    headers: HeaderMap,
    endpoint: Url,
    events: Events,
}

impl SseTransport {
    pub async fn open(
        client: reqwest::Client,
        remote: &Remote,
        login: Option<Login>,
    ) -> Result<Self, SseError> {
        let headers: HeaderMap = http::headers(remote).into_iter().collect();
        let mut request = client
            .get(remote.url.clone())
            .headers(headers.clone())
            .header("accept", "text/event-stream");
        if let Some(token) = token(&login).await {
            request = request.bearer_auth(token);
        }
        let response = request.send().await?;
        if !response.status().is_success() {
            return Err(SseError::Status(response.status().as_u16()));
        }
        let kind = response
            .headers()
            .get("content-type")
            .and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Err(SseError::NoStream);
        }
        let mut events = Events::new(
            response
                .bytes_stream()
                .map(|bytes| bytes.ok().map(|b| b.to_vec()))
                .boxed(),
        );
        let endpoint = loop {
            match events.next().await {
                Some(event) if event.name == "endpoint" => break event.data,
                Some(_) => {}
                None => return Err(SseError::NoEndpoint),
            }
        };
        let endpoint = remote
            .url
            .join(&endpoint)
            .map_err(|_| SseError::NoEndpoint)?;
        // Our headers hold credentials for the configured host only.
        if endpoint.origin() != remote.url.origin() {
            return Err(SseError::ForeignEndpoint(endpoint.to_string()));
        }
        Ok(Self {
            client,
            login,
            headers,
            endpoint,
            events,
        })
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = SseError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let request = self
            .client
            .post(self.endpoint.clone())
            .headers(self.headers.clone())
            .json(&message);
        let login = self.login.clone();
        async move {
            let request = match token(&login).await {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            let response = request.send().await?;
            match response.status() {
                status if status.is_success() => Ok(()),
                status => Err(SseError::Status(status.as_u16())),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let event = self.events.next().await?;
            let read = limit_event(Sse {
                data: Some(event.data),
                ..Sse::default()
            });
            if let Ok(message) = serde_json::from_str(&read.data.unwrap_or_default()) {
                return Some(message);
            }
            tracing::debug!(event = %event.name, "skipped an event that is not a JSON-RPC message");
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.events = Events::new(futures::stream::empty().boxed());
        Ok(())
    }
}

async fn token(login: &Option<Login>) -> Option<String> {
    match login {
        Some(login) => login.token().await,
        None => None,
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Event {
    name: String,
    data: String,
}

/// Splits a byte stream into server-sent events. Lines and events over the read limit are truncated.
struct Events {
    /// `None` in the stream is a broken connection, which ends the events.
    bytes: BoxStream<'static, Option<Vec<u8>>>,
    line: Vec<u8>,
    event: Event,
    ready: VecDeque<Event>,
}

impl Events {
    fn new(bytes: BoxStream<'static, Option<Vec<u8>>>) -> Self {
        Self {
            bytes,
            line: Vec::new(),
            event: Event::default(),
            ready: VecDeque::new(),
        }
    }

    /// The next event; `None` at the end of the stream.
    ///
    /// # Cancel safety
    /// The bytes that were read stay in `self`.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let bytes = self.bytes.next().await.flatten()?;
            for byte in bytes {
                match byte {
                    b'\n' => self.end_of_line(),
                    _ if self.line.len() <= MAX_READ_BYTES => self.line.push(byte),
                    _ => {}
                }
            }
        }
    }

    fn end_of_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if !event.data.is_empty() {
                self.ready.push_back(event);
            }
            return;
        }
        let text = String::from_utf8_lossy(line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" if self.event.data.len() + value.len() <= MAX_READ_BYTES => {
                if !self.event.data.is_empty() {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_are_parsed_from_pieces_of_any_size() {
        let text =
            ": hello\nevent: endpoint\r\ndata: /m?s=1\r\n\r\ndata: {\"a\":\ndata: 1}\n\nid: 3\n\n";
        let pieces: Vec<_> = text
            .as_bytes()
            .chunks(5)
            .map(|piece| Some(piece.to_vec()))
            .collect();
        let mut events = Events::new(futures::stream::iter(pieces).boxed());
        let first = events.next().await.unwrap();
        assert_eq!(
            (first.name.as_str(), first.data.as_str()),
            ("endpoint", "/m?s=1")
        );
        assert_eq!(events.next().await.unwrap().data, "{\"a\":\n1}");
        assert_eq!(events.next().await, None);
    }
}
