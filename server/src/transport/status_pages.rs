//! `/metrics` for Prometheus, and the probes `/healthz`, `/readyz` and `/startupz`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pml_protocol::{RunId, TenantId};
use pml_store::StoreError;
use tokio::sync::Semaphore;

use super::listen::{ListenAddress, Listener};
use crate::error::ServeError;
use crate::state::ServerState;

const METRICS: &str = "/metrics";
/// The media type of the exposition format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Connections to the address of the metrics at once.
const MAX_CONNECTIONS: usize = 32;
/// How long a connection to it may be idle.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the store has to answer a probe.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// The pages of a server.
#[derive(Clone)]
pub struct StatusPages(ServerState);

impl StatusPages {
    pub fn new(state: ServerState) -> Self {
        Self(state)
    }

    /// Whether a path is that of a probe, which needs no token: it says nothing but whether the server works.
    pub fn is_probe(path: &str) -> bool {
        matches!(path, "/healthz" | "/readyz" | "/startupz")
    }

    /// Whether a path is that of the metrics, which name tools.
    pub fn is_metrics(path: &str) -> bool {
        path == METRICS
    }

    /// The page of a path; `None` if there is none.
    pub async fn page(&self, path: &str, method: &Method) -> Option<Response> {
        let page = match path {
            METRICS => {
                let telemetry = self.0.telemetry()?;
                let kind = [(CONTENT_TYPE, METRICS_TYPE)];
                (kind, telemetry.metrics().prometheus()).into_response()
            }
            "/healthz" => (StatusCode::OK, "ok\n").into_response(),
            "/readyz" => verdict(self.readiness().await),
            "/startupz" => verdict(match self.0.has_listed() {
                true => Ok(()),
                false => Err("the servers are still starting"),
            }),
            _ => return None,
        };
        Some(match *method {
            Method::GET | Method::HEAD => page,
            _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        })
    }

    /// Whether scripts can run now.
    async fn readiness(&self) -> Result<(), &'static str> {
        if self.0.closing().is_cancelled() {
            return Err("the server is shutting down");
        }
        if !self.0.pool().status().can_start {
            return Err("workers cannot be started; the log of the server says why");
        }
        if let Some(runs) = self.0.durable_runs() {
            // A run that does not exist is an answer.
            let (tenant, nothing) = (TenantId::local(), RunId::random());
            let asked = runs.store().run(&tenant, &nothing);
            let answered = tokio::time::timeout(STORE_TIMEOUT, asked).await;
            if !matches!(answered, Ok(Ok(_) | Err(StoreError::NotFound { .. }))) {
                return Err("the store does not answer");
            }
        }
        Ok(())
    }
}

fn verdict(verdict: Result<(), &'static str>) -> Response {
    match verdict {
        Ok(()) => (StatusCode::OK, "ok\n").into_response(),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}

/// Serves the pages alone at an address of their own, until the server closes.
///
/// # Errors
///
/// The address cannot be bound.
pub async fn serve_status(
    state: ServerState,
    address: &ListenAddress,
) -> Result<ListenAddress, ServeError> {
    let failed = |source| ServeError::Listen {
        address: address.clone(),
        source,
    };
    let listener = Listener::bind(address).await.map_err(failed)?;
    let bound = listener.address().map_err(failed)?;
    tokio::spawn(accept(listener, state));
    Ok(bound)
}

async fn accept(listener: Listener, state: ServerState) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let pages = StatusPages::new(state.clone());
    loop {
        // The semaphore is never closed.
        let permit = permits.clone().acquire_owned().await.ok();
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = state.closing().cancelled() => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (pages, closing) = (pages.clone(), state.closing().clone());
        tokio::spawn(async move {
            let _permit = permit;
            let service = service_fn(move |request: Request<Incoming>| {
                let pages = pages.clone();
                async move { Ok::<_, Infallible>(respond(&pages, &request).await) }
            });
            let mut builder = http1::Builder::new();
            builder
                .timer(TokioTimer::new())
                .header_read_timeout(IDLE_TIMEOUT);
            tokio::select! {
                _ended = builder.serve_connection(TokioIo::new(stream), service) => {}
                () = closing.cancelled() => {}
            }
        });
    }
}

async fn respond(pages: &StatusPages, request: &Request<Incoming>) -> Response<Body> {
    // A web page that has its own name resolved to this address must not read the names of tools.
    if !has_own_host(request.headers()) {
        return (
            StatusCode::FORBIDDEN,
            "ask for an IP address, or for localhost\n",
        )
            .into_response();
    }
    let page = pages.page(request.uri().path(), request.method()).await;
    page.unwrap_or_else(|| {
        let there_is = "there is /metrics, /healthz, /readyz and /startupz\n";
        (StatusCode::NOT_FOUND, there_is).into_response()
    })
}

/// Whether the `Host` is an address or a name that cannot be that of a web page elsewhere: one without a dot.
fn has_own_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
        return true;
    };
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<std::net::IpAddr>().is_ok()
        || !name.contains('.')
        || name.ends_with(".local")
        || name.ends_with(".internal")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_web_pages_are_refused() {
        let own = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            has_own_host(&headers)
        };
        for host in [
            "127.0.0.1:9464",
            "[::1]:9464",
            "localhost",
            "pml:80",
            "pod.svc.cluster.local",
        ] {
            assert!(own(host), "{host}");
        }
        for host in ["evil.example", "evil.example:9464", "a@b c"] {
            assert!(!own(host), "{host}");
        }
        assert!(has_own_host(&HeaderMap::new()));
    }
}
