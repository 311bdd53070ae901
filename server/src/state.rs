//! State shared by all connections: worker pool, gateway, search, limits, shutdown.

use std::sync::Arc;
use std::time::Duration;

use pml_approvals::ApprovalRules;
use pml_gateway::{Gateway, Listing};
use pml_hosts::{AuditTrail, CallCosts, Decision};
use pml_policy::suspensions::Suspensions;
use pml_protocol::Limits;
use pml_runtime::{LazyPool, Pool};
use pml_scrub::Scrubber;
use pml_search::Search;
use pml_telemetry::Telemetry;
use pml_typegen::Shape;
use pml_workflow::PlanLimits;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::client_identity::{ClientIdentity, SeenCapabilities};
use crate::client_session::ClientSession;
use crate::durable_runs::{DurableOptions, DurableRuns};
use crate::observed_state;
use crate::pending_approvals::{COLLECT_TIME, PendingApprovals, RequestFingerprint};
use crate::resume::{maintain_store, resume_runs};
use crate::stateless_clients::StatelessClients;
use crate::tasks::RunningTasks;
use crate::tool_observer::ToolObserver;
use crate::tool_task::ToolTask;
use crate::waiting_runs::resume_answered_runs;

/// How long the first `tools/list` waits for servers that are still starting.
const FIRST_LISTING_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a server may take to start in the background.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// What a server is made of.
pub struct ServerOptions {
    /// Runs scripts.
    pub pool: Pool,
    /// The MCP servers behind the tools.
    pub gateway: Gateway,
    /// Finds tools.
    pub search: Search,
    /// The rules of scrubbing.
    pub scrubber: Arc<Scrubber>,
    /// The most that a run may use; a client can only ask for less.
    pub limits: Limits,
    /// The time limit of one call, where the operator set one.
    pub tool_timeout: Option<Duration>,
    /// Whether calls of scripts are made before the scripts make them.
    pub speculate: bool,
    /// How long calls in flight have when the server shuts down.
    pub drain: Duration,
    /// Who may approve which calls.
    pub approval_rules: Arc<ApprovalRules>,
    /// Where the journals of runs are kept; `None` for runs without journals.
    pub durable: Option<DurableOptions>,
    /// Keeps what is learned about tools.
    pub observer: Arc<dyn ToolObserver>,
    /// Where calls and runs are recorded; `None` without an audit log.
    pub audit: Option<AuditTrail>,
    /// Where calls and runs are observed; `None` without telemetry.
    pub telemetry: Option<Telemetry>,
    /// What calls cost, for the metrics.
    pub costs: CallCosts,
    /// What is withdrawn until a person has looked at it.
    pub suspensions: Suspensions,
    /// Plans of clients and scripts.
    pub workflows: WorkflowOptions,
}

/// How the server runs plans.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkflowOptions {
    /// The bounds of a plan.
    pub limits: PlanLimits,
    /// Whether clients see the tool `execute_workflow`.
    pub tool: bool,
}

/// State shared by all connections. Cheap to clone; clones are the same state.
#[derive(Clone)]
pub struct ServerState(Arc<Parts>);

struct Parts {
    pool: Arc<Pool>,
    /// The same, for the code of plans.
    lazy_pool: Arc<LazyPool>,
    /// For the code of plans of scripts.
    script_plan_pool: Arc<LazyPool>,
    workflows: WorkflowOptions,
    gateway: Gateway,
    search: Search,
    scrubber: Arc<Scrubber>,
    limits: Limits,
    tool_timeout: Option<Duration>,
    speculate: bool,
    drain: Duration,
    approval_rules: Arc<ApprovalRules>,
    observer: Arc<dyn ToolObserver>,
    audit: Option<AuditTrail>,
    telemetry: Option<Telemetry>,
    costs: CallCosts,
    suspensions: Suspensions,
    closing: CancellationToken,
    in_flight: watch::Sender<usize>,
    has_listed: watch::Sender<bool>,
    stateless: StatelessClients,
    seen_capabilities: SeenCapabilities,
    durable: Option<Arc<DurableRuns>>,
    pending: PendingApprovals,
    tasks: Arc<RunningTasks>,
}

