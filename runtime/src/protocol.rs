//! What broker and worker say to each other, and how it is framed.
//!
//! A frame is a little-endian `u32` length and that many bytes of JSON. Both sides refuse a
//! frame over [`MAX_FRAME`] before reading its body, so neither can make the other allocate
//! more. This module is the only thing the two processes share.

use std::io::{self, Read};

use pml_ops::{Answer, Level, Request};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::outcome::{ErrorKind, RunError};
use crate::world::{Sleep, World};

/// A result of 16 MiB, escaped and wrapped.
pub const MAX_FRAME: usize = 17 * 1024 * 1024;

/// What a line of the log costs besides its text, in messages and in memory: empty lines are not
/// free.
pub const LOG_LINE_COST: u64 = 32;

const HEADER: usize = 4;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// The one script of this worker's life.
    Run(Box<RunSpec>),
    /// The answer to the request with this number.
    Answer { id: u32, answer: Answer },
    /// Stops the clock of the time limit, or lets it run on: the run waits for a person.
    Clock { stopped: bool },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromWorker {
    /// The runtime stands and the walls are up, as far as this kernel has them.
    Ready {
        missing_walls: Vec<String>,
    },
    /// The script is a module now. A worker that dies before this died of parsing.
    Parsed {
        micros: u64,
    },
    Ask {
        id: u32,
        request: Request,
    },
    Log {
        level: Level,
        text: String,
    },
    /// A limit was crossed; the run is being ended. If nothing follows soon, the worker is
    /// beyond listening.
    Stopping {
        kind: ErrorKind,
        message: String,
    },
    Done(Box<Report>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunSpec {
    /// Appears in stack traces.
    pub name: String,
    pub source: String,
    pub args: Vec<String>,
    pub limits: Limits,
    /// Run it even where the kernel would not put up every wall.
    pub allow_missing_walls: bool,
    /// `None` is the real one.
    pub world: Option<World>,
    pub sleep: Sleep,
    /// Set for a file of tests: it may import `pml/test`, and files beside it.
    pub test: Option<TestSpec>,
}

/// What a file of tests has besides a script.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestSpec {
    /// The file, below the folder that its imports stay in: `audit/audit.test.ts`.
    pub path: String,
    /// For `js/77_run_tests.js`: time limits, names, snapshots.
    pub settings: Box<RawValue>,
    /// Whether to count which lines ran.
    pub coverage: bool,
}

/// What a script left. `null` is something; an option would travel as `null` too.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Returned {
    Nothing,
    Json(Box<RawValue>),
}

impl From<Returned> for Option<Box<RawValue>> {
    fn from(returned: Returned) -> Self {
        match returned {
            Returned::Nothing => None,
            Returned::Json(json) => Some(json),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    pub result: Result<Returned, RunError>,
    pub wall_ms: f64,
    pub cpu_ms: f64,
    pub heap_bytes: u64,
    pub peak_rss_bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    #[error("a message of {size} bytes is over the limit of {MAX_FRAME}")]
    TooLarge { size: usize },
    #[error("a message could not be read: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// A message with its header, ready to be written.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, ProtocolError> {
    let mut frame = vec![0; HEADER];
    serde_json::to_writer(&mut frame, message)?;
    let size = frame.len() - HEADER;
    match u32::try_from(size) {
        Ok(length) if size <= MAX_FRAME => {
            frame[..HEADER].copy_from_slice(&length.to_le_bytes());
            Ok(frame)
        }
        _ => Err(ProtocolError::TooLarge { size }),
    }
}

/// Bytes that have arrived and are not yet whole messages.
#[derive(Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    taken: usize,
}

impl Inbox {
    /// Reads what has arrived and gives the number of bytes; none at the end. The room for it is
    /// taken here, not in a task that waits: tasks are moved about.
    pub fn read_from(&mut self, mut source: impl Read) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let count = source.read(&mut buffer)?;
        self.push(&buffer[..count]);
        Ok(count)
    }

    pub fn push(&mut self, bytes: &[u8]) {
        // Messages already taken make room before new bytes do.
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        } else if self.taken > 64 * 1024 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one.
    pub fn pop<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ProtocolError> {
        let waiting = &self.bytes[self.taken..];
        let Some((header, rest)) = waiting.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let size = u32::from_le_bytes(*header) as usize;
        if size > MAX_FRAME {
            return Err(ProtocolError::TooLarge { size });
        }
        let Some(body) = rest.get(..size) else {
            return Ok(None);
        };
        let message = serde_json::from_slice(body)?;
        self.taken += HEADER + size;
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> FromWorker {
        FromWorker::Log {
            level: Level::Log,
            text: text.to_owned(),
        }
    }

    #[test]
    fn messages_arrive_whole_however_the_bytes_are_cut() {
        let mut wire = encode(&log("one")).unwrap();
        wire.extend(encode(&log("two")).unwrap());
        let mut inbox = Inbox::default();
        let mut texts = Vec::new();
        for byte in wire {
            inbox.push(&[byte]);
            while let Some(FromWorker::Log { text, .. }) = inbox.pop().unwrap() {
                texts.push(text);
            }
        }
        assert_eq!(texts, ["one", "two"]);
    }

    #[test]
    fn an_oversized_header_is_refused_before_its_body_arrives() {
        let mut inbox = Inbox::default();
        inbox.push(&u32::MAX.to_le_bytes());
        assert!(matches!(
            inbox.pop::<FromWorker>(),
            Err(ProtocolError::TooLarge { .. })
        ));
    }

    #[test]
    fn an_oversized_message_is_refused_by_its_sender() {
        let error = encode(&log(&"x".repeat(MAX_FRAME + 1))).unwrap_err();
        assert!(matches!(error, ProtocolError::TooLarge { .. }));
    }

    #[test]
    fn bytes_that_are_no_message_are_an_error() {
        let mut inbox = Inbox::default();
        inbox.push(&3u32.to_le_bytes());
        inbox.push(b"{{{");
        assert!(matches!(
            inbox.pop::<FromWorker>(),
            Err(ProtocolError::Malformed(_))
        ));
    }
}
