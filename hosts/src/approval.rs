//! Asking a person before certain tools are called: once for many calls, not once for each.
//!
//! Calls of one tool that a script starts together are asked about together. Whoever allows them
//! allows the script's further calls of that tool as well, unless the answer says otherwise, so
//! that a loop is asked about once, however it is written.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_runtime::Failure;
use pml_scrub::Scrubbed;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

/// Calls that are started this soon after one another are one question.
const TOGETHER: Duration = Duration::from_millis(30);
/// But nobody waits longer than this for others to come.
const GATHER_LIMIT: Duration = Duration::from_millis(300);
/// So many calls are shown with their arguments.
const SHOWN: usize = 3;
/// How much of the arguments a person is shown.
pub(crate) const SHOWN_CHARS: usize = 200;

/// What a person is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// `server:tool`
    pub tool: Scrubbed<String>,
    /// How many calls wait for the answer.
    pub calls: usize,
    /// The arguments of the first of them.
    pub arguments: Vec<Scrubbed<String>>,
}

/// What the person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// These calls, and those of the same tool that the script still makes.
    AllowAll,
    /// The calls that wait.
    AllowThese,
    Deny,
    /// Nobody answered in time.
    NoAnswer,
    /// The client has no way to ask.
    CannotAsk,
    /// It has one, which failed.
    NotAsked,
}

pub type DecisionFuture = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// Whoever can ask a person.
pub trait Approver: Send + Sync {
    /// Whether there is anybody to ask.
    fn can_ask(&self) -> bool;

    /// Asks; `time` is how long the person has.
    fn ask(&self, question: Question, time: Duration) -> DecisionFuture;
}

/// The questions of one run.
pub(crate) struct Gate {
    approver: Arc<dyn Approver>,
    time: Duration,
    tools: Mutex<HashMap<String, State>>,
    waiting: watch::Sender<bool>,
    /// Questions that the person has not answered.
    open: Mutex<usize>,
}

enum State {
    Allowed,
    Refused(Decision),
    Asking(Vec<Waiting>),
}

struct Waiting {
    arguments: Scrubbed<String>,
    answer: oneshot::Sender<Decision>,
}

impl Gate {
    pub fn new(approver: Arc<dyn Approver>, time: Duration) -> Arc<Self> {
        Arc::new(Self {
            approver,
            time,
            tools: Mutex::default(),
            waiting: watch::Sender::new(false),
            open: Mutex::default(),
        })
    }

    pub fn can_ask(&self) -> bool {
        self.approver.can_ask()
    }

    /// Whether the run waits for a person.
    pub fn waits(&self) -> watch::Receiver<bool> {
        self.waiting.subscribe()
    }

    /// Returns when the call may be made, or the reason why not.
    pub async fn admit(
        self: &Arc<Self>,
        tool: &Scrubbed<String>,
        arguments: Scrubbed<String>,
    ) -> Result<(), Failure> {
        let answer = {
            let mut tools = self.lock();
            match tools.get_mut(tool.as_str()) {
                Some(State::Allowed) => return Ok(()),
                Some(State::Refused(decision)) => return Err(refused(tool, *decision)),
                Some(State::Asking(waiting)) => join(waiting, arguments),
                None => {
                    let mut waiting = Vec::new();
                    let answer = join(&mut waiting, arguments);
                    tools.insert(tool.as_str().to_owned(), State::Asking(waiting));
                    let (gate, tool) = (self.clone(), tool.clone());
                    tokio::spawn(async move { gate.ask(tool).await });
                    answer
                }
            }
        };
        match answer.await {
            Ok(Decision::AllowAll | Decision::AllowThese) => Ok(()),
            Ok(decision) => Err(refused(tool, decision)),
            // The task that asks ends only with an answer, or with the whole program.
            Err(_) => Err(refused(tool, Decision::NoAnswer)),
        }
    }

    /// Asks about everything that waits for one tool, until nothing does.
    async fn ask(&self, tool: Scrubbed<String>) {
        self.gather(&tool).await;
        loop {
            let Some(asked) = self.take_waiting(&tool) else {
                return;
            };
            let question = Question {
                tool: tool.clone(),
                calls: asked.len(),
                arguments: asked
                    .iter()
                    .take(SHOWN)
                    .map(|waiting| waiting.arguments.clone())
                    .collect(),
            };
            self.count_open(1);
            let decision = self.approver.ask(question, self.time).await;
            self.count_open(-1);
            let answer = |waiting: Vec<Waiting>| {
                for waiting in waiting {
                    // A call whose run has ended no longer waits.
                    let _ = waiting.answer.send(decision);
                }
            };
            answer(asked);
            let settled = match decision {
                Decision::AllowThese => continue,
                Decision::AllowAll => State::Allowed,
                decision => State::Refused(decision),
            };
            let late = self.lock().insert(tool.as_str().to_owned(), settled);
            if let Some(State::Asking(late)) = late {
                answer(late);
            }
            return;
        }
    }

