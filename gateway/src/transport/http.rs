//! Streamable HTTP: rmcp's transport with our client, headers, tokens and size limit.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderName, HeaderValue};
use futures::stream::BoxStream;
use pml_credentials::Template;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::Login;
use super::body_memory::ServerShare;
use super::bounded_http::{self, Envelope};
use super::large_events::Parking;
use super::parked_messages::ParkingTransport;
use super::secret_headers::{HeaderValues, SecretHeaders};
use super::size_limit::MAX_EVENT_BYTES;
use super::traffic::Traffic;
use crate::config::Remote;
use crate::secrets::Secrets;

/// The policy limits concurrent calls; the transport must not queue below that limit.
const MAX_POSTS: usize = 1024;

/// Headers that the transport sets itself.
const OWN_HEADERS: [&str; 3] = ["accept", "last-event-id", "mcp-session-id"];

type Posted = Result<StreamableHttpPostResponse, StreamableHttpError<reqwest::Error>>;

/// Gives the process its TLS: one provider for all clients. It must be called before the first client
/// is made; further calls do nothing.
pub fn install_tls() {
    // Fails if the process has a provider already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The client of all servers. It pools connections and does not follow redirects to another origin,
/// which would receive our headers.
pub fn new_http_client() -> reqwest::Result<reqwest::Client> {
    install_tls();
    reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(60))
        .tcp_nodelay(true)
        .user_agent(concat!("pml/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::custom(|attempt| {
            let same_origin = attempt
                .previous()
                .last()
                .is_some_and(|previous| previous.origin() == attempt.url().origin());
            if same_origin && attempt.previous().len() < 5 {
                attempt.follow()
            } else {
                attempt.stop()
            }
        }))
        .build()
}

/// What a transport needs besides its address.
pub struct HttpOptions {
    pub client: reqwest::Client,
    pub login: Option<Login>,
    /// Headers whose values are read for every request.
    pub secret_headers: SecretHeaders,
    pub secrets: Secrets,
    pub share: ServerShare,
    /// Receives the memory of large results until their calls have them.
    pub traffic: Arc<Traffic>,
}

/// The transport for `remote`.
pub fn transport(
    remote: &Remote,
    options: HttpOptions,
) -> ParkingTransport<StreamableHttpClientTransport<AuthorizedClient>> {
    let parking = Parking {
        parked: Arc::default(),
        share: options.share,
    };
    let mut config = StreamableHttpClientTransportConfig::with_uri(remote.url.as_str())
        .custom_headers(headers(remote))
        .max_concurrent_requests(MAX_POSTS)
        .max_sse_event_size(MAX_EVENT_BYTES)
        .reinit_on_expired_session(true);
    config.channel_buffer_capacity = 256;
    let parked = parking.parked.clone();
    let client = AuthorizedClient {
        client: options.client,
        login: options.login,
        secret_headers: options.secret_headers,
        secrets: options.secrets,
        parking,
    };
    let transport = StreamableHttpClientTransport::with_client(client, config);
    ParkingTransport::new(transport, parked, options.traffic)
}

/// The configured headers, which the configuration has validated, without those that the transport
/// sets itself and those with secrets, see [`SecretHeaders`].
pub fn headers(remote: &Remote) -> HashMap<HeaderName, HeaderValue> {
    remote
        .headers
        .iter()
        .filter(|(_, value)| !Template::has_reference(value))
        .filter(|(name, _)| {
            let is_it = |own: &str| name.eq_ignore_ascii_case(own);
            !OWN_HEADERS.into_iter().any(is_it)
        })
        .filter_map(|(name, value)| {
            let mut value = HeaderValue::try_from(value.as_str()).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::try_from(name.as_str()).ok()?, value))
        })
        .collect()
}

