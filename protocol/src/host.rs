//! Who answers the requests of a script.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::failure::Failure;
use crate::request::Request;
use crate::run_context::RunContext;

/// The answer to a request: JSON text, or why there is none.
pub type ToolResult = Result<Box<RawValue>, Failure>;

/// A future of a [`ToolHost`].
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers the requests of a run. This is tower's `Service` with the request by reference: a base
/// host answers, a layer wraps another host.
///
/// A layer matches the requests it is about and forwards all others, so that a layer that does not
/// know a request cannot swallow it:
///
/// ```
/// use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult};
///
/// struct CountCalls<H> {
///     inner: H,
///     calls: std::sync::atomic::AtomicUsize,
/// }
///
/// impl<H: ToolHost> ToolHost for CountCalls<H> {
///     fn handle<'a>(
///         &'a self,
///         request: &'a Request,
///         run: &'a RunContext,
///     ) -> HostFuture<'a, ToolResult> {
///         if let Request::Call { .. } = request {
///             self.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
///         }
///         self.inner.handle(request, run)
///     }
/// }
/// ```
///
/// # Cancel safety
///
/// The run loop drops the futures of requests that are open when a run ends. Dropping a future
/// cancels its request.
///
/// # Bounds
///
/// The run loop bounds the number and the size of requests. How many calls run at once, how long
/// each may take and whether a person is asked are layers of their own.
pub trait ToolHost: Send + Sync {
    /// Answers one request.
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult>;
}

impl<H: ToolHost + ?Sized> ToolHost for Arc<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        (**self).handle(request, run)
    }
}

/// A value of ours as the answer to a request.
///
/// # Errors
///
/// [`crate::FailureKind::Internal`] if the value has no JSON form, as a map with keys that are not
/// text.
pub fn to_result(value: &(impl Serialize + ?Sized)) -> ToolResult {
    to_raw_value(value).map_err(Failure::internal)
}

/// A tool as a search finds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolHit {
    /// `server:tool`
    pub id: String,
    /// The server's name in the configuration.
    pub server: String,
    /// The tool's name at its server.
    pub name: String,
    /// The server's description of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Box<RawValue>>,
    /// From 0 to 1; 1 is certain.
    pub score: f64,
}
