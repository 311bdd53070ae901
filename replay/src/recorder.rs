//! Tools that are listened to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost};
use serde_json::value::{RawValue, to_raw_value};

use crate::asked::Asked;
use crate::recording::{Entry, Told};

/// Passes everything on to another host, and keeps what was asked and what it answered.
pub struct Recorder<H> {
    host: H,
    heard: Mutex<Vec<Heard>>,
}

/// A request in the place where it was asked; the answer comes when it comes.
struct Heard {
    asked: Asked,
    told: Option<Told>,
}

impl<H> Recorder<H> {
    pub fn new(host: H) -> Self {
        Self {
            host,
            heard: Mutex::default(),
        }
    }

    /// Everything that was answered so far, in the order in which it was asked. What a run left
    /// unanswered when it ended is not part of it.
    pub fn entries(&self) -> Vec<Entry> {
        let heard = self.lock();
        let answered = heard.iter().filter_map(|heard| {
            Some(Entry {
                asked: heard.asked.clone(),
                told: heard.told.clone()?,
            })
        });
        answered.collect()
    }

    async fn listen(&self, asked: Asked, answer: HostFuture<'_, Answer>) -> Answer {
        let place = {
            let mut heard = self.lock();
            heard.push(Heard { asked, told: None });
            heard.len() - 1
        };
        let answer = answer.await;
        self.lock()[place].told = Some(Told::of(&answer));
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Heard>> {
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
            crate::replay::hits(&self.listen(asked, search).await?)
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
}
