//! A recording that grows: what it has is replayed, what it lacks is asked and added.

use std::future::ready;

use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost, World};
use serde_json::value::RawValue;

use crate::asked::Asked;
use crate::recorder::Recorder;
use crate::recording::{Entry, Recording};
use crate::replay::{Replay, hear, hits};

pub struct Extension<H> {
    recorded: Replay,
    live: Recorder<H>,
}

impl<H> Extension<H> {
    pub fn new(recording: Recording, host: H) -> Self {
        let world = recording.world;
        Self {
            recorded: Replay::new(recording),
            live: Recorder::new(host, world),
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
            let asked = Asked::search(query, limit, threshold);
            match self.recorded.find(&asked) {
                Ok(entry) => hits(&self.recorded.give(entry).await?),
                Err(_missing) => self.live.search(query, limit, threshold).await,
            }
        })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        match self.recorded.find(&Asked::describe(tool)) {
            Ok(entry) => Box::pin(self.recorded.give(entry)),
            Err(_missing) => self.live.describe(tool),
        }
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        match self.recorded.find(&Asked::offer(server, offer)) {
            Ok(entry) => Box::pin(self.recorded.give(entry)),
            Err(_missing) => self.live.offer(server, offer),
        }
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        match self.recorded.find(&Asked::call(tool, args)) {
            Ok(entry) => Box::pin(self.recorded.give(entry)),
            Err(_missing) => self.live.call(tool, args),
        }
    }

    /// Nobody need allow what is not sent.
    fn admit<'a>(
        &'a self,
        tool: &'a str,
        args: &'a RawValue,
    ) -> HostFuture<'a, Result<(), Failure>> {
        match self.recorded.has(&Asked::call(tool, args)) {
            true => Box::pin(ready(Ok(()))),
            false => self.live.admit(tool, args),
        }
    }

    fn store<'a>(&'a self, key: &'a str, value: &'a RawValue) -> HostFuture<'a, Answer> {
        self.live.store(key, value)
    }

    fn load<'a>(&'a self, key: &'a str) -> HostFuture<'a, Answer> {
        self.live.load(key)
    }

    fn harness<'a>(&'a self, message: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(ready(hear(message, |moment| {
            self.recorded.hear(moment) + self.live.hear(moment)
        })))
    }
}
