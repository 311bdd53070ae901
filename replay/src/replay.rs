//! Tools that are a recording: no server, no configuration, the same answers every time.

use std::future::ready;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost, World};
use serde_json::value::{RawValue, to_raw_value};

use crate::asked::Asked;
use crate::clock::{Clock, Moment};
use crate::error::ReplayError;
use crate::kept::Kept;
use crate::recording::{Entry, Recording, Told};
use crate::shelf::Shelf;

pub struct Replay {
    world: World,
    shelf: Mutex<Shelf>,
    clock: Clock,
    kept: Kept,
}

impl Replay {
    pub fn new(recording: Recording) -> Self {
        Self {
            world: recording.world,
            clock: Clock::new(recording.world),
            shelf: Mutex::new(Shelf::new(recording)),
            kept: Kept::default(),
        }
    }

    pub fn load(path: &Path) -> Result<Self, ReplayError> {
        Ok(Self::new(Recording::load(path)?))
    }

    /// The time and the chance of the recorded run.
    pub fn world(&self) -> World {
        self.world
    }

    /// Whether there is a recorded answer that nobody was given yet.
    pub fn has(&self, asked: &Asked) -> bool {
        self.shelf().has(asked)
    }

    /// The recorded request and its answer, or the words for why there is none.
    pub fn find(&self, asked: &Asked) -> Result<Entry, String> {
        self.shelf().take(asked).cloned()
    }

    async fn answer(&self, asked: &Asked) -> Answer {
        match self.find(asked) {
            Ok(entry) => self.give(entry).await,
            Err(missing) => Err(Failure::new("unrecorded", missing)),
        }
    }

    /// The answer, when the clock of the run stands where it stood when it came.
    pub async fn give(&self, entry: Entry) -> Answer {
        match (&entry.told, entry.after_ms) {
            (Told::Unanswered, _) => self.clock.wait(None).await,
            (_, 0) => {}
            (_, after) => self.clock.wait(Some(after)).await,
        }
        entry.told.answer()
    }

    /// What the run says of its clock; how many answers wait for it.
    pub fn hear(&self, moment: Moment) -> usize {
        self.clock.hear(moment)
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Each answer is taken in one step: a panic in between leaves the shelf whole.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolHost for Replay {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        Box::pin(async move { hits(&self.answer(&Asked::search(query, limit, threshold)).await?) })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(async move { self.answer(&Asked::describe(tool)).await })
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        Box::pin(async move { self.answer(&Asked::offer(server, offer)).await })
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(async move { self.answer(&Asked::call(tool, args)).await })
    }

    fn store<'a>(&'a self, key: &'a str, value: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(ready(self.kept.store(key, value)))
    }

    fn load<'a>(&'a self, key: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(ready(self.kept.load(key)))
    }

    fn harness<'a>(&'a self, message: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(ready(hear(message, |moment| self.hear(moment))))
    }
}

/// Passes on what the world of a run says, and gives back how many answers are held.
pub fn hear(message: &RawValue, listener: impl FnOnce(Moment) -> usize) -> Answer {
    let moment = serde_json::from_str(message.get())
        .map_err(|_| Failure::new("denied", "this run is not a test"))?;
    to_raw_value(&listener(moment)).map_err(|error| Failure::new("internal", error.to_string()))
}

/// What a search found, out of its recorded answer.
pub fn hits(answer: &RawValue) -> Result<Vec<ToolHit>, Failure> {
    serde_json::from_str(answer.get()).map_err(|error| {
        Failure::new(
            "unrecorded",
            format!("the recorded answer of the search is no list of tools: {error}"),
        )
    })
}
