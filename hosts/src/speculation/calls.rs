//! The calls of a run that were foreseen, from their plan to the script that takes their results.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use pml_protocol::{SpeculatedCall, SpeculationStats, ToolResult, split_version};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::watch;

/// Calls that are started in one run.
const MAX_STARTED: usize = 64;
/// Bytes of results that wait for the script.
const MAX_WAITING_BYTES: usize = 32 * 1024 * 1024;
/// A larger result is not looked into for the arguments of later calls.
const MAX_PARSED_BYTES: usize = 256 * 1024;

/// The foreseen calls of one run.
#[derive(Default)]
pub struct SpeculatedCalls(Mutex<State>);

#[derive(Default)]
struct State {
    has_plan: bool,
    /// The script has made a request that no plan has, or a call has failed: nothing is started or
    /// given out any more.
    is_over: bool,
    /// Steps before this one are calls without effects.
    open_until: usize,
    /// No further step will be open.
    is_closed: bool,
    /// Tools of calls whose arguments are not known, with their steps.
    unknown: Vec<(usize, String)>,
    calls: Vec<Entry>,
    waiting_bytes: usize,
}

struct Entry {
    step: usize,
    call: CallKey,
    stage: Stage,
    answer: Arc<watch::Sender<Answer>>,
    began: Option<Instant>,
    ended: Option<Instant>,
}

/// A tool and its arguments in canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallKey {
    pub tool: String,
    pub version: Option<String>,
    pub args: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Not started.
    Planned,
    Running,
    Ready,
    /// A call of the script waits for it.
    Claimed,
    Taken,
    /// The script has made the call before it was started.
    Own,
    Dropped,
}

/// What is known of the answer to a call.
#[derive(Clone)]
pub(super) enum Answer {
    Pending,
    Ready(Arc<Ready>),
    /// There will be none.
    Never,
}

/// A result.
pub(super) struct Ready {
    raw: Box<RawValue>,
    parsed: OnceLock<Option<Value>>,
}

impl Ready {
    pub fn new(raw: Box<RawValue>) -> Self {
        Self {
            raw,
            parsed: OnceLock::new(),
        }
    }

    /// The result as JSON text.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The result as a value, unless it is large.
    pub fn value(&self) -> Option<&Value> {
        let parse = || match self.raw.get().len() {
            0..=MAX_PARSED_BYTES => serde_json::from_str(self.raw.get()).ok(),
            _ => None,
        };
        self.parsed.get_or_init(parse).as_ref()
    }
}

/// How a call of the script is answered.
pub(super) enum Claim {
    /// It was not foreseen, or is made a second time.
    Nothing,
    /// It was foreseen and not started: its result is of use for later calls.
    Own(usize),
    /// It was started.
    Started(usize, watch::Receiver<Answer>),
}

impl SpeculatedCalls {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A plan begins. `unknown` are the tools of calls whose arguments are not known, with their steps.
    pub(super) fn begin(&self, unknown: Vec<(usize, String)>) {
        let mut state = self.lock();
        state.has_plan = true;
        state.unknown = unknown;
    }

    /// Whether calls of the script have to be compared with a plan.
    pub(super) fn is_active(&self) -> bool {
        let state = self.lock();
        state.has_plan && !state.is_over
    }

    /// The steps before `step` are calls without effects. With `is_closed`, no further one is.
    pub(super) fn open(&self, step: usize, is_closed: bool) {
        let mut state = self.lock();
        if !state.is_closed {
            state.open_until = state.open_until.max(step);
            state.is_closed = is_closed;
        }
    }

    /// The tool has another spelling, which the script's own calls have at this layer.
    pub(super) fn respell(&self, tool: &str, spelled: &str) {
        let mut state = self.lock();
        for entry in &mut state.calls {
            if entry.call.tool == tool {
                spelled.clone_into(&mut entry.call.tool);
            }
        }
        for (_, unknown) in &mut state.unknown {
            if split_version(unknown).0 == tool {
                spelled.clone_into(unknown);
            }
        }
    }

