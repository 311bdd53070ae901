//! The HTTP requests of the streamable HTTP transport, with bodies of bounded size.
//!
//! rmcp's own client reads a whole body before its size is known. This one follows the same rules and
//! stops reading at the limit. It asks for no compression, so a body has the size that is read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use ::http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::{RequestBuilder, Response};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta as _, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::body_memory::{NoRoom, TextMemory};
use super::events::events_of;
use super::large_events::{Parking, ResponseTo};
use super::size_limit::too_large;
use super::{MAX_MESSAGE_BYTES, MAX_PARSED_BYTES, NO_ROOM};
use crate::json_size;
use crate::off_loop::{SMALL_TEXT, off_loop};
use crate::secrets::Secrets;

const SESSION_ID: &str = "mcp-session-id";
const LAST_EVENT_ID: &str = "last-event-id";
const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
const ACCEPTED: &str = "text/event-stream, application/json";
/// Bytes of the body of a failed request that are read.
const MAX_ERROR_BYTES: usize = 256 * 1024;
/// Bytes of a body that an error message repeats.
const MAX_SHOWN_BYTES: usize = 2_000;

type HttpError = StreamableHttpError<reqwest::Error>;

/// What every request of a session carries.
pub struct Envelope<'a> {
    pub session: Option<&'a str>,
    pub token: Option<String>,
    pub headers: HashMap<HeaderName, HeaderValue>,
    /// Replaced in what an error repeats of a body.
    pub secrets: &'a Secrets,
    /// For responses that rmcp must neither parse nor keep.
    pub parking: &'a Parking,
}

impl Envelope<'_> {
    fn apply(self, request: RequestBuilder) -> RequestBuilder {
        let mut request = request.header(ACCEPT, ACCEPTED);
        if let Some(token) = self.token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = self.session {
            request = request.header(SESSION_ID, session);
        }
        request.headers(self.headers.into_iter().collect())
    }
}

/// The request with the trace of its message: proxies read headers and no bodies.
fn with_trace(mut request: RequestBuilder, message: &ClientJsonRpcMessage) -> RequestBuilder {
    let JsonRpcMessage::Request(sent) = message else {
        return request;
    };
    let meta = sent.request.get_meta();
    let fields = [
        ("traceparent", meta.get_traceparent()),
        ("tracestate", meta.get_tracestate()),
        ("baggage", meta.get_baggage()),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            request = request.header(name, value);
        }
    }
    request
}

/// Opens the stream of a session's messages.
pub async fn get(
    client: &reqwest::Client,
    uri: &str,
    last_event: Option<&str>,
    envelope: Envelope<'_>,
) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
    let parking = envelope.parking.clone();
    let mut request = envelope.apply(client.get(uri));
    if let Some(last_event) = last_event {
        request = request.header(LAST_EVENT_ID, last_event);
    }
    let response = request.send().await?;
    let status = response.status();
    if status == StatusCode::METHOD_NOT_ALLOWED {
        return Err(StreamableHttpError::ServerDoesNotSupportSse);
    }
    check_challenge(&response)?;
    if let Some(error) = status_error(status, response.headers()) {
        return Err(error.into());
    }
    let response = response.error_for_status()?;
    let kind = content_type(&response);
    let is = |expected: &str| {
        kind.as_deref()
            .is_some_and(|kind| kind.starts_with(expected))
    };
    if !is(EVENT_STREAM) && !is(JSON) {
        return Err(StreamableHttpError::UnexpectedContentType(kind));
    }
    let events = events_of(response, parking.share.clone());
    Ok(parking.events(events, ResponseTo::Other))
}

