//! The approval of calls by a person: one question for many calls, not one for each.
//!
//! Calls of one tool that a script starts together become one question, which shows every different
//! call. An approval is for the calls that the question shows, known by a digest of their arguments; if
//! they do not all fit, the others are asked about next. A person can also allow all calls of the tool
//! in the script, so that a loop is one question however it is written; calls that hand a value to a
//! server which it did not come from are asked about all the same.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_protocol::{Failure, FailureKind, RunClock};
use pml_scrub::Scrubbed;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::shown_call::MAX_KEYS;

/// Calls that start within this time of one another are one question (debounce).
const DEBOUNCE: Duration = Duration::from_millis(30);
/// The longest that a call waits for others to join its question.
const DEBOUNCE_LIMIT: Duration = Duration::from_millis(300);
/// The characters of all calls that one question shows.
const MAX_SHOWN_CHARS: usize = 6_000;

/// A question to a person.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// `server:tool`
    pub tool: Scrubbed<String>,
    /// The different calls that the answer is for.
    pub shown: Vec<ShownCall>,
    /// How many further calls wait, for which the answer is not.
    pub not_shown: usize,
    /// What the server says about the tool, in words of pml: "destructive", "read-only".
    pub claims: Vec<&'static str>,
}

impl ApprovalRequest {
    /// How many calls the answer is for.
    pub fn calls(&self) -> usize {
        self.shown.iter().map(|call| call.count).sum()
    }

    /// Whether the person may allow all calls of the tool in this script. Calls that wait and are not
    /// shown cannot be allowed.
    pub fn offers_all(&self) -> bool {
        self.not_shown == 0
    }
}

/// Equal calls, as a question shows them.
#[derive(Debug, Clone)]
pub struct ShownCall {
    /// The arguments, shortened; cuts are marked.
    pub arguments: Scrubbed<String>,
    /// How many calls have exactly these arguments.
    pub count: usize,
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The calls that the question shows are allowed, and the script's further calls of the same tool.
    AllowAll,
    /// The calls that the question shows are allowed.
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

/// There is no person at the client: it is gone, or is a command that asks nothing.
pub struct CannotAsk;

impl Approver for CannotAsk {
    fn can_ask(&self) -> bool {
        false
    }

    fn ask(&self, _: ApprovalRequest, _: Duration) -> DecisionFuture {
        Box::pin(std::future::ready(Decision::CannotAsk))
    }
}

/// A call that needs approval.
pub(crate) struct GatedCall {
    /// The tool, by which questions are grouped.
    pub id: String,
    /// The tool as the question shows it.
    pub tool: Scrubbed<String>,
    /// Of the arguments: calls with equal digests are equal.
    pub digest: [u8; 32],
    /// The arguments as the question shows them.
    pub arguments: Scrubbed<String>,
    /// Whether a value goes to a server which it did not come from.
    pub hands_over_values: bool,
    /// What the server says about the tool.
    pub claims: Vec<&'static str>,
}

/// The open and answered questions of one run.
pub(crate) struct ApprovalGate {
    approver: Arc<dyn Approver>,
    time: Duration,
    tools: Mutex<HashMap<String, ToolApproval>>,
}

/// The state of the approval of one tool.
#[derive(Default)]
struct ToolApproval {
    /// The person allowed all calls of the tool in this script.
    all_allowed: bool,
    /// Why every further call is refused.
    refused: Option<Decision>,
    /// A task asks about the calls that wait.
    is_asking: bool,
    waiting: Vec<Waiting>,
}

struct Waiting {
    digest: [u8; 32],
    arguments: Scrubbed<String>,
    answer: oneshot::Sender<Decision>,
}

/// The tool of a question.
struct AskedTool {
    id: String,
    tool: Scrubbed<String>,
    claims: Vec<&'static str>,
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
    pub async fn admit(self: &Arc<Self>, call: GatedCall, clock: &RunClock) -> Result<(), Failure> {
        let tool = call.tool.clone();
        match self.decide(call, clock).await {
            Decision::AllowAll | Decision::AllowThese => Ok(()),
            decision => Err(refused(&tool, decision)),
        }
    }

    /// The person's decision on a call. `clock` is paused while the person is asked. Dropping the
    /// future takes the question back, if it is about no other call.
    pub async fn decide(self: &Arc<Self>, call: GatedCall, clock: &RunClock) -> Decision {
        let GatedCall { id, tool, .. } = call;
        let answer = {
            let mut tools = self.lock();
            let approval = tools.entry(id.clone()).or_default();
            if let Some(decision) = approval.refused {
                return decision;
            }
            if approval.all_allowed && !call.hands_over_values {
                return Decision::AllowAll;
            }
            let (answer, answered) = oneshot::channel();
            approval.waiting.push(Waiting {
                digest: call.digest,
                arguments: call.arguments,
                answer,
            });
            if !std::mem::replace(&mut approval.is_asking, true) {
                let asked = AskedTool {
                    id,
                    tool,
                    claims: call.claims,
                };
                let (gate, clock) = (self.clone(), clock.clone());
                tokio::spawn(async move { gate.ask(asked, &clock).await });
            }
            answered
        };
        // The task that asks ends without an answer only if the process ends.
        answer.await.unwrap_or(Decision::NoAnswer)
    }