    /// Adds a call whose arguments are known. `None` if it is foreseen already or is too many.
    pub(super) fn plan(
        &self,
        step: usize,
        call: CallKey,
        answer: Arc<watch::Sender<Answer>>,
    ) -> Option<usize> {
        let mut state = self.lock();
        let is_known = state.calls.iter().any(|entry| entry.call == call);
        if state.is_over || is_known || state.calls.len() >= MAX_STARTED {
            return None;
        }
        state.calls.push(Entry {
            step,
            call,
            stage: Stage::Planned,
            answer,
            began: None,
            ended: None,
        });
        Some(state.calls.len() - 1)
    }

    /// Whether the call is to be started now.
    pub(super) fn start(&self, at: usize) -> bool {
        let mut state = self.lock();
        let is_open = !state.is_over;
        let open_until = state.open_until;
        let entry = &mut state.calls[at];
        let starts = is_open && entry.stage == Stage::Planned && entry.step < open_until;
        if starts {
            entry.stage = Stage::Running;
            entry.began = Some(Instant::now());
        }
        starts
    }

    /// Calls that were started and are not spent, besides one of them.
    pub(super) fn others_under_way(&self) -> u32 {
        let state = self.lock();
        let under_way =
            |entry: &&Entry| matches!(entry.stage, Stage::Running | Stage::Ready | Stage::Claimed);
        let count = state.calls.iter().filter(under_way).count();
        u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// The answer to a call that was started.
    pub(super) fn finish(&self, at: usize, result: ToolResult) {
        let mut state = self.lock();
        state.calls[at].ended = Some(Instant::now());
        let bytes = result.as_ref().map_or(0, |raw| raw.get().len());
        let fits = state.waiting_bytes + bytes <= MAX_WAITING_BYTES;
        match result {
            Ok(raw) if fits => {
                state.waiting_bytes += bytes;
                let entry = &mut state.calls[at];
                if entry.stage == Stage::Running {
                    entry.stage = Stage::Ready;
                }
                entry
                    .answer
                    .send_replace(Answer::Ready(Arc::new(Ready::new(raw))));
            }
            // What comes behind a call that fails, or that a person has to allow, comes much later or
            // not at all.
            _ => {
                let step = state.calls[at].step;
                state.is_closed = true;
                state.open_until = state.open_until.min(step);
                state.calls[at].give_up();
                state.drop_where(|entry| entry.step > step);
            }
        }
    }

    /// The claim of a call of the script.
    pub(super) fn claim(&self, tool: &str, call: Option<&CallKey>) -> Claim {
        let mut state = self.lock();
        if !state.has_plan || state.is_over {
            return Claim::Nothing;
        }
        let at = call.and_then(|call| state.calls.iter().position(|entry| entry.call == *call));
        let step = match at {
            Some(at) => Some(state.calls[at].step),
            None => {
                let known = state.unknown.iter();
                let mut known = known.filter(|(_, known)| split_version(known).0 == tool);
                known.next().map(|(step, _)| *step)
            }
        };
        // A call that no plan has, or one that may have an effect: what was read before is outdated.
        let Some(step) = step.filter(|step| *step < state.open_until || !state.is_closed) else {
            state.end();
            return Claim::Nothing;
        };
        if step >= state.open_until {
            // It is not known yet whether the call has an effect.
            state.drop_where(|entry| entry.step < step);
        }
        let Some(at) = at else {
            return Claim::Nothing;
        };
        let entry = &mut state.calls[at];
        match entry.stage {
            Stage::Running | Stage::Ready => {
                entry.stage = Stage::Claimed;
                Claim::Started(at, entry.answer.subscribe())
            }
            Stage::Planned => {
                entry.stage = Stage::Own;
                Claim::Own(at)
            }
            Stage::Claimed | Stage::Taken | Stage::Own | Stage::Dropped => Claim::Nothing,
        }
    }

    /// The script has got the result of a call that was started.
    pub(super) fn took(&self, at: usize) {
        let mut state = self.lock();
        state.calls[at].stage = Stage::Taken;
    }

    /// The answer to a call that was foreseen and sent for the script.
    pub(super) fn answered(&self, at: usize, result: &ToolResult) {
        let mut state = self.lock();
        match result {
            Ok(raw) => {
                let ready = Answer::Ready(Arc::new(Ready::new(raw.clone())));
                state.calls[at].answer.send_replace(ready);
            }
            // The script goes another way than it was foreseen.
            Err(_) => state.end(),
        }
    }

    /// The script has left the plan: nothing that was read until now is given to it.
    pub(super) fn end(&self) {
        self.lock().end();
    }

    /// Nothing of the plan goes on: a call of the script that waits is sent.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        for entry in &mut state.calls {
            if matches!(entry.stage, Stage::Running | Stage::Claimed)
                && matches!(*entry.answer.borrow(), Answer::Pending)
            {
                entry.answer.send_replace(Answer::Never);
            }
        }
    }

    /// What became of the calls so far.
    pub fn stats(&self) -> SpeculationStats {
        let state = self.lock();
        let count = |is: &dyn Fn(&Entry) -> bool| {
            let count = state.calls.iter().filter(|entry| is(entry)).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let started = count(&|entry| entry.began.is_some());
        let taken = count(&|entry| entry.stage == Stage::Taken);
        SpeculationStats {
            started,
            taken,
            dropped: started - taken,
        }
    }

    /// The calls that were started.
    pub fn started(&self) -> Vec<SpeculatedCall> {
        let state = self.lock();
        let started = state.calls.iter().filter_map(|entry| {
            Some(SpeculatedCall {
                tool: entry.call.tool.clone(),
                began: entry.began?,
                ended: entry.ended,
                is_taken: entry.stage == Stage::Taken,
            })
        });
        started.collect()
    }
}

