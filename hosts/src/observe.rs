//! The layer that feeds what learns from calls.

use std::sync::Arc;

use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult};
use serde_json::Value;

/// Learns from calls that succeeded.
pub trait CallObserver: Send + Sync {
    /// Whether the observer wants to see the value of this tool. Parsing it costs time.
    fn wants_value(&self, _tool: &str) -> bool {
        false
    }

    /// A call of the tool succeeded. `value` is there if an observer wanted it.
    fn call_succeeded(&self, tool: &str, value: Option<&Value>);
}

/// Reports successful calls to observers.
pub struct Observe<H> {
    inner: H,
    observers: Vec<Arc<dyn CallObserver>>,
}

impl<H> Observe<H> {
    /// The observers see every call of `inner`.
    pub fn new(observers: Vec<Arc<dyn CallObserver>>, inner: H) -> Self {
        Self { inner, observers }
    }

    fn report(&self, tool: &str, json: &str) {
        let wants_value = self.observers.iter().any(|one| one.wants_value(tool));
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
            if let Ok(value) = &result {
                self.report(tool, value.get());
            }
            result
        })
    }
}
