//! A tool of ours at work: it may have a question before it has an answer.
//!
//! The work is a task of its own. Whoever asked for it holds it; when that holder is gone, as
//! after a cancellation, the task ends, and the script with it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_session::{Decision, Question};
use rmcp::model::CallToolRequestParams;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::guests::Name;
use crate::house::Stay;
use crate::reply::Reply;

/// Runs that wait for an answer which may never come. Each holds one of the places for scripts, and
/// others need some too.
const MAX_ASKING: usize = 12;
/// Of those, the runs of one client.
const MAX_OF_CLIENT: usize = 6;
/// Runs that wait to be asked for, those among them that have ended.
const MAX_PARKED: usize = 64;
/// How long a finished run waits to be asked for, besides the time its question had.
pub const COLLECT: Duration = Duration::from_secs(60);

/// What the work has to say next.
pub enum Step {
    Ask(Question, oneshot::Sender<Decision>),
    Done(Reply),
}

/// Work under way. Dropping it ends it.
pub struct Work {
    steps: mpsc::Receiver<Step>,
    task: JoinHandle<()>,
    _stay: Stay,
}

impl Work {
    /// `work` gets a line for its questions.
    pub fn start<F>(stay: Stay, work: impl FnOnce(mpsc::Sender<Step>) -> F) -> Self
    where
        F: Future<Output = Reply> + Send + 'static,
    {
        let (line, steps) = mpsc::channel(4);
        let done = line.clone();
        let work = work(line);
        let task = tokio::spawn(async move {
            let reply = work.await;
            // Nobody listens any more: then nobody misses it.
            let _ = done.send(Step::Done(reply)).await;
        });
        Self {
            steps,
            task,
            _stay: stay,
        }
    }

    /// `None` if the task broke down.
    pub async fn next(&mut self) -> Option<Step> {
        self.steps.recv().await
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Work whose question went out with an answer to its request: in the revision without sessions
/// a server cannot ask by itself, so the client comes back with what the person said.
#[derive(Default)]
pub struct Parked {
    tickets: Mutex<HashMap<String, Ticket>>,
    keys: RandomState,
}

/// Whose request it was and what it asked for, as numbers that nobody can guess. Whoever comes back
/// asks for the same once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    client: u64,
    request: u64,
}

struct Ticket {
    work: Work,
    of: Mark,
    answer: oneshot::Sender<Decision>,
    /// Until when the person may answer.
    asking_until: Instant,
    until: Instant,
}

/// Work that cannot wait here, with its question.
pub type Full = (Work, oneshot::Sender<Decision>);

impl Parked {
    pub fn mark(&self, name: &Name, request: &CallToolRequestParams) -> Mark {
        let asked = (&*request.name, &request.arguments);
        Mark {
            client: self.keys.hash_one(name),
            request: self.keys.hash_one(asked),
        }
    }

    /// Keeps the work until its client comes back, and gives the word to come back with.
    pub fn park(
        &self,
        work: Work,
        answer: oneshot::Sender<Decision>,
        of: Mark,
        time: Duration,
    ) -> Result<String, Full> {
        let mut random = [0; 16];
        if getrandom::fill(&mut random).is_err() {
            return Err((work, answer));
        }
        let word: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut tickets = self.lock();
        let now = Instant::now();
        tickets.retain(|_, ticket| ticket.until > now);
        let asking = |ticket: &&Ticket| ticket.asking_until > now;
        let of_client = |ticket: &&Ticket| ticket.of.client == of.client;
        let count = tickets.values().filter(asking).count();
        let own = tickets.values().filter(asking).filter(of_client).count();
        if count >= MAX_ASKING || own >= MAX_OF_CLIENT || tickets.len() >= MAX_PARKED {
            return Err((work, answer));
        }
        let ticket = Ticket {
            work,
            of,
            answer,
            asking_until: now + time,
            until: now + time + COLLECT,
        };
        tickets.insert(word.clone(), ticket);
        Ok(word)
    }

    /// The work that waits for this word, told what the person said; or why there is none.
    pub fn resume(&self, word: &str, of: Mark, decision: Decision) -> Result<Work, &'static str> {
        let mut tickets = self.lock();
        let Entry::Occupied(ticket) = tickets.entry(word.to_owned()) else {
            return Err("the run that waited for this answer is gone; begin anew");
        };
        if ticket.get().of != of {
            return Err("this requestState belongs to another request; repeat the one it answered");
        }
        let Ticket { work, answer, .. } = ticket.remove();
        drop(tickets);
        // The time for an answer may be up; the work has gone on by itself then.
        let _ = answer.send(decision);
        Ok(work)
    }

    /// Nobody comes back for the work of this word.
    pub fn forget(&self, word: &str) {
        let forgotten = self.lock().remove(word);
        drop(forgotten);
    }

    /// Nobody comes back at all.
    pub fn forget_all(&self) {
        let forgotten = std::mem::take(&mut *self.lock());
        drop(forgotten);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Ticket>> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
