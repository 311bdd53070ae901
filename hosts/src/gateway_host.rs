//! The base host that reaches the servers. It is private: only [`crate::stack`] makes one, always
//! below [`crate::approve::Approve`].

use std::sync::Arc;

use pml_gateway::{
    CallArguments, CallError, CallErrorKind, CallOptions, ChildPipelines, Gateway, Progress,
    ProgressListener, RunScope, Tool,
};
use pml_protocol::{
    CallProgress, EffectClass, Failure, FailureKind, GuardVerdict, Hint, HostFuture, Request,
    ResourceRequest, RunContext, ToolHost, ToolResult, to_result,
};
use pml_scrub::Origin;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::function_runs::FunctionRuns;
use crate::intents::Intents;
use crate::journal::RunJournal;
use crate::run_placeholders::RunPlaceholders;
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
///
/// Placeholders are restored here and nowhere above, right before a call is sent: its arguments are
/// checked as they are written, and every other layer sees placeholders.
pub struct GatewayHost {
    gateway: Gateway,
    scope: RunScope,
    mode: CallMode,
    placeholders: Option<Arc<RunPlaceholders>>,
    intents: Intents,
    functions: Option<FunctionRuns>,
}

impl GatewayHost {
    /// Without placeholders, arguments are sent as they are. Without a journal, no intent is written.
    pub fn new(
        gateway: Gateway,
        scope: RunScope,
        mode: CallMode,
        placeholders: Option<Arc<RunPlaceholders>>,
        journal: Option<Arc<RunJournal>>,
    ) -> Self {
        Self {
            gateway,
            scope,
            mode,
            placeholders,
            intents: Intents::new(journal),
            functions: None,
        }
    }

    /// The same host, which can call functions.
    pub fn with_functions(self, functions: FunctionRuns) -> Self {
        let functions = Some(functions);
        Self { functions, ..self }
    }

    async fn call(
        &self,
        request: &Request,
        tool: &str,
        args: &RawValue,
        run: &RunContext,
    ) -> ToolResult {
        let args = self.arguments(tool, args).await?;
        let args = match self.gateway.is_keyed(tool) {
            true => args.with_idempotency_key(self.intents.idempotency_key(request, run)),
            false => args,
        };
        let version = match request {
            Request::Call { version, .. } => version.as_deref(),
            _ => None,
        };
        match self.mode {
            CallMode::Send => {
                let intent = self.intents.of(request, tool, run);
                let progress = self.progress(tool, run);
                let functions = self.functions.as_ref();
                let functions = functions.map(|functions| functions as &dyn ChildPipelines);
                let options = CallOptions {
                    before_send: Some(&intent),
                    is_speculative: run.is_speculative(),
                    version,
                    request: Some(run),
                    progress: progress.as_ref(),
                    children: functions,
                };
                let answer = self
                    .gateway
                    .call_with(&self.scope(run), tool, args, options)
                    .await;
                to_result(&answer.map_err(failure)?.value)
            }
            CallMode::CheckOnly => {
                let tool = self
                    .gateway
                    .check_call(&self.scope(run), tool, args, version)
                    .await;
                to_result(&tool.map_err(failure)?.output_schema)
            }
        }
    }

    /// Passes progress to who asked for it. Its message is data that the run received.
    fn progress(&self, tool: &str, run: &RunContext) -> Option<ProgressListener> {
        let receiver = run.progress_receiver()?.clone();
        let origin = Origin::server(server_of(tool));
        let placeholders = self.placeholders.clone();
        Some(Arc::new(move |progress: Progress| {
            if let (Some(run), Some(message)) = (&placeholders, &progress.message) {
                run.received(&origin, message);
            }
            receiver.report(CallProgress {
                done: progress.done,
                total: progress.total,
                message: progress.message,
            });
        }))
    }

    /// The arguments as the script wrote them, and with the values of placeholders.
    async fn arguments(&self, tool: &str, args: &RawValue) -> Result<CallArguments, Failure> {
        let written: Value = arguments::parse_off_loop(args).await?;
        let restored = match &self.placeholders {
            Some(run) if run.may_hold_placeholders(args.get()) => {
                run.restored(tool, &written).await?
            }
            _ => None,
        };
        Ok(match restored {
            Some(restored) => CallArguments::with_restored(written, restored),
            None => written.into(),
        })
    }

