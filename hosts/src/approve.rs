//! The layer that asks a person before certain requests are sent.

use std::sync::Arc;

use pml_gateway::policy::approval::Approval;
use pml_gateway::{Gateway, Tool};
use pml_protocol::{
    Failure, HostFuture, Request, ResourceRequest, RunContext, Target, ToolHost, ToolResult,
};
use pml_scrub::ForeignValue;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::approval::{ApprovalGate, Approver, Decision, GatedCall, refused, refused_unasked};
use crate::gateway_host::failure;
use crate::run_placeholders::RunPlaceholders;
use crate::shown_call::{shown_call, shown_tool};

/// Forwards a request once the operator's `pml.policy.ask` does not require approval, or a person
/// has given it. The run's clock is paused while the person is asked. The request that is forwarded is
/// the one that was shown: requests do not change on their way.
pub struct Approve<H> {
    inner: H,
    gateway: Gateway,
    person: Option<Person>,
}

/// The person who approves the calls of one run, and the placeholders that questions are scrubbed
/// with.
pub struct Person {
    gate: Arc<ApprovalGate>,
    placeholders: Arc<RunPlaceholders>,
    if_unasked: IfUnasked,
}

/// What happens to a call that its server marks as destructive, if the client cannot ask and the
/// operator has no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfUnasked {
    /// It is sent: the client was started by the person whose machine it is on.
    Send,
    /// It is refused: the client may be anything that reaches an address.
    Refuse,
}

impl Person {
    /// Asks through `approver`; questions show placeholders instead of private values.
    pub fn new(
        approver: Arc<dyn Approver>,
        gateway: &Gateway,
        placeholders: Arc<RunPlaceholders>,
        if_unasked: IfUnasked,
    ) -> Self {
        Self {
            gate: ApprovalGate::new(approver, gateway.approval_time()),
            placeholders,
            if_unasked,
        }
    }

    async fn ask(&self, asked: Asked<'_>, run: &RunContext) -> Result<(), Failure> {
        // A call that will be refused is not asked about.
        let foreign = match asked.args {
            Some(args) => self.placeholders.foreign_values(asked.id, args)?,
            None => Vec::new(),
        };
        let call = self.gated(asked, &foreign);
        self.gate.admit(call, run.clock()).await
    }

    fn gated(&self, asked: Asked<'_>, foreign: &[ForeignValue]) -> GatedCall {
        let mut map = self.placeholders.shared().lock();
        let details = asked.details();
        GatedCall {
            id: asked.id.to_owned(),
            tool: shown_tool(asked.id, &mut map),
            digest: Sha256::digest(details.to_string()).into(),
            arguments: shown_call(details, foreign, &mut map),
            hands_over_values: !foreign.is_empty(),
            claims: asked.claims,
        }
    }
}

/// What a person is asked about.
struct Asked<'a> {
    id: &'a str,
    /// The arguments of a tool.
    args: Option<&'a RawValue>,
    /// What is wanted of resources and prompts.
    resource: Option<Value>,
    claims: Vec<&'static str>,
}

impl Asked<'_> {
    /// The arguments as they are parsed before they are sent.
    fn details(&self) -> Value {
        let parse = |args: &RawValue| {
            let parsed = serde_json::from_str(args.get());
            // Arguments that are not JSON are refused below.
            parsed.unwrap_or_else(|_| Value::from(args.get()))
        };
        let args = self.args.map(parse);
        args.or_else(|| self.resource.clone()).unwrap_or_default()
    }
}

/// The annotations of a tool that matter to the question.
fn claims(tool: &Tool) -> Vec<&'static str> {
    let is = |hint: &str| {
        let hint = tool.annotations.as_ref().and_then(|known| known.get(hint));
        hint.and_then(Value::as_bool) == Some(true)
    };
    let all = [
        ("destructiveHint", "destructive"),
        ("readOnlyHint", "read-only"),
        ("idempotentHint", "idempotent"),
    ];
    let claimed = all.into_iter().filter(|(hint, _)| is(hint));
    claimed.map(|(_, claim)| claim).collect()
}

impl<H> Approve<H> {
    pub(crate) fn new(gateway: Gateway, person: Option<Person>, inner: H) -> Self {
        Self {
            inner,
            gateway,
            person,
        }
    }

    async fn admit(
        &self,
        needed: Approval,
        asked: Asked<'_>,
        run: &RunContext,
    ) -> Result<(), Failure> {
        if needed == Approval::NotNeeded {
            return Ok(());
        }
        match &self.person {
            Some(person) if person.gate.can_ask() => person.ask(asked, run).await,
            _ if needed == Approval::Needed => Err(refused(asked.id, Decision::CannotAsk)),
            Some(person) if person.if_unasked == IfUnasked::Refuse => {
                Err(refused_unasked(asked.id))
            }
            _ => Ok(()),
        }
    }

    async fn admit_request(&self, request: &Request, run: &RunContext) -> Result<(), Failure> {
        match request.target() {
            Target::Tool { tool, args } => {
                // An unknown tool is not called: it might be one that needs approval.
                let known = self.gateway.describe(tool).await.map_err(failure)?;
                let needed = self.gateway.approval(&known);
                let asked = Asked {
                    id: tool,
                    args: Some(args),
                    resource: None,
                    claims: claims(&known),
                };
                self.admit(needed, asked, run).await
            }
            Target::Resources { server, request } => {
                let (what, details) = match request {
                    ResourceRequest::ListResources => ("resources", json!("the list")),
                    ResourceRequest::ReadResource { uri } => ("resources", json!({ "uri": uri })),
                    ResourceRequest::ListPrompts => ("prompts", json!("the list")),
                    ResourceRequest::GetPrompt { name, args } => {
                        ("prompts", json!({ "name": name, "args": args }))
                    }
                };
                let id = format!("{server}:{what}");
                let needed = self.gateway.approval_of_resources(&id);
                let asked = Asked {
                    id: &id,
                    args: None,
                    resource: Some(details),
                    claims: Vec::new(),
                };
                self.admit(needed, asked, run).await
            }
            Target::Local => Ok(()),
        }
    }
}

impl<H: ToolHost> ToolHost for Approve<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        Box::pin(async move {
            self.admit_request(request, run).await?;
            self.inner.handle(request, run).await
        })
    }
}
