//! A recording: a file of what a run asked and what it was told, for people and for replay.

use std::path::Path;
use std::sync::Arc;

use pml_runtime::{Answer, Failure, World};
use pml_scrub::Scrubber;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::asked::Asked;
use crate::error::ReplayError;
use crate::{file, scrubbing};

const FORMAT: &str = "pml-recording/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recording {
    format: String,
    /// The name of the script that was recorded.
    pub script: String,
    /// Whether personal data and secrets were replaced.
    pub scrubbed: bool,
    /// The time and the chance that the script had: it gets the same again.
    pub world: World,
    /// In the order in which the script asked.
    pub requests: Vec<Entry>,
}

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    #[serde(flatten)]
    pub asked: Asked,
    /// How far timers moved the script's clock before the answer came; nearly always nothing.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub after_ms: u64,
    #[serde(flatten)]
    pub told: Told,
}

fn is_nothing(ms: &u64) -> bool {
    *ms == 0
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Told {
    Value(Value),
    Failure(Failure),
    /// The run had ended before it came.
    Unanswered,
}

impl Told {
    pub fn of(answer: &Answer) -> Self {
        match answer {
            // An answer is JSON: it came from a server, or from us.
            Ok(value) => Self::Value(serde_json::from_str(value.get()).unwrap_or_default()),
            Err(failure) => Self::Failure(failure.clone()),
        }
    }

    pub fn answer(&self) -> Answer {
        match self {
            Self::Value(value) => to_raw_value(value)
                .map_err(|error| Failure::new("internal", format!("no JSON: {error}"))),
            Self::Failure(failure) => Err(failure.clone()),
            Self::Unanswered => Err(Failure::new(
                "unrecorded",
                "the recorded run had ended before this was answered; record it anew",
            )),
        }
    }
}

impl Recording {
    pub fn new(script: &str, world: World, requests: Vec<Entry>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            script: script.to_owned(),
            scrubbed: false,
            world,
            requests,
        }
    }

    pub fn load(path: &Path) -> Result<Self, ReplayError> {
        let bytes = file::read(path)?;
        let no_recording = |error| ReplayError::NoRecording {
            path: path.to_owned(),
            error,
        };
        // The format first: a later one may have other fields.
        let head: Head = serde_json::from_slice(&bytes).map_err(no_recording)?;
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
        serde_json::from_slice(&bytes).map_err(no_recording)
    }

    /// Replaces personal data and secrets, each value by the same name wherever it stands, so
    /// that what a script takes from one answer into the next call still fits.
    pub fn scrub(mut self, scrubber: Arc<Scrubber>) -> Result<Self, ReplayError> {
        scrubbing::scrub(&mut self.requests, scrubber)?;
        self.scrubbed = true;
        Ok(self)
    }

    /// This recording and what another one adds to it.
    #[must_use]
    pub fn with(mut self, added: Self) -> Self {
        self.requests.extend(added.requests);
        // One part with real values makes a whole with real values.
        self.scrubbed &= added.scrubbed;
        self
    }

    /// Without the requests that the run left unanswered: somebody can be asked for them now.
    #[must_use]
    pub fn answered(mut self) -> Self {
        self.requests.retain(|entry| entry.told != Told::Unanswered);
        self
    }

    /// Writes the file in one piece.
    pub fn save(&self, path: &Path) -> Result<(), ReplayError> {
        let write = |error| ReplayError::Write {
            path: path.to_owned(),
            error,
        };
        let text = serde_json::to_string_pretty(self).map_err(|error| write(error.into()))?;
        file::replace(path, &(text + "\n")).map_err(write)
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
                asked: Asked::Call {
                    tool: "fs:read_file".to_owned(),
                    args: json!({ "path": "a" }),
                },
                after_ms: 0,
                told: Told::Value(json!({ "z": 1, "a": null })),
            },
            Entry {
                asked: Asked::search("words", 5, None),
                after_ms: 250,
                told: Told::Failure(Failure::new("tool", "no")),
            },
            Entry {
                asked: Asked::describe("fs:read_file"),
                after_ms: 0,
                told: Told::Unanswered,
            },
        ];
        let world = World {
            seed: 7,
            time_ms: 1_790_000_000_000,
        };
        Recording::new("a.ts", world, entries)
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
        let Told::Value(Value::Object(value)) = &again.requests[0].told else {
            panic!("{text}");
        };
        assert_eq!(value.keys().collect::<Vec<_>>(), ["z", "a"]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_format_and_another_file_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for (text, told) in [
            (r#"{ "format": "pml-recording/9" }"#, "newer pml"),
            (r#"{ "format": "har/1" }"#, "record it anew"),
            ("[1, 2", "no recording"),
            (r#"{ "format": "pml-recording/1" }"#, "missing field"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Recording::load(&path).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        let error = Recording::load(&folder.path().join("b.json")).unwrap_err();
        assert!(error.to_string().contains("b.json"), "{error}");
    }
}
