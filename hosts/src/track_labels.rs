//! The layer that follows what a run reads, and refuses calls whose tool must not get it.

use pml_gateway::{Gateway, Tool};
use pml_policy::labels::{Flow, Label, LabelMode};
use pml_protocol::{
    Crossing, Failure, FailureKind, HostFuture, Request, ResourceRequest, RunContext, ToolHost,
    ToolResult, to_result,
};

use crate::gateway_host::{failure, is_of_server, server_of};

/// What answers add to what a run has read, by `pml.labels` and what servers say about their tools.
#[derive(Clone)]
pub struct AnswerLabels {
    gateway: Gateway,
}

impl AnswerLabels {
    pub fn new(gateway: Gateway) -> Self {
        Self { gateway }
    }

    pub fn mode(&self) -> LabelMode {
        self.gateway.label_rules().mode()
    }

    /// Notes the answer to a request that was not sent: a recording or a person gave it.
    pub async fn answered_without_sending(
        &self,
        request: &Request,
        result: &ToolResult,
        run: &RunContext,
    ) {
        let tool = match (self.mode(), request) {
            (LabelMode::Off, _) => return,
            // Where nothing is refused, no server is started for it.
            (LabelMode::Observe, Request::Call { tool: id, .. }) => {
                let mut known = self.gateway.tools().into_iter();
                known.find(|tool| tool.id.as_str() == id)
            }
            (LabelMode::Enforce, Request::Call { tool: id, .. }) => {
                self.gateway.describe_for_call(id).await.ok()
            }
            _ => None,
        };
        self.received(request, tool.as_deref(), result, run);
    }

    /// Tells the guards of a call that was answered before the run was interrupted.
    pub fn remember(&self, request: &Request, result: &ToolResult, run: &RunContext) {
        if let (Request::Call { tool, args, .. }, Ok(value)) = (request, result)
            && let (Ok(args), Ok(mut value)) = (
                serde_json::from_str(args.get()),
                serde_json::from_str(value.get()),
            )
        {
            self.gateway.answered_before(tool, &args, &mut value, run);
        }
    }

    /// Notes the answer to a request before the script gets it. An error of a server is data of it.
    fn received(
        &self,
        request: &Request,
        tool: Option<&Tool>,
        result: &ToolResult,
        run: &RunContext,
    ) {
        if let Err(failure) = result
            && !is_of_server(failure.kind)
        {
            return;
        }
        let (source, label) = match (request, tool) {
            (Request::Call { .. }, Some(tool)) => {
                (tool.id.to_string(), self.gateway.source_label(tool))
            }
            (Request::Call { tool: id, .. }, None) => {
                (id.clone(), self.gateway.label_rules().source_of_id(id))
            }
            (Request::Resource { server, request }, _) => {
                let id = offer_id(server, request);
                let label = self.gateway.label_rules().source_of_id(&id);
                (id, label)
            }
            (Request::Describe { tool }, _) => self.definitions([server_of(tool)]),
            (Request::Search { .. }, _) => self.definitions(self.gateway.servers()),
            // Stored values have the label of the run that stored them.
            _ => return,
        };
        run.received(&Flow::of(&source, &label));
    }

    fn definitions<'a>(&self, servers: impl IntoIterator<Item = &'a str>) -> (String, Label) {
        let rules = self.gateway.label_rules();
        if !rules.has_definitions() {
            return (String::new(), Label::CLEAN);
        }
        let mut named = String::new();
        let label = servers.into_iter().fold(Label::CLEAN, |label, server| {
            let next = rules.definitions(server);
            if named.is_empty() && !next.is_clean() {
                named = format!("{server}:definitions");
            }
            label.join(&next)
        });
        (named, label)
    }
}

