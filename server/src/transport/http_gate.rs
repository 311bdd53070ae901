//! The checks in front of MCP over HTTP: bearer token, CORS, body size, valid JSON-RPC, number of
//! sessions, duplicate request ids.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, ORIGIN, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, ProtocolVersion, RequestId,
};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use serde_json::json;

use super::cors;
use super::jsonrpc::{self, MAX_MESSAGE_BYTES, Parsed};
use crate::handler::Handler;

/// Sessions at the same time. Each keeps placeholders and stored values in memory.
const MAX_SESSIONS: usize = 256;
/// A session without a request for this long may be closed to make room for another.
const EVICTABLE_AFTER: Duration = Duration::from_secs(60);
const SESSION_HEADER: &str = "mcp-session-id";
const REVISION_HEADER: &str = "mcp-protocol-version";

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER)?.to_str().ok()
}

/// Whether the request is of a revision of MCP that has sessions.
fn has_sessions(headers: &HeaderMap) -> bool {
    let revision = headers
        .get(REVISION_HEADER)
        .and_then(|value| value.to_str().ok());
    revision.is_none_or(|revision| revision < ProtocolVersion::V_2026_07_28.as_str())
}

/// The MCP service, and the state of the checks in front of it.
pub struct HttpGate {
    /// The token that requests must have.
    pub token: Option<String>,
    /// The origins of web pages that may read responses.
    pub origins: Vec<String>,
    pub service: StreamableHttpService<Handler, LocalSessionManager>,
    pub sessions: Arc<LocalSessionManager>,
    pub last_seen: Mutex<LastSeen>,
    pub open_requests: OpenRequests,
}

/// The time of the last request of each session, for LRU eviction.
#[derive(Default)]
pub struct LastSeen(HashMap<SessionId, Instant>);

impl LastSeen {
    fn note(&mut self, session: SessionId) {
        self.0.insert(session, Instant::now());
    }

    /// The least recently used of the `open` sessions, if it may be closed. A session without a
    /// request so far has only begun.
    fn evictable(&mut self, open: &HashSet<SessionId>) -> Option<SessionId> {
        self.0.retain(|session, _| open.contains(session));
        for session in open {
            self.0.entry(session.clone()).or_insert_with(Instant::now);
        }
        let (session, seen_at) = self.0.iter().min_by_key(|(_, seen_at)| **seen_at)?;
        (seen_at.elapsed() > EVICTABLE_AFTER).then(|| session.clone())
    }
}

/// Handles a request, and lets a page of an allowed origin read the response.
pub async fn handle(State(gate): State<Arc<HttpGate>>, request: Request) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let origin = origin.filter(|origin| cors::is_allowed(&gate.origins, origin));
    let Some(origin) = origin else {
        return admit(&gate, request).await;
    };
    // The preflight request of a browser has no token.
    let mut response = match *request.method() {
        Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => admit(&gate, request).await,
    };
    cors::add_headers(origin, response.headers_mut());
    response
}

async fn admit(gate: &HttpGate, request: Request) -> Response {
    if let Some(token) = &gate.token
        && !has_token(request.headers(), token)
    {
        let challenge = [(WWW_AUTHENTICATE, "Bearer")];
        return (
            StatusCode::UNAUTHORIZED,
            challenge,
            "a bearer token is needed",
        )
            .into_response();
    }
    let (mut parts, body) = request.into_parts();
    normalize_accept(&mut parts.headers);
    if let Some(session) = session_of(&parts.headers) {
        let session = SessionId::from(session);
        if gate.sessions.sessions.read().await.contains_key(&session) {
            gate.last_seen().note(session);
            if parts.method == Method::DELETE {
                gate.cancel_all(&parts).await;
            }
        } else if parts.method == Method::DELETE && has_sessions(&parts.headers) {
            return (StatusCode::NOT_FOUND, "there is no such session").into_response();
        }
    }
    if parts.method != Method::POST {
        let request = Request::from_parts(parts, body);
        return gate.service.handle(request).await.into_response();
    }
    let Ok(bytes) = to_bytes(body, MAX_MESSAGE_BYTES).await else {
        let message = "the body is larger than 8 MiB, or it broke off";
        return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    match jsonrpc::parse(&bytes) {
        Parsed::Message(message) if is_initialize(&message) && !gate.make_room().await => {
            let message = "there are too many sessions; try again later";
            (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
        }
        Parsed::Message(message) => {
            let Some(open) = OpenRequest::new(&gate.open_requests, &parts.headers, &message) else {
                let id = id_of(&message).cloned();
                let text = "a request with this id is still open";
                return error_response(jsonrpc::error(id, ErrorCode::INVALID_REQUEST, text));
            };
            let request = Request::from_parts(parts, Body::from(bytes));
            let response = gate.service.handle(request).await.into_response();
            match is_stream(&response) {
                true => response.map(|body| open.held_by(body)),
                false => response,
            }
        }
        other => error_response(other),
    }
}

/// MCP requires `Accept` to name both media types of a response. A missing header, `*/*` and the like
/// mean both, so they are rewritten to that.
fn normalize_accept(headers: &mut HeaderMap) {
    let types = ["application/json", "text/event-stream"];
    let accepted = headers.get(ACCEPT).map(HeaderValue::to_str);
    let accepts_both = match accepted {
        None => true,
        Some(Ok(accepted)) => types.iter().all(|media_type| accepts(accepted, media_type)),
        Some(Err(_)) => false,
    };
    if accepts_both {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
    }
}

/// Whether an `Accept` header accepts a media type.
fn accepts(accepted: &str, media_type: &str) -> bool {
    let main_type = media_type.split_once('/').map_or("", |(main, _)| main);
    accepted.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let is_refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        let fits =
            range == "*/*" || range == media_type || range.strip_suffix("/*") == Some(main_type);
        fits && !is_refused
    })
}

