//! The checks in front of MCP over HTTP: bearer token, CORS, size and time of the body, valid
//! JSON-RPC, number and owner of sessions, duplicate request ids.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use pml_approvals::Approvals;
use pml_gateway::off_loop::{PollOffLoop, off_loop};
use pml_hosts::AuditTrail;
use pml_protocol::Principal;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, ProtocolVersion, RequestId,
};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use serde_json::json;

use super::authentication::Authentication;
use super::connections::Connection;
use super::cors;
use super::guarded_body::GuardedBody;
use super::jsonrpc::{self, Parsed};
use super::request_memory::{ReadRequest, Unread};
use super::session_uses::SessionUses;
use super::status_pages::StatusPages;
use crate::client_identity::ClientIdentity;
use crate::handler::Handler;
use crate::tasks::legacy_wire;

/// Sessions at the same time. Each keeps placeholders and stored values in memory.
const MAX_SESSIONS: usize = 256;
/// The largest `initialize`: a session keeps the name and the capabilities of its client.
const MAX_INITIALIZE_BYTES: usize = 64 * 1024;
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
    /// The tokens, one of which a request must have.
    pub authentication: Authentication,
    /// The approvals that signed replies answer.
    pub approvals: Option<Approvals>,
    /// Where answers to approvals are recorded.
    pub audit: Option<AuditTrail>,
    /// The metrics.
    pub status: StatusPages,
    /// The origins of web pages that may read responses.
    pub origins: Vec<String>,
    pub service: StreamableHttpService<Handler, LocalSessionManager>,
    pub sessions: Arc<LocalSessionManager>,
    pub session_uses: Mutex<SessionUses>,
    pub open_requests: OpenRequests,
    /// Whether tasks of MCP 2025-11-25 are served.
    pub has_tasks: bool,
}

