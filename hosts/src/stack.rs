//! The order of the layers, in one place.
//!
//! ```text
//! ScriptPlans (of `workflow/`)          runs the plans of a script; their calls enter below
//! Streams                               gives results in pieces; their calls enter below
//! Audit                                 records intents and outcomes, where there is a log
//! Record | RecordMissing | DryRun       the mode of the run, if any
//! ResolveSpelling                       `s:echo_tool` becomes the tool `s:echo-tool`
//! Journal | MemoryCheckpoints           answers a resumed run from its journal
//! Trace                                 spans and metrics, where there is telemetry
//!   RefuseSuspended                     refuses what is withdrawn until a person has looked at it
//!   TrackLabels                         what the run has read; refuses calls that must not get it
//!     Approve                           asks a person; the run's clock is paused meanwhile
//!       ObserveScript                   notifies an observer of searches and calls, if any
//!         TimeLimit                     the timeout of a task of a plan
//!           TakeSpeculated              results that are there already, if the run speculates
//!             ConcurrencyLimit          permits; a call's time counts from here
//!               Observe                 notifies observers of successful calls
//!                 RouteSearch → StoreValues requests that reach no server
//!                   gateway             restores placeholders; policy, budgets; the intent of a call
//!                                       is on disk; retries, the servers; a function that is called
//!                                       has a stack of its own, below `FunctionBounds`
//! ```
//!
//! Every function here returns a stack with [`Approve`] above the gateway. The base host that reaches
//! the servers is private to this crate, so no other crate can build a stack without the approval
//! layer:
//!
//! ```compile_fail,E0603
//! use pml_hosts::gateway_host::GatewayHost;
//! ```

use std::sync::Arc;
use std::time::Duration;

use pml_approvals::Approvals;
use pml_gateway::{Gateway, Progress, RunLimits};
use pml_policy::suspensions::Suspensions;
use pml_protocol::{Limits, Speculate, Speculation, ToolHost, VirtualClock};
use pml_telemetry::Telemetry;

use crate::approve::{Approve, Person};
use crate::audit::{Audit, AuditTrail};
use crate::call_costs::CallCosts;
use crate::call_timeout::CallTimeout;
use crate::concurrency_limit::ConcurrencyLimit;
use crate::dry_run::{AnswerSources, DryRun};
use crate::function_runs::FunctionRuns;
use crate::gateway_host::{CallMode, GatewayHost};
use crate::journal::{Journal, MemoryCheckpoints, RunJournal};
use crate::observe::{CallObserver, Observe};
use crate::observe_script::{ObserveScript, ScriptObserver};
use crate::reconcile::Reconciler;
use crate::record::Record;
use crate::record_missing::RecordMissing;
use crate::recording::Recording;
use crate::refuse_suspended::RefuseSuspended;
use crate::resolve_spelling::ResolveSpelling;
use crate::route::{RouteSearch, StoreValues};
use crate::run_placeholders::RunPlaceholders;
use crate::speculation::{SpeculatedCalls, Speculator, TakeSpeculated};
use crate::storage::SessionStorage;
use crate::stored_approvals::StoredApprovals;
use crate::streams::Streams;
use crate::time_limit::TimeLimit;
use crate::trace::Trace;
use crate::track_labels::{AnswerLabels, TrackLabels};

