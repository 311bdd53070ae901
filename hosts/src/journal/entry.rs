//! Requests and answers in the form that the journal stores: that of a recording.

use pml_protocol::{Failure, Request, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::recorded_request::RecordedRequest;

/// A request that is journaled.
pub struct JournaledRequest {
    pub recorded: RecordedRequest,
    /// Of the canonical form: equal for equal requests.
    pub digest: [u8; 32],
}

impl JournaledRequest {
    /// The journaled form of a request; `None` for one that a resumed script repeats: its stored
    /// values, checkpoints and clock messages.
    pub fn of(request: &Request) -> Option<Self> {
        let recorded = match request {
            // Another script of the session may have stored something else meanwhile.
            Request::Load { key } => RecordedRequest::Load { key: key.clone() },
            other => RecordedRequest::of(other)?,
        };
        let digest = blake3::hash(recorded.key().as_bytes()).into();
        Some(Self { recorded, digest })
    }

    /// Whether the request reaches a server. A run that makes no such request leaves no journal.
    pub fn reaches_server(&self) -> bool {
        !matches!(
            self.recorded,
            RecordedRequest::Search { .. }
                | RecordedRequest::Describe { .. }
                | RecordedRequest::Load { .. }
        )
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // Plain fields always become JSON.
        serde_json::to_vec(&self.recorded).unwrap_or_default()
    }

    /// The request without its private parts, in the clear.
    pub fn title(&self) -> String {
        match &self.recorded {
            RecordedRequest::Call { tool, .. } => format!("call {tool}"),
            RecordedRequest::Search { .. } => "search".to_owned(),
            RecordedRequest::Describe { .. } => "describe".to_owned(),
            RecordedRequest::Load { .. } => "load".to_owned(),
            RecordedRequest::ListResources { server } => format!("list resources {server}"),
            RecordedRequest::ReadResource { server, .. } => format!("read resource {server}"),
            RecordedRequest::ListPrompts { server } => format!("list prompts {server}"),
            RecordedRequest::GetPrompt { server, .. } => format!("get prompt {server}"),
        }
    }
}

/// An answer of the journal. The value stays JSON text.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum JournaledAnswer {
    Value(Box<RawValue>),
    Failure(Failure),
}

/// The form of an answer in the store.
pub fn answer_to_bytes(result: &ToolResult) -> Vec<u8> {
    match result {
        Ok(value) => {
            let value = value.get();
            let mut bytes = Vec::with_capacity(value.len() + 10);
            bytes.extend_from_slice(b"{\"value\":");
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(b'}');
            bytes
        }
        // Plain fields always become JSON.
        Err(failure) => {
            serde_json::to_vec(&JournaledAnswer::Failure(failure.clone())).unwrap_or_default()
        }
    }
}

/// Reads an answer from the store.
pub fn answer_from_bytes(bytes: &[u8]) -> ToolResult {
    match serde_json::from_slice(bytes) {
        Ok(JournaledAnswer::Value(value)) => Ok(value),
        Ok(JournaledAnswer::Failure(failure)) => Err(failure),
        Err(error) => Err(Failure::internal(format!(
            "the answer in the journal is damaged: {error}"
        ))),
    }
}

/// A request from the store, as a person reads it.
pub fn request_from_bytes(bytes: &[u8]) -> Option<RecordedRequest> {
    serde_json::from_slice(bytes).ok()
}

/// The arguments of a journaled call.
pub fn arguments(request: Option<RecordedRequest>) -> Value {
    match request {
        Some(RecordedRequest::Call { args, .. }) => args,
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use pml_protocol::FailureKind;

    use super::*;

    #[test]
    fn answers_keep_their_text_and_failures_their_kind() {
        let text = r#"{"z":1.0e2,"a":null}"#;
        let value = RawValue::from_string(text.to_owned()).unwrap();
        let again = answer_from_bytes(&answer_to_bytes(&Ok(value))).unwrap();
        assert_eq!(again.get(), text);
        let failure = Failure::new(FailureKind::Timeout, "slow");
        let again = answer_from_bytes(&answer_to_bytes(&Err(failure.clone())));
        assert_eq!(again.unwrap_err(), failure);
        assert!(answer_from_bytes(b"{}").is_err());
    }
}
