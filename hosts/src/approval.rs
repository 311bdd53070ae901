//! The approval of calls by a person: one question for many calls, not one for each.
//!
//! Calls of one tool that a script starts together become one question. The approval covers the
//! script's further calls of that tool as well, unless the answer says otherwise, so that a loop is
//! one question however it is written.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_protocol::{Failure, FailureKind, RunClock};
use pml_scrub::Scrubbed;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Calls that start within this time of one another are one question (debounce).
const DEBOUNCE: Duration = Duration::from_millis(30);
/// The longest that a call waits for others to join its question.
const DEBOUNCE_LIMIT: Duration = Duration::from_millis(300);
/// How many calls are shown with their arguments.
const SHOWN: usize = 3;
/// How many characters of the arguments are shown.
pub(crate) const SHOWN_CHARS: usize = 200;

/// A question to a person.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// `server:tool`
    pub tool: Scrubbed<String>,
    /// How many calls wait for the answer.
    pub calls: usize,
    /// The arguments of the first of them.
    pub arguments: Vec<Scrubbed<String>>,
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// These calls are allowed, and the script's further calls of the same tool.
    AllowAll,
    /// The calls that wait are allowed.
    AllowThese,
    /// The person refused.
    Deny,
    /// There was no answer in time.
    NoAnswer,
    /// The client has no way to ask.
    CannotAsk,
    /// Asking failed.
    NotAsked,
}

/// A future of a [`Decision`].
pub type DecisionFuture = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// A way to ask a person.
pub trait Approver: Send + Sync {
    /// Whether the client can ask a person at all.
    fn can_ask(&self) -> bool;

    /// Asks a person, who has `time` to answer.
    fn ask(&self, request: ApprovalRequest, time: Duration) -> DecisionFuture;
}

/// The open and answered questions of one run.
pub(crate) struct ApprovalGate {
    approver: Arc<dyn Approver>,
    time: Duration,
    tools: Mutex<HashMap<String, State>>,
}

/// The state of the approval of one tool.
enum State {
    Allowed,
    Refused(Decision),
    Asking(Vec<Waiting>),
}

struct Waiting {
    arguments: Scrubbed<String>,
    answer: oneshot::Sender<Decision>,
}

impl ApprovalGate {
    /// A gate without questions; a person has `time` to answer each.
    pub fn new(approver: Arc<dyn Approver>, time: Duration) -> Arc<Self> {
        Arc::new(Self {
            approver,
            time,
            tools: Mutex::default(),
        })
    }

    /// Whether the client can ask a person at all.
    pub fn can_ask(&self) -> bool {
        self.approver.can_ask()
    }

    /// Returns when the call is approved. `clock` is paused while the person is asked.
    ///
    /// # Errors
    ///
    /// [`FailureKind::Denied`] with the reason why it is not approved.
    pub async fn admit(
        self: &Arc<Self>,
        tool: &Scrubbed<String>,
        arguments: Scrubbed<String>,
        clock: &RunClock,
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
                    let (gate, tool, clock) = (self.clone(), tool.clone(), clock.clone());
                    tokio::spawn(async move { gate.ask(tool, &clock).await });
                    answer
                }
            }
        };
        match answer.await {
            Ok(Decision::AllowAll | Decision::AllowThese) => Ok(()),
            Ok(decision) => Err(refused(tool, decision)),
            // The task that asks ends without an answer only if the process ends.
            Err(_) => Err(refused(tool, Decision::NoAnswer)),
        }
    }

    /// Asks about the calls that wait for one tool, until none does.
    async fn ask(&self, tool: Scrubbed<String>, clock: &RunClock) {
        self.debounce(&tool).await;
        loop {
            let Some(waiting) = self.take_waiting(&tool) else {
                return;
            };
            let request = ApprovalRequest {
                tool: tool.clone(),
                calls: waiting.len(),
                arguments: waiting
                    .iter()
                    .take(SHOWN)
                    .map(|call| call.arguments.clone())
                    .collect(),
            };
            let pause = clock.pause();
            let decision = self.approver.ask(request, self.time).await;
            drop(pause);
            let answer = |waiting: Vec<Waiting>| {
                for waiting in waiting {
                    // A call whose run has ended no longer waits.
                    let _ = waiting.answer.send(decision);
                }
            };
            answer(waiting);
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

    /// Waits until no further call joins the question.
    async fn debounce(&self, tool: &str) {
        let until = Instant::now() + DEBOUNCE_LIMIT;
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
            tokio::time::sleep(DEBOUNCE).await;
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

/// The failure of a call that is not approved.
pub(crate) fn refused(tool: &str, decision: Decision) -> Failure {
    let reason = match decision {
        Decision::CannotAsk => {
            "it needs the user's approval, and this client cannot ask for it; \
             the operator can take it out of `pml.policy.ask`"
        }
        Decision::NoAnswer => "the user did not answer in time whether it may be called",
        Decision::NotAsked => {
            "the user could not be asked whether it may be called; try again later"
        }
        _ => "the user did not allow it; do not try again without asking",
    };
    Failure::new(
        FailureKind::Denied,
        format!("`{tool}` was not called: {reason}"),
    )
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
        fn deciding(decision: Decision) -> Arc<Self> {
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

        fn ask(&self, request: ApprovalRequest, _time: Duration) -> DecisionFuture {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.calls.fetch_add(request.calls, Ordering::SeqCst);
            let decision = self.decision;
            Box::pin(async move { decision })
        }
    }

    async fn admit(gate: &Arc<ApprovalGate>) -> Result<(), Failure> {
        let clock = RunClock::default();
        gate.admit(&"slack:post".into(), "{}".into(), &clock).await
    }

    #[tokio::test]
    async fn fifty_calls_at_once_are_one_question() {
        let person = Person::deciding(Decision::AllowThese);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
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
        let person = Person::deciding(Decision::AllowAll);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        for _ in 0..5 {
            assert!(admit(&gate).await.is_ok());
        }
        assert_eq!(person.asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn allowing_these_does_not_allow_others() {
        let person = Person::deciding(Decision::AllowThese);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        assert!(admit(&gate).await.is_ok());
        assert!(admit(&gate).await.is_ok());
        assert_eq!(person.asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_no_is_not_asked_again() {
        let person = Person::deciding(Decision::Deny);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        for _ in 0..3 {
            let failure = admit(&gate).await.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Denied);
        }
        assert_eq!(person.asked.load(Ordering::SeqCst), 1);
    }
}