/// The parts of a stack that reaches the gateway.
pub struct LiveRun {
    /// The servers.
    pub gateway: Gateway,
    /// Answers searches.
    pub search: Arc<dyn ToolHost>,
    /// The session's stored values and large results.
    pub storage: Arc<SessionStorage>,
    /// The placeholders that the run may restore; `None` where nothing is restored.
    pub placeholders: Option<Arc<RunPlaceholders>>,
    /// The person who approves calls; with `None`, calls that need approval are refused.
    pub person: Option<Person>,
    /// Notified of successful calls.
    pub observers: Vec<Arc<dyn CallObserver>>,
    /// Notified of the script's searches and calls.
    pub script_observer: Option<Arc<dyn ScriptObserver>>,
    /// How much the run may use.
    pub limits: Limits,
    /// The time limit of one call, if the operator set one; else that of its server.
    pub tool_timeout: Option<Duration>,
    /// The journal of a durable run.
    pub journal: Option<Arc<RunJournal>>,
    /// The approvals of a durable run; with `None`, they do not outlive the process.
    pub approvals: Option<Approvals>,
    /// Where requests are observed; `None` without telemetry.
    pub telemetry: Option<Telemetry>,
    /// What calls cost, for the metrics.
    pub costs: CallCosts,
    /// What is withdrawn until a person has looked at it.
    pub suspensions: Suspensions,
    /// The calls that are made before the script makes them; with `None`, there are none.
    pub speculated: Option<Arc<SpeculatedCalls>>,
    /// Where the calls of functions are recorded; [`audited`] records those of the run itself.
    pub audit: Option<AuditTrail>,
    /// Receives the progress of calls in flight.
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

/// The stack of a run that sends its calls.
pub fn live(run: LiveRun) -> Arc<dyn ToolHost> {
    layers(run, CallMode::Send)
}

/// The stack of a run that sends its calls and records them.
pub fn record(run: LiveRun, clock: VirtualClock) -> Arc<Record<Arc<dyn ToolHost>>> {
    Arc::new(Record::new(live(unspeculated(run)), clock))
}

/// The stack of a run that replays a recording, sends the requests that it lacks, and records those.
pub fn record_missing(run: LiveRun, recording: Recording) -> Arc<RecordMissing<Arc<dyn ToolHost>>> {
    let labels = AnswerLabels::new(run.gateway.clone());
    let live = live(unspeculated(run));
    Arc::new(RecordMissing::new(recording, labels, live))
}

/// The stack of a run whose calls are checked and not sent.
pub fn dry_run(run: LiveRun, sources: AnswerSources) -> Arc<DryRun<Arc<dyn ToolHost>>> {
    let run = LiveRun {
        // No call succeeds, so there is nothing to observe.
        observers: Vec::new(),
        script_observer: None,
        speculated: None,
        ..run
    };
    Arc::new(DryRun::new(layers(run, CallMode::CheckOnly), sources))
}

/// A recording has the calls of the script in their order, and no others.
fn unspeculated(run: LiveRun) -> LiveRun {
    LiveRun {
        speculated: None,
        ..run
    }
}

/// The stack of a function, which calls functions through `functions`.
pub(crate) fn of_function(run: LiveRun, functions: FunctionRuns) -> Arc<dyn ToolHost> {
    layers_with(run, CallMode::Send, functions)
}

fn layers(run: LiveRun, mode: CallMode) -> Arc<dyn ToolHost> {
    let functions = FunctionRuns::of(&run);
    layers_with(run, mode, functions)
}

fn layers_with(run: LiveRun, mode: CallMode, functions: FunctionRuns) -> Arc<dyn ToolHost> {
    let limits = RunLimits {
        calls: Some(run.limits.calls),
        concurrent: Some(run.limits.concurrent_calls),
        tool_timeout: run.tool_timeout,
        tool_time: None,
    };
    let progress = run.progress;
    let scope = run
        .gateway
        .run_with_progress(limits, move |reported| progress(reported));
    let scope = match functions.scope() {
        Some(outer) => scope.inside(outer),
        None => scope,
    };
    let base = GatewayHost::new(
        run.gateway.clone(),
        scope.clone(),
        mode,
        run.placeholders.clone(),
        run.journal.clone(),
    )
    .with_functions(functions.of_scope(&scope));
    let base = StoreValues::new(run.storage, run.placeholders.clone(), base);
    let base = RouteSearch::new(run.search, run.placeholders.clone(), base);
    let observed = Observe::new(&run.gateway, run.observers, base);
    let limited = ConcurrencyLimit::new(run.limits.concurrent_calls, observed);
    let limited: Arc<dyn ToolHost> = match run.speculated {
        Some(calls) => Arc::new(TakeSpeculated::new(calls, scope, limited)),
        None => Arc::new(limited),
    };
    let limited: Arc<dyn ToolHost> = Arc::new(TimeLimit::new(limited));
    let limited = match run.script_observer {
        Some(observer) => Arc::new(ObserveScript::new(&run.gateway, observer, limited)),
        None => limited,
    };
    let stored = run.approvals.zip(run.journal.clone());
    let stored = stored.map(|(approvals, journal)| StoredApprovals::new(approvals, journal));
    let approved = Approve::new(run.gateway.clone(), run.person, stored, limited);
    let tracked = TrackLabels::new(run.gateway.clone(), approved);
    let refused =
        RefuseSuspended::new(run.suspensions.clone(), run.gateway.holder_names(), tracked);
    let traced: Arc<dyn ToolHost> = match run.telemetry {
        Some(telemetry) => Arc::new(Trace::new(
            telemetry,
            run.gateway.clone(),
            run.costs,
            run.suspensions,
            refused,
        )),
        None => Arc::new(refused),
    };
    match run.journal {
        Some(journal) => {
            let labels = AnswerLabels::new(run.gateway.clone());
            let reconciler = Reconciler::new(run.gateway.clone());
            let journaled = Journal::new(journal, reconciler, labels, run.placeholders, traced);
            Arc::new(ResolveSpelling::new(run.gateway, journaled))
        }
        None => Arc::new(ResolveSpelling::new(
            run.gateway,
            MemoryCheckpoints::new(traced),
        )),
    }
}

/// Starts the calls that a script will make through `host`, the top of a stack that has `calls` in it.
pub fn speculation(
    gateway: &Gateway,
    calls: Option<Arc<SpeculatedCalls>>,
    host: &Arc<dyn ToolHost>,
) -> Speculation {
    Speculation(calls.map(|calls| {
        let speculator = Speculator::new(gateway.clone(), calls, host.clone());
        Arc::new(speculator) as Arc<dyn Speculate>
    }))
}

/// Adds the audit log at the top of a stack: it sees every request first, and every answer last.
pub fn audited(host: Arc<dyn ToolHost>, trail: Option<AuditTrail>) -> Arc<dyn ToolHost> {
    match trail {
        Some(trail) => Arc::new(Audit::new(trail, host)),
        None => host,
    }
}

/// Adds streams at the top of a stack.
pub fn streamed(host: Arc<dyn ToolHost>) -> Arc<dyn ToolHost> {
    Arc::new(Streams::new(host))
}

/// Adds the concurrency limit and the call timeout of a run, and checkpoints in memory, to a base host without limits of its own,
/// such as [`crate::StaticHost`].
pub fn limited(host: impl ToolHost + 'static, limits: &Limits) -> Arc<dyn ToolHost> {
    let timed = CallTimeout::new(
        Duration::from_millis(limits.tool_ms),
        MemoryCheckpoints::new(TimeLimit::new(host)),
    );
    Arc::new(ConcurrencyLimit::new(limits.concurrent_calls, timed))
}
