//! What one client has: its placeholders, stored values, search history and share of the workers.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use pml_gateway::{Gateway, Progress};
use pml_hosts::stack::{self, LiveRun};
use pml_hosts::{Approver, ObservedShapes, Person, SessionStorage};
use pml_protocol::{Limits, Principal, RunContext, SessionId, TenantId, ToolHost};
use pml_reply::ReplyScrubber;
use pml_runtime::FairShareKey;
use pml_scrub::{PlaceholderMap, Scrubber, SharedPlaceholders};
use pml_search::{Search, ToolFinder};

use crate::state::ServerState;

/// The client has not asked for logs.
const NO_LOGS: u8 = u8::MAX;

/// One client. Everything it reads goes through [`ClientSession::replies`].
pub struct ClientSession {
    id: SessionId,
    tenant: TenantId,
    principal: Principal,
    placeholders: SharedPlaceholders,
    storage: Arc<SessionStorage>,
    finder: Arc<ToolFinder>,
    shapes: Arc<ObservedShapes>,
    replies: ReplyScrubber,
    fair_share: FairShareKey,
    log_level: AtomicU8,
}

impl ClientSession {
    /// A session of `principal`, without placeholders and stored values.
    pub fn new(
        principal: Principal,
        gateway: Gateway,
        search: Search,
        scrubber: Arc<Scrubber>,
    ) -> Self {
        let placeholders = Arc::new(Mutex::new(PlaceholderMap::new(scrubber)));
        let storage = Arc::<SessionStorage>::default();
        let kept = storage.clone();
        let keep = Arc::new(move |json: &str| kept.keep(json).ok());
        Self {
            id: SessionId::random(),
            // A process serves one tenant, and each token is a principal of it.
            tenant: TenantId::local(),
            principal,
            replies: ReplyScrubber::for_model(placeholders.clone(), keep),
            placeholders,
            storage,
            finder: Arc::new(ToolFinder::new(gateway, search)),
            shapes: Arc::default(),
            fair_share: FairShareKey::new(),
            log_level: AtomicU8::new(NO_LOGS),
        }
    }

    /// Scrubs what the client reads.
    pub fn replies(&self) -> &ReplyScrubber {
        &self.replies
    }

    /// Finds tools.
    pub fn finder(&self) -> &ToolFinder {
        &self.finder
    }

    /// The shapes of the results that the session has seen.
    pub fn observed_shapes(&self) -> &ObservedShapes {
        &self.shapes
    }

    /// The client's share of the workers.
    pub fn fair_share(&self) -> &FairShareKey {
        &self.fair_share
    }

    /// The identity of a new run.
    pub fn new_run(&self) -> RunContext {
        RunContext::new(self.id, self.tenant.clone(), self.principal.clone())
    }

    /// The pipeline of a new run, which asks `approver` where the operator wants approval.
    pub fn pipeline(
        &self,
        state: &ServerState,
        limits: &Limits,
        approver: Arc<dyn Approver>,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Arc<dyn ToolHost> {
        let gateway = state.gateway().clone();
        stack::live(LiveRun {
            person: Some(Person::new(approver, &gateway, self.placeholders.clone())),
            gateway,
            search: self.finder.clone(),
            storage: self.storage.clone(),
            placeholders: Some(self.placeholders.clone()),
            observers: vec![self.shapes.clone(), self.finder.clone()],
            limits: *limits,
            tool_timeout: state.tool_timeout(),
            progress: Box::new(progress),
        })
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
