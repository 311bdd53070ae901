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
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    /// In the order in which it was asked.
    entries: Vec<Entry>,
    /// Calls that may be made and are not yet.
    admitted: Vec<Begun>,
}

/// A question under way: its place among the entries, and when it was asked.
#[derive(Clone, Copy)]
struct Begun {
    place: usize,
    at: f64,
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
        self.lock().entries.clone()
    }

    /// What the run says of its clock.
    pub fn hear(&self, moment: Moment) -> usize {
        self.clock.hear(moment)
    }

    async fn listen(&self, asked: Asked, answer: HostFuture<'_, Answer>) -> Answer {
        let begun = self.admitted(&asked).unwrap_or_else(|| self.begin(asked));
        let answer = answer.await;
        self.end(begun, Told::of(&answer));
        answer
    }

    fn begin(&self, asked: Asked) -> Begun {
        let at = self.clock.now();
        let mut heard = self.lock();
        heard.entries.push(Entry {
            asked,
            after_ms: 0,
            told: Told::Unanswered,
        });
        Begun {
            place: heard.entries.len() - 1,
            at,
        }
    }

    fn end(&self, begun: Begun, told: Told) {
        // Timers move it by whole milliseconds; what is less comes from looking at it.
        let after_ms = (self.clock.now() - begun.at).max(0.0) as u64;
        let entry = &mut self.lock().entries[begun.place];
        entry.after_ms = after_ms;
        entry.told = told;
    }

    /// A call that began when it was asked whether it may be made.
    fn admitted(&self, asked: &Asked) -> Option<Begun> {
        let mut heard = self.lock();
        let Heard { entries, admitted } = &mut *heard;
        let is_it = |begun: &Begun| entries[begun.place].asked == *asked;
        let at = admitted.iter().position(is_it)?;
        Some(admitted.remove(at))
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
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
        Box::pin(async move {
            let begun = self.begin(Asked::call(tool, args));
            let admitted = self.host.admit(tool, args).await;
            match &admitted {
                Ok(()) => self.lock().admitted.push(begun),
                Err(failure) => self.end(begun, Told::of(&Err(failure.clone()))),
            }
            admitted
        })
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
