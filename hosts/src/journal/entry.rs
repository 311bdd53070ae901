//! Requests and answers in the form that the journal stores: that of a recording.

use pml_protocol::{Failure, Flow, Request, Target, ToolResult};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::arguments;
use crate::recorded_request::RecordedRequest;

/// A request whose values take longer than this to parse is parsed off the event loop, and one answer
/// of this size is in the making at a time.
pub const LARGE_BYTES: usize = 128 * 1024;

/// What the journal keeps in mind of a request: not its arguments, which can be large.
pub struct JournaledRequest {
    /// Of the canonical form: equal for equal requests.
    pub digest: [u8; 32],
    /// Its kind, and the tool of a call.
    pub title: String,
    /// The server whose data the answer is; `None` if it is not of one server.
    pub server: Option<String>,
}

impl JournaledRequest {
    /// Whether a request is journaled. A resumed script repeats the others: its stored values,
    /// checkpoints and clock messages.
    pub fn is_journaled(request: &Request) -> bool {
        matches!(
            request,
            Request::Call { .. }
                | Request::Search { .. }
                | Request::Describe { .. }
                | Request::Resource { .. }
                // Another script of the session may have stored something else meanwhile.
                | Request::Load { .. }
                // A person has answered.
                | Request::ApproveTask { .. }
        )
    }

    /// The journaled form of a request for which [`JournaledRequest::is_journaled`] holds.
    ///
    /// # Errors
    ///
    /// Arguments that would take too much memory.
    pub async fn of(request: &Request) -> Result<Self, Failure> {
        if request.size() <= LARGE_BYTES {
            return Self::parsed(request);
        }
        let request = request.clone();
        let parsed = tokio::task::spawn_blocking(move || Self::parsed(&request));
        parsed
            .await
            .unwrap_or_else(|_| Err(Failure::internal("the arguments make the parser panic")))
    }

    fn parsed(request: &Request) -> Result<Self, Failure> {
        if let Request::Call { args, .. } = request {
            arguments::check_size(args.get())?;
        }
        let recorded = recorded(request)
            .ok_or_else(|| Failure::internal("this request cannot be journaled"))?;
        Ok(Self {
            digest: blake3::hash(recorded.key().as_bytes()).into(),
            title: title(&recorded),
            server: recorded.server().map(str::to_owned),
        })
    }
}

/// The digest of a request that is not journaled.
pub fn digest_of(request: &Request) -> [u8; 32] {
    let recorded = recorded(request);
    recorded.map_or([0; 32], |recorded| {
        blake3::hash(recorded.key().as_bytes()).into()
    })
}

fn recorded(request: &Request) -> Option<RecordedRequest> {
    match request {
        Request::Load { key } => Some(RecordedRequest::Load { key: key.clone() }),
        Request::ApproveTask {
            task,
            tool,
            question,
        } => Some(RecordedRequest::ApproveTask {
            task: task.clone(),
            tool: tool.clone(),
            question: question.clone(),
        }),
        other => RecordedRequest::of(other),
    }
}

/// Whether the request reaches a server. A run that makes no such request leaves no journal.
pub fn reaches_server(request: &Request) -> bool {
    !matches!(request.target(), Target::Local)
}

/// The form of a request in the store. The arguments of a call keep their text.
pub fn request_to_bytes(request: &Request) -> Vec<u8> {
    // Plain fields and raw JSON always become JSON.
    match request {
        Request::Call { tool, args, .. } => {
            serde_json::to_vec(&JournaledCall::Call { tool, args }).unwrap_or_default()
        }
        other => serde_json::to_vec(&recorded(other)).unwrap_or_default(),
    }
}

/// The form of an answered request: its arguments only if they are small, since nothing but a person
/// reads them any more.
pub fn answered_to_bytes(request: &Request) -> Vec<u8> {
    match request {
        Request::Call { tool, args, .. } if args.get().len() > LARGE_BYTES => {
            let args = Value::from(format!("{} bytes", args.get().len()));
            let tool = tool.clone();
            serde_json::to_vec(&RecordedRequest::Call { tool, args }).unwrap_or_default()
        }
        other => request_to_bytes(other),
    }
}

/// A call in the form of [`RecordedRequest`], without parsing its arguments.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum JournaledCall<'a> {
    Call { tool: &'a str, args: &'a RawValue },
}

/// The request without its private parts, in the clear.
fn title(recorded: &RecordedRequest) -> String {
    match recorded {
        RecordedRequest::Call { tool, .. } => format!("call {tool}"),
        RecordedRequest::Search { .. } => "search".to_owned(),
        RecordedRequest::Describe { .. } => "describe".to_owned(),
        RecordedRequest::Load { .. } => "load".to_owned(),
        RecordedRequest::ApproveTask { task, .. } => format!("approve {task}"),
        RecordedRequest::ListResources { server } => format!("list resources {server}"),
        RecordedRequest::ReadResource { server, .. } => format!("read resource {server}"),
        RecordedRequest::ListPrompts { server } => format!("list prompts {server}"),
        RecordedRequest::GetPrompt { server, .. } => format!("get prompt {server}"),
    }
}

