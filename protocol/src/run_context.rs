//! What a request knows about the run it belongs to.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::FairShareKey;
use crate::call_notes::CallNotes;
use crate::flow::{Flow, RunFlow};
use crate::made_calls::MadeCalls;
use crate::run_control::RunControl;
use crate::run_id::RunId;
use crate::trace_context::TraceContext;

/// The run that a request belongs to: its identity, for whom it runs, and its clock. Cheap to clone;
/// clones are the same run.
#[derive(Debug, Clone)]
pub struct RunContext {
    run: Arc<Run>,
    /// Each request has its own.
    request: Arc<RequestState>,
}

/// What the layers note about one request.
#[derive(Debug, Default)]
struct RequestState {
    /// When the request was sent on, after approval and queueing.
    dispatched: OnceLock<Instant>,
    key: OnceLock<RequestKey>,
    trace: OnceLock<TraceContext>,
    notes: CallNotes,
    progress: OnceLock<ProgressReceiver>,
    time_limit: OnceLock<Duration>,
    /// The script has not made the request yet.
    is_speculative: bool,
    /// Its answer is that of a speculative request.
    took_speculated: OnceLock<()>,
    /// What the run had read when it made the request.
    seen: Flow,
    /// What the answer adds to it.
    answer: Mutex<Flow>,
}

/// The progress that a server reports about one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    /// Units of work that are done.
    pub done: f64,
    /// Units of work in all, if the tool knows it.
    pub total: Option<f64>,
    /// The message of the tool.
    pub message: Option<String>,
}

/// Receives the progress of one call.
#[derive(Clone)]
pub struct ProgressReceiver(Arc<dyn Fn(CallProgress) + Send + Sync>);

impl ProgressReceiver {
    /// A receiver that passes progress to a function, which must not block.
    pub fn new(receive: impl Fn(CallProgress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(receive))
    }

    /// Passes progress on.
    pub fn report(&self, progress: CallProgress) {
        (self.0)(progress);
    }
}

impl fmt::Debug for ProgressReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressReceiver").finish_non_exhaustive()
    }
}

/// The identity of a request within its run, the same in every execution of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// Its number in the run's journal, from 1.
    pub number: u32,
    /// The digest of the request in canonical form.
    pub digest: [u8; 32],
    /// How many equal requests came before it.
    pub occurrence: u32,
}

#[derive(Debug, Clone)]
struct Run {
    id: RunId,
    session: SessionId,
    tenant: TenantId,
    principal: Principal,
    fair_share: FairShareKey,
    clock: RunClock,
    control: RunControl,
    trace: Option<TraceContext>,
    flow: RunFlow,
    made_calls: MadeCalls,
}

impl RunContext {
    /// A new run of the user of this machine, in a session of its own: what `pml run` has.
    pub fn local() -> Self {
        Self::new(SessionId::random(), TenantId::local(), Principal::local())
    }

    /// A new run of a session, with a fair share of its own.
    pub fn new(session: SessionId, tenant: TenantId, principal: Principal) -> Self {
        Self::with_id(RunId::random(), session, tenant, principal)
    }

    /// A run with a given id: one that is resumed, or whose caller chose the id.
    pub fn with_id(id: RunId, session: SessionId, tenant: TenantId, principal: Principal) -> Self {
        Self {
            run: Arc::new(Run {
                id,
                session,
                tenant,
                principal,
                fair_share: FairShareKey::new(),
                clock: RunClock::default(),
                control: RunControl::default(),
                trace: None,
                flow: RunFlow::default(),
                made_calls: MadeCalls::default(),
            }),
            request: Arc::default(),
        }
    }

    /// The same run with another fair share, that of its client.
    #[must_use]
    pub fn with_fair_share(&self, fair_share: FairShareKey) -> Self {
        let run = Run {
            fair_share,
            ..Run::clone(&self.run)
        };
        Self {
            run: Arc::new(run),
            request: self.request.clone(),
        }
    }

    /// The same run as a part of a trace: `trace` is the span of the run.
    #[must_use]
    pub fn with_trace(&self, trace: TraceContext) -> Self {
        let run = Run {
            trace: Some(trace),
            ..Run::clone(&self.run)
        };
        Self {
            run: Arc::new(run),
            request: self.request.clone(),
        }
    }

    /// The same run, as one that has read this much: what its session has read, or all that another part
    /// of the same run has.
    #[must_use]
    pub fn with_flow(&self, flow: RunFlow) -> Self {
        let run = Run {
            flow,
            ..Run::clone(&self.run)
        };
        Self {
            run: Arc::new(run),
            request: Arc::default(),
        }
        .for_request()
    }