    /// Asks about the calls that wait for one tool, until none does.
    async fn ask(&self, asked: AskedTool, clock: &RunClock) {
        self.debounce(&asked.id).await;
        while let Some((mut calls, request)) = self.next_question(&asked) {
            let offers_all = request.offers_all();
            let pause = clock.pause();
            let decision = tokio::select! {
                decision = self.approver.ask(request, self.time) => decision,
                // All calls were answered otherwise, or their run has ended.
                () = all_closed(&mut calls) => continue,
            };
            let decision = match decision {
                // A choice that was not offered allows nothing.
                Decision::AllowAll if !offers_all => Decision::Deny,
                decision => decision,
            };
            drop(pause);
            let mut answered = calls;
            if !matches!(decision, Decision::AllowAll | Decision::AllowThese) {
                let mut tools = self.lock();
                let approval = tools.entry(asked.id.clone()).or_default();
                approval.refused = Some(decision);
                answered.append(&mut approval.waiting);
            } else if decision == Decision::AllowAll {
                self.lock().entry(asked.id.clone()).or_default().all_allowed = true;
            }
            for call in answered {
                // A call whose run has ended no longer waits.
                let _ = call.answer.send(decision);
            }
        }
    }

    /// The next question about a tool, and the calls that it shows. Calls that do not fit stay for the
    /// question after it. Without any, a later call asks anew.
    fn next_question(&self, asked: &AskedTool) -> Option<(Vec<Waiting>, ApprovalRequest)> {
        let mut tools = self.lock();
        let approval = tools.get_mut(&asked.id)?;
        approval.waiting.retain(|call| !call.answer.is_closed());
        if approval.waiting.is_empty() {
            approval.is_asking = false;
            return None;
        }
        let mut shown: Vec<([u8; 32], ShownCall)> = Vec::new();
        let mut chars = 0;
        let (mut calls, mut rest) = (Vec::new(), Vec::new());
        for call in approval.waiting.drain(..) {
            if let Some((_, equal)) = shown.iter_mut().find(|(known, _)| *known == call.digest) {
                equal.count += 1;
                calls.push(call);
                continue;
            }
            let length = call.arguments.chars().count();
            if !shown.is_empty() && chars + length > MAX_SHOWN_CHARS {
                rest.push(call);
                continue;
            }
            chars += length;
            let first = ShownCall {
                arguments: call.arguments.clone(),
                count: 1,
            };
            shown.push((call.digest, first));
            calls.push(call);
        }
        let request = ApprovalRequest {
            tool: asked.tool.clone(),
            shown: shown.into_iter().map(|(_, call)| call).collect(),
            not_shown: rest.len(),
            claims: asked.claims.clone(),
        };
        approval.waiting = rest;
        Some((calls, request))
    }

