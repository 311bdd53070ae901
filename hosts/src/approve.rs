//! The layer that asks a person before certain requests are sent.

mod person;
mod task;

use std::sync::Arc;

use pml_gateway::policy::approval::Approval;
use pml_gateway::{Gateway, RunLabels, Tool};
use pml_protocol::{
    Failure, FailureKind, HostFuture, Request, ResourceRequest, RunContext, Target, ToolHost,
    ToolResult, to_result,
};
use pml_store::StoredApproval;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::approval::{
    ApprovalGate, Decision, GatedCall, refused, refused_changing, refused_unasked,
};
use crate::arguments;
use crate::gateway_host::failure;
use crate::stored_approvals::{BoundCall, Standing, StoredApprovals, standing};
use person::{Asked, Details};
pub use person::{IfUnasked, Person};
use task::AskedTask;

/// How often a tool may change while a person is asked about its call.
const MAX_DEFINITIONS: usize = 4;

/// Forwards a request once the operator's `pml.policy.ask` does not require approval, or a person
/// has given it. The run's clock is paused while the person is asked. The request that is forwarded is
/// the one that was shown: requests do not change on their way.
pub struct Approve<H> {
    inner: H,
    gateway: Gateway,
    person: Option<Person>,
    stored: Option<StoredApprovals>,
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

/// What happens to a call that nobody can be asked about now.
fn unasked(person: Option<&Person>, needed: Approval, tool: &str) -> Result<(), Failure> {
    match person {
        _ if needed == Approval::Needed => Err(refused(tool, Decision::CannotAsk)),
        Some(person) if person.if_unasked == IfUnasked::Refuse => Err(refused_unasked(tool)),
        _ => Ok(()),
    }
}

/// The server of `server:tool`.
fn server_of(id: &str) -> &str {
    id.split_once(':').map_or(id, |(server, _)| server)
}

/// A question that outlives this process: a row of the store, which the person at the client answers,
/// or somebody else, now or after a restart.
struct DurableQuestion<'a> {
    person: &'a Person,
    stored: &'a StoredApprovals,
    request: &'a Request,
    run: &'a RunContext,
    call: BoundCall<'a>,
}

impl DurableQuestion<'_> {
    async fn admit(&self, needed: Approval, asked: Asked<'_>) -> Result<(), Failure> {
        let Self {
            person,
            stored,
            request,
            run,
            call,
        } = *self;
        let gate = person.gate_of(&asked).clone();
        let is_live = person.can_ask(&asked, run);
        let must_ask = needed == Approval::Needed || stored.has_approvers(asked.id);
        if !is_live && !must_ask && stored.find(call, run).await?.is_none() {
            return unasked(Some(person), needed, asked.id);
        }
        let id = asked.id;
        let shown = GatedCall {
            // A changed tool is another one: what was allowed or refused before is not for it.
            id: stored.group(call),
            ..person.gated(asked).await?
        };
        if !shown.hands_over_values && stored.allows_all(call, run).await? {
            return Ok(());
        }
        let approval = stored.ask(call, &shown, request, run).await?;
        let standing = match standing(&approval) {
            Standing::Open => {
                let live = is_live.then_some((gate, shown));
                self.wait(&approval, live).await?
            }
            answered => answered,
        };
        match standing {
            Standing::Allowed => Ok(()),
            Standing::Refused(decision) => Err(refused(id, decision)),
            // An answer is never that.
            Standing::Open => Err(refused(id, Decision::NoAnswer)),
        }
    }

    /// Waits for an answer, of the person at the client or of somebody else. If nobody answers, the run
    /// is suspended.
    async fn wait(
        &self,
        approval: &StoredApproval,
        live: Option<(Arc<ApprovalGate>, GatedCall)>,
    ) -> Result<Standing, Failure> {
        let (stored, run) = (self.stored, self.run);
        tokio::select! {
            answered = stored.answered(approval, run) => answered,
            decided = self.ask_live(approval, live) => decided,
        }
    }

    async fn ask_live(
        &self,
        approval: &StoredApproval,
        live: Option<(Arc<ApprovalGate>, GatedCall)>,
    ) -> Result<Standing, Failure> {
        let (stored, run) = (self.stored, self.run);
        if let Some((gate, call)) = live {
            let decision = gate.decide(call, run.clock()).await;
            match stored.record(approval, decision, run).await? {
                Standing::Open => {}
                answered => return Ok(answered),
            }
        }
        // The last answer may be a moment old.
        match stored.look(approval, run).await? {
            Standing::Open => {}
            answered => return Ok(answered),
        }
        let _pause = run.clock().pause();
        let _suspended = run.control().suspend(stored.waiting(approval));
        std::future::pending().await
    }
}