/// Sends `message` and reads the response.
pub async fn post(
    client: &reqwest::Client,
    uri: &str,
    message: &ClientJsonRpcMessage,
    envelope: Envelope<'_>,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let has_session = envelope.session.is_some();
    let (secrets, parking) = (envelope.secrets, envelope.parking);
    let request = with_trace(envelope.apply(client.post(uri)), message);
    let response = request.json(message).send().await?;
    check_challenge(&response)?;
    let status = response.status();
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && has_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    let kind = content_type(&response);
    let is = |expected: &str| {
        kind.as_deref()
            .is_some_and(|kind| kind.starts_with(expected))
    };
    let session = response
        .headers()
        .get(SESSION_ID)
        .and_then(|session| session.to_str().ok())
        .map(str::to_owned);
    if !status.is_success() {
        let failure = FailedResponse {
            status,
            is_json: is(JSON),
            has_session,
            session,
            secrets,
            memory: parking.share.text(),
        };
        return failure.read(response, message).await;
    }
    let awaits_response = matches!(message, JsonRpcMessage::Request(_));
    if response.content_length() == Some(0) && !awaits_response {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if is(EVENT_STREAM) {
        let events = events_of(response, parking.share.clone());
        let events = parking.clone().events(events, ResponseTo::message(message));
        return Ok(StreamableHttpPostResponse::Sse(events, session));
    }
    if !is(JSON) {
        return Err(StreamableHttpError::UnexpectedContentType(kind));
    }
    let id = request_id(message);
    let answered = |message| Ok(StreamableHttpPostResponse::Json(message, session.clone()));
    let announced = response.content_length();
    let mut memory = parking.share.text();
    let body = match read_body(response, MAX_MESSAGE_BYTES, &mut memory).await? {
        Body::Whole(body) => body,
        Body::Cut(_) => {
            let bytes = announced.and_then(|bytes| usize::try_from(bytes).ok());
            let bytes = bytes.unwrap_or(0).max(MAX_MESSAGE_BYTES + 1);
            return answered(too_large(id, bytes));
        }
        Body::NoRoom => return answered(no_room(id)),
    };
    let values = match body.len() > SMALL_TEXT {
        true => {
            let bytes = off_loop(parking.share.server(), body.len(), || {
                json_size::parsed_bytes(&body)
            });
            if bytes > MAX_PARSED_BYTES {
                return answered(too_large(id, body.len()));
            }
            match parking.share.values(bytes).await {
                Ok(values) => Some(values),
                Err(NoRoom) => return answered(no_room(id)),
            }
        }
        false => None,
    };
    let to = ResponseTo::message(message);
    match off_loop(parking.share.server(), body.len(), || parse(&body)) {
        Parsed::Message(message) => {
            let is_kept_apart = match to {
                ResponseTo::Handshake => false,
                ResponseTo::ListTools => true,
                ResponseTo::Other => values.is_some(),
            };
            answered(match is_kept_apart {
                true => parking.parked.park(*message, values),
                false => *message,
            })
        }
        Parsed::TooLarge => answered(too_large(id, body.len())),
        Parsed::Invalid(_) if !awaits_response => Ok(StreamableHttpPostResponse::Accepted),
        Parsed::Invalid(reason) => Err(unexpected(format!(
            "the response is not a JSON-RPC message: {reason}: {}",
            secrets.beginning(&body, MAX_SHOWN_BYTES)
        ))),
    }
}

/// The error in place of a response for which there is no memory.
pub fn no_room(id: Option<RequestId>) -> ServerJsonRpcMessage {
    let error = ErrorData::new(NO_ROOM, NoRoom.to_string(), None);
    ServerJsonRpcMessage::error(error, id)
}

/// A response with the status of an error.
struct FailedResponse<'a> {
    status: StatusCode,
    is_json: bool,
    has_session: bool,
    session: Option<String>,
    secrets: &'a Secrets,
    memory: TextMemory,
}

impl FailedResponse<'_> {
    /// The JSON-RPC error in the body, or else the status as an error.
    async fn read(
        self,
        response: Response,
        message: &ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let Self {
            status,
            is_json,
            has_session,
            session,
            secrets,
            mut memory,
        } = self;
        let by_status = status_error(status, response.headers());
        let by_status = match by_status {
            Some(error) if !is_json || status == StatusCode::TOO_MANY_REQUESTS => {
                return Err(error.into());
            }
            error => error,
        };
        let body = match read_body(response, MAX_ERROR_BYTES, &mut memory).await {
            Ok(Body::Whole(body) | Body::Cut(body)) => body,
            Ok(Body::NoRoom) | Err(_) => Vec::new(),
        };
        let is_auth_failure = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let error = match parse(&body) {
            Parsed::Message(message) => match *message {
                JsonRpcMessage::Error(error) => Some(error),
                _ => None,
            },
            _ => None,
        };
        let shown = secrets.beginning(&body, MAX_SHOWN_BYTES);
        // An old server that rejects the discovery: the handshake goes on with `initialize` if the
        // error has the id of the request.
        if !has_session
            && status.is_client_error()
            && !is_auth_failure
            && let JsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            let error = error.map(|error| error.error).unwrap_or_else(|| {
                ErrorData::invalid_request(
                    format!("server/discover rejected with HTTP {status}: {shown}"),
                    None,
                )
            });
            let message = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(message, None));
        }
        if let Some(error) = error.filter(|_| is_json && !is_auth_failure) {
            return Ok(StreamableHttpPostResponse::Json(
                JsonRpcMessage::Error(error),
                session,
            ));
        }
        match by_status {
            Some(error) => Err(error.into()),
            None => Err(unexpected(format!("HTTP {status}: {shown}"))),
        }
    }
}