impl State {
    fn end(&mut self) {
        self.is_over = true;
        self.drop_where(|_| true);
    }

    /// Drops the calls that no call of the script waits for.
    fn drop_where(&mut self, is_meant: impl Fn(&Entry) -> bool) {
        for entry in &mut self.calls {
            let is_unclaimed =
                matches!(entry.stage, Stage::Planned | Stage::Running | Stage::Ready);
            if is_unclaimed && is_meant(entry) {
                entry.give_up();
            }
        }
    }
}

impl Entry {
    fn give_up(&mut self) {
        if self.stage != Stage::Claimed {
            self.stage = Stage::Dropped;
        }
        self.answer.send_replace(Answer::Never);
    }
}

#[cfg(test)]
mod tests {
    use pml_protocol::{Failure, FailureKind};

    use super::*;

    fn key(args: &str) -> CallKey {
        CallKey {
            tool: "s:read".to_owned(),
            version: None,
            args: args.to_owned(),
        }
    }

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn failed() -> ToolResult {
        Err(Failure::new(FailureKind::Tool, "no"))
    }

    /// Calls with the arguments 0, 1, …, of which the first `open` may be started.
    fn planned(count: usize, open: usize, is_closed: bool) -> SpeculatedCalls {
        let calls = SpeculatedCalls::default();
        calls.begin(vec![(count, "s:unknown".to_owned())]);
        for step in 0..count {
            let answer = Arc::new(watch::Sender::new(Answer::Pending));
            assert_eq!(calls.plan(step, key(&step.to_string()), answer), Some(step));
        }
        calls.open(open, is_closed);
        calls
    }

    fn claim(calls: &SpeculatedCalls, args: &str) -> Option<usize> {
        match calls.claim("s:read", Some(&key(args))) {
            Claim::Started(at, _) => Some(at),
            Claim::Own(_) | Claim::Nothing => None,
        }
    }

