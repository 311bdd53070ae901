//! What stands in front of the protocol over HTTP: the token, the size of a body, and its form.

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

use super::lines::MAX_MESSAGE;
use super::origins;
use super::wire::{self, Read};
use crate::handler::Handler;

/// Sessions at the same time. Each keeps names and values in memory.
const MAX_SESSIONS: usize = 256;
/// A session that was quiet for this long may have to make room.
const QUIET: Duration = Duration::from_secs(60);
const SESSION: &str = "mcp-session-id";
const REVISION: &str = "mcp-protocol-version";

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// Whether the request is of a revision that has sessions.
fn has_sessions(headers: &HeaderMap) -> bool {
    let revision = headers.get(REVISION).and_then(|value| value.to_str().ok());
    revision.is_none_or(|revision| revision < ProtocolVersion::V_2026_07_28.as_str())
}

pub struct HttpGate {
    pub token: Option<String>,
    pub origins: Vec<String>,
    pub service: StreamableHttpService<Handler, LocalSessionManager>,
    pub sessions: Arc<LocalSessionManager>,
    pub heard: Mutex<LastSeen>,
    pub open: OpenRequests,
}

/// When each session was last heard of.
#[derive(Default)]
pub struct LastSeen(HashMap<SessionId, Instant>);

impl LastSeen {
    fn note(&mut self, session: SessionId) {
        self.0.insert(session, Instant::now());
    }

    /// The session that was heard of least lately. One that was never heard of has only begun.
    fn quietest(&mut self, open: &HashSet<SessionId>) -> Option<SessionId> {
        self.0.retain(|session, _| open.contains(session));
        for session in open {
            self.0.entry(session.clone()).or_insert_with(Instant::now);
        }
        let (session, heard) = self.0.iter().min_by_key(|(_, heard)| **heard)?;
        (heard.elapsed() > QUIET).then(|| session.clone())
    }
}

/// Answers a request, and lets the page of an allowed origin read the answer.
pub async fn answer(State(front): State<Arc<HttpGate>>, request: Request) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let origin = origin.filter(|origin| origins::allows(&front.origins, origin));
    let Some(origin) = origin else {
        return admit(&front, request).await;
    };
    // A browser asks first whether it may ask, and bears no token then.
    let mut response = match *request.method() {
        Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => admit(&front, request).await,
    };
    origins::open_to(origin, response.headers_mut());
    response
}

async fn admit(front: &HttpGate, request: Request) -> Response {
    if let Some(token) = &front.token
        && !bears(request.headers(), token)
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
    accept_as_meant(&mut parts.headers);
    if let Some(session) = session_of(&parts.headers) {
        let session = SessionId::from(session);
        if front.sessions.sessions.read().await.contains_key(&session) {
            front.heard().note(session);
            if parts.method == Method::DELETE {
                front.cancel_all(&parts).await;
            }
        } else if parts.method == Method::DELETE && has_sessions(&parts.headers) {
            return (StatusCode::NOT_FOUND, "there is no such session").into_response();
        }
    }
    if parts.method != Method::POST {
        let request = Request::from_parts(parts, body);
        return front.service.handle(request).await.into_response();
    }
    let Ok(bytes) = to_bytes(body, MAX_MESSAGE).await else {
        let told = "the body is larger than 8 MiB, or it broke off";
        return (StatusCode::PAYLOAD_TOO_LARGE, told).into_response();
    };
    match wire::read(&bytes) {
        Read::Message(message) if is_initialize(&message) && !front.has_room().await => {
            let told = "there are too many sessions; try again later";
            (StatusCode::SERVICE_UNAVAILABLE, told).into_response()
        }
        Read::Message(message) => {
            let Some(open) = OpenRequest::new(&front.open, &parts.headers, &message) else {
                let told = "a request with this id is still open";
                let id = id_of(&message).cloned();
                return refused(wire::error(id, ErrorCode::INVALID_REQUEST, told));
            };
            let request = Request::from_parts(parts, Body::from(bytes));
            let response = front.service.handle(request).await.into_response();
            match is_stream(&response) {
                true => response.map(|body| open.until_end_of(body)),
                false => response,
            }
        }
        other => refused(other),
    }
}

