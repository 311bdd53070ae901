//! The layer that asks a person before certain requests are sent.

use std::sync::{Arc, PoisonError};

use pml_gateway::Gateway;
use pml_gateway::policy::approval::Approval;
use pml_protocol::{
    Failure, HostFuture, Request, ResourceRequest, RunContext, Target, ToolHost, ToolResult,
};
use pml_scrub::{Scrubbed, SharedPlaceholders};

use crate::approval::{ApprovalGate, Approver, Decision, SHOWN_CHARS, refused};
use crate::gateway_host::failure;

/// Forwards a request once the operator's `pml.policy.ask` does not require approval, or a person
/// has given it. The run's clock is paused while the person is asked.
pub struct Approve<H> {
    inner: H,
    gateway: Gateway,
    person: Option<Person>,
}

/// The person who approves the calls of one run, and the placeholders that questions are scrubbed
/// with.
pub struct Person {
    gate: Arc<ApprovalGate>,
    placeholders: SharedPlaceholders,
}

impl Person {
    /// Asks through `approver`; questions show placeholders instead of private values.
    pub fn new(
        approver: Arc<dyn Approver>,
        gateway: &Gateway,
        placeholders: SharedPlaceholders,
    ) -> Self {
        Self {
            gate: ApprovalGate::new(approver, gateway.approval_time()),
            placeholders,
        }
    }

    async fn ask(&self, what: &str, details: &str, run: &RunContext) -> Result<(), Failure> {
        let (what, details) = self.scrub(what, details);
        self.gate.admit(&what, details, run.clock()).await
    }

    fn scrub(&self, what: &str, details: &str) -> (Scrubbed<String>, Scrubbed<String>) {
        let mut placeholders = self
            .placeholders
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let what = placeholders
            .scrub_text(what, None)
            .unwrap_or_else(|refusal| (&refusal).into());
        let details = placeholders
            .scrub_beginning(details, None, SHOWN_CHARS)
            .unwrap_or_else(|refusal| (&refusal).into());
        (what, details)
    }
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
        what: &str,
        details: &str,
        run: &RunContext,
    ) -> Result<(), Failure> {
        let person = self.person.as_ref().filter(|person| person.gate.can_ask());
        match (needed, person) {
            (Approval::NotNeeded, _) => Ok(()),
            (_, Some(person)) => person.ask(what, details, run).await,
            (Approval::IfPossible, None) => Ok(()),
            (Approval::Needed, None) => Err(refused(what, Decision::CannotAsk)),
        }
    }

    async fn admit_request(&self, request: &Request, run: &RunContext) -> Result<(), Failure> {
        match request.target() {
            Target::Tool { tool, args } => {
                // An unknown tool is not called: it might be one that needs approval.
                let known = self.gateway.describe(tool).await.map_err(failure)?;
                let needed = self.gateway.approval(&known);
                self.admit(needed, tool, args.get(), run).await
            }
            Target::Resources { server, request } => {
                let (what, details) = match request {
                    ResourceRequest::ListResources => ("resources", "the list"),
                    ResourceRequest::ReadResource { uri } => ("resources", uri.as_str()),
                    ResourceRequest::ListPrompts => ("prompts", "the list"),
                    ResourceRequest::GetPrompt { name, .. } => ("prompts", name.as_str()),
                };
                let id = format!("{server}:{what}");
                let needed = self.gateway.approval_of_resources(&id);
                self.admit(needed, &id, details, run).await
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
