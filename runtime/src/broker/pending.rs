//! The requests of a run that wait for answers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use pml_protocol::{Failure, Hint, HostFuture, Request, RunContext, ToolHost, ToolResult};

/// An answer on its way back to the worker.
pub struct Answered {
    /// The id that the worker gave the request.
    pub id: u32,
    pub result: ToolResult,
    /// Set for tool calls: the index in the call log, and the time from dispatch to answer.
    pub call: Option<(usize, Duration)>,
    /// The memory that the request occupied.
    pub bytes: usize,
}

/// A request of the worker.
pub struct Ask {
    pub id: u32,
    pub request: Request,
    /// Set for tool calls: the index in the call log.
    pub call: Option<usize>,
    pub bytes: usize,
}

/// Requests in flight. Dropping this cancels them.
pub struct PendingRequests {
    host: Arc<dyn ToolHost>,
    run: RunContext,
    futures: FuturesUnordered<HostFuture<'static, Answered>>,
}

impl PendingRequests {
    pub fn new(host: Arc<dyn ToolHost>, run: RunContext) -> Self {
        Self {
            host,
            run,
            futures: FuturesUnordered::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.futures.len()
    }

    pub fn is_empty(&self) -> bool {
        self.futures.is_empty()
    }

    /// Hands a request to the host.
    pub fn send(&mut self, ask: Ask) {
        let (host, run) = (self.host.clone(), self.run.for_request());
        self.futures.push(Box::pin(async move {
            let mut ask = ask;
            let started = Instant::now();
            let result = match ask.request.sanitize() {
                Ok(()) => handle(&*host, &ask.request, &run).await,
                Err(failure) => Err(failure),
            };
            let time = match (run.dispatched_at(), &result) {
                (Some(dispatched), _) => dispatched.elapsed(),
                // The host does not queue.
                (None, Ok(_)) => started.elapsed(),
                // The host refused it before it was sent.
                (None, Err(_)) => Duration::ZERO,
            };
            ask.answered(result, time)
        }));
    }

    /// Answers a request without handing it to the host.
    pub fn refuse(&mut self, ask: Ask, failure: Failure) {
        let answered = ask.answered(Err(failure), Duration::ZERO);
        self.futures.push(Box::pin(std::future::ready(answered)));
    }

    /// The next answer, in the order in which they come; pending for ever if there is none.
    ///
    /// # Cancel safety
    ///
    /// An answer that is not returned is returned by the next call.
    pub async fn next(&mut self) -> Answered {
        match self.futures.next().await {
            Some(answered) => answered,
            None => std::future::pending().await,
        }
    }
}

/// The host's answer. A panic of the host is a failure of this one request: the run, the other
/// requests and the broker go on. The message of the panic may quote private data, so neither the
/// script nor the log gets it.
async fn handle(host: &dyn ToolHost, request: &Request, run: &RunContext) -> ToolResult {
    // Unwind safe: the request's future is dropped, and state that outlives it is behind locks that
    // recover from poisoning.
    let handled = AssertUnwindSafe(async { host.handle(request, run).await });
    match handled.catch_unwind().await {
        Ok(result) => result,
        Err(_panic) => Err(Failure::internal(
            "pml failed while it handled this request; this is a fault of pml",
        )),
    }
}

impl Ask {
    fn answered(self, result: ToolResult, time: Duration) -> Answered {
        let request = self.request;
        let result = result.map_err(|failure| match failure.hint {
            Some(_) => failure,
            None => {
                let hint = Hint::for_failure(&request, failure.kind);
                failure.with_hint(hint)
            }
        });
        Answered {
            id: self.id,
            result,
            call: self.call.map(|index| (index, time)),
            bytes: self.bytes,
        }
    }
}

/// The tool id as the call log shows it: cut one byte over the limit, so that a cut id is never a
/// valid one.
pub fn logged_id(tool: &str) -> &str {
    &tool[..tool.floor_char_boundary(Request::MAX_ID_BYTES + 1)]
}
