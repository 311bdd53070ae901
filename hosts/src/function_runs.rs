//! Functions that are called as tools: the pipeline of each is made of the parts of that of the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pml_gateway::{
    CallError, CallErrorKind, ChildPipeline, ChildPipelines, Gateway, Progress, RunScope, ToolId,
};
use pml_policy::suspensions::Suspensions;
use pml_protocol::{EffectClass, Limits, RequestedLimits, ToolHost};
use pml_telemetry::Telemetry;

use crate::approve::Person;
use crate::audit::AuditTrail;
use crate::call_costs::CallCosts;
use crate::function_bounds::FunctionBounds;
use crate::observe::CallObserver;
use crate::run_placeholders::RunPlaceholders;
use crate::stack::{self, LiveRun};
use crate::storage::SessionStorage;

/// Functions inside of each other.
pub const MAX_DEPTH: usize = 8;

/// Makes the pipelines of the functions that a run calls, and of those that they call.
///
/// A pipeline of a function has everything of that of the run but its journal: what a durable run keeps
/// is the call of the function. So an approval inside of one does not outlive the process.
#[derive(Clone)]
pub struct FunctionRuns {
    parts: Arc<Parts>,
    /// The functions that this pipeline is inside of, from the outside.
    inside: Vec<ToolId>,
    /// Calls that all functions of the run may still make.
    calls_left: Arc<AtomicU32>,
    /// The run of this pipeline, whose budgets its functions spend.
    scope: Option<RunScope>,
}

/// What every pipeline of a run has.
struct Parts {
    gateway: Gateway,
    search: Arc<dyn ToolHost>,
    storage: Arc<SessionStorage>,
    placeholders: Option<Arc<RunPlaceholders>>,
    person: Option<Person>,
    observers: Vec<Arc<dyn CallObserver>>,
    limits: Limits,
    tool_timeout: Option<Duration>,
    telemetry: Option<Telemetry>,
    costs: CallCosts,
    suspensions: Suspensions,
    audit: Option<AuditTrail>,
    progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

impl FunctionRuns {
    /// For the functions that this run calls.
    pub fn of(run: &LiveRun) -> Self {
        Self {
            parts: Arc::new(Parts {
                gateway: run.gateway.clone(),
                search: run.search.clone(),
                storage: run.storage.clone(),
                placeholders: run.placeholders.clone(),
                person: run.person.clone(),
                observers: run.observers.clone(),
                limits: run.limits,
                tool_timeout: run.tool_timeout,
                telemetry: run.telemetry.clone(),
                costs: run.costs.clone(),
                suspensions: run.suspensions.clone(),
                audit: run.audit.clone(),
                progress: run.progress.clone(),
            }),
            inside: Vec::new(),
            calls_left: Arc::new(AtomicU32::new(run.limits.calls)),
            scope: None,
        }
    }

    /// The same for the functions that the run of `scope` calls.
    #[must_use]
    pub fn of_scope(self, scope: &RunScope) -> Self {
        Self {
            scope: Some(scope.clone()),
            ..self
        }
    }

    /// The run that the calls of a function are a part of.
    pub(crate) fn scope(&self) -> Option<&RunScope> {
        self.scope.as_ref()
    }

    /// Spends a call of a function; `false` if there is none left.
    pub(crate) fn spend_call(calls_left: &AtomicU32) -> bool {
        let spend = |left: u32| left.checked_sub(1);
        calls_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
            .is_ok()
    }

    fn check(&self, function: &ToolId) -> Result<(), CallError> {
        let refused = |message: String| {
            CallError::permanent(CallErrorKind::Denied, function.as_str(), message)
        };
        if self.inside.contains(function) {
            let ids = self.inside.iter().chain([function]);
            let path: Vec<String> = ids.map(|id| format!("`{id}`")).collect();
            return Err(refused(format!(
                "functions call each other in a circle: {}; call what is shared as a function of the same file",
                path.join(" → ")
            )));
        }
        if self.inside.len() >= MAX_DEPTH {
            return Err(refused(format!(
                "`{function}` is called by {MAX_DEPTH} functions inside of each other, which is the most: call it from one further out"
            )));
        }
        Ok(())
    }
}

impl ChildPipelines for FunctionRuns {
    fn child(
        &self,
        function: &ToolId,
        class: EffectClass,
        requested: &RequestedLimits,
    ) -> Result<ChildPipeline, CallError> {
        self.check(function)?;
        let parts = &self.parts;
        let limits = parts.limits.lowered(requested);
        let mut inside = self.inside.clone();
        inside.push(function.clone());
        let depth = inside.len();
        let run = LiveRun {
            gateway: parts.gateway.clone(),
            search: parts.search.clone(),
            storage: parts.storage.clone(),
            placeholders: parts.placeholders.clone(),
            person: parts.person.clone(),
            observers: parts.observers.clone(),
            script_observer: None,
            limits,
            tool_timeout: parts.tool_timeout,
            journal: None,
            approvals: None,
            telemetry: parts.telemetry.clone(),
            costs: parts.costs.clone(),
            suspensions: parts.suspensions.clone(),
            speculated: None,
            audit: parts.audit.clone(),
            progress: parts.progress.clone(),
        };
        let functions = Self {
            parts: parts.clone(),
            inside,
            calls_left: self.calls_left.clone(),
            // That of the run whose call the function is: `stack` puts its own in this place.
            scope: self.scope.clone(),
        };
        let host = stack::of_function(run, functions);
        let host = FunctionBounds {
            gateway: parts.gateway.clone(),
            function: function.clone(),
            class,
            most_calls: parts.limits.calls,
            calls_left: self.calls_left.clone(),
            inner: host,
        };
        let host = stack::audited(Arc::new(host), parts.audit.clone());
        Ok(ChildPipeline {
            host: stack::streamed(host),
            limits,
            depth,
        })
    }
}