impl ServerState {
    /// Starts every server in the background.
    ///
    /// # Panics
    ///
    /// If called outside a Tokio runtime.
    pub fn open(options: ServerOptions) -> Self {
        let closing = CancellationToken::new();
        let durable = options
            .durable
            .map(|durable| DurableRuns::new(durable, closing.clone()));
        let pool = Arc::new(options.pool);
        let state = Self(Arc::new(Parts {
            lazy_pool: LazyPool::running(pool.clone()),
            script_plan_pool: LazyPool::new(pool.options_for_children()),
            workflows: options.workflows,
            pool,
            gateway: options.gateway,
            search: options.search,
            scrubber: options.scrubber,
            limits: options.limits,
            tool_timeout: options.tool_timeout,
            speculate: options.speculate,
            drain: options.drain,
            approval_rules: options.approval_rules,
            observer: options.observer,
            audit: options.audit,
            telemetry: options.telemetry,
            costs: options.costs,
            suspensions: options.suspensions,
            closing,
            durable,
            in_flight: watch::Sender::new(0),
            has_listed: watch::Sender::new(false),
            stateless: StatelessClients::default(),
            seen_capabilities: SeenCapabilities::default(),
            pending: PendingApprovals::default(),
            tasks: Arc::default(),
        }));
        state.observe();
        let first = state.clone();
        tokio::spawn(async move { first.list_servers().await });
        tokio::spawn(resume_runs(state.clone()));
        tokio::spawn(resume_answered_runs(state.clone()));
        tokio::spawn(maintain_store(state.clone()));
        state
    }

    /// Lets the metrics read this state, as long as it is there.
    fn observe(&self) {
        let Some(telemetry) = self.telemetry() else {
            return;
        };
        if let (Some(mut anomalies), Some(audit)) = (telemetry.anomalies(), self.audit().cloned()) {
            tokio::spawn(async move {
                loop {
                    match anomalies.recv().await {
                        Ok(anomaly) => audit.anomaly(&anomaly),
                        Err(RecvError::Lagged(_)) => {}
                        Err(RecvError::Closed) => return,
                    }
                }
            });
        }
        let state = Arc::downgrade(&self.0);
        telemetry.metrics().observe(move || match state.upgrade() {
            Some(parts) => observed_state::gauges(&Self(parts)),
            None => Vec::new(),
        });
    }

    /// Records the tools that their servers list and that cannot be called.
    fn record_withheld(&self, listing: &Listing) {
        let Some(audit) = self.audit() else {
            return;
        };
        for refused in &listing.refused {
            audit.tool_withheld(&refused.tool, &refused.reason);
        }
        for tool in &listing.tools {
            if let Some(quarantine) = &tool.quarantine {
                audit.tool_withheld(tool.id.as_str(), &format!("it {quarantine}"));
            }
        }
    }

    async fn list_servers(&self) {
        let listing = self.gateway().list(None, START_TIMEOUT).await;
        for (server, problem) in &listing.problems {
            tracing::warn!(%server, %problem, "a server cannot be used");
        }
        tracing::info!(
            tools = listing.tools.len(),
            refused = listing.refused.len(),
            "the servers are up"
        );
        self.0.has_listed.send_replace(true);
        self.record_withheld(&listing);
        let observer = self.0.observer.clone();
        tokio::task::spawn_blocking(move || {
            observer.tools_listed(&listing.tools, &listing.problems);
        });
    }

    /// Runs scripts.
    pub(crate) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Runs the code of plans of clients.
    pub(crate) fn lazy_pool(&self) -> Arc<LazyPool> {
        self.0.lazy_pool.clone()
    }

    /// Runs the code of plans of scripts, which wait for it and hold their workers.
    pub(crate) fn script_plan_pool(&self) -> Arc<LazyPool> {
        self.0.script_plan_pool.clone()
    }

    /// The bounds of a plan.
    pub(crate) fn plan_limits(&self) -> &PlanLimits {
        &self.0.workflows.limits
    }

    /// Whether clients see the tool `execute_workflow`.
    pub(crate) fn has_workflow_tool(&self) -> bool {
        self.0.workflows.tool
    }

