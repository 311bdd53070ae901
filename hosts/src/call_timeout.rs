//! The layer that bounds the time of one call.

use std::time::Duration;

use pml_protocol::{Failure, FailureKind, HostFuture, Request, RunContext, ToolHost, ToolResult};

/// Fails a call that takes longer than its limit. The gateway has a time limit of its own, per
/// server, so this layer is for hosts without one.
pub struct CallTimeout<H> {
    inner: H,
    limit: Duration,
}

impl<H> CallTimeout<H> {
    /// Bounds each call of `inner` by `limit`.
    pub fn new(limit: Duration, inner: H) -> Self {
        Self { inner, limit }
    }
}

impl<H: ToolHost> ToolHost for CallTimeout<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        let Request::Call { tool, .. } = request else {
            return self.inner.handle(request, run);
        };
        Box::pin(async move {
            let call = self.inner.handle(request, run);
            match tokio::time::timeout(self.limit, call).await {
                Ok(result) => result,
                Err(_) => Err(Failure {
                    retryable: true,
                    ..Failure::new(
                        FailureKind::Timeout,
                        format!("{tool} did not answer within {} ms", self.limit.as_millis()),
                    )
                }),
            }
        })
    }
}
