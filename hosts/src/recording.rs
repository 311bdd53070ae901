//! A recording: the requests of a run and their answers, in a file for people and for replay.

use std::path::Path;
use std::sync::Arc;

use pml_files::{Access, write_atomic};
use pml_protocol::{Failure, FailureKind, ToolResult, VirtualClock, to_result};
use pml_scrub::Scrubber;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ReplayError;
use crate::recorded_request::RecordedRequest;
use crate::{bounded_read, scrub_recording};

const FORMAT: &str = "pml-recording/1";

/// The requests of one run and their answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recording {
    format: String,
    /// The name of the script that was recorded.
    pub script: String,
    /// Whether personal data and secrets were replaced.
    pub scrubbed: bool,
    /// The start time and the seed that the script had; a replay has the same.
    #[serde(rename = "world")]
    pub clock: VirtualClock,
    /// In the order in which the script made them.
    pub requests: Vec<Entry>,
}

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The request.
    #[serde(flatten)]
    pub request: RecordedRequest,
    /// Milliseconds by which timers moved the virtual clock before the answer came; mostly zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after_ms: u64,
    /// The answer.
    #[serde(flatten)]
    pub answer: RecordedAnswer,
}

fn is_zero(ms: &u64) -> bool {
    *ms == 0
}

/// The answer to a recorded request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecordedAnswer {
    /// A value.
    Value(Value),
    /// A failure.
    Failure(Failure),
    /// The run ended before the answer came.
    Unanswered,
}

impl RecordedAnswer {
    /// The recorded form of an answer.
    pub fn of(result: &ToolResult) -> Self {
        match result {
            // Answers are valid JSON.
            Ok(value) => Self::Value(serde_json::from_str(value.get()).unwrap_or_default()),
            Err(failure) => Self::Failure(failure.clone()),
        }
    }

    /// The answer in the form of a host.
    pub fn to_result(&self) -> ToolResult {
        match self {
            Self::Value(value) => to_result(value),
            Self::Failure(failure) => Err(failure.clone()),
            Self::Unanswered => Err(Failure::new(
                FailureKind::Unrecorded,
                "the recorded run had ended before this was answered; record it anew",
            )),
        }
    }
}

impl Recording {
    /// A recording of a run of `script`, not yet scrubbed.
    pub fn new(script: &str, clock: VirtualClock, requests: Vec<Entry>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            script: script.to_owned(),
            scrubbed: false,
            clock,
            requests,
        }
    }

    /// Reads a recording.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is over 64 MiB, or is not a recording of this version.
    pub fn load(path: &Path) -> Result<Self, ReplayError> {
        let bytes = bounded_read::read(path)?;
        let malformed = |error| ReplayError::MalformedRecording {
            path: path.to_owned(),
            error,
        };
        // The format first: a later one may have other fields.
        let head: Head = serde_json::from_slice(&bytes).map_err(malformed)?;
        if head.format != FORMAT {
            let found: String = head.format.chars().take(40).collect();
            let path = path.to_owned();
            return Err(match version(&found) > version(FORMAT) {
                true => ReplayError::Newer { path, found },
                false => ReplayError::Format {
                    path,
                    found,
                    expected: FORMAT,
                },
            });
        }
        serde_json::from_slice(&bytes).map_err(malformed)
    }

    /// Replaces personal data and secrets by placeholders. A value has one placeholder everywhere,
    /// so what a script takes from one answer into the next call still fits.
    ///
    /// # Errors
    ///
    /// A value that the scrubbing policy blocks.
    pub fn scrub(mut self, scrubber: Arc<Scrubber>) -> Result<Self, ReplayError> {
        scrub_recording::scrub(&mut self.requests, scrubber)?;
        self.scrubbed = true;
        Ok(self)
    }

    /// This recording with the requests of another one appended.
    #[must_use]
    pub fn with(mut self, added: Self) -> Self {
        self.requests.extend(added.requests);
        // One unscrubbed part makes the whole unscrubbed.
        self.scrubbed &= added.scrubbed;
        self
    }

    /// Without the unanswered requests, so that they are sent again.
    #[must_use]
    pub fn answered(mut self) -> Self {
        self.requests
            .retain(|entry| entry.answer != RecordedAnswer::Unanswered);
        self
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ReplayError> {
        let write = |error| ReplayError::Write {
            path: path.to_owned(),
            error,
        };
        let text = serde_json::to_string_pretty(self).map_err(|error| write(error.into()))?;
        write_atomic(path, (text + "\n").as_bytes(), Access::Umask).map_err(write)
    }
}

#[derive(Deserialize)]
struct Head {
    format: String,
}

/// The number of a format of ours.
fn version(format: &str) -> Option<u32> {
    format.strip_prefix("pml-recording/")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn recording() -> Recording {
        let entries = vec![
            Entry {
                request: RecordedRequest::Call {
                    tool: "fs:read_file".to_owned(),
                    args: json!({ "path": "a" }),
                },
                after_ms: 0,
                answer: RecordedAnswer::Value(json!({ "z": 1, "a": null })),
            },
            Entry {
                request: RecordedRequest::Search {
                    query: "words".to_owned(),
                    limit: 5,
                    threshold: None,
                },
                after_ms: 250,
                answer: RecordedAnswer::Failure(Failure::new(FailureKind::Tool, "no")),
            },
            Entry {
                request: RecordedRequest::Describe {
                    tool: "fs:read_file".to_owned(),
                },
                after_ms: 0,
                answer: RecordedAnswer::Unanswered,
            },
        ];
        let clock = VirtualClock {
            seed: 7,
            time_ms: 1_790_000_000_000,
        };
        Recording::new("a.ts", clock, entries)
    }

    #[test]
    fn what_is_written_is_read_again_in_the_same_order_of_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        recording().save(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"tool\": \"fs:read_file\""), "{text}");
        let again = Recording::load(&path).unwrap();
        assert_eq!(again.requests, recording().requests);
        let RecordedAnswer::Value(Value::Object(value)) = &again.requests[0].answer else {
            panic!("{text}");
        };
        assert_eq!(value.keys().collect::<Vec<_>>(), ["z", "a"]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_format_and_another_file_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for (text, expected) in [
            (r#"{ "format": "pml-recording/9" }"#, "newer pml"),
            (r#"{ "format": "har/1" }"#, "record it anew"),
            ("[1, 2", "not a recording"),
            (r#"{ "format": "pml-recording/1" }"#, "missing field"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Recording::load(&path).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = Recording::load(&folder.path().join("b.json")).unwrap_err();
        assert!(error.to_string().contains("b.json"), "{error}");
    }
}
