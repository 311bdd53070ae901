//! The callback directly before a call is sent.

use futures::future::BoxFuture;
use pml_protocol::RunContext;

use super::child::ChildPipelines;
use super::error::CallError;
use super::progress::ProgressListener;
use crate::effects::Effect;

/// Does something that has to be done before a call can have its effect, such as storing the intent of
/// the call.
pub trait BeforeSend: Send + Sync {
    /// Runs once per call, directly before its request is handed to the transport of the server.
    ///
    /// At that moment the call has passed every check of the gateway: policy, budget, tool, arguments,
    /// circuit breaker. It has waited for its concurrency and rate limits, and its server runs. It is
    /// not called if one of these fails, for a result from the cache, or for
    /// [`Gateway::check_call`](crate::Gateway::check_call).
    ///
    /// Further attempts of a call do not repeat it. An attempt that ends earlier, because its server
    /// does not start, leaves it to the next attempt. So a call that returns without this having run was
    /// not sent, and one for which it has run may have been sent, also if the call fails then.
    ///
    /// It holds the call's place in the concurrency limits and counts as time of the call in
    /// `policy.budget.time`, not towards the time limit of the call.
    ///
    /// # Errors
    /// The call fails with this error. Nothing is sent, nothing is retried, and the circuit breaker
    /// does not count it.
    ///
    /// # Cancel safety
    /// The future is dropped if the caller drops the call or its run ends. Nothing is sent then.
    fn before_send<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<(), CallError>>;
}

/// Options of one call.
#[derive(Clone, Copy, Default)]
pub struct CallOptions<'a> {
    /// Runs directly before the call is sent.
    pub before_send: Option<&'a dyn BeforeSend>,
    /// The script has not made the call yet: it is sent only if it has no effect and its tool is still the
    /// one that was first seen, and the budget of the run is spent when its result is used
    /// ([`RunScope::spend`](crate::RunScope::spend)).
    pub is_speculative: bool,
    /// The version of the tool that the call was written for: `2`, `1.x`, `1.2.0` or `sha256:…`.
    pub version: Option<&'a str>,
    /// The request that the call belongs to: its trace is passed on to the server, and its notes say
    /// what became of the call.
    pub request: Option<&'a RunContext>,
    /// Receives the progress of the call, besides the receiver of its run.
    pub progress: Option<&'a ProgressListener>,
    /// Makes the pipelines of functions that are called; with `None`, they cannot be.
    pub children: Option<&'a dyn ChildPipelines>,
}