    /// Waits until no further call joins the question.
    async fn debounce(&self, tool: &str) {
        let until = Instant::now() + DEBOUNCE_LIMIT;
        let mut known = 0;
        while Instant::now() < until {
            let count = self.lock().get(tool).map_or(0, |tool| tool.waiting.len());
            if count == known {
                return;
            }
            known = count;
            tokio::time::sleep(DEBOUNCE).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ToolApproval>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns when none of the calls waits for an answer any more.
async fn all_closed(calls: &mut [Waiting]) {
    for call in calls {
        call.answer.closed().await;
    }
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

/// The failure of a call whose server marks it as destructive, for a client that cannot ask and must.
pub(crate) fn refused_unasked(tool: &str) -> Failure {
    Failure::new(
        FailureKind::Denied,
        format!(
            "`{tool}` was not called: its server marks it as destructive, and this client cannot ask \
             the user; the operator can name the tools to ask about in `pml.policy.ask`, `[]` for none"
        ),
    )
}

/// The failure of a call whose tool changes each time that a person is asked about it.
pub(crate) fn refused_changing(tool: &str) -> Failure {
    let message = format!(
        "`{tool}` was not called: its server changes the tool again and again while the user is asked"
    );
    Failure::new(FailureKind::Denied, message)
}

/// The failure of a call that a question cannot show.
pub(crate) fn refused_unshown(tool: &str) -> Failure {
    Failure::new(
        FailureKind::Denied,
        format!(
            "`{tool}` was not called: its arguments are too large to be shown for approval, or hold a \
             value that `pml.scrub` blocks; pass at most {MAX_KEYS} keys, with short names"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decides every question the same way, and keeps the questions.
    struct Person {
        decision: Decision,
        asked: Mutex<Vec<ApprovalRequest>>,
    }

    impl Person {
        fn deciding(decision: Decision) -> Arc<Self> {
            Arc::new(Self {
                decision,
                asked: Mutex::default(),
            })
        }

        fn asked(&self) -> Vec<ApprovalRequest> {
            self.asked.lock().unwrap().clone()
        }
    }

    impl Approver for Person {
        fn can_ask(&self) -> bool {
            true
        }

        fn ask(&self, request: ApprovalRequest, _time: Duration) -> DecisionFuture {
            self.asked.lock().unwrap().push(request);
            let decision = self.decision;
            Box::pin(async move { decision })
        }
    }

    fn call(number: u8) -> GatedCall {
        GatedCall {
            id: "slack:post".to_owned(),
            tool: "slack:post".into(),
            digest: [number; 32],
            arguments: "{}".into(),
            hands_over_values: false,
            claims: Vec::new(),
        }
    }

    async fn admit(gate: &Arc<ApprovalGate>, call: GatedCall) -> Result<(), Failure> {
        gate.admit(call, &RunClock::default()).await
    }

    /// Starts all calls together, and returns how many were allowed.
    async fn admit_all(gate: &Arc<ApprovalGate>, calls: impl Iterator<Item = GatedCall>) -> usize {
        let start = |call| {
            let gate = gate.clone();
            tokio::spawn(async move { admit(&gate, call).await })
        };
        let mut allowed = 0;
        for call in calls.map(start).collect::<Vec<_>>() {
            allowed += usize::from(call.await.unwrap().is_ok());
        }
        allowed
    }

    #[tokio::test]
    async fn fifty_calls_at_once_are_one_question_that_shows_each() {
        let person = Person::deciding(Decision::AllowThese);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        assert_eq!(admit_all(&gate, (0..50).map(|n| call(n / 2))).await, 50);
        let asked = person.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].calls(), 50);
        assert_eq!(asked[0].shown.len(), 25);
        assert!(asked[0].shown.iter().all(|shown| shown.count == 2));
    }

    /// A call whose arguments fill most of a question.
    fn long_call(number: u8) -> GatedCall {
        let long: &'static str = Box::leak("x".repeat(2_500).into_boxed_str());
        GatedCall {
            arguments: long.into(),
            ..call(number)
        }
    }

    #[tokio::test]
    async fn calls_that_are_not_shown_are_not_approved() {
        let person = Person::deciding(Decision::AllowThese);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        assert_eq!(admit_all(&gate, (0..5).map(long_call)).await, 5);
        let asked = person.asked();
        let shown: Vec<_> = asked.iter().map(|asked| asked.shown.len()).collect();
        assert_eq!(shown, [2, 2, 1]);
        let not_shown: Vec<_> = asked.iter().map(|asked| asked.not_shown).collect();
        assert_eq!(not_shown, [3, 1, 0]);
        assert!(!asked[0].offers_all());
        // An answer that was not offered allows nothing.
        let person = Person::deciding(Decision::AllowAll);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        assert_eq!(admit_all(&gate, (0..5).map(long_call)).await, 0);
        assert_eq!(person.asked().len(), 1);
    }

    #[tokio::test]
    async fn a_loop_of_single_calls_is_one_question() {
        let person = Person::deciding(Decision::AllowAll);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        for number in 0..5 {
            assert!(admit(&gate, call(number)).await.is_ok());
        }
        assert_eq!(person.asked().len(), 1);
        // A value of another server is shown, whatever was allowed before.
        let hands_over = GatedCall {
            hands_over_values: true,
            ..call(0)
        };
        assert!(admit(&gate, hands_over).await.is_ok());
        assert_eq!(person.asked().len(), 2);
    }

    #[tokio::test]
    async fn allowing_these_does_not_allow_others() {
        let person = Person::deciding(Decision::AllowThese);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        assert!(admit(&gate, call(0)).await.is_ok());
        assert!(admit(&gate, call(0)).await.is_ok());
        assert_eq!(person.asked().len(), 2);
    }

    #[tokio::test]
    async fn a_no_is_not_asked_again() {
        let person = Person::deciding(Decision::Deny);
        let gate = ApprovalGate::new(person.clone(), Duration::from_secs(1));
        for number in 0..3 {
            let failure = admit(&gate, call(number)).await.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Denied);
        }
        assert_eq!(person.asked().len(), 1);
    }
}
