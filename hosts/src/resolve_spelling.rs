//! The layer that accepts ids as identifiers: `tools.s.echo_tool()` for the tool `echo-tool`.

use pml_gateway::Gateway;
use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult};

/// Gives a request for a tool the id that the tool has. It is above every layer that decides by ids:
/// approvals, policies, journals and audits see one name of a tool.
pub struct ResolveSpelling<H> {
    gateway: Gateway,
    inner: H,
}

impl<H> ResolveSpelling<H> {
    /// A layer above `inner`.
    pub fn new(gateway: Gateway, inner: H) -> Self {
        Self { gateway, inner }
    }

    async fn respelled(&self, request: &Request) -> Option<Request> {
        match request {
            Request::Call {
                tool,
                version,
                args,
            } => Some(Request::Call {
                tool: self.gateway.spelled(tool).await?,
                version: version.clone(),
                args: args.clone(),
            }),
            Request::Describe { tool } => Some(Request::Describe {
                tool: self.gateway.spelled(tool).await?,
            }),
            _ => None,
        }
    }
}

impl<H: ToolHost> ToolHost for ResolveSpelling<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        if !matches!(request, Request::Call { .. } | Request::Describe { .. }) {
            return self.inner.handle(request, run);
        }
        Box::pin(async move {
            match self.respelled(request).await {
                Some(respelled) => self.inner.handle(&respelled, run).await,
                None => self.inner.handle(request, run).await,
            }
        })
    }
}
