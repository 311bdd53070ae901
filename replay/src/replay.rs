//! Tools that are a recording: no server, no configuration, the same answers every time.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost, World};
use serde_json::value::RawValue;

use crate::asked::Asked;
use crate::error::ReplayError;
use crate::recording::{Recording, Told};
use crate::shelf::Shelf;

pub struct Replay {
    world: World,
    shelf: Mutex<Shelf>,
}

impl Replay {
    pub fn new(recording: Recording) -> Self {
        Self {
            world: recording.world,
            shelf: Mutex::new(Shelf::new(recording)),
        }
    }

    pub fn load(path: &Path) -> Result<Self, ReplayError> {
        Ok(Self::new(Recording::load(path)?))
    }

    /// The time and the chance of the recorded run.
    pub fn world(&self) -> World {
        self.world
    }

    /// The recorded answer, or the words for why there is none.
    pub fn find(&self, asked: &Asked) -> Result<Told, String> {
        // Each answer is taken in one step: a panic in between leaves the shelf whole.
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.take(asked).cloned()
    }

    fn answer(&self, asked: &Asked) -> Answer {
        match self.find(asked) {
            Ok(told) => told.answer(),
            Err(missing) => Err(Failure::new("unrecorded", missing)),
        }
    }
}

impl ToolHost for Replay {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        Box::pin(async move { hits(&self.answer(&Asked::search(query, limit, threshold))?) })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(async move { self.answer(&Asked::describe(tool)) })
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        Box::pin(async move { self.answer(&Asked::offer(server, offer)) })
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(async move { self.answer(&Asked::call(tool, args)) })
    }
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