/// An answer of the journal: a value, which stays JSON text, or a failure.
#[derive(Serialize, Deserialize)]
struct JournaledAnswer {
    /// What the run has read with the answer.
    #[serde(default, skip_serializing_if = "Flow::is_clean")]
    read: Flow,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    value: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
}

/// A value that is there, also if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// The form of an answer in the store. `read` is what the run has read with it.
pub fn answer_to_bytes(result: &ToolResult, read: &Flow) -> Vec<u8> {
    match result {
        Ok(value) => {
            let value = value.get();
            let mut bytes = Vec::with_capacity(value.len() + 10);
            bytes.push(b'{');
            if !read.is_clean() {
                bytes.extend_from_slice(b"\"read\":");
                // Maps with text keys always become JSON.
                bytes.extend(serde_json::to_vec(read).unwrap_or_default());
                bytes.push(b',');
            }
            bytes.extend_from_slice(b"\"value\":");
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(b'}');
            bytes
        }
        // Plain fields always become JSON.
        Err(failure) => serde_json::to_vec(&JournaledAnswer {
            read: read.clone(),
            value: None,
            failure: Some(failure.clone()),
        })
        .unwrap_or_default(),
    }
}

/// Reads an answer from the store.
pub fn answer_from_bytes(bytes: &[u8]) -> ToolResult {
    labelled_answer_from_bytes(bytes).0
}

/// Reads an answer from the store, and what the run had read with it.
pub fn labelled_answer_from_bytes(bytes: &[u8]) -> (ToolResult, Flow) {
    let damaged = |error: &dyn std::fmt::Display| {
        Failure::internal(format!("the answer in the journal is damaged: {error}"))
    };
    match serde_json::from_slice::<JournaledAnswer>(bytes) {
        Ok(answer) => {
            let result = match (answer.value, answer.failure) {
                (Some(value), _) => Ok(value),
                (None, Some(failure)) => Err(failure),
                (None, None) => Err(damaged(&"it has neither a value nor a failure")),
            };
            (result, answer.read)
        }
        Err(error) => (Err(damaged(&error)), Flow::default()),
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
    use pml_protocol::{FailureKind, Label};

    use super::*;

    fn call(args: &str) -> Request {
        Request::call("a:b", RawValue::from_string(args.to_owned()).unwrap())
    }

    #[test]
    fn a_call_is_stored_in_the_form_of_a_recording() {
        let request = call(r#"{"n": 1.0}"#);
        let stored = request_from_bytes(&request_to_bytes(&request));
        assert_eq!(stored, RecordedRequest::of(&request));
        let large = call(&format!(r#"{{"text":"{}"}}"#, "x".repeat(LARGE_BYTES)));
        assert!(answered_to_bytes(&large).len() < 100);
        let args = arguments(request_from_bytes(&answered_to_bytes(&large)));
        assert!(args.as_str().unwrap().ends_with(" bytes"), "{args}");
    }

    #[tokio::test]
    async fn large_and_small_requests_have_the_digests_of_their_canonical_forms() {
        let text = "x".repeat(LARGE_BYTES);
        let one = call(&format!(r#"{{"a":1,"b":"{text}"}}"#));
        let same = call(&format!(r#"{{"b":"{text}","a":1.0}}"#));
        let digest = async |request| JournaledRequest::of(request).await.unwrap().digest;
        assert_eq!(digest(&one).await, digest(&same).await);
        assert_eq!(digest(&one).await, digest_of(&one));
        let nulls = call(&format!(r#"{{"n":[{}null]}}"#, "null,".repeat(1_000_000)));
        assert!(JournaledRequest::of(&nulls).await.is_err());
    }

    #[test]
    fn answers_keep_their_text_and_failures_their_kind() {
        let text = r#"{"z":1.0e2,"a":null}"#;
        let value = RawValue::from_string(text.to_owned()).unwrap();
        let clean = Flow::default();
        let again = answer_from_bytes(&answer_to_bytes(&Ok(value), &clean)).unwrap();
        assert_eq!(again.get(), text);
        let null = answer_from_bytes(&answer_to_bytes(&Ok(RawValue::NULL.to_owned()), &clean));
        assert_eq!(null.unwrap().get(), "null");
        let failure = Failure::new(FailureKind::Timeout, "slow");
        let again = answer_from_bytes(&answer_to_bytes(&Err(failure.clone()), &clean));
        assert_eq!(again.unwrap_err(), failure);
        assert!(answer_from_bytes(b"{}").is_err());
    }

    #[test]
    fn answers_keep_their_labels() {
        let read = Flow::of("web:fetch", &Label::untrusted());
        for result in [
            Ok(RawValue::NULL.to_owned()),
            Err(Failure::new(FailureKind::Tool, "no")),
        ] {
            let bytes = answer_to_bytes(&result, &read);
            assert_eq!(labelled_answer_from_bytes(&bytes).1, read);
        }
    }
}