    /// The same run, whose calls are noted as those of the run that it is a part of.
    #[must_use]
    pub fn with_made_calls(&self, made_calls: MadeCalls) -> Self {
        let run = Run {
            made_calls,
            ..Run::clone(&self.run)
        };
        Self {
            run: Arc::new(run),
            request: self.request.clone(),
        }
    }

    /// The same run, for another request: one that the run makes now. Its arguments can depend on what
    /// the run has read so far, and on nothing that arrives later.
    #[must_use]
    pub fn for_request(&self) -> Self {
        let request = RequestState {
            seen: self.run.flow.current(),
            ..RequestState::default()
        };
        Self {
            run: self.run.clone(),
            request: Arc::new(request),
        }
    }

    /// The same run, for a request that the script has not made yet.
    #[must_use]
    pub fn for_speculation(&self) -> Self {
        let request = RequestState {
            is_speculative: true,
            seen: self.run.flow.current(),
            ..RequestState::default()
        };
        Self {
            run: self.run.clone(),
            request: Arc::new(request),
        }
    }

    /// Whether the script has not made the request yet. Such a request is dropped where it would ask a
    /// person, exceed a budget, have an effect, or change what the run may do later.
    pub fn is_speculative(&self) -> bool {
        self.request.is_speculative
    }

    /// Notes that the request gets the answer of a speculative one.
    pub fn mark_speculated(&self) {
        let _ = self.request.took_speculated.set(());
    }

    /// Whether the answer is that of a speculative request, which was sent before.
    pub fn took_speculated(&self) -> bool {
        self.request.took_speculated.get().is_some()
    }

    /// The id of the run, unique across machines and restarts.
    pub fn id(&self) -> &RunId {
        &self.run.id
    }

    /// The client session that the run belongs to.
    pub fn session(&self) -> SessionId {
        self.run.session
    }

    /// Whose data the run works on.
    pub fn tenant(&self) -> &TenantId {
        &self.run.tenant
    }

    /// Who asked for the run.
    pub fn principal(&self) -> &Principal {
        &self.run.principal
    }

    /// Whose memory the arguments and answers of the run are counted as.
    pub fn fair_share(&self) -> &FairShareKey {
        &self.run.fair_share
    }

    /// The clock of the run's time limit.
    pub fn clock(&self) -> &RunClock {
        &self.run.clock
    }

    /// Ends or suspends the run.
    pub fn control(&self) -> &RunControl {
        &self.run.control
    }

    /// The calls that layers made for the run: those of its plans and streams.
    pub fn made_calls(&self) -> &MadeCalls {
        &self.run.made_calls
    }

    /// What the run has read so far.
    pub fn flow(&self) -> &RunFlow {
        &self.run.flow
    }

    /// What the run had read when it made the request.
    pub fn seen(&self) -> &Flow {
        &self.request.seen
    }

    /// The run gets this with the answer to the request. Called before the answer is given to the script.
    pub fn received(&self, read: &Flow) {
        if !read.is_clean() {
            self.run.flow.read(read);
            self.answer().join(read);
        }
    }

    /// What the answer to the request adds to what the run has read.
    pub fn received_flow(&self) -> Flow {
        self.answer().clone()
    }

    fn answer(&self) -> MutexGuard<'_, Flow> {
        // A flow is only joined, in one step.
        let answer = self.request.answer.lock();
        answer.unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the request its identity. The first one stands.
    pub fn set_request_key(&self, key: RequestKey) {
        let _ = self.request.key.set(key);
    }

    /// The identity of the request; `None` in a run without a journal.
    pub fn request_key(&self) -> Option<RequestKey> {
        self.request.key.get().copied()
    }

    /// Gives the request a span of its own. The first one stands.
    pub fn set_trace(&self, trace: TraceContext) {
        let _ = self.request.trace.set(trace);
    }

    /// The span of the request, else that of its run; `None` if neither is part of a trace.
    pub fn trace(&self) -> Option<&TraceContext> {
        self.request.trace.get().or(self.run.trace.as_ref())
    }

    /// What is noted about the request.
    pub fn notes(&self) -> &CallNotes {
        &self.request.notes
    }

    /// Asks for the progress of the request. The first receiver stands.
    pub fn set_progress_receiver(&self, receiver: ProgressReceiver) {
        let _ = self.request.progress.set(receiver);
    }

    /// Who wants the progress of the request.
    pub fn progress_receiver(&self) -> Option<&ProgressReceiver> {
        self.request.progress.get()
    }