/// The id that rules know the resources or the prompts of a server by.
fn offer_id(server: &str, request: &ResourceRequest) -> String {
    let kind = match request {
        ResourceRequest::ListResources | ResourceRequest::ReadResource { .. } => "resources",
        ResourceRequest::ListPrompts | ResourceRequest::GetPrompt { .. } => "prompts",
    };
    format!("{server}:{kind}")
}

/// Follows what a run reads. With `enforce`, a call whose tool does not accept it is refused before
/// anybody is asked about it.
///
/// A call is checked against what the run had read when it made the call: its arguments cannot depend on
/// an answer that came later, however long the call waits for an approval or a permit. What an answer
/// adds is noted before the script gets the answer.
pub struct TrackLabels<H> {
    inner: H,
    labels: AnswerLabels,
}

impl<H> TrackLabels<H> {
    pub fn new(gateway: Gateway, inner: H) -> Self {
        Self {
            inner,
            labels: AnswerLabels::new(gateway),
        }
    }

    fn check(&self, id: &str, tool: Option<&Tool>, run: &RunContext) -> Result<(), Failure> {
        if run.seen().is_clean() {
            return Ok(());
        }
        let gateway = &self.labels.gateway;
        let sink = match tool {
            Some(tool) => gateway.sink(tool),
            None => gateway.label_rules().sink_of_id(id),
        };
        let Err(refused) = sink.accepts(id, run.seen()) else {
            return Ok(());
        };
        let is_enforced = self.labels.mode() == LabelMode::Enforce;
        tracing::warn!(
            run = %run.id(), path = %refused.path, refused = is_enforced,
            "a call of a run that has read what the tool does not accept"
        );
        run.flow().crossed(Crossing {
            path: refused.path,
            refused: is_enforced,
        });
        match is_enforced {
            true => Err(Failure::new(FailureKind::Denied, refused.reason)),
            false => Ok(()),
        }
    }
}

impl<H: ToolHost> TrackLabels<H> {
    /// A request that the script has not made, and may not make. Its answer reaches the script through a call
    /// of its own, so it adds nothing here. With `enforce`, one that would raise the label is dropped: others
    /// may be made of its answer, which no label follows.
    async fn speculative(&self, request: &Request, run: &RunContext) -> ToolResult {
        if let (LabelMode::Enforce, Request::Call { tool: id, .. }) = (self.labels.mode(), request)
        {
            let gateway = &self.labels.gateway;
            let known = gateway.describe_for_call(id).await.map_err(failure)?;
            let (read, source) = (run.seen().label(), gateway.source_label(&known));
            if !read.covers(&source) || gateway.sink(&known).accepts(id, run.seen()).is_err() {
                let message =
                    "a call that would raise the label of its run is not made ahead of time";
                return Err(Failure::new(FailureKind::Denied, message));
            }
        }
        self.inner.handle(request, run).await
    }

    async fn tracked(&self, request: &Request, run: &RunContext) -> ToolResult {
        let mut tool = None;
        match request {
            Request::Call { tool: id, .. } => {
                let known = self.labels.gateway.describe_for_call(id).await;
                let known = tool.insert(known.map_err(failure)?);
                self.check(id, Some(known), run)?;
            }
            Request::Resource { server, request } => {
                self.check(&offer_id(server, request), None, run)?;
            }
            _ => {}
        }
        if run.progress_receiver().is_some() {
            // The script gets what the server reports while the call runs, and after it the rest.
            let nothing = to_result(&());
            self.labels
                .received(request, tool.as_deref(), &nothing, run);
        }
        let result = self.inner.handle(request, run).await;
        self.labels.received(request, tool.as_deref(), &result, run);
        result
    }
}

impl<H: ToolHost> ToolHost for TrackLabels<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match self.labels.mode() {
            LabelMode::Off => self.inner.handle(request, run),
            _ if run.is_speculative() => Box::pin(self.speculative(request, run)),
            LabelMode::Observe | LabelMode::Enforce => Box::pin(self.tracked(request, run)),
        }
    }
}
