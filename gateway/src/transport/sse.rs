//! HTTP+SSE of protocol 2024-11-05, for old servers: a long GET returns the messages, and its first
//! event names the endpoint for POST.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ::http::HeaderMap;
use futures::StreamExt;
use futures::stream::BoxStream;
use pml_credentials::SecretError;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use url::Url;

use super::body_memory::{NoRoom, ServerShare};
use super::bounded_http::no_room;
use super::events::{ReceivedEvent, events_of};
use super::http::HttpOptions;
use super::id_scanner::IdScanner;
use super::secret_headers::{HeaderValues, SecretHeaders};
use super::size_limit::limit_event;
use super::traffic::Traffic;
use super::{Login, http};
use crate::config::Remote;
use crate::json_size::parsed_bytes;
use crate::off_loop::{SMALL_TEXT, off_loop};

/// An error of this transport.
#[derive(Debug, thiserror::Error)]
pub enum SseError {
    #[error("{0}")]
    Request(#[from] reqwest::Error),
    #[error("{0}")]
    Secret(#[from] SecretError),
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
    secret_headers: SecretHeaders,
    endpoint: Url,
    messages: BoxStream<'static, ServerJsonRpcMessage>,
}

type Events =
    BoxStream<'static, Result<ReceivedEvent, rmcp::transport::streamable_http_client::SseError>>;

impl SseTransport {
    pub async fn open(remote: &Remote, options: HttpOptions) -> Result<Self, SseError> {
        let HttpOptions {
            client,
            login,
            secret_headers,
            share,
            traffic,
            ..
        } = options;
        let headers: HeaderMap = http::headers(remote).into_iter().collect();
        let mut request = client
            .get(remote.url.clone())
            .headers(headers.clone())
            .headers(secret_headers.values().await?.headers.into_iter().collect())
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
        let mut events = events_of(response, share.clone());
        let endpoint = loop {
            match events.next().await {
                Some(Ok(ReceivedEvent { event, .. }))
                    if event.event.as_deref() == Some("endpoint") =>
                {
                    break event.data.unwrap_or_default();
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(SseError::NoEndpoint),
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
            secret_headers,
            endpoint,
            messages: messages(events, share, traffic),
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
        let (login, secret_headers) = (self.login.clone(), self.secret_headers.clone());
        async move {
            let request = match token(&login).await {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            let send = async |values: &HeaderValues| {
                let request = request.try_clone().ok_or(SseError::NoStream)?;
                let headers = values.headers.iter().cloned().collect();
                Ok::<_, SseError>(request.headers(headers).send().await?.status())
            };
            let values = secret_headers.values().await?;
            let mut status = send(&values).await?;
            if status == 401 && secret_headers.renew(&values.used).await {
                status = send(&secret_headers.values().await?).await?;
            }
            match status.is_success() {
                true => Ok(()),
                false => Err(SseError::Status(status.as_u16())),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.messages.next().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.messages = futures::stream::empty().boxed();
        Ok(())
    }
}

/// The messages of the events, up to an error. A stream, because waiting for memory must not lose an event:
/// a future that waits for the next item can be dropped.
fn messages(
    events: Events,
    share: ServerShare,
    traffic: Arc<Traffic>,
) -> BoxStream<'static, ServerJsonRpcMessage> {
    events
        .take_while(|event| std::future::ready(event.is_ok()))
        .filter_map(move |event| {
            let (share, traffic) = (share.clone(), traffic.clone());
            async move { message(event.ok()?, &share, &traffic).await }
        })
        .boxed()
}

async fn message(
    received: ReceivedEvent,
    share: &ServerShare,
    traffic: &Traffic,
) -> Option<ServerJsonRpcMessage> {
    let ReceivedEvent { mut event, memory } = received;
    let mut values = None;
    let bytes = event.data.as_ref().map_or(0, String::len);
    if bytes > SMALL_TEXT {
        event = off_loop(share.server(), bytes, || limit_event(event));
        let data = event.data.as_deref().unwrap_or_default();
        let bytes = off_loop(share.server(), data.len(), || parsed_bytes(data.as_bytes()));
        match share.values(bytes).await {
            Ok(memory) => values = Some(memory),
            Err(NoRoom) => {
                let mut scanner = IdScanner::default();
                scanner.feed(data.as_bytes());
                return Some(no_room(scanner.id().map(RequestId::Number)));
            }
        }
    }
    let data = event.data.unwrap_or_default();
    let parse = || serde_json::from_str::<ServerJsonRpcMessage>(&data);
    // The parser shares no state with anything else.
    let parsed = off_loop(share.server(), data.len(), || {
        catch_unwind(AssertUnwindSafe(parse))
    });
    drop(memory);
    let Ok(Ok(message)) = parsed else {
        tracing::debug!(event = ?event.event, "skipped an event that is not a JSON-RPC message");
        return None;
    };
    if let Some(values) = values {
        traffic.hold_values(&message, values);
    }
    Some(message)
}

async fn token(login: &Option<Login>) -> Option<String> {
    match login {
        Some(login) => login.token().await,
        None => None,
    }
}
