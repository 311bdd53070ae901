//! What the answer of a service means to a call.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use pml_openapi::Operation;
use reqwest::Response;
use serde_json::{Value, json};

use crate::ToolId;
use crate::call::{CallError, CallErrorKind, FailedAttempt};
use crate::json_size;
use crate::off_loop::off_loop;
use crate::policy::retry::Failure;
use crate::secrets::Secrets;
use crate::transport::{Body, MAX_MESSAGE_BYTES, MAX_PARSED_BYTES, ServerShare, read_body};

/// Bytes of the body of a failure that are read.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Bytes of it that an error repeats.
const MAX_SHOWN_BYTES: usize = 2_000;

/// The value of a success.
pub async fn value(
    tool: &ToolId,
    response: Response,
    share: &ServerShare,
) -> Result<Value, FailedAttempt> {
    let media = media_type(&response);
    let status = response.status();
    if status == StatusCode::NO_CONTENT {
        return Ok(Value::Null);
    }
    let mut memory = share.text();
    let body = match read_body(response, MAX_MESSAGE_BYTES, &mut memory).await {
        Ok(Body::Whole(body)) => body,
        Ok(Body::Cut(_)) => {
            let message = format!(
                "the result of `{tool}` is over the limit of {} MiB: ask the tool for less, such as a page or a part",
                MAX_MESSAGE_BYTES >> 20
            );
            return Err(answered(CallErrorKind::Output, tool, message));
        }
        Ok(Body::NoRoom) => {
            let message = format!(
                "there is no memory for the result of `{tool}`: its server's other answers hold its share; call again later"
            );
            return Err(answered(CallErrorKind::Output, tool, message));
        }
        Err(error) => return Err(broken(tool, &error)),
    };
    if body.is_empty() {
        return Ok(Value::Null);
    }
    let is_measured = media.is_text() || media.is_json();
    if is_measured && json_size::exceeds(&body, MAX_PARSED_BYTES) && media.is_json() {
        let message = format!(
            "the result of `{tool}` has too many values: parsed, they would take more than {} MiB; ask the tool for less, such as a page or a part",
            MAX_PARSED_BYTES >> 20
        );
        return Err(answered(CallErrorKind::Output, tool, message));
    }
    let parsed = off_loop(tool.server(), body.len(), || parse(&media, body));
    parsed.map_err(|reason| {
        let message = format!(
            "`{tool}` answered with invalid {} ({reason}); the call may have had its effect",
            media.0
        );
        FailedAttempt {
            unhealthy: true,
            ..answered(CallErrorKind::Protocol, tool, message)
        }
    })
}

/// The media type of an answer, without parameters and in small letters.
struct MediaType(String);

impl MediaType {
    fn is_json(&self) -> bool {
        self.0 == "application/json" || self.0 == "text/json" || self.0.ends_with("+json")
    }

    fn is_lines(&self) -> bool {
        [
            "application/x-ndjson",
            "application/ndjson",
            "application/jsonl",
            "application/json-seq",
        ]
        .contains(&self.0.as_str())
    }

    fn is_text(&self) -> bool {
        self.0.starts_with("text/")
            || self.0.ends_with("xml")
            || self.0.ends_with("yaml")
            || ["application/javascript", "application/graphql"].contains(&self.0.as_str())
    }
}

fn media_type(response: &Response) -> MediaType {
    let header = response.headers().get(http::header::CONTENT_TYPE);
    let text = header.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let text = text.unwrap_or_default();
    let plain = text.split(';').next().unwrap_or_default().trim();
    MediaType(plain.to_ascii_lowercase())
}

/// JSON as its value, lines of JSON as a list, text as a string; other bytes in base64, in the form that
/// MCP has for resources.
fn parse(media: &MediaType, body: Vec<u8>) -> Result<Value, String> {
    if media.is_json() {
        return serde_json::from_slice(&body).map_err(|error| error.to_string());
    }
    if media.is_lines() {
        let lines = body.split(|byte| matches!(byte, b'\n' | 0x1e));
        let values: Result<Vec<Value>, String> = lines
            .filter(|line| !line.trim_ascii().is_empty())
            .map(|line| serde_json::from_slice(line).map_err(|error| error.to_string()))
            .collect();
        return values.map(Value::Array);
    }
    let text = match String::from_utf8(body) {
        Ok(text) => text,
        Err(bytes) => return Ok(blob(media, bytes.as_bytes())),
    };
    if media.is_text() {
        return Ok(Value::String(text));
    }
    // Without a type, or with a wrong one: JSON if it is, else text.
    let is_unnamed = media.0.is_empty() || media.0 == "application/octet-stream";
    match is_unnamed || text.starts_with(['{', '[']) {
        true => Ok(serde_json::from_str(&text).unwrap_or(Value::String(text))),
        false => Ok(blob(media, text.as_bytes())),
    }
}