/// Handles a request, and lets a page of an allowed origin read the response.
pub async fn handle(gate: &HttpGate, connection: &Arc<Connection>, request: Request) -> Response {
    // Which of several hosts counts is decided differently by proxies and servers.
    if request.headers().get_all(HOST).iter().nth(1).is_some() {
        return (StatusCode::BAD_REQUEST, "there are two Host headers").into_response();
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let origin = origin.filter(|origin| cors::is_allowed(&gate.origins, origin));
    let Some(origin) = origin else {
        return authenticate(gate, connection, request).await;
    };
    // The preflight request of a browser has no token.
    let mut response = match *request.method() {
        Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => authenticate(gate, connection, request).await,
    };
    cors::add_headers(origin, response.headers_mut());
    response
}

/// Admits a request with a token. Its connection counts as that of a client from here on.
async fn authenticate(gate: &HttpGate, connection: &Arc<Connection>, request: Request) -> Response {
    let client = match gate.authentication.identify(request.headers()) {
        Ok(client) => client,
        Err(refused) => {
            let challenge = match refused.has_token {
                true => "Bearer error=\"invalid_token\"",
                false => "Bearer",
            };
            let challenge = [(WWW_AUTHENTICATE, challenge)];
            return (StatusCode::UNAUTHORIZED, challenge, refused.message).into_response();
        }
    };
    let Some(active) = connection.begin_request() else {
        let message = "there are too many connections; try again later";
        return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    };
    let path = request.uri().path();
    let response = match StatusPages::is_metrics(path) {
        // They are about the calls of all clients.
        true if client.is_holder() => {
            let message = "a capability token does not open the metrics: use a plain bearer token";
            (StatusCode::FORBIDDEN, message).into_response()
        }
        true => {
            let page = gate.status.page(path, request.method()).await;
            page.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
        }
        false => admit(gate, client, request).await,
    };
    response.map(|body| GuardedBody::guard(body, active))
}

async fn admit(gate: &HttpGate, client: ClientIdentity, request: Request) -> Response {
    let principal = client.principal().clone();
    let (mut parts, body) = request.into_parts();
    normalize_accept(&mut parts.headers);
    if let Some(session) = session_of(&parts.headers) {
        let session = SessionId::from(session);
        let is_open = gate.sessions.sessions.read().await.contains_key(&session);
        // The session of another principal is like one that does not exist.
        let is_own = is_open && gate.session_uses().note(&session, &principal);
        if is_own && parts.method == Method::DELETE {
            gate.cancel_all(&parts).await;
        }
        let is_foreign = is_open && !is_own;
        if is_foreign || !is_open && parts.method == Method::DELETE && has_sessions(&parts.headers)
        {
            return (StatusCode::NOT_FOUND, "there is no such session").into_response();
        }
    }
    parts.extensions.insert(client);
    if parts.method != Method::POST {
        let request = Request::from_parts(parts, body);
        return gate.service.handle(request).await.into_response();
    }
    let client = client_of(&principal, &parts.headers);
    let read = match ReadRequest::read(body, announced_bytes(&parts.headers), &client).await {
        Ok(read) => read,
        Err(Unread::TooLarge) => {
            let message = "the body is larger than 8 MiB, or it broke off";
            return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
        Err(Unread::TooSlow) => {
            let message = "the body did not arrive within 60 s";
            return (StatusCode::REQUEST_TIMEOUT, message).into_response();
        }
        Err(Unread::NoMemory) => {
            let message =
                "other requests of this client hold its share of the memory; try again later";
            return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
        }
    };
    let bytes = read.bytes.clone();
    let bytes = match gate.has_tasks {
        true => off_loop(&client, bytes.len(), || renamed(bytes, &mut parts.headers)),
        false => bytes,
    };
    match off_loop(&client, bytes.len(), || jsonrpc::parse(&bytes)) {
        Parsed::Message(message)
            if is_initialize(&message) && bytes.len() > MAX_INITIALIZE_BYTES =>
        {
            let id = id_of(&message).cloned();
            let text = "an initialize request has at most 64 KiB";
            error_response(jsonrpc::error(id, ErrorCode::INVALID_REQUEST, text))
        }
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
            let adds_capability = gate.has_tasks && is_initialize(&message);
            // A message of megabytes is dropped before it is parsed again.
            off_loop(&client, bytes.len(), || drop(message));
            let request = Request::from_parts(parts, Body::from(bytes));
            let handled = gate.service.handle(request);
            let mut response = match read.is_large() {
                true => PollOffLoop::new(handled).await.into_response(),
                false => handled.await.into_response(),
            };
            if adds_capability {
                response = with_capability(response).await;
            }
            let response = response.map(|body| read.held_by(body));
            if let Some(session) = session_of(response.headers()) {
                gate.session_uses().begin(session.into(), principal);
            }
            match is_stream(&response) {
                true => response.map(|body| open.held_by(body)),
                false => response,
            }
        }
        other => error_response(other),
    }
}

/// A request about tasks of MCP 2025-11-25 with the method that we handle it as.
fn renamed(bytes: Bytes, headers: &mut HeaderMap) -> Bytes {
    let Some(renamed) = legacy_wire::renamed(&bytes) else {
        return bytes;
    };
    // They repeat what the body said.
    headers.remove("mcp-method");
    headers.remove("mcp-name");
    headers.remove(CONTENT_LENGTH);
    renamed.into()
}

/// The response to `initialize`, one JSON message or an event stream with it.
async fn with_capability(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, MAX_INITIALIZE_BYTES).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    parts.headers.remove(CONTENT_LENGTH);
    let body = legacy_wire::with_capability(body.to_vec());
    Response::from_parts(parts, Body::from(body))
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

/// Whose memory a request is counted as: a session of a principal, or all requests of it without one.
fn client_of(principal: &Principal, headers: &HeaderMap) -> Arc<str> {
    let session = session_of(headers).unwrap_or_default();
    format!("{principal} {session}").into()
}

fn announced_bytes(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
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
        GuardedBody::guard(body, self)
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
        // No session begins while the guard is held, so none loses its owner below.
        let sessions = self.sessions.sessions.read().await;
        let open: HashSet<SessionId> = sessions.keys().cloned().collect();
        if open.len() < MAX_SESSIONS {
            self.session_uses().retain(&open);
            return true;
        }
        let evictable = self.session_uses().evictable(&open);
        drop(sessions);
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

    fn session_uses(&self) -> MutexGuard<'_, SessionUses> {
        self.session_uses
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
