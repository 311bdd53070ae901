//! The layer that answers calls of the script with results that are there already.

use std::sync::Arc;

use pml_gateway::RunScope;
use pml_gateway::policy::cache::canonical_json;
use pml_protocol::{Failure, FailureKind, HostFuture, Request, RunContext, ToolHost, ToolResult};
use serde_json::Value;
use tokio::sync::watch;

use super::calls::{Answer, CallKey, Claim, SpeculatedCalls};
use super::speculator::MAX_ARGUMENT_BYTES;
use crate::gateway_host::failure;

/// Gives a call of the script the result of the speculative call of the same tool with the same
/// arguments, also while that is under way. A result is given once. A failed one is not given: the call
/// is sent.
///
/// The first request of the script that is not foreseen ends the speculation of its run: it may have an
/// effect, and what was read before it is outdated.
pub(crate) struct TakeSpeculated<H> {
    inner: H,
    calls: Arc<SpeculatedCalls>,
    scope: RunScope,
}

impl<H: ToolHost> TakeSpeculated<H> {
    pub fn new(calls: Arc<SpeculatedCalls>, scope: RunScope, inner: H) -> Self {
        Self {
            inner,
            calls,
            scope,
        }
    }

    /// A call that the script has not made yet.
    async fn speculate(&self, tool: &str, request: &Request, run: &RunContext) -> ToolResult {
        let others = self.calls.others_under_way();
        if !self.scope.has_room_to_speculate(tool, others) {
            let message =
                "the budget of the run has no room for calls that the script may not make";
            return Err(Failure::new(FailureKind::Calls, message));
        }
        self.inner.handle(request, run).await
    }

    async fn call(&self, request: &Request, run: &RunContext, key: &Key<'_>) -> ToolResult {
        match self.calls.claim(key.tool, key.call.as_ref()) {
            Claim::Nothing => self.inner.handle(request, run).await,
            Claim::Own(at) => {
                let result = self.inner.handle(request, run).await;
                self.calls.answered(at, &result);
                result
            }
            Claim::Started(at, answer) => {
                run.mark_dispatched();
                if let Some(result) = self.taken(key.tool, at, answer).await {
                    run.mark_speculated();
                    return result;
                }
                let result = self.inner.handle(request, run).await;
                if result.is_err() {
                    self.calls.end();
                }
                result
            }
        }
    }

    async fn taken(
        &self,
        tool: &str,
        at: usize,
        mut answer: watch::Receiver<Answer>,
    ) -> Option<ToolResult> {
        let settled = answer.wait_for(|answer| !matches!(answer, Answer::Pending));
        let ready = match &*settled.await.ok()? {
            Answer::Ready(ready) => ready.clone(),
            Answer::Pending | Answer::Never => return None,
        };
        // The call counts now, as if it was sent.
        Some(match self.scope.spend(tool) {
            Ok(()) => {
                self.calls.took(at);
                Ok(ready.raw().to_owned())
            }
            Err(refused) => {
                self.calls.end();
                Err(failure(refused))
            }
        })
    }
}

/// A call as it is compared.
struct Key<'a> {
    tool: &'a str,
    /// `None` if its arguments are too long to be foreseen.
    call: Option<CallKey>,
}

fn key(request: &Request) -> Option<Key<'_>> {
    let Request::Call {
        tool,
        version,
        args,
    } = request
    else {
        return None;
    };
    let parsed: Option<Value> = match args.get().len() {
        0..=MAX_ARGUMENT_BYTES => serde_json::from_str(args.get()).ok(),
        _ => None,
    };
    let call = parsed.map(|args| CallKey {
        tool: tool.clone(),
        version: version.clone(),
        args: canonical_json(&args),
    });
    Some(Key { tool, call })
}

impl<H: ToolHost> ToolHost for TakeSpeculated<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        if run.is_speculative() {
            return match request {
                Request::Call { tool, .. } => Box::pin(self.speculate(tool, request, run)),
                _ => self.inner.handle(request, run),
            };
        }
        if !self.calls.is_active() {
            return self.inner.handle(request, run);
        }
        match key(request) {
            Some(key) => Box::pin(async move { self.call(request, run, &key).await }),
            None => {
                // Stored values and clocks are not what is foreseen.
                if !matches!(request, Request::Load { .. } | Request::Harness { .. }) {
                    self.calls.end();
                }
                self.inner.handle(request, run)
            }
        }
    }
}
