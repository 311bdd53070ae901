//! The base host that reaches the servers. It is private: only [`crate::stack`] makes one, always
//! below [`crate::approve::Approve`].

use pml_gateway::{CallError, CallErrorKind, Gateway, RunScope, Tool};
use pml_protocol::{
    Failure, FailureKind, HostFuture, Request, ResourceRequest, RunContext, ToolHost, ToolResult,
    to_result,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::unsupported::unsupported;
use crate::{arguments, call_memory};

/// What the host does with requests that pass every check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallMode {
    /// Sends them.
    Send,
    /// Sends nothing. The answer to a call is the output schema of the tool, or `null`.
    CheckOnly,
}

/// Sends requests to the gateway. Dropping it cancels the run's calls; the servers stay.
pub struct GatewayHost {
    gateway: Gateway,
    scope: RunScope,
    mode: CallMode,
}

impl GatewayHost {
    pub fn new(gateway: Gateway, scope: RunScope, mode: CallMode) -> Self {
        Self {
            gateway,
            scope,
            mode,
        }
    }

    async fn call(&self, tool: &str, args: Value) -> ToolResult {
        match self.mode {
            CallMode::Send => {
                let answer = self.gateway.call(&self.scope, tool, args).await;
                to_result(&answer.map_err(failure)?.value)
            }
            CallMode::CheckOnly => {
                let tool = self.gateway.check_call(&self.scope, tool, args).await;
                to_result(&tool.map_err(failure)?.output_schema)
            }
        }
    }

    async fn describe(&self, tool: &str) -> ToolResult {
        let tool = self.gateway.describe(tool).await.map_err(failure)?;
        to_result(&Description {
            server: tool.id.server(),
            name: tool.id.tool(),
            tool: &tool,
        })
    }

    async fn resource(&self, server: &str, request: &ResourceRequest) -> ToolResult {
        // `DryRun` forwards none of them. If it did, they would not be sent either.
        if self.mode == CallMode::CheckOnly {
            let message = "a dry run sends no request for resources or prompts";
            return Err(Failure::new(FailureKind::Denied, message));
        }
        let (gateway, scope) = (&self.gateway, &self.scope);
        let answer = match request {
            ResourceRequest::ListResources => gateway.list_resources(scope, server).await,
            ResourceRequest::ReadResource { uri } => {
                gateway.read_resource(scope, server, uri).await
            }
            ResourceRequest::ListPrompts => gateway.list_prompts(scope, server).await,
            ResourceRequest::GetPrompt { name, args } => {
                let args: Map<String, Value> = arguments::parse_off_loop(args).await?;
                gateway.get_prompt(scope, server, name, args).await
            }
        };
        to_result(&answer.map_err(failure)?)
    }
}

impl ToolHost for GatewayHost {
    fn handle<'a>(&'a self, request: &'a Request, _: &'a RunContext) -> HostFuture<'a, ToolResult> {
        Box::pin(async move {
            match request {
                Request::Call { tool, args } => {
                    let _memory = call_memory::reserve(args.get()).await?;
                    self.call(tool, arguments::parse_off_loop(args).await?)
                        .await
                }
                Request::Describe { tool } => self.describe(tool).await,
                Request::Resource { server, request } => self.resource(server, request).await,
                other => Err(unsupported(other)),
            }
        })
    }
}

/// What `describeTool` returns.
#[derive(Serialize)]
struct Description<'a> {
    server: &'a str,
    name: &'a str,
    #[serde(flatten)]
    tool: &'a Tool,
}

/// A failed call of the gateway, as a script sees it.
pub fn failure(error: CallError) -> Failure {
    Failure {
        retryable: error.retryable,
        retry_after_ms: error.retry_after_ms,
        ..Failure::new(kind_of(error.kind), error.message)
    }
}

fn kind_of(kind: CallErrorKind) -> FailureKind {
    match kind {
        CallErrorKind::Unknown => FailureKind::Unknown,
        CallErrorKind::Arguments => FailureKind::Arguments,
        CallErrorKind::Denied => FailureKind::Denied,
        CallErrorKind::Calls => FailureKind::Calls,
        CallErrorKind::Unavailable => FailureKind::Unavailable,
        CallErrorKind::Timeout => FailureKind::Timeout,
        CallErrorKind::Cancelled => FailureKind::Cancelled,
        CallErrorKind::Tool => FailureKind::Tool,
        CallErrorKind::Output => FailureKind::Output,
        CallErrorKind::Protocol => FailureKind::Protocol,
    }
}
