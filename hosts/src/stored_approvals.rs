//! The approvals of a durable run, which outlive this process.

use std::sync::Arc;

use pml_approvals::{AnswerError, Answered, Approvals, Binding, Question};
use pml_protocol::{ErrorKind, Failure, FailureKind, Request, RequestKey, RunContext, RunError};
use pml_store::{ApprovalState, NewApproval, StoreError, StoredApproval};

use crate::approval::{Decision, GatedCall};
use crate::journal::{RunJournal, unix_ms};

/// The approvals of one durable run, as rows of its store.
pub(crate) struct StoredApprovals {
    approvals: Approvals,
    journal: Arc<RunJournal>,
}

/// A call that needs approval, and what its approval is bound to.
#[derive(Clone, Copy)]
pub(crate) struct BoundCall<'a> {
    /// `server:tool`
    pub tool: &'a str,
    /// The request in its run.
    pub key: RequestKey,
    /// Of the operator's policy.
    pub policy: [u8; 32],
    /// Of the tool; empty for resources and prompts.
    pub definition: &'a str,
}

/// Where an approval stands, for the call that waits for it.
pub(crate) enum Standing {
    /// It may be sent.
    Allowed,
    /// It is refused.
    Refused(Decision),
    /// Nobody has answered yet.
    Open,
}

impl StoredApprovals {
    pub fn new(approvals: Approvals, journal: Arc<RunJournal>) -> Self {
        Self { approvals, journal }
    }

    /// Whether the approvers of a tool are named, so that a call of it is asked about in any case.
    pub fn has_approvers(&self, tool: &str) -> bool {
        self.approvals.rules().approvers_of(tool).is_some()
    }

    /// The approval of a call that an earlier execution asked for.
    pub async fn find(
        &self,
        call: BoundCall<'_>,
        run: &RunContext,
    ) -> Result<Option<StoredApproval>, Failure> {
        let asked = self.question(call, None, run);
        let found = self.approvals.find(&asked).await;
        found.map_err(|error| self.failed(&error, run))
    }

    /// Whether a person has allowed all calls of the tool in this run.
    pub async fn allows_all(&self, call: BoundCall<'_>, run: &RunContext) -> Result<bool, Failure> {
        if !self.journal.is_stored() {
            return Ok(false);
        }
        let all = self.binding(call, |binding| binding.of_tool(call.tool));
        let asked = self.question(call, None, run);
        let allows = self.approvals.allows_all(&asked, all).await;
        allows.map_err(|error| self.failed(&error, run))
    }

    /// Asks for the approval of a call: the run and the question are on disk when this returns.
    pub async fn ask(
        &self,
        call: BoundCall<'_>,
        shown: &GatedCall,
        request: &Request,
        run: &RunContext,
    ) -> Result<StoredApproval, Failure> {
        let asked = self.question(call, Some(shown), run);
        let asking = async {
            self.journal.wait(call.key.number, request).await?;
            self.approvals.ask(asked).await
        };
        asking.await.map_err(|error| self.failed(&error, run))
    }

    /// Records the decision of the person at the client. Returns where the approval stands then:
    /// somebody else may have been faster.
    pub async fn record(
        &self,
        approval: &StoredApproval,
        decision: Decision,
        run: &RunContext,
    ) -> Result<Standing, Failure> {
        let allow = match decision {
            Decision::AllowAll | Decision::AllowThese => true,
            Decision::Deny => false,
            Decision::NoAnswer | Decision::CannotAsk | Decision::NotAsked => {
                return Ok(Standing::Open);
            }
        };
        let by = run.principal().as_str();
        let (tenant, id) = (run.tenant(), &approval.id);
        match self.approvals.answer(tenant, id, allow, by).await {
            Ok(Answered::Recorded(approval)) => {
                if decision == Decision::AllowAll {
                    let all = self.approvals.allow_all(&approval, by).await;
                    all.map_err(|error| self.not_recorded(error, run))?;
                }
                Ok(standing(&approval))
            }
            // Somebody else was faster, and nothing of this answer counts.
            Ok(Answered::Late(approval)) => Ok(standing(&approval)),
            Err(error) => Err(self.not_recorded(error, run)),
        }
    }

