//! Events in the form of CloudEvents 1.0 (JSON).

use std::time::SystemTime;

use serde::Serialize;

use crate::error::AuditError;
use crate::hash::Hash;
use crate::timestamp::timestamp;

/// Who did something, for whom, and under which rules: the extension attributes of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Actor {
    /// Whose data it is about.
    pub tenant: String,
    /// Who asked for it.
    pub principal: String,
    /// The session of the client.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The run, in which it happened.
    #[serde(rename = "runid", skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// The span in which it happened, as the extension of CloudEvents for distributed tracing has it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub traceparent: String,
    /// The digest of the operator's policy.
    #[serde(rename = "policyhash", skip_serializing_if = "String::is_empty")]
    pub policy: String,
    /// The digest of the lock file.
    #[serde(rename = "lockhash", skip_serializing_if = "String::is_empty")]
    pub lock: String,
}

/// Something that happened.
pub struct Event<'a, D> {
    kind: &'a str,
    subject: Option<&'a str>,
    actor: Option<&'a Actor>,
    data: &'a D,
}

impl<'a, D: Serialize> Event<'a, D> {
    /// An event of a type such as `pml.call.intent`.
    pub fn new(kind: &'a str, data: &'a D) -> Self {
        Self {
            kind,
            subject: None,
            actor: None,
            data,
        }
    }

    /// The same event with what it is about, such as a tool.
    #[must_use]
    pub fn about(self, subject: &'a str) -> Self {
        let subject = Some(subject);
        Self { subject, ..self }
    }

    /// The same event with who did it.
    #[must_use]
    pub fn by(self, actor: &'a Actor) -> Self {
        let actor = Some(actor);
        Self { actor, ..self }
    }

    /// The members of the event after `id` and `source`, which the log adds.
    pub(crate) fn members(&self) -> Result<Vec<u8>, AuditError> {
        let members = Members {
            kind: self.kind,
            time: timestamp(SystemTime::now()),
            datacontenttype: "application/json",
            subject: self.subject,
            actor: self.actor,
            data: self.data,
        };
        let mut json = Vec::with_capacity(512);
        serde_json::to_writer(&mut json, &members)
            .map_err(|error| AuditError::invalid("event", error.to_string()))?;
        Ok(json)
    }
}

#[derive(Serialize)]
struct Members<'a, D> {
    #[serde(rename = "type")]
    kind: &'a str,
    time: String,
    datacontenttype: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(flatten)]
    actor: Option<&'a Actor>,
    data: &'a D,
}

/// Writes an entry: the event with its position as `id`.
pub(crate) fn write_entry(entry: &mut Vec<u8>, origin: &str, index: u64, members: &[u8]) {
    let head = format!(r#"{{"specversion":"1.0","id":"{index}","source":"/{origin}","#);
    entry.extend_from_slice(head.as_bytes());
    // The members are a JSON object: `{` is replaced by the head.
    entry.extend_from_slice(members.get(1..).unwrap_or_default());
}

/// The form of a value in an event whose values are not kept: `sha256:` and hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", Hash::of(bytes))
}