impl<H> Approve<H> {
    pub(crate) fn new(
        gateway: Gateway,
        person: Option<Person>,
        stored: Option<StoredApprovals>,
        inner: H,
    ) -> Self {
        Self {
            inner,
            gateway,
            person,
            stored,
        }
    }

    async fn admit(
        &self,
        needed: Approval,
        asked: Asked<'_>,
        request: &Request,
        run: &RunContext,
    ) -> Result<(), Failure> {
        if needed == Approval::NotNeeded {
            return Ok(());
        }
        if run.is_speculative() {
            let message = "a call that needs approval is not made ahead of time";
            return Err(Failure::new(FailureKind::Denied, message));
        }
        match (&self.person, &self.stored, run.request_key()) {
            (Some(person), Some(stored), Some(key)) => {
                let durable = DurableQuestion {
                    person,
                    stored,
                    request,
                    run,
                    call: BoundCall {
                        tool: asked.id,
                        key,
                        policy: self.gateway.policy_digest(server_of(asked.id)),
                        definition: asked.definition,
                    },
                };
                run.notes().mark_asked();
                durable.admit(needed, asked).await
            }
            (Some(person), ..) if person.can_ask(&asked, run) => {
                run.notes().mark_asked();
                person.ask(asked, run).await
            }
            (person, ..) => unasked(person.as_ref(), needed, asked.id),
        }
    }

    /// Whether a call needs approval. Its arguments are parsed only if the policy file looks at them.
    async fn approval(
        &self,
        tool: &Tool,
        args: &RawValue,
        run: &RunContext,
    ) -> Result<Approval, Failure> {
        let args: Option<Map<String, Value>> = match self.gateway.decides_by_arguments(tool) {
            true => Some(arguments::parse_off_loop(args).await?),
            false => None,
        };
        let (read, session) = (run.seen().label(), run.flow().session().label());
        let labels = RunLabels {
            run: &read,
            session: &session,
        };
        let needed = self.gateway.approval(tool, args.as_ref(), labels);
        needed.map_err(failure)
    }

    async fn admit_request(&self, request: &Request, run: &RunContext) -> Result<(), Failure> {
        match request.target() {
            Target::Tool { tool, args } => {
                // An unknown tool is not called: it might be one that needs approval.
                let mut known = self
                    .gateway
                    .describe_for_call(tool)
                    .await
                    .map_err(failure)?;
                for _ in 0..MAX_DEFINITIONS {
                    let needed = self.approval(&known, args, run).await?;
                    let asked = Asked {
                        id: tool,
                        definition: &known.fingerprint,
                        details: Details::Arguments(args),
                        claims: claims(&known),
                        task: None,
                    };
                    self.admit(needed, asked, request, run).await?;
                    if needed == Approval::NotNeeded {
                        return Ok(());
                    }
                    // The server may have changed the tool while a person thought about it.
                    let now = self
                        .gateway
                        .describe_for_call(tool)
                        .await
                        .map_err(failure)?;
                    if now.fingerprint == known.fingerprint {
                        return Ok(());
                    }
                    known = now;
                }
                Err(refused_changing(tool))
            }
            Target::Resources {
                server,
                request: wanted,
            } => {
                let list = || Details::Resource(json!("the list"));
                let (what, details) = match wanted {
                    ResourceRequest::ListResources => ("resources", list()),
                    ResourceRequest::ReadResource { uri } => {
                        ("resources", Details::Resource(json!({ "uri": uri })))
                    }
                    ResourceRequest::ListPrompts => ("prompts", list()),
                    ResourceRequest::GetPrompt { name, args } => {
                        ("prompts", Details::Prompt { name, args })
                    }
                };
                let id = format!("{server}:{what}");
                let needed = self.gateway.approval_of_resources(&id);
                let asked = Asked {
                    id: &id,
                    definition: "",
                    details,
                    claims: Vec::new(),
                    task: None,
                };
                self.admit(needed, asked, request, run).await
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
            if let Request::ApproveTask {
                task,
                tool,
                question,
            } = request
            {
                let asked = AskedTask {
                    task,
                    tool: tool.as_deref(),
                    question: question.as_deref(),
                };
                self.admit_task(asked, request, run).await?;
                return to_result(&());
            }
            self.admit_request(request, run).await?;
            self.inner.handle(request, run).await
        })
    }
}