fn blob(media: &MediaType, bytes: &[u8]) -> Value {
    json!({ "mimeType": media.0, "blob": STANDARD.encode(bytes) })
}

/// The error of an answer that is no success.
pub async fn failure(
    tool: &ToolId,
    operation: &Operation,
    response: Response,
    share: &ServerShare,
    secrets: &Secrets,
) -> FailedAttempt {
    let status = response.status();
    let retry_after = response
        .headers()
        .get(http::header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(Duration::from_secs);
    let location = response.headers().get(http::header::LOCATION).cloned();
    let address = response.url().clone();
    let mut memory = share.text();
    let body = match read_body(response, MAX_ERROR_BYTES, &mut memory).await {
        Ok(Body::Whole(body) | Body::Cut(body)) => body,
        Ok(Body::NoRoom) | Err(_) => Vec::new(),
    };
    let text = secrets.beginning(&body, MAX_SHOWN_BYTES);
    let shown = match text.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    };
    let hint = hint(operation, status, &text);
    if status.is_redirection() {
        let target = location.and_then(|it| address.join(it.to_str().ok()?).ok());
        let target = target.map_or("another address".to_owned(), |url| {
            url.origin().ascii_serialization()
        });
        let message = format!(
            "`{tool}` redirects to {target}, which is not followed: it may be the address for `baseUrl` of the server{hint}"
        );
        return answered(CallErrorKind::Tool, tool, message);
    }
    let message = format!("`{tool}` answered HTTP {status}{shown}{hint}");
    match status.as_u16() {
        401 => {
            let schemes = schemes_of(operation);
            let message = format!("{message}: {schemes}");
            answered(CallErrorKind::Denied, tool, message)
        }
        403 => answered(CallErrorKind::Denied, tool, message),
        408 | 425 | 429 | 500..=599 => FailedAttempt {
            error: CallError::transient(
                CallErrorKind::Unavailable,
                tool.as_str(),
                message,
                retry_after,
            ),
            // What is refused for its rate has had no effect.
            failure: match status.as_u16() {
                425 | 429 => Failure::NeverSent,
                _ => Failure::Unanswered,
            },
            unhealthy: !matches!(status.as_u16(), 425 | 429),
        },
        _ => answered(CallErrorKind::Tool, tool, message),
    }
}

/// What the document says about a failure.
fn hint(operation: &Operation, status: StatusCode, text: &str) -> String {
    let found = operation.error_patterns.iter().find(|known| {
        known.pattern == status.as_str()
            || (known.pattern.parse::<u16>().is_err() && text.contains(&known.pattern))
    });
    found.map_or(String::new(), |known| format!(" ({})", known.hint))
}

/// What to do about missing credentials.
fn schemes_of(operation: &Operation) -> String {
    let alternatives = operation.security.as_deref().unwrap_or_default();
    let named: Vec<String> = alternatives
        .iter()
        .filter(|wanted| !wanted.is_empty())
        .map(|wanted| {
            wanted
                .keys()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" with ")
        })
        .collect();
    match named.is_empty() {
        true => "set `headers` or `auth` of the server".to_owned(),
        false => format!("set `auth` of the server for {}", named.join(" or ")),
    }
}

/// An error of a call that had an answer.
pub fn answered(kind: CallErrorKind, tool: &ToolId, message: String) -> FailedAttempt {
    FailedAttempt {
        error: CallError::permanent(kind, tool.as_str(), message),
        failure: Failure::Answered,
        unhealthy: false,
    }
}

/// The connection broke during the answer.
pub fn broken(tool: &ToolId, error: &reqwest::Error) -> FailedAttempt {
    let message = format!(
        "the connection to the service of `{tool}` was lost ({}); the call may have had its effect: check before calling again",
        crate::transport::without_paths(&error.to_string())
    );
    FailedAttempt {
        error: CallError::permanent(CallErrorKind::Protocol, tool.as_str(), message),
        failure: Failure::Unanswered,
        unhealthy: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(media: &str, body: &[u8]) -> Value {
        parse(&MediaType(media.to_owned()), body.to_vec()).unwrap()
    }

    #[test]
    fn bodies_become_values_by_their_type() {
        assert_eq!(
            parsed("application/problem+json", b"{\"a\":1}"),
            json!({ "a": 1 })
        );
        assert_eq!(
            parsed("application/x-ndjson", b"{\"a\":1}\n\n2\n"),
            json!([{ "a": 1 }, 2])
        );
        assert_eq!(parsed("text/plain", b"{not json"), json!("{not json"));
        assert_eq!(parsed("", b"[1]"), json!([1]));
        assert_eq!(parsed("application/octet-stream", b"text"), json!("text"));
        assert_eq!(
            parsed("image/png", &[0xff, 0]),
            json!({ "mimeType": "image/png", "blob": "/wA=" })
        );
        assert_eq!(
            parsed("application/pdf", b"%PDF"),
            json!({ "mimeType": "application/pdf", "blob": "JVBERg==" })
        );
    }
}
