//! What one client has: its placeholders, stored values, search history and share of the workers.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pml_gateway::{Gateway, Progress};
use pml_hosts::journal::RunJournal;
use pml_hosts::stack::{self, LiveRun};
use pml_hosts::{
    Approver, IfUnasked, ObservedShapes, Person, Provenance, RunPlaceholders, SessionStorage,
    SpeculatedCalls,
};
use pml_policy::labels::LabelMode;
use pml_protocol::{
    FairShareKey, Flow, Limits, Outcome, Principal, RunContext, RunFlow, RunId, SessionId,
    Speculation, TenantId, TimerMode, ToolHost, ToolResult,
};
use pml_reply::{ReplyScrubber, is_over_output};
use pml_scrub::{PlaceholderMap, SavedPlaceholder, Scrubber, SharedPlaceholders};
use pml_search::{Search, ToolFinder};
use pml_store::JournalEntry;

use crate::client_identity::ClientIdentity;
use crate::session_replies::SessionReplies;
use crate::state::ServerState;
use crate::tool_observer::TimedCalls;

/// The client has not asked for logs.
const NO_LOGS: u8 = u8::MAX;

/// One client. Everything it reads goes through [`ClientSession::replies`].
pub struct ClientSession {
    id: SessionId,
    tenant: TenantId,
    principal: Principal,
    placeholders: SharedPlaceholders,
    storage: Arc<SessionStorage>,
    gateway: Gateway,
    finder: Arc<ToolFinder>,
    shapes: Arc<ObservedShapes>,
    /// What the client has searched for last.
    last_query: Mutex<Option<String>>,
    replies: SessionReplies,
    fair_share: FairShareKey,
    /// What the model has read.
    read: Mutex<Flow>,
    log_level: AtomicU8,
}

impl ClientSession {
    /// A session of a client, without placeholders and stored values.
    pub fn new(
        client: &ClientIdentity,
        gateway: Gateway,
        search: Search,
        scrubber: Arc<Scrubber>,
    ) -> Self {
        let placeholders = SharedPlaceholders::new(PlaceholderMap::reversible(scrubber));
        let gateway = client.reach(gateway);
        // Only the reply to a run can be too large to show.
        let keep = Arc::new(|_: &str| None);
        Self {
            id: SessionId::random(),
            tenant: TenantId::local(),
            gateway: gateway.clone(),
            principal: client.principal().clone(),
            replies: SessionReplies::new(ReplyScrubber::for_model(placeholders.clone(), keep)),
            placeholders,
            storage: Arc::default(),
            finder: Arc::new(ToolFinder::new(gateway, search)),
            shapes: Arc::default(),
            last_query: Mutex::default(),
            fair_share: FairShareKey::new(),
            read: Mutex::default(),
            log_level: AtomicU8::new(NO_LOGS),
        }
    }

    /// The same session with another share of workers and memory.
    #[must_use]
    pub fn with_fair_share(self, fair_share: FairShareKey) -> Self {
        Self { fair_share, ..self }
    }

    /// Its id.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Whose session it is.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Scrubs what the client reads, except the replies to runs: see [`ClientRun::replies`].
    pub fn replies(&self) -> &SessionReplies {
        &self.replies
    }

    /// The servers, as the principal of the session sees them.
    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Finds tools.
    pub fn finder(&self) -> &ToolFinder {
        &self.finder
    }

    /// The shapes of the results that the session has seen.
    pub fn observed_shapes(&self) -> &ObservedShapes {
        &self.shapes
    }

    /// The client searches: what its next runs do is meant for this.
    pub fn note_query(&self, query: &str) {
        *self.lock_query() = Some(query.to_owned());
    }

    /// What the client has searched for last.
    pub fn last_query(&self) -> Option<String> {
        self.lock_query().clone()
    }

    fn lock_query(&self) -> MutexGuard<'_, Option<String>> {
        // A query is replaced in one step.
        self.last_query
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The identity of a new run. The model that wrote it has read what the session has.
    pub fn new_run(&self) -> RunContext {
        RunContext::new(self.id, self.tenant.clone(), self.principal.clone())
            .with_fair_share(self.fair_share.clone())
            .with_flow(RunFlow::of_session(&self.lock_read()))
    }

    /// The model reads something.
    pub fn read(&self, flow: &Flow) {
        self.lock_read().join(flow);
    }

    /// Whether calls are refused because of what their runs have read.
    pub fn enforces_labels(&self) -> bool {
        self.gateway.label_rules().mode() == LabelMode::Enforce
    }

    /// Whether the model must not read texts of a run while it goes on.
    pub fn hides(&self, run: &RunFlow) -> bool {
        self.enforces_labels() && run.is_above_session()
    }

    /// Decides what the model reads of an outcome, and notes that it has read it. With `enforce`, a result
    /// that would not be shown whole is not shown at all if it raises the label of the session.
    pub fn show(&self, outcome: &mut Outcome, limits: &Limits) {
        let labels = outcome.labels.as_ref();
        let read = labels.map(|report| report.read.clone()).unwrap_or_default();
        let result = outcome.result.as_deref();
        let is_over = result.is_some_and(|json| is_over_output(json.get(), limits));
        outcome.held |= is_over && self.is_raised_by(&read);
        if !outcome.held {
            self.read(&read);
        }
    }

    /// The same for the result of a call: whether it is held.
    pub fn show_result(&self, result: &ToolResult, read: &Flow, limits: &Limits) -> bool {
        let result = result.as_ref().ok();
        let is_over = result.is_some_and(|json| is_over_output(json.get(), limits));
        let is_held = is_over && self.is_raised_by(read);
        if !is_held {
            self.read(read);
        }
        is_held
    }

