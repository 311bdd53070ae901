//! CORS: the web pages whose browser lets them read responses of the server.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

const HEADERS: [(&str, &str); 4] = [
    ("vary", "origin"),
    ("access-control-allow-methods", "GET, POST, DELETE"),
    (
        "access-control-allow-headers",
        "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
    ),
    ("access-control-expose-headers", "mcp-session-id"),
];

/// Whether an origin is in the list. `http://localhost:*` matches every port.
pub fn is_allowed(allowed: &[String], origin: &HeaderValue) -> bool {
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    allowed
        .iter()
        .any(|allowed| match allowed.strip_suffix(":*") {
            Some(host) => {
                let port = origin.strip_prefix(host);
                port.is_some_and(|port| port.is_empty() || is_port(port))
            }
            None => allowed == origin || without_default_port(allowed) == origin,
        })
}

fn is_port(text: &str) -> bool {
    let digits = text.strip_prefix(':').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Browsers leave the default port of a scheme out of the origin.
fn without_default_port(origin: &str) -> &str {
    let (end, scheme) = match origin.starts_with("https:") {
        true => (":443", "https:"),
        false => (":80", "http:"),
    };
    match origin.strip_suffix(end) {
        Some(short) if origin.starts_with(scheme) => short,
        _ => origin,
    }
}

/// Adds the headers that let a page of this origin read the response.
pub fn add_headers(origin: HeaderValue, headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    headers.insert(
        HeaderName::from_static("access-control-allow-origin"),
        origin,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_allowed_origins_may_read_responses() {
        let allowed = ["http://localhost:*", "https://app.example.com:443"].map(str::to_owned);
        let is_allowed =
            |origin: &str| is_allowed(&allowed, &HeaderValue::from_str(origin).unwrap());
        for origin in [
            "http://localhost",
            "http://localhost:5173",
            "https://app.example.com",
            "https://app.example.com:443",
        ] {
            assert!(is_allowed(origin), "{origin}");
        }
        for origin in [
            "http://localhost.example.com",
            "http://localhost:5173.example.com",
            "http://localhost:",
            "https://localhost:5173",
            "http://app.example.com",
            "https://app.example.com.evil.example",
            "null",
        ] {
            assert!(!is_allowed(origin), "{origin}");
        }
    }
}
