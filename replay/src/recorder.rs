//! Tools that are listened to.

use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost, World};
use serde_json::value::{RawValue, to_raw_value};

use crate::asked::Asked;
use crate::clock::{Clock, Moment};
use crate::recording::{Entry, Told};
use crate::replay::{hear, hits};

/// Passes everything on to another host, and keeps what was asked and what it answered. What a
/// script stores and loads is not kept: it does the same again.
pub struct Recorder<H> {
    host: H,
    clock: Clock,
    /// In the order in which it was asked.
    heard: Mutex<Vec<Entry>>,
}

impl<H> Recorder<H> {
    /// `world` is the one that the script is going to have.
    pub fn new(host: H, world: World) -> Self {
        Self {
            host,
            clock: Clock::new(world),
            heard: Mutex::default(),
        }
    }

    /// Everything that was asked so far, in order, with its answer if there was one.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    /// What the run says of its clock.
    pub fn hear(&self, moment: Moment) -> usize {
        self.clock.hear(moment)
    }

    async fn listen(&self, asked: Asked, answer: HostFuture<'_, Answer>) -> Answer {
        let began = self.clock.now();
        let place = {
            let mut heard = self.lock();
            heard.push(Entry {
                asked,
                after_ms: 0,
                told: Told::Unanswered,
            });
            heard.len() - 1
        };
        let answer = answer.await;
        let entry = &mut self.lock()[place];
        // Timers move it by whole milliseconds; what is less comes from looking at it.
        entry.after_ms = (self.clock.now() - began).max(0.0) as u64;
        entry.told = Told::of(&answer);
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        // Entries are only ever added and completed, each in one step.
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: ToolHost> ToolHost for Recorder<H> {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        Box::pin(async move {
            let asked = Asked::search(query, limit, threshold);
            let search = Box::pin(async move {
                let hits = self.host.search(query, limit, threshold).await?;
                to_raw_value(&hits).map_err(|error| Failure::new("internal", error.to_string()))
            });
            hits(&self.listen(asked, search).await?)
        })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(self.listen(Asked::describe(tool), self.host.describe(tool)))
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        Box::pin(self.listen(Asked::offer(server, offer), self.host.offer(server, offer)))
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(self.listen(Asked::call(tool, args), self.host.call(tool, args)))
    }

    fn admit<'a>(
        &'a self,
        tool: &'a str,
        args: &'a RawValue,
    ) -> HostFuture<'a, Result<(), Failure>> {
        self.host.admit(tool, args)
    }

    fn store<'a>(&'a self, key: &'a str, value: &'a RawValue) -> HostFuture<'a, Answer> {
        self.host.store(key, value)
    }

    fn load<'a>(&'a self, key: &'a str) -> HostFuture<'a, Answer> {
        self.host.load(key)
    }

    fn harness<'a>(&'a self, message: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(ready(hear(message, |moment| self.hear(moment))))
    }
}