    /// The calls that wait for an answer about this tool. Without any, a later call asks anew.
    fn take_waiting(&self, tool: &str) -> Option<Vec<Waiting>> {
        let mut tools = self.lock();
        match tools.get_mut(tool) {
            Some(State::Asking(waiting)) if !waiting.is_empty() => Some(std::mem::take(waiting)),
            _ => {
                tools.remove(tool);
                None
            }
        }
    }

    /// The run waits as long as any question is open.
    fn count_open(&self, more: isize) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open = open.saturating_add_signed(more);
        self.waiting.send_replace(*open > 0);
    }

    /// Waits until no further call comes along.
    async fn gather(&self, tool: &str) {
        let until = Instant::now() + GATHER_LIMIT;
        let mut known = 0;
        while Instant::now() < until {
            let count = match self.lock().get(tool) {
                Some(State::Asking(waiting)) => waiting.len(),
                _ => return,
            };
            if count == known {
                return;
            }
            known = count;
            tokio::time::sleep(TOGETHER).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, State>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn join(waiting: &mut Vec<Waiting>, arguments: Scrubbed<String>) -> oneshot::Receiver<Decision> {
    let (answer, answered) = oneshot::channel();
    waiting.push(Waiting { arguments, answer });
    answered
}

pub(crate) fn refused(tool: &str, decision: Decision) -> Failure {
    let reason = match decision {
        Decision::CannotAsk => {
            "it needs the user's approval, and this client cannot ask for it; \
             the operator can take it out of `pml.policy.ask`"
        }
        Decision::NoAnswer => "the user did not answer in time whether it may be",
        Decision::NotAsked => "the user could not be asked whether it may be; try again later",
        _ => "the user did not allow it; do not try again without asking",
    };
    Failure::new("denied", format!("`{tool}` was not called: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Person {
        decision: Decision,
        asked: AtomicUsize,
        calls: AtomicUsize,
    }

    impl Person {
        fn who_says(decision: Decision) -> Arc<Self> {
            Arc::new(Self {
                decision,
                asked: AtomicUsize::new(0),
                calls: AtomicUsize::new(0),
            })
        }
    }

    impl Approver for Person {
        fn can_ask(&self) -> bool {
            true
        }

        fn ask(&self, question: Question, _time: Duration) -> DecisionFuture {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.calls.fetch_add(question.calls, Ordering::SeqCst);
            let decision = self.decision;
            Box::pin(async move { decision })
        }
    }

    async fn admit(gate: &Arc<Gate>) -> Result<(), Failure> {
        gate.admit(&"slack:post".into(), "{}".into()).await
    }

    #[tokio::test]
    async fn fifty_calls_at_once_are_one_question() {
        let person = Person::who_says(Decision::AllowThese);
        let gate = Gate::new(person.clone(), Duration::from_secs(1));
        let calls: Vec<_> = (0..50)
            .map(|_| {
                let gate = gate.clone();
                tokio::spawn(async move { admit(&gate).await })
            })
            .collect();
        for call in calls {
            assert!(call.await.unwrap().is_ok());
        }
        assert_eq!(person.asked.load(Ordering::SeqCst), 1);
        assert_eq!(person.calls.load(Ordering::SeqCst), 50);
    }

    #[tokio::test]
    async fn a_loop_of_single_calls_is_one_question() {
        let person = Person::who_says(Decision::AllowAll);
        let gate = Gate::new(person.clone(), Duration::from_secs(1));
        for _ in 0..5 {
            assert!(admit(&gate).await.is_ok());
        }
        assert_eq!(person.asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn allowing_these_does_not_allow_others() {
        let person = Person::who_says(Decision::AllowThese);
        let gate = Gate::new(person.clone(), Duration::from_secs(1));
        assert!(admit(&gate).await.is_ok());
        assert!(admit(&gate).await.is_ok());
        assert_eq!(person.asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_no_is_not_asked_again() {
        let person = Person::who_says(Decision::Deny);
        let gate = Gate::new(person.clone(), Duration::from_secs(1));
        for _ in 0..3 {
            let failure = admit(&gate).await.unwrap_err();
            assert_eq!(failure.kind, "denied");
        }
        assert_eq!(person.asked.load(Ordering::SeqCst), 1);
    }
}