    #[test]
    fn a_result_is_given_once_and_to_the_same_call_alone() {
        let calls = planned(2, 3, true);
        assert!(calls.start(0) && calls.start(1));
        calls.finish(0, Ok(raw("1")));
        assert_eq!(claim(&calls, "0"), Some(0));
        calls.took(0);
        // The second of two equal calls is sent, and ends nothing.
        assert_eq!(claim(&calls, "0"), None);
        // Also while it is under way.
        assert_eq!(claim(&calls, "1"), Some(1));
        calls.took(1);
        let stats = calls.stats();
        assert_eq!((stats.started, stats.taken, stats.dropped), (2, 2, 0));
    }

    #[test]
    fn a_call_that_was_not_foreseen_drops_what_was_not_taken() {
        let calls = planned(2, 3, true);
        assert!(calls.start(0));
        calls.finish(0, Ok(raw("1")));
        assert!(matches!(
            calls.claim("s:write", Some(&key("9"))),
            Claim::Nothing
        ));
        assert_eq!(claim(&calls, "0"), None);
        assert!(!calls.start(1) && !calls.is_active());
        assert_eq!(calls.stats().dropped, 1);
    }

    #[test]
    fn a_call_of_a_tool_that_may_have_an_effect_drops_what_was_not_taken() {
        // The steps from the second on may have effects.
        let calls = planned(2, 1, true);
        assert!(calls.start(0) && !calls.start(1));
        calls.finish(0, Ok(raw("1")));
        assert!(matches!(
            calls.claim("s:read", Some(&key("1"))),
            Claim::Nothing
        ));
        assert_eq!(claim(&calls, "0"), None);
        // A call that is known by its tool alone, behind all others.
        let calls = planned(1, 1, true);
        assert!(calls.start(0));
        assert!(matches!(calls.claim("s:unknown", None), Claim::Nothing));
        assert_eq!(claim(&calls, "0"), None);
    }

    #[test]
    fn a_call_whose_effect_is_not_known_yet_drops_what_comes_before_it() {
        let calls = planned(3, 1, false);
        assert!(calls.start(0));
        calls.finish(0, Ok(raw("1")));
        assert!(matches!(
            calls.claim("s:read", Some(&key("1"))),
            Claim::Own(1)
        ));
        assert_eq!(claim(&calls, "0"), None);
        // It has none, so what comes behind it goes on.
        calls.open(4, true);
        calls.answered(1, &Ok(raw("2")));
        assert!(calls.start(2));
        assert_eq!(claim(&calls, "2"), Some(2));
    }

    #[test]
    fn a_failed_call_is_not_given_and_ends_what_comes_behind_it() {
        let calls = planned(3, 4, true);
        assert!(calls.start(0) && calls.start(1) && calls.start(2));
        calls.finish(1, failed());
        assert_eq!(claim(&calls, "0"), Some(0));
        assert_eq!(claim(&calls, "2"), None);
        assert!(!calls.is_active());
        // The call of the script itself fails.
        let calls = planned(2, 3, true);
        assert!(matches!(
            calls.claim("s:read", Some(&key("0"))),
            Claim::Own(0)
        ));
        assert!(calls.start(1));
        calls.answered(0, &failed());
        assert_eq!(claim(&calls, "1"), None);
    }

    #[test]
    fn calls_and_results_are_bounded() {
        let calls = planned(MAX_STARTED, MAX_STARTED, false);
        let answer = Arc::new(watch::Sender::new(Answer::Pending));
        assert_eq!(calls.plan(MAX_STARTED, key("more"), answer), None);
        assert!(calls.start(0));
        calls.finish(
            0,
            Ok(raw(&format!("\"{}\"", "x".repeat(MAX_WAITING_BYTES)))),
        );
        assert_eq!(claim(&calls, "0"), None);
    }
}