/// Fails for a response that asks for a login, or for one with more rights.
fn check_challenge(response: &Response) -> Result<(), HttpError> {
    let status = response.status();
    if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Ok(());
    }
    let Some(challenge) = response.headers().get(WWW_AUTHENTICATE) else {
        return Ok(());
    };
    let challenge = challenge
        .to_str()
        .map_err(|_| unexpected("the WWW-Authenticate header is not text".to_owned()))?
        .to_owned();
    Err(match status {
        StatusCode::UNAUTHORIZED => {
            StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge))
        }
        _ => {
            let scope = scope_of(&challenge);
            StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, scope))
        }
    })
}

/// The `scope` of a challenge.
fn scope_of(challenge: &str) -> Option<String> {
    let start = challenge.to_ascii_lowercase().find("scope=")? + "scope=".len();
    let value = &challenge[start..];
    let scope = match value.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => value.split([',', ';', ' ', '\t']).next()?,
    };
    (!scope.is_empty()).then(|| scope.to_owned())
}

/// The statuses that say when to try again, or that the server failed.
fn status_error(status: StatusCode, headers: &HeaderMap) -> Option<HttpStatusError> {
    let is_it = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let retry_after = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    is_it.then(|| HttpStatusError::new(status.as_u16(), retry_after.map(str::to_owned)))
}

fn content_type(response: &Response) -> Option<String> {
    let kind = response.headers().get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(kind.as_bytes()).into_owned())
}

fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

fn unexpected(message: String) -> HttpError {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(message))
}

/// A body, or its beginning if it is over the limit.
pub enum Body {
    Whole(Vec<u8>),
    Cut(Vec<u8>),
    /// The other bodies of the server hold its share of the memory.
    NoRoom,
}

/// Reads at most `limit` bytes of the body. They are counted as `memory` while they are read.
pub async fn read_body(
    response: Response,
    limit: usize,
    memory: &mut TextMemory,
) -> reqwest::Result<Body> {
    let announced = response.content_length();
    let announced = announced.and_then(|bytes| usize::try_from(bytes).ok());
    let most = announced.unwrap_or(limit).min(limit);
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        let left = limit - body.len();
        let is_cut = piece.len() > left;
        let piece = &piece[..piece.len().min(left)];
        if memory.cover(body.len() + piece.len(), most).await.is_err() {
            return Ok(Body::NoRoom);
        }
        // A vector that doubles would take more than what was reserved.
        if body.len() + piece.len() > body.capacity() && announced.is_some() {
            body.reserve_exact(most.saturating_sub(body.len()).max(piece.len()));
        }
        body.extend_from_slice(piece);
        if is_cut {
            return Ok(Body::Cut(body));
        }
    }
    Ok(Body::Whole(body))
}

enum Parsed {
    Message(Box<ServerJsonRpcMessage>),
    /// The values would take too much memory.
    TooLarge,
    Invalid(String),
}

fn parse(body: &[u8]) -> Parsed {
    if json_size::exceeds(body, MAX_PARSED_BYTES) {
        return Parsed::TooLarge;
    }
    let parse = || serde_json::from_slice(body).map(Box::new);
    // The parser shares no state with anything else.
    match std::panic::catch_unwind(AssertUnwindSafe(parse)) {
        Ok(Ok(message)) => Parsed::Message(message),
        Ok(Err(error)) => Parsed::Invalid(error.to_string()),
        Err(_) => Parsed::Invalid("a parser panicked".to_owned()),
    }
}
