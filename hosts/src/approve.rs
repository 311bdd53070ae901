//! The layer that asks a person before certain requests are sent.

mod task;

use std::sync::Arc;

use pml_approvals::ApprovalRules;
use pml_gateway::policy::approval::Approval;
use pml_gateway::{Gateway, RunLabels, Tool};
use pml_protocol::{
    Failure, FailureKind, HostFuture, Request, ResourceRequest, RunContext, Target, ToolHost,
    ToolResult, to_result,
};
use pml_store::StoredApproval;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::approval::{
    ApprovalGate, Approver, Decision, GatedCall, refused, refused_changing, refused_unasked,
    refused_unshown,
};
use crate::arguments;
use crate::gateway_host::failure;
use crate::run_placeholders::RunPlaceholders;
use crate::shown_call::{ShortenedCall, shown_tool};
use crate::stored_approvals::{BoundCall, Standing, StoredApprovals, standing};
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

/// The person who approves the calls of one run, and the placeholders that questions are scrubbed
/// with.
pub struct Person {
    gate: Arc<ApprovalGate>,
    /// Asks about tasks of plans.
    task_gate: Arc<ApprovalGate>,
    placeholders: Arc<RunPlaceholders>,
    if_unasked: IfUnasked,
    rules: Arc<ApprovalRules>,
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
        rules: Arc<ApprovalRules>,
    ) -> Self {
        let gate = ApprovalGate::new(approver, gateway.approval_time());
        Self {
            task_gate: gate.clone(),
            gate,
            placeholders,
            if_unasked,
            rules,
        }
    }

    /// The same person, who is asked about tasks of plans in another way than about calls.
    #[must_use]
    pub fn with_task_approver(self, approver: Arc<dyn Approver>, gateway: &Gateway) -> Self {
        Self {
            task_gate: ApprovalGate::new(approver, gateway.approval_time()),
            ..self
        }
    }

    fn gate_of(&self, asked: &Asked<'_>) -> &Arc<ApprovalGate> {
        match asked.task {
            Some(_) => &self.task_gate,
            None => &self.gate,
        }
    }

    /// Whether the client can ask its user, and the user may decide.
    fn can_ask(&self, asked: &Asked<'_>, run: &RunContext) -> bool {
        let principal = run.principal().as_str();
        self.gate_of(asked).can_ask() && self.rules.may_answer(asked.id, principal)
    }

    async fn ask(&self, asked: Asked<'_>, run: &RunContext) -> Result<(), Failure> {
        let gate = self.gate_of(&asked).clone();
        let call = self.gated(asked).await?;
        gate.admit(call, run.clock()).await
    }

    /// The question about a call. A call that will be refused is not asked about.
    async fn gated(&self, asked: Asked<'_>) -> Result<GatedCall, Failure> {
        let details = asked.details.parsed().await?;
        let foreign = match asked.details {
            Details::Arguments(_) => self.placeholders.foreign_values(asked.id, &details).await?,
            Details::Prompt { .. } | Details::Resource(_) => Vec::new(),
        };
        let digest = asked.details.digest();
        let shortened = ShortenedCall::new(details);
        // Nothing that grows with the arguments is done while the session's placeholders are locked.
        let turn = self.placeholders.shared().turn().await;
        let mut map = turn.lock();
        let shown = shortened.and_then(|call| call.shown(&foreign, &mut map));
        Ok(GatedCall {
            // What is allowed or refused for a task is not for the calls of its tool.
            id: asked.task.unwrap_or(asked.id).to_owned(),
            tool: shown_tool(asked.id, &mut map),
            digest,
            arguments: shown.ok_or_else(|| refused_unshown(asked.id))?,
            hands_over_values: !foreign.is_empty(),
            claims: asked.claims,
        })
    }
}

/// What a person is asked about.
struct Asked<'a> {
    id: &'a str,
    /// A digest of the tool; empty for resources and prompts.
    definition: &'a str,
    details: Details<'a>,
    claims: Vec<&'static str>,
    /// Of a question about a task of a plan: what the question is known by.
    task: Option<&'a str>,
}

/// What is wanted of a server. Arguments are parsed only if the request needs approval.
enum Details<'a> {
    /// The arguments of a tool.
    Arguments(&'a RawValue),
    Prompt {
        name: &'a str,
        args: &'a RawValue,
    },
    /// What is wanted of resources, or the list of prompts.
    Resource(Value),
}

impl Details<'_> {
    /// The details as they are parsed before they are sent.
    async fn parsed(&self) -> Result<Value, Failure> {
        Ok(match self {
            Self::Arguments(args) => arguments::parse_off_loop(args).await?,
            Self::Prompt { name, args } => {
                let args: Value = arguments::parse_off_loop(args).await?;
                json!({ "name": name, "args": args })
            }
            Self::Resource(details) => details.clone(),
        })
    }

    /// Requests of one tool with equal digests are equal.
    fn digest(&self) -> [u8; 32] {
        let digest = match self {
            Self::Arguments(args) => Sha256::digest(args.get()),
            Self::Prompt { name, args } => {
                // The name has quotes, so that it cannot extend into the arguments.
                Sha256::digest(format!("{}{}", Value::from(*name), args.get()))
            }
            Self::Resource(details) => Sha256::digest(details.to_string()),
        };
        digest.into()
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
