//! The layer that bounds how many calls of a run are in flight.

use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult};
use tokio::sync::Semaphore;

/// Calls beyond the limit wait for a permit. A call that waits has not begun: its time counts from
/// the moment it has its permit, which this layer marks as the dispatch.
pub struct ConcurrencyLimit<H> {
    inner: H,
    permits: Semaphore,
}

impl<H> ConcurrencyLimit<H> {
    /// At most `calls` in flight, and at least one.
    pub fn new(calls: u32, inner: H) -> Self {
        Self {
            inner,
            permits: Semaphore::new(calls.max(1) as usize),
        }
    }
}

impl<H: ToolHost> ToolHost for ConcurrencyLimit<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        let Request::Call { .. } = request else {
            return self.inner.handle(request, run);
        };
        Box::pin(async move {
            run.notes().mark_approved();
            // The semaphore is never closed.
            let _permit = self.permits.acquire().await;
            run.mark_dispatched();
            self.inner.handle(request, run).await
        })
    }
}