    fn not_recorded(&self, error: AnswerError, run: &RunContext) -> Failure {
        match error {
            AnswerError::Store(error) => self.failed(&error, run),
            refused => Failure::new(FailureKind::Denied, refused.to_string()),
        }
    }

    /// Returns when an approval is answered, or has expired.
    pub async fn answered(
        &self,
        approval: &StoredApproval,
        run: &RunContext,
    ) -> Result<Standing, Failure> {
        let answered = self.approvals.answered(run.tenant(), &approval.id).await;
        match answered {
            Ok(approval) => Ok(standing(&approval)),
            Err(error) => Err(self.failed(&error, run)),
        }
    }

    /// Where an approval stands now.
    pub async fn look(
        &self,
        approval: &StoredApproval,
        run: &RunContext,
    ) -> Result<Standing, Failure> {
        let store = self.approvals.store();
        match store.approval(run.tenant(), &approval.id).await {
            Ok(Some(approval)) => Ok(standing(&approval)),
            Ok(None) => Ok(Standing::Refused(Decision::NoAnswer)),
            Err(error) => Err(self.failed(&error, run)),
        }
    }

    /// A digest of all calls of the tool: what one question in this process is about.
    pub fn group(&self, call: BoundCall<'_>) -> String {
        let digest = self.binding(call, |binding| binding.of_tool(call.tool));
        blake3::Hash::from(digest).to_hex().to_string()
    }

    /// Why the run ends here, for now.
    pub fn waiting(&self, approval: &StoredApproval) -> RunError {
        let (id, run, tool) = (&approval.id, self.journal.id(), &approval.asked.tool);
        let message = format!(
            "run {run} waits for a person to answer approval {id} of `{tool}` (`pml approvals`); after that, `pml resume {run}` continues the run"
        );
        RunError::new(ErrorKind::Waiting, message)
    }

    fn binding(
        &self,
        call: BoundCall<'_>,
        digest: impl FnOnce(Binding<'_>) -> [u8; 32],
    ) -> [u8; 32] {
        digest(Binding {
            request: &call.key.digest,
            script: &self.journal.spec().script.digest(),
            policy: &call.policy,
            definition: call.definition,
        })
    }

    fn question(
        &self,
        call: BoundCall<'_>,
        shown: Option<&GatedCall>,
        run: &RunContext,
    ) -> NewApproval {
        let shown = shown.map(|shown| Question {
            arguments: shown.arguments.to_string(),
            claims: shown
                .claims
                .iter()
                .map(|claim| (*claim).to_owned())
                .collect(),
            script: self.journal.spec().script.name.clone(),
            principal: run.principal().as_str().to_owned(),
            approvers: self
                .approvals
                .rules()
                .approvers_of(call.tool)
                .map(|names| names.into_iter().map(str::to_owned).collect()),
            // A value that goes to another server is asked about each time.
            all_calls: (!shown.hands_over_values)
                .then(|| self.binding(call, |binding| binding.of_tool(call.tool))),
        });
        let expires = self.approvals.rules().expires.as_millis();
        NewApproval {
            tenant: run.tenant().clone(),
            run: self.journal.id().clone(),
            number: call.key.number,
            tool: call.tool.to_owned(),
            bound_to: self.binding(call, |binding| binding.of_call()),
            shown: shown.map(|shown| shown.to_bytes()).unwrap_or_default(),
            expires: unix_ms().saturating_add(u64::try_from(expires).unwrap_or(u64::MAX)),
        }
    }

    fn failed(&self, error: &StoreError, run: &RunContext) -> Failure {
        self.journal.failed(error, run.control())
    }
}

/// Where an approval stands.
pub(crate) fn standing(approval: &StoredApproval) -> Standing {
    match approval.state {
        ApprovalState::Open => Standing::Open,
        ApprovalState::Allowed => Standing::Allowed,
        ApprovalState::Denied => Standing::Refused(Decision::Deny),
        ApprovalState::Expired | ApprovalState::Void => Standing::Refused(Decision::NoAnswer),
    }
}