    /// Bounds the time of the request, from its approval to its answer. The first limit stands.
    pub fn set_time_limit(&self, limit: Duration) {
        let _ = self.request.time_limit.set(limit);
    }

    /// The time limit of the request, if it has one of its own.
    pub fn time_limit(&self) -> Option<Duration> {
        self.request.time_limit.get().copied()
    }

    /// Notes that the request waits for nothing of ours any more: its time counts from here. The
    /// first note stands.
    pub fn mark_dispatched(&self) {
        let _ = self.request.dispatched.set(Instant::now());
    }

    /// When the request was dispatched; `None` if it was refused before.
    pub fn dispatched_at(&self) -> Option<Instant> {
        self.request.dispatched.get().copied()
    }
}

/// The clock of a run's time limit. It stands still while a person is asked.
#[derive(Debug, Clone)]
pub struct RunClock {
    pauses: Arc<watch::Sender<usize>>,
}

impl Default for RunClock {
    fn default() -> Self {
        Self {
            pauses: Arc::new(watch::Sender::new(0)),
        }
    }
}

impl RunClock {
    /// Stops the clock until the guard is dropped. Pauses may overlap: the clock goes on when the
    /// last of them ends.
    #[must_use = "the clock goes on when the guard is dropped"]
    pub fn pause(&self) -> PauseGuard {
        self.pauses.send_modify(|pauses| *pauses += 1);
        PauseGuard(self.clone())
    }

    /// The number of pauses, as it changes: the clock stands while it is not zero.
    pub fn pauses(&self) -> watch::Receiver<usize> {
        self.pauses.subscribe()
    }

    /// Pauses this clock whenever that of a child run stands, until the future is dropped.
    pub async fn follow(&self, child: &Self) {
        let mut pauses = child.pauses();
        loop {
            let _pause = (*pauses.borrow_and_update() > 0).then(|| self.pause());
            if pauses.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }
}

/// A pause of a [`RunClock`]. It ends when this is dropped.
#[derive(Debug)]
pub struct PauseGuard(RunClock);

impl Drop for PauseGuard {
    fn drop(&mut self) {
        self.0.pauses.send_modify(|pauses| *pauses -= 1);
    }
}

/// 128 random bits, written as hexadecimal digits.
macro_rules! random_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u128);

        impl $name {
            /// A new id.
            pub fn random() -> Self {
                Self(random_bits())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:032x})"), self.0)
            }
        }
    };
}

random_id! {
    /// The id of one client session: the runs of a session share stored values and placeholders.
    SessionId
}

/// 128 random bits. Without the kernel's randomness they are drawn from the clock and a counter, which
/// keeps ids of one process apart.
pub(crate) fn random_bits() -> u128 {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_le_bytes(bytes),
        Err(_) => fallback_id(),
    }
}

fn fallback_id() -> u128 {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{SystemTime, UNIX_EPOCH};
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    (nanos << 32) ^ u128::from(COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// The customer whose data a run works on. State of one tenant is unreachable from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// The one tenant of an installation without tenants.
    pub fn local() -> Self {
        Self("local".into())
    }

    /// The tenant with this id.
    pub fn named(id: &str) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who asked for a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// The user of this machine, or the client that `pml serve` was started for.
    pub fn local() -> Self {
        Self("local".into())
    }

    /// A principal with a name, such as that of one of several tokens.
    pub fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// The principal as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Label;

    #[test]
    fn the_clock_stands_until_the_last_pause_ends() {
        let clock = RunClock::default();
        let pauses = clock.pauses();
        let first = clock.pause();
        let second = clock.pause();
        assert_eq!(*pauses.borrow(), 2);
        drop(first);
        assert_eq!(*pauses.borrow(), 1);
        drop(second);
        assert_eq!(*pauses.borrow(), 0);
    }

    #[test]
    fn requests_of_a_run_are_dispatched_apart() {
        let run = RunContext::local();
        let (one, other) = (run.for_request(), run.for_request());
        one.mark_dispatched();
        assert!(one.dispatched_at().is_some());
        assert!(other.dispatched_at().is_none());
        assert_eq!(one.id(), other.id());
        assert_ne!(run.id(), RunContext::local().id());
    }

    #[test]
    fn a_request_depends_on_what_was_read_before_it_and_not_after() {
        let run = RunContext::local();
        let (fetch, send) = (run.for_request(), run.for_request());
        let read = Flow::of("web:fetch", &Label::untrusted());
        fetch.received(&read);
        assert!(send.seen().is_clean());
        assert_eq!(run.for_request().seen(), &read);
        assert_eq!(fetch.received_flow(), read);
        assert!(send.received_flow().is_clean());
    }
}