    /// The MCP servers behind the tools.
    pub fn gateway(&self) -> &Gateway {
        &self.0.gateway
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(crate) fn speculates(&self) -> bool {
        self.0.speculate
    }

    pub(crate) fn tool_timeout(&self) -> Option<Duration> {
        self.0.tool_timeout
    }

    pub(crate) fn observer(&self) -> &Arc<dyn ToolObserver> {
        &self.0.observer
    }

    /// Keeps the shapes of results and how calls went, in the background.
    pub(crate) fn record_shapes(&self, observed: Vec<(String, Shape)>) {
        let observer = self.0.observer.clone();
        if !observed.is_empty() || observer.has_calls() {
            tokio::task::spawn_blocking(move || {
                observer.save_calls();
                observer.record_shapes(observed);
            });
        }
    }

    /// Where calls and runs are recorded.
    pub(crate) fn audit(&self) -> Option<&AuditTrail> {
        self.0.audit.as_ref()
    }

    /// Where calls and runs are observed.
    pub(crate) fn telemetry(&self) -> Option<&Telemetry> {
        self.0.telemetry.as_ref()
    }

    /// What calls cost.
    pub(crate) fn costs(&self) -> &CallCosts {
        &self.0.costs
    }

    /// What is withdrawn until a person has looked at it.
    pub(crate) fn suspensions(&self) -> &Suspensions {
        &self.0.suspensions
    }

    /// Whether the servers were listed.
    pub(crate) fn has_listed(&self) -> bool {
        *self.0.has_listed.borrow()
    }

    /// Calls of clients in flight.
    pub(crate) fn calls_in_flight(&self) -> usize {
        *self.0.in_flight.borrow()
    }

    /// Who may approve which calls.
    pub(crate) fn approval_rules(&self) -> &Arc<ApprovalRules> {
        &self.0.approval_rules
    }

    /// The journals of runs, unless they are switched off.
    pub(crate) fn durable_runs(&self) -> Option<&Arc<DurableRuns>> {
        self.0.durable.as_ref()
    }

    /// The tasks that this process executes.
    pub(crate) fn tasks(&self) -> &Arc<RunningTasks> {
        &self.0.tasks
    }

    pub(crate) fn stateless_clients(&self) -> &StatelessClients {
        &self.0.stateless
    }

    pub(crate) fn pending_approvals(&self) -> &PendingApprovals {
        &self.0.pending
    }

    /// Keeps a task until its client comes back with an answer, or the time for that is up. Returns
    /// the token that the client comes back with, or the task if there are too many.
    pub(crate) fn suspend(
        &self,
        task: ToolTask,
        answer: oneshot::Sender<Decision>,
        fingerprint: RequestFingerprint,
        time: Duration,
    ) -> Result<String, (ToolTask, oneshot::Sender<Decision>)> {
        let token = self
            .pending_approvals()
            .suspend(task, answer, fingerprint, time)?;
        let (state, expired) = (self.clone(), token.clone());
        tokio::spawn(async move {
            tokio::time::sleep(time + COLLECT_TIME).await;
            state.pending_approvals().forget(&expired);
        });
        Ok(token)
    }

    /// A session of the client that sent a request.
    pub(crate) fn new_session(&self, client: &ClientIdentity) -> ClientSession {
        self.0.seen_capabilities.note(client);
        ClientSession::new(
            client,
            self.0.gateway.clone(),
            self.0.search.clone(),
            self.0.scrubber.clone(),
        )
    }

    /// The client that began a run; `None` if this process may not act for it.
    pub(crate) fn owner_of_run(&self, principal: &str) -> Option<ClientIdentity> {
        let seen = &self.0.seen_capabilities;
        seen.owner_of_run(principal, self.gateway())
    }

    /// Returns when the servers were listed, or after 3 seconds.
    pub(crate) async fn first_listing(&self) {
        let mut listed = self.0.has_listed.subscribe();
        let listed = listed.wait_for(|has_listed| *has_listed);
        let _ = tokio::time::timeout(FIRST_LISTING_TIMEOUT, listed).await;
    }

    /// Counts a call in flight; `None` when the server is shutting down.
    pub(crate) fn begin_call(&self) -> Option<InFlightGuard> {
        if self.0.closing.is_cancelled() {
            return None;
        }
        self.0.in_flight.send_modify(|calls| *calls += 1);
        Some(InFlightGuard(self.clone()))
    }

    /// How long calls in flight have when the server shuts down.
    pub(crate) fn drain_time(&self) -> Duration {
        self.0.drain
    }

    /// Begins to shut down: no more calls are taken.
    pub fn close(&self) {
        self.0.closing.cancel();
        self.pending_approvals().forget_all();
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// Returns when no call is in flight any more, or the drain time is up.
    pub async fn drained(&self) {
        let mut in_flight = self.0.in_flight.subscribe();
        let none = in_flight.wait_for(|calls| *calls == 0);
        if tokio::time::timeout(self.0.drain, none).await.is_err() {
            let calls = *self.0.in_flight.borrow();
            tracing::warn!(calls, "calls were cut off: their time to end was up");
        }
        let interrupted = self.durable_runs().map_or(0, |runs| runs.interrupted());
        if interrupted > 0 {
            tracing::warn!(
                runs = interrupted,
                "runs were interrupted: they go on at the next start of the server, or with `pml resume --all`"
            );
        }
    }
}

/// A call in flight. Dropping it lets the server shut down.
pub(crate) struct InFlightGuard(ServerState);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.0.in_flight.send_modify(|calls| *calls -= 1);
    }
}