/// Whether the server does not know the session, as after a restart. The transport handles 404, the
/// status for that; many servers respond with 400.
fn is_session_lost(answer: &Posted) -> bool {
    let message = match answer {
        // A response to this request would have its id.
        Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), _))
            if !matches!(error.id, Some(RequestId::Number(_))) =>
        {
            error.error.message.to_lowercase()
        }
        Err(StreamableHttpError::UnexpectedServerResponse(message))
            if message.starts_with("HTTP 400") =>
        {
            message.to_lowercase()
        }
        _ => return false,
    };
    message.contains("session") || message.contains("not initialized")
}

/// Whether the server rejected the credentials: HTTP 401, with or without a challenge.
fn is_unauthorized(answer: &Posted) -> bool {
    match answer {
        Err(StreamableHttpError::AuthRequired(_)) => true,
        // As `bounded_http` words a refusal without a challenge.
        Err(StreamableHttpError::UnexpectedServerResponse(message)) => {
            message.starts_with("HTTP 401")
        }
        _ => false,
    }
}

/// The HTTP client of one server, which adds its access token and its secrets.
#[derive(Debug, Clone)]
pub struct AuthorizedClient {
    client: reqwest::Client,
    login: Option<Login>,
    secret_headers: SecretHeaders,
    secrets: Secrets,
    parking: Parking,
}

type Headers = HashMap<HeaderName, HeaderValue>;

impl AuthorizedClient {
    async fn token(&self, given: Option<String>) -> Option<String> {
        match &self.login {
            Some(login) => login.token().await.or(given),
            None => given,
        }
    }

    /// The token for a retry after the server rejected `token`.
    async fn other_token(&self, token: Option<&str>) -> Option<String> {
        self.login.as_ref()?.after_rejection(token?).await
    }

    /// Adds the headers with secrets. Their values are usually kept; a source that fails is the error
    /// of the request.
    async fn with_secrets(
        &self,
        mut headers: Headers,
    ) -> Result<(Headers, HeaderValues), StreamableHttpError<reqwest::Error>> {
        let values = self.secret_headers.values().await.map_err(|error| {
            StreamableHttpError::UnexpectedServerResponse(error.to_string().into())
        })?;
        headers.extend(values.headers.iter().cloned());
        Ok((headers, values))
    }
}

impl StreamableHttpClient for AuthorizedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Posted {
        let auth = self.token(auth).await;
        let post = |token, headers| {
            let envelope = Envelope {
                session: session.as_deref(),
                token,
                headers,
                secrets: &self.secrets,
                parking: &self.parking,
            };
            bounded_http::post(&self.client, &uri, &message, envelope)
        };
        let (sent, values) = self.with_secrets(headers.clone()).await?;
        let mut answer = post(auth.clone(), sent.clone()).await;
        if is_unauthorized(&answer) {
            if let Some(token) = self.other_token(auth.as_deref()).await {
                answer = post(Some(token), sent).await;
            } else if self.secret_headers.renew(&values.used).await {
                let (renewed, _) = self.with_secrets(headers).await?;
                answer = post(auth, renewed).await;
            }
        }
        if session.is_some() && is_session_lost(&answer) {
            // The transport creates a new session and sends the message again.
            return Err(StreamableHttpError::SessionExpired);
        }
        // The response to a POST belongs to its request, whatever id it has.
        if let Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), _)) = &mut answer
            && let JsonRpcMessage::Request(request) = &message
        {
            error.id = Some(request.id.clone());
        }
        answer
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        // The events have the limit of `events.rs`.
        _: usize,
    ) -> Posted {
        self.post_message(uri, message, session, auth, headers)
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<reqwest::Error>> {
        let auth = self.token(auth).await;
        let (headers, _) = self.with_secrets(headers).await?;
        self.client
            .delete_session(uri, session, auth, headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<reqwest::Error>>
    {
        let (headers, _) = self.with_secrets(headers).await?;
        let envelope = Envelope {
            session: session.as_deref(),
            token: self.token(auth).await,
            headers,
            secrets: &self.secrets,
            parking: &self.parking,
        };
        bounded_http::get(&self.client, &uri, last_event.as_deref(), envelope).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<reqwest::Error>>
    {
        self.get_stream(uri, session, last_event, auth, headers)
            .await
    }
}
