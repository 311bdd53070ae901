//! The layer that notifies observers of what a script asks for: its searches, and its calls with their
//! arguments and results.
//!
//! It stands above [`TakeSpeculated`](crate::speculation), so that a call counts once, in the order of the
//! script, and a call that the script never made does not count. Arguments have placeholders.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_gateway::Gateway;
use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult};
use serde_json::value::RawValue;

use crate::observe::LearningGate;

/// A call of a script that has ended.
pub struct ReturnedCall<'a> {
    /// `server:tool`
    pub tool: &'a str,
    /// What the script wrote.
    pub args: &'a RawValue,
    /// What it got.
    pub result: &'a ToolResult,
    /// From the script's request to its answer.
    pub time: Duration,
}

/// Is notified of what scripts ask for. Its methods must not block.
pub trait ScriptObserver: Send + Sync {
    /// The script searches for tools.
    fn searched(&self, run: &RunContext, query: &str);

    /// A call of the script ended, however.
    fn call_returned(&self, run: &RunContext, call: &ReturnedCall<'_>);
}

/// Notifies an observer of the searches and calls of scripts. What it learns reaches other runs, so the
/// rules of [`Observe`](crate::Observe) about labels hold here too.
pub(crate) struct ObserveScript<H> {
    inner: H,
    gate: LearningGate,
    observer: Arc<dyn ScriptObserver>,
}

impl<H> ObserveScript<H> {
    pub fn new(gateway: &Gateway, observer: Arc<dyn ScriptObserver>, inner: H) -> Self {
        Self {
            inner,
            gate: LearningGate::new(gateway),
            observer,
        }
    }
}

impl<H: ToolHost> ToolHost for ObserveScript<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match request {
            _ if run.is_speculative() => self.inner.handle(request, run),
            Request::Search { query, .. } => {
                if self.gate.is_clean(run) {
                    self.observer.searched(run, query);
                }
                self.inner.handle(request, run)
            }
            Request::Call { tool, args, .. } => Box::pin(async move {
                let started = Instant::now();
                let result = self.inner.handle(request, run).await;
                if self.gate.may_learn(tool, run).await {
                    let time = started.elapsed();
                    let call = ReturnedCall {
                        tool,
                        args,
                        result: &result,
                        time,
                    };
                    self.observer.call_returned(run, &call);
                }
                result
            }),
            _ => self.inner.handle(request, run),
        }
    }
}
