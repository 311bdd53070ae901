//! Checkpoints: values that a script keeps over a resume, so that it does not repeat long
//! computations.
//!
//! A script that finds a checkpoint skips what it did before it. The requests it skips are not made
//! again, so the journal skips them too, and clock and randomness continue as they did when the
//! checkpoint was made.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_protocol::{
    Failure, FailureKind, Flow, HostFuture, Request, RunContext, ToolHost, ToolResult, to_result,
};
use pml_store::Checkpoint;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The largest value of a checkpoint.
const MAX_VALUE_BYTES: usize = 4 * 1024 * 1024;
/// How many checkpoints a run has.
const MAX_CHECKPOINTS: usize = 1_000;

/// A checkpoint with what the journal needs to continue behind it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedCheckpoint {
    pub value: Box<RawValue>,
    /// The script's clock in milliseconds, and the seed of its randomness from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ScriptClock>,
    /// The number of requests that were made before.
    #[serde(default)]
    pub requests: u32,
    /// The place of the last answer before it.
    #[serde(default)]
    pub answers: u32,
    /// What the run had read.
    #[serde(default, skip_serializing_if = "Flow::is_clean")]
    pub read: Flow,
}

/// Time and randomness of a script at a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScriptClock {
    pub ms: f64,
    pub seed: u32,
}

/// The checkpoints of one run.
#[derive(Default)]
pub struct Checkpoints {
    saved: Mutex<HashMap<String, SavedCheckpoint>>,
}

impl Checkpoints {
    /// Those that an earlier execution left. One that cannot be read does not exist: the script
    /// computes its value again.
    pub fn stored(checkpoints: Vec<Checkpoint>) -> Self {
        let saved = checkpoints
            .into_iter()
            .filter_map(|stored| Some((stored.key, serde_json::from_slice(&stored.value).ok()?)));
        Self {
            saved: Mutex::new(saved.collect()),
        }
    }

    pub fn find(&self, key: &str) -> Option<SavedCheckpoint> {
        self.lock().get(key).cloned()
    }

    /// Keeps a checkpoint.
    ///
    /// # Errors
    ///
    /// [`FailureKind::Output`] for a value or a number of checkpoints over the limit.
    pub fn keep(&self, key: &str, checkpoint: SavedCheckpoint) -> Result<(), Failure> {
        let mut saved = self.lock();
        let is_new = !saved.contains_key(key);
        if checkpoint.value.get().len() > MAX_VALUE_BYTES {
            let message = "a checkpoint has at most 4 MiB; keep less, or store it with a tool";
            return Err(Failure::new(FailureKind::Output, message));
        }
        if is_new && saved.len() >= MAX_CHECKPOINTS {
            let message = format!(
                "a run has at most {MAX_CHECKPOINTS} checkpoints; write to the same key again"
            );
            return Err(Failure::new(FailureKind::Output, message));
        }
        saved.insert(key.to_owned(), checkpoint);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, SavedCheckpoint>> {
        // Checkpoints are inserted in one step.
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a script that asks for a checkpoint: a list of one, or an empty list.
#[derive(Serialize)]
pub struct FoundCheckpoint<'a> {
    pub value: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ScriptClock>,
}

pub fn found(checkpoint: Option<&SavedCheckpoint>) -> ToolResult {
    let found = checkpoint.map(|saved| FoundCheckpoint {
        value: &saved.value,
        clock: saved.clock,
    });
    to_result(&found.as_slice())
}

/// The layer that keeps checkpoints in memory, for runs without a journal: a script finds what it has
/// kept in the same run.
pub struct MemoryCheckpoints<H> {
    inner: H,
    checkpoints: Checkpoints,
}

impl<H> MemoryCheckpoints<H> {
    /// Forwards everything but checkpoints.
    pub fn new(inner: H) -> Self {
        Self {
            inner,
            checkpoints: Checkpoints::default(),
        }
    }

    fn answer(&self, key: &str, value: Option<&RawValue>) -> ToolResult {
        let Some(value) = value else {
            return found(self.checkpoints.find(key).as_ref());
        };
        let checkpoint = SavedCheckpoint {
            value: value.to_owned(),
            clock: None,
            requests: 0,
            answers: 0,
            // The script that finds it is the one that made it.
            read: Flow::default(),
        };
        self.checkpoints.keep(key, checkpoint)?;
        to_result(&())
    }
}

impl<H: ToolHost> ToolHost for MemoryCheckpoints<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match request {
            Request::Checkpoint { key, value, .. } => {
                let answer = self.answer(key, value.as_deref());
                Box::pin(std::future::ready(answer))
            }
            _ => self.inner.handle(request, run),
        }
    }
}