    fn is_raised_by(&self, read: &Flow) -> bool {
        let known = self.lock_read().label();
        self.enforces_labels() && !known.covers(&read.label())
    }

    fn lock_read(&self) -> MutexGuard<'_, Flow> {
        // A flow is only joined, in one step.
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The identity of a run that an earlier server began.
    pub fn resumed_run(&self, id: RunId) -> RunContext {
        RunContext::with_id(id, self.id, self.tenant.clone(), self.principal.clone())
            .with_fair_share(self.fair_share.clone())
    }

    /// Begins a run. `written` is what the model wrote for it: the source of a script, or the
    /// arguments of a call as JSON. Only placeholders that stand in it are restored. `flow` is what the run
    /// reads: the label of results that are kept.
    pub async fn begin_run(&self, written: &str, flow: &RunFlow) -> ClientRun<'_> {
        let placeholders = Arc::new(RunPlaceholders::new(&self.placeholders, written).await);
        let kept = flow.clone();
        let (storage, run) = (self.storage.clone(), placeholders.clone());
        let keep = Arc::new(move |json: &str| {
            let provenance = Provenance {
                origin: run.origin(),
                read: kept.current(),
            };
            storage.keep(json, provenance).ok()
        });
        let replies = ReplyScrubber::for_model(placeholders.shared().clone(), keep);
        ClientRun {
            session: self,
            replies: SessionReplies::new(replies),
            placeholders,
            flow: flow.clone(),
        }
    }

    /// Adds the placeholders of a run that another session began.
    pub async fn load_placeholders(&self, saved: &[SavedPlaceholder]) {
        self.placeholders.turn().await.lock().load(saved);
    }

    /// The lowest severity that the client wants, as a number; `None` if it did not ask for logs.
    pub fn log_level(&self) -> Option<u8> {
        let level = self.log_level.load(Ordering::Relaxed);
        (level != NO_LOGS).then_some(level)
    }

    /// Sets what [`ClientSession::log_level`] returns.
    pub fn set_log_level(&self, level: u8) {
        self.log_level.store(level, Ordering::Relaxed);
    }
}

/// One run of a client.
pub struct ClientRun<'s> {
    session: &'s ClientSession,
    placeholders: Arc<RunPlaceholders>,
    replies: SessionReplies,
    flow: RunFlow,
}

impl ClientRun<'_> {
    /// The placeholders that the model wrote, with their values, for the journal of the run.
    pub async fn saved_placeholders(&self) -> Vec<SavedPlaceholder> {
        self.placeholders.saved().await
    }

    /// Notes what an execution of the run received that has ended: its reply is made from here on.
    pub fn receive_journaled(&self, entries: &[JournalEntry]) {
        pml_hosts::journal::receive_journaled(&self.placeholders, entries);
    }

    /// Makes the reply to the run, whose values get their origin from what the run received.
    pub fn replies(&self) -> &SessionReplies {
        &self.replies
    }

    /// The pipeline of the run, which asks `approver` where the operator wants approval.
    pub fn pipeline(
        &self,
        state: &ServerState,
        run: &RunContext,
        limits: &Limits,
        approver: RunApprover,
        journal: Option<Arc<RunJournal>>,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> RunPipeline {
        let (session, gateway) = (self.session, self.session.gateway.clone());
        let RunApprover {
            approver,
            if_unasked,
        } = approver;
        let approver = match state.audit() {
            Some(audit) => audit.approver(approver, run),
            None => approver,
        };
        let (placeholders, rules) = (self.placeholders.clone(), state.approval_rules().clone());
        let person = Person::new(approver, &gateway, placeholders, if_unasked, rules);
        // An execution that goes on with a journal has most of its answers there.
        let is_first = |journal: &Arc<RunJournal>| journal.timers() == TimerMode::Real;
        let speculates = state.speculates() && journal.as_ref().is_none_or(is_first);
        let speculated = speculates.then(Arc::<SpeculatedCalls>::default);
        let host = stack::live(LiveRun {
            person: Some(person),
            gateway: gateway.clone(),
            search: session.finder.clone(),
            storage: session.storage.clone(),
            placeholders: Some(self.placeholders.clone()),
            script_observer: state.observer().script_observer(),
            observers: vec![
                session.shapes.clone(),
                session.finder.clone(),
                Arc::new(TimedCalls(state.observer().clone())),
            ],
            limits: *limits,
            tool_timeout: state.tool_timeout(),
            journal,
            approvals: state.durable_runs().map(|runs| runs.approvals().clone()),
            telemetry: state.telemetry().cloned(),
            costs: state.costs().clone(),
            suspensions: state.suspensions().clone(),
            speculated: speculated.clone(),
            audit: state.audit().cloned(),
            progress: Arc::new(progress),
        });
        let host = stack::audited(host, state.audit().cloned());
        RunPipeline {
            speculation: stack::speculation(&gateway, speculated, &host),
            host: stack::streamed(host),
        }
    }

    /// Keeps a result that is too large to show, and returns its handle.
    pub fn keep(&self, json: &str) -> Option<String> {
        let provenance = Provenance {
            origin: self.placeholders.origin(),
            read: self.flow.current(),
        };
        self.session.storage.keep(json, provenance).ok()
    }
}

/// The pipeline of a run, and who makes calls of it ahead of time.
pub struct RunPipeline {
    /// Answers the requests of the script.
    pub host: Arc<dyn ToolHost>,
    /// For [`RunOptions::speculation`](pml_runtime::RunOptions::speculation).
    pub speculation: Speculation,
}

/// How the calls of a run are approved.
pub struct RunApprover {
    /// Asks the person at the client.
    pub approver: Arc<dyn Approver>,
    /// What happens if that cannot be done.
    pub if_unasked: IfUnasked,
}
