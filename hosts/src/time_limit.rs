//! The layer that bounds the time of a request with a limit of its own: that of a task of a plan.

use pml_protocol::{Failure, FailureKind, HostFuture, Request, RunContext, ToolHost, ToolResult};

/// Fails a request that takes longer than its own limit ([`RunContext::set_time_limit`]). The time counts from
/// here: a person who is asked above takes none of it; permits, rates and the server below do.
pub struct TimeLimit<H> {
    inner: H,
}

impl<H> TimeLimit<H> {
    /// Bounds the requests of `inner`.
    pub fn new(inner: H) -> Self {
        Self { inner }
    }
}

impl<H: ToolHost> ToolHost for TimeLimit<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        let Some(limit) = run.time_limit() else {
            return self.inner.handle(request, run);
        };
        Box::pin(async move {
            let answer = tokio::time::timeout(limit, self.inner.handle(request, run)).await;
            answer.unwrap_or_else(|_| {
                let message = format!("no answer within the task's timeout of {limit:?}");
                Err(Failure::new(FailureKind::Timeout, message))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use serde_json::value::RawValue;
    use tokio::time::Instant;

    use super::*;
    use crate::StaticHost;

    #[tokio::test(start_paused = true)]
    async fn a_request_with_a_limit_fails_after_it_and_one_without_does_not() {
        let slow = StaticHost::empty().with("s:slow", "", |_| async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok(json!(1))
        });
        let host = TimeLimit::new(slow);
        let call = Request::call("s:slow", RawValue::from_string("{}".to_owned()).unwrap());
        let run = RunContext::local();
        let limited = run.for_request();
        limited.set_time_limit(Duration::from_secs(2));
        let started = Instant::now();
        let failure = host.handle(&call, &limited).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert!(failure.message.contains("2s"), "{failure}");
        assert_eq!(started.elapsed(), Duration::from_secs(2));
        assert!(host.handle(&call, &run.for_request()).await.is_ok());
    }
}