    /// Notes what the run received from a server. Errors of the server are data of it, too; other
    /// errors are words of pml.
    async fn received(&self, server: &str, result: ToolResult) -> ToolResult {
        let Some(run) = &self.placeholders else {
            return result;
        };
        match result {
            Ok(value) => {
                run.received(&Origin::server(server), value.get());
                Ok(value)
            }
            Err(failure) => {
                if is_of_server(failure.kind) {
                    run.received(&Origin::server(server), &failure.message);
                }
                Err(run.hidden(failure).await)
            }
        }
    }

    async fn describe(&self, tool: &str) -> ToolResult {
        let tool = self.gateway.describe(tool).await.map_err(failure)?;
        to_result(&Description {
            server: tool.id.server(),
            name: tool.id.tool(),
            effect: self.gateway.effect(&tool).class,
            tool: &tool,
        })
    }

    /// The run with the request, for guards, and with what it had read when it made it, for policies.
    fn scope(&self, run: &RunContext) -> RunScope {
        let scope = self.scope.for_request(run);
        match run.seen().is_clean() {
            true => scope,
            false => {
                let session = run.flow().session().label();
                scope.with_labels(run.seen().label(), session)
            }
        }
    }

    /// Puts what guards warned of and repaired into the log of the run.
    fn warn(&self, tool: &str, run: &RunContext) {
        for note in run.notes().guards() {
            if note.verdict != GuardVerdict::Block {
                run.made_calls().warn(format!("`{tool}`: {note}"));
            }
        }
    }

    async fn resource(
        &self,
        server: &str,
        request: &ResourceRequest,
        run: &RunContext,
    ) -> ToolResult {
        // `DryRun` forwards none of them. If it did, they would not be sent either.
        if self.mode == CallMode::CheckOnly {
            let message = "a dry run sends no request for resources or prompts";
            return Err(Failure::new(FailureKind::Denied, message));
        }
        if let Some(placeholders) = &self.placeholders {
            match request {
                ResourceRequest::ListResources | ResourceRequest::ListPrompts => {}
                ResourceRequest::ReadResource { uri } => placeholders.refuse_in(uri)?,
                ResourceRequest::GetPrompt { name, args } => {
                    placeholders.refuse_in(name)?;
                    placeholders.refuse_in(args.get())?;
                }
            }
        }
        let (gateway, scope) = (&self.gateway, &self.scope(run));
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
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        Box::pin(async move {
            match request {
                Request::Call { tool, args, .. } => {
                    let _memory = call_memory::reserve(run.fair_share(), args.get()).await?;
                    let result = self.call(request, tool, args, run).await;
                    self.warn(tool, run);
                    self.received(server_of(tool), result).await
                }
                Request::Describe { tool } => {
                    self.received(server_of(tool), self.describe(tool).await)
                        .await
                }
                Request::Resource { server, request } => {
                    let result = self.resource(server, request, run).await;
                    self.warn(server, run);
                    self.received(server, result).await
                }
                other => Err(unsupported(other)),
            }
        })
    }
}

/// The server of a tool id: the part before the first colon.
pub fn server_of(tool: &str) -> &str {
    tool.split_once(':').map_or(tool, |(server, _)| server)
}

/// Whether the message of a failure can have words of a server in it.
pub fn is_of_server(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Output
        | FailureKind::Protocol
        | FailureKind::Timeout
        | FailureKind::Tool
        | FailureKind::Unavailable => true,
        FailureKind::Arguments
        | FailureKind::Calls
        | FailureKind::Cancelled
        | FailureKind::Denied
        | FailureKind::Internal
        | FailureKind::Test
        | FailureKind::Unknown
        | FailureKind::Unmocked
        | FailureKind::Unrecorded
        | FailureKind::Version => false,
    }
}

/// What `describeTool` returns.
#[derive(Serialize)]
struct Description<'a> {
    server: &'a str,
    name: &'a str,
    effect: EffectClass,
    #[serde(flatten)]
    tool: &'a Tool,
}

/// A failed call of the gateway, as a script sees it.
pub fn failure(error: CallError) -> Failure {
    let hint = error.is_blocked_by_guard().then_some(Hint::CorrectTheCall);
    Failure {
        retryable: error.retryable,
        retry_after_ms: error.retry_after_ms,
        hint,
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
        CallErrorKind::Internal => FailureKind::Internal,
        CallErrorKind::Version => FailureKind::Version,
    }
}
