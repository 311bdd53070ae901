//! A recording that grows: what it has is replayed, what it lacks is asked and added.

use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost, World};
use serde_json::value::RawValue;

use crate::asked::Asked;
use crate::recorder::Recorder;
use crate::recording::{Entry, Recording};
use crate::replay::{Replay, hits};

pub struct Extension<H> {
    recorded: Replay,
    live: Recorder<H>,
}

impl<H> Extension<H> {
    pub fn new(recording: Recording, host: H) -> Self {
        Self {
            recorded: Replay::new(recording),
            live: Recorder::new(host),
        }
    }

    /// The time and the chance of the recorded run.
    pub fn world(&self) -> World {
        self.recorded.world()
    }

    /// What the recording lacked.
    pub fn added(&self) -> Vec<Entry> {
        self.live.entries()
    }
}

impl<H: ToolHost> ToolHost for Extension<H> {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        Box::pin(async move {
            match self.recorded.find(&Asked::search(query, limit, threshold)) {
                Ok(told) => hits(&told.answer()?),
                Err(_missing) => self.live.search(query, limit, threshold).await,
            }
        })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        match self.recorded.find(&Asked::describe(tool)) {
            Ok(told) => Box::pin(async move { told.answer() }),
            Err(_missing) => self.live.describe(tool),
        }
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        match self.recorded.find(&Asked::offer(server, offer)) {
            Ok(told) => Box::pin(async move { told.answer() }),
            Err(_missing) => self.live.offer(server, offer),
        }
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        match self.recorded.find(&Asked::call(tool, args)) {
            Ok(told) => Box::pin(async move { told.answer() }),
            Err(_missing) => self.live.call(tool, args),
        }
    }
}