/// The protocol wants both kinds of answer named. Whoever takes anything, or says nothing, takes both.
fn accept_as_meant(headers: &mut HeaderMap) {
    let kinds = ["application/json", "text/event-stream"];
    let accepted = headers.get(ACCEPT).map(HeaderValue::to_str);
    let takes_both = match accepted {
        None => true,
        Some(Ok(accepted)) => kinds.iter().all(|kind| accepts(accepted, kind)),
        Some(Err(_)) => false,
    };
    if takes_both {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
    }
}

fn accepts(accepted: &str, kind: &str) -> bool {
    let any_of_kind = kind.split_once('/').map_or("", |(kind, _)| kind);
    accepted.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let is_refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        let fits = range == "*/*" || range == kind || range.strip_suffix("/*") == Some(any_of_kind);
        fits && !is_refused
    })
}

/// Whether the answer comes later, as an event.
fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Answers what goes no further.
fn refused(read: Read) -> Response {
    let Read::Error(error) = read else {
        return StatusCode::ACCEPTED.into_response();
    };
    let json = [(CONTENT_TYPE, "application/json")];
    // A message of ours, which is JSON.
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

pub type OpenRequests = Arc<Mutex<HashSet<(String, RequestId)>>>;

/// A request of a session that is not answered yet: another with its id would get its answer.
struct OpenRequest {
    all: OpenRequests,
    key: Option<(String, RequestId)>,
}

impl OpenRequest {
    /// `None` if there is one already. What has no session or no id is never the second.
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

    /// The same body; with its end, the request is answered.
    fn until_end_of(self, body: Body) -> Body {
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
    /// Whether one more session may begin. Clients leave without a word, so the one that was quiet
    /// for longest makes room, if it was quiet for a while.
    async fn has_room(&self) -> bool {
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
        let quietest = self.heard().quietest(&open);
        match quietest {
            Some(session) => self.sessions.close_session(&session).await.is_ok(),
            None => false,
        }
    }

    /// Cancels what the session of a request has under way: nobody hears of it any more.
    async fn cancel_all(&self, closing: &Parts) {
        let session = session_of(&closing.headers);
        let open: Vec<RequestId> = lock(&self.open)
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

    fn heard(&self) -> MutexGuard<'_, LastSeen> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
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

fn bears(headers: &HeaderMap, token: &str) -> bool {
    headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case("bearer") && same(given.trim().as_bytes(), token.as_bytes())
        })
}

/// Takes the same time wherever the difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
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
    fn the_session_that_was_quiet_for_longest_makes_room() {
        let open: HashSet<SessionId> = ["a", "b", "c"].map(SessionId::from).into();
        let long_ago = Instant::now().checked_sub(QUIET * 2).unwrap();
        let mut heard = LastSeen::default();
        assert_eq!(heard.quietest(&open), None, "all have only begun");
        heard
            .0
            .insert("gone".into(), long_ago.checked_sub(QUIET).unwrap());
        heard.0.insert("b".into(), long_ago);
        assert_eq!(heard.quietest(&open), Some("b".into()));
        heard.note("b".into());
        assert_eq!(heard.quietest(&open), None);
    }

    #[test]
    fn only_the_very_token_opens() {
        let token = "a-token-nobody-guesses";
        assert!(bears(&headers("Bearer a-token-nobody-guesses"), token));
        assert!(bears(&headers("bearer a-token-nobody-guesses"), token));
        for wrong in [
            "Bearer a-token-nobody-guesse",
            "Bearer ",
            "Basic a-token-nobody-guesses",
            "a-token-nobody-guesses",
        ] {
            assert!(!bears(&headers(wrong), token), "{wrong}");
        }
        assert!(!bears(&HeaderMap::new(), token));
    }
}
