//! The person who is asked, and what about.

use std::sync::Arc;

use pml_approvals::ApprovalRules;
use pml_gateway::Gateway;
use pml_protocol::{Failure, RunContext};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::approval::{ApprovalGate, Approver, GatedCall, refused_unshown};
use crate::arguments;
use crate::run_placeholders::RunPlaceholders;
use crate::shown_call::{ShortenedCall, shown_tool};

/// The person who approves the calls of one run, and the placeholders that questions are scrubbed
/// with.
#[derive(Clone)]
pub struct Person {
    gate: Arc<ApprovalGate>,
    /// Asks about tasks of plans.
    task_gate: Arc<ApprovalGate>,
    placeholders: Arc<RunPlaceholders>,
    pub(super) if_unasked: IfUnasked,
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

    pub(super) fn gate_of(&self, asked: &Asked<'_>) -> &Arc<ApprovalGate> {
        match asked.task {
            Some(_) => &self.task_gate,
            None => &self.gate,
        }
    }

    /// Whether the client can ask its user, and the user may decide.
    pub(super) fn can_ask(&self, asked: &Asked<'_>, run: &RunContext) -> bool {
        let principal = run.principal().as_str();
        self.gate_of(asked).can_ask() && self.rules.may_answer(asked.id, principal)
    }

    pub(super) async fn ask(&self, asked: Asked<'_>, run: &RunContext) -> Result<(), Failure> {
        let gate = self.gate_of(&asked).clone();
        let call = self.gated(asked).await?;
        gate.admit(call, run.clock()).await
    }

    /// The question about a call. A call that will be refused is not asked about.
    pub(super) async fn gated(&self, asked: Asked<'_>) -> Result<GatedCall, Failure> {
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
pub(super) struct Asked<'a> {
    pub id: &'a str,
    /// A digest of the tool; empty for resources and prompts.
    pub definition: &'a str,
    pub details: Details<'a>,
    pub claims: Vec<&'static str>,
    /// Of a question about a task of a plan: what the question is known by.
    pub task: Option<&'a str>,
}

/// What is wanted of a server. Arguments are parsed only if the request needs approval.
pub(super) enum Details<'a> {
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
