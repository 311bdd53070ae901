//! The layer that notifies observers of successful calls.

use std::sync::Arc;

use pml_gateway::Gateway;
use pml_policy::labels::LabelMode;
use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult};
use serde_json::Value;

/// Bytes of a result that observers get: they look at its shape, which a larger one shows no better.
const MAX_OBSERVED_BYTES: usize = 1024 * 1024;

/// Is notified of calls that succeeded.
pub trait CallObserver: Send + Sync {
    /// Whether the observer needs the value of this tool's call. Parsing it costs time.
    fn wants_value(&self, _tool: &str) -> bool {
        false
    }

    /// A call of the tool succeeded. `value` is `Some` if any observer wants it.
    fn call_succeeded(&self, tool: &str, value: Option<&Value>);
}

/// Notifies observers of successful calls. What they learn reaches other runs, so where labels are enforced
/// they learn nothing from a run that has read untrusted or private data.
pub struct Observe<H> {
    inner: H,
    is_enforced: bool,
    observers: Vec<Arc<dyn CallObserver>>,
}

impl<H> Observe<H> {
    /// Notifies `observers` of the calls of `inner`, as the label rules of `gateway` permit.
    pub fn new(gateway: &Gateway, observers: Vec<Arc<dyn CallObserver>>, inner: H) -> Self {
        Self {
            inner,
            is_enforced: gateway.label_rules().mode() == LabelMode::Enforce,
            observers,
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
            let result = self.inner.handle(request, run).await;
            if let Ok(value) = &result
                && (!self.is_enforced || run.flow().is_clean())
            {
                self.notify(tool, value.get());
            }
            result
        })
    }
}