/// Whether the response is an event stream, and the reply one of its events.
fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The response to a message that is not passed on: its error, or 202 if there is no reply to it.
fn error_response(parsed: Parsed) -> Response {
    let Parsed::Error(error) = parsed else {
        return StatusCode::ACCEPTED.into_response();
    };
    let json = [(CONTENT_TYPE, "application/json")];
    // Our own errors always have a JSON form.
    let body = serde_json::to_vec(&*error)
        .map(Bytes::from)
        .unwrap_or_default();
    (StatusCode::BAD_REQUEST, json, body).into_response()
}

fn id_of(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

/// The open requests, by session and request id.
pub type OpenRequests = Arc<Mutex<HashSet<(String, RequestId)>>>;

/// A request of a session without a response so far. A second request with its id would get its
/// response, so that one is refused. Dropping this ends the entry.
struct OpenRequest {
    all: OpenRequests,
    key: Option<(String, RequestId)>,
}

impl OpenRequest {
    /// `None` if the session has an open request with this id. A message without a session or an id
    /// is always accepted.
    fn new(
        all: &OpenRequests,
        headers: &HeaderMap,
        message: &ClientJsonRpcMessage,
    ) -> Option<Self> {
        let session = session_of(headers);
        let key = session.map(str::to_owned).zip(id_of(message).cloned());
        let mut open = Self {
            all: all.clone(),
            key: None,
        };
        if let Some(key) = &key
            && !open.lock().insert(key.clone())
        {
            return None;
        }
        open.key = key;
        Some(open)
    }

    /// The same body, which keeps the request open until it ends.
    fn held_by(self, body: Body) -> Body {
        Body::from_stream(body.into_data_stream().inspect(move |_| {
            let _ = &self;
        }))
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<(String, RequestId)>> {
        lock(&self.all)
    }
}

fn lock(open: &OpenRequests) -> MutexGuard<'_, HashSet<(String, RequestId)>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.lock().remove(&key);
        }
    }
}

impl HttpGate {
    /// Whether one more session may begin. Clients often disconnect without closing their session, so
    /// the least recently used session is closed if it is idle.
    async fn make_room(&self) -> bool {
        let open: HashSet<SessionId> = self
            .sessions
            .sessions
            .read()
            .await
            .keys()
            .cloned()
            .collect();
        if open.len() < MAX_SESSIONS {
            return true;
        }
        let evictable = self.last_seen().evictable(&open);
        match evictable {
            Some(session) => self.sessions.close_session(&session).await.is_ok(),
            None => false,
        }
    }

    /// Cancels the open requests of the session that `closing` closes: nothing reads their responses.
    async fn cancel_all(&self, closing: &Parts) {
        let session = session_of(&closing.headers);
        let open: Vec<RequestId> = lock(&self.open_requests)
            .iter()
            .filter(|(of, _)| session == Some(of))
            .map(|(_, id)| id.clone())
            .collect();
        for id in open {
            let cancelled = json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": id, "reason": "the session is closed" },
            });
            let mut request = Request::new(Body::from(cancelled.to_string()));
            *request.method_mut() = Method::POST;
            *request.uri_mut() = closing.uri.clone();
            *request.headers_mut() = closing.headers.clone();
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert(CONTENT_TYPE, json);
            self.service.handle(request).await;
        }
    }

    fn last_seen(&self) -> MutexGuard<'_, LastSeen> {
        self.last_seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::InitializeRequest(_))
        }
        _ => false,
    }
}

/// Whether the request has the bearer token.
fn has_token(headers: &HeaderMap, token: &str) -> bool {
    headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case("bearer")
                && constant_time_eq(given.trim().as_bytes(), token.as_bytes())
        })
}

/// Compares in a time that does not depend on where the difference is.
fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, authorization.parse().unwrap());
        headers
    }

    #[test]
    fn the_least_recently_used_session_makes_room() {
        let open: HashSet<SessionId> = ["a", "b", "c"].map(SessionId::from).into();
        let long_ago = Instant::now().checked_sub(EVICTABLE_AFTER * 2).unwrap();
        let mut last_seen = LastSeen::default();
        assert_eq!(last_seen.evictable(&open), None, "all have only begun");
        last_seen.0.insert(
            "gone".into(),
            long_ago.checked_sub(EVICTABLE_AFTER).unwrap(),
        );
        last_seen.0.insert("b".into(), long_ago);
        assert_eq!(last_seen.evictable(&open), Some("b".into()));
        last_seen.note("b".into());
        assert_eq!(last_seen.evictable(&open), None);
    }

    #[test]
    fn only_the_exact_token_is_accepted() {
        let token = "a-token-hard-to-guess";
        assert!(has_token(&headers("Bearer a-token-hard-to-guess"), token));
        assert!(has_token(&headers("bearer a-token-hard-to-guess"), token));
        for wrong in [
            "Bearer a-token-hard-to-gues",
            "Bearer ",
            "Basic a-token-hard-to-guess",
            "a-token-hard-to-guess",
        ] {
            assert!(!has_token(&headers(wrong), token), "{wrong}");
        }
        assert!(!has_token(&HeaderMap::new(), token));
    }
}
