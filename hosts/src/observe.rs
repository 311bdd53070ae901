//! The layer that notifies observers of calls.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_gateway::Gateway;
use pml_policy::labels::LabelMode;
use pml_protocol::{FailureKind, HostFuture, Request, RunContext, ToolHost, ToolResult};
use serde_json::Value;

/// Bytes of a result that observers get: they look at its shape, which a larger one shows no better.
const MAX_OBSERVED_BYTES: usize = 1024 * 1024;

/// A call that ended, however.
#[derive(Debug, Clone, Copy)]
pub struct EndedCall<'a> {
    /// `server:tool`
    pub tool: &'a str,
    /// Whether its server answered: also an error of the tool is an answer.
    pub is_answered: bool,
    /// From its dispatch to its end.
    pub time: Duration,
    /// Bytes of its result as JSON.
    pub bytes: usize,
}

/// Is notified of calls that succeeded.
pub trait CallObserver: Send + Sync {
    /// Whether the observer needs the value of this tool's call. Parsing it costs time.
    fn wants_value(&self, _tool: &str) -> bool {
        false
    }

    /// A call of the tool ended.
    fn call_ended(&self, _call: &EndedCall<'_>) {}

    /// A call of the tool succeeded. `value` is `Some` if any observer wants it.
    fn call_succeeded(&self, tool: &str, value: Option<&Value>);
}

/// What observers may learn of a run: where labels are enforced, nothing of one that has read untrusted or
/// private data.
pub(crate) struct LearningGate {
    /// Set where labels are enforced.
    enforcing: Option<Gateway>,
}

impl LearningGate {
    pub fn new(gateway: &Gateway) -> Self {
        Self {
            enforcing: (gateway.label_rules().mode() == LabelMode::Enforce)
                .then(|| gateway.clone()),
        }
    }

    /// Whether what observers learn of the run itself may reach other runs.
    pub fn is_clean(&self, run: &RunContext) -> bool {
        self.enforcing.is_none() || run.flow().is_clean()
    }

    /// Whether what observers learn of a call may reach other runs.
    pub async fn may_learn(&self, tool: &str, run: &RunContext) -> bool {
        let Some(gateway) = &self.enforcing else {
            return true;
        };
        let known = gateway.describe_for_call(tool).await;
        let label = known.map(|known| gateway.source_label(&known));
        run.flow().is_clean() && label.is_ok_and(|label| label.is_clean())
    }
}

/// Notifies observers of successful calls. What they learn reaches other runs, so where labels are enforced
/// they learn nothing from a run that has read untrusted or private data.
pub struct Observe<H> {
    inner: H,
    gate: LearningGate,
    observers: Vec<Arc<dyn CallObserver>>,
}

impl<H> Observe<H> {
    /// Notifies `observers` of the calls of `inner`, as the label rules of `gateway` permit.
    pub fn new(gateway: &Gateway, observers: Vec<Arc<dyn CallObserver>>, inner: H) -> Self {
        Self {
            inner,
            gate: LearningGate::new(gateway),
            observers,
        }
    }

    /// Refusals of pml say nothing about the server.
    fn note_end(&self, tool: &str, result: &ToolResult, time: Duration) {
        let (is_answered, bytes) = match result {
            Ok(value) => (true, value.get().len()),
            Err(failure) => match failure.kind {
                FailureKind::Tool | FailureKind::Output => (true, 0),
                FailureKind::Timeout | FailureKind::Protocol | FailureKind::Unavailable => {
                    (false, 0)
                }
                _ => return,
            },
        };
        let call = EndedCall {
            tool,
            is_answered,
            time,
            bytes,
        };
        for observer in &self.observers {
            observer.call_ended(&call);
        }
    }

    fn notify(&self, tool: &str, json: &str) {
        let wants_value = json.len() <= MAX_OBSERVED_BYTES
            && self
                .observers
                .iter()
                .any(|observer| observer.wants_value(tool));
        let value = wants_value.then(|| serde_json::from_str(json).unwrap_or_default());
        for observer in &self.observers {
            observer.call_succeeded(tool, value.as_ref());
        }
    }
}

impl<H: ToolHost> ToolHost for Observe<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        let Request::Call { tool, .. } = request else {
            return self.inner.handle(request, run);
        };
        Box::pin(async move {
            let started = Instant::now();
            let result = self.inner.handle(request, run).await;
            if !self.gate.may_learn(tool, run).await {
                return result;
            }
            self.note_end(tool, &result, started.elapsed());
            if let Ok(value) = &result {
                self.notify(tool, value.get());
            }
            result
        })
    }
}
