//! What stands in front of the protocol over HTTP: the token, the size of a body, and its form.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::lines::MAX_MESSAGE;
use super::wire::{self, Read};
use crate::handler::Handler;

/// Sessions at the same time. Each keeps names and values in memory.
const MAX_SESSIONS: usize = 256;

pub struct Front {
    pub token: Option<String>,
    pub service: StreamableHttpService<Handler, LocalSessionManager>,
    pub sessions: Arc<LocalSessionManager>,
}

pub async fn answer(State(front): State<Arc<Front>>, request: Request) -> Response {
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
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        let request = Request::from_parts(parts, body);
        return front.service.handle(request).await.into_response();
    }
    let Ok(bytes) = to_bytes(body, MAX_MESSAGE).await else {
        let told = "the body is larger than 8 MiB, or it broke off";
        return (StatusCode::PAYLOAD_TOO_LARGE, told).into_response();
    };
    match wire::read(&bytes) {
        Read::Message(message) if is_initialize(&message) && front.is_full().await => {
            let told = "there are too many sessions; try again later";
            (StatusCode::SERVICE_UNAVAILABLE, told).into_response()
        }
        Read::Message(_) => {
            let request = Request::from_parts(parts, Body::from(bytes));
            front.service.handle(request).await.into_response()
        }
        Read::Error(error) => {
            let json = [(CONTENT_TYPE, "application/json")];
            // A message of ours, which is JSON.
            let body = serde_json::to_vec(&*error)
                .map(Bytes::from)
                .unwrap_or_default();
            (StatusCode::BAD_REQUEST, json, body).into_response()
        }
        Read::Nothing => StatusCode::ACCEPTED.into_response(),
    }
}

impl Front {
    async fn is_full(&self) -> bool {
        self.sessions.sessions.read().await.len() >= MAX_SESSIONS
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
