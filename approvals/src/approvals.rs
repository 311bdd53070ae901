//! The approvals of a store.

use std::sync::Arc;
use std::time::Duration;

use pml_protocol::TenantId;
use pml_store::{
    AnswerOutcome, ApprovalFilter, ApprovalState, NewApproval, Store, StoreError, StoredApproval,
};

use crate::answer::{AnswerError, Answered};
use crate::question::Question;
use crate::rules::ApprovalRules;
use crate::webhook::Webhook;

/// How often a process looks whether another one has recorded an answer.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// How often in a row the store may fail to be read.
const MAX_FAILURES: u32 = 20;
/// The bytes of the name of one who answers.
const MAX_NAME: usize = 64;
/// The number of an approval that is for all calls of a tool in its run. Calls count from 1.
const ALL_CALLS: u32 = 0;

/// The approvals of a store, and who may answer them. Cheap to clone.
#[derive(Clone)]
pub struct Approvals {
    store: Store,
    rules: Arc<ApprovalRules>,
    webhook: Option<Webhook>,
}

impl Approvals {
    /// The approvals of a store.
    pub fn new(store: Store, rules: Arc<ApprovalRules>, webhook: Option<Webhook>) -> Self {
        Self {
            store,
            rules,
            webhook,
        }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Who may answer which.
    pub fn rules(&self) -> &Arc<ApprovalRules> {
        &self.rules
    }

    /// The webhook that tells approvers.
    pub fn webhook(&self) -> Option<&Webhook> {
        self.webhook.as_ref()
    }

    /// Asks for an approval, once: a question that was asked before is returned as it stands. While it
    /// is open, the approvers are told again by every process that asks; they know it by its id.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    pub async fn ask(&self, approval: NewApproval) -> Result<StoredApproval, StoreError> {
        let approval = self.store.ask(approval).await?;
        if approval.state == ApprovalState::Open
            && let Some(webhook) = &self.webhook
        {
            webhook.tell(self.clone(), approval.clone());
        }
        Ok(approval)
    }

    /// The approval of a run that is bound to this digest, if it was asked for.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub async fn find(&self, asked: &NewApproval) -> Result<Option<StoredApproval>, StoreError> {
        let filter = ApprovalFilter {
            run: Some(asked.run.clone()),
            number: Some(asked.number),
            ..ApprovalFilter::default()
        };
        let known = self.store.approvals(&asked.tenant, &filter).await?;
        let is_it = |known: &StoredApproval| {
            known.asked.bound_to == asked.bound_to && known.state != ApprovalState::Void
        };
        Ok(known.into_iter().find(is_it))
    }

    /// Whether all calls of a tool in a run are allowed; `bound_to` is the digest of the tool.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub async fn allows_all(
        &self,
        asked: &NewApproval,
        bound_to: [u8; 32],
    ) -> Result<bool, StoreError> {
        let found = self.find(&all_calls(asked, bound_to)).await?;
        Ok(found.is_some_and(|known| known.state == ApprovalState::Allowed))
    }

    /// Answers an approval.
    ///
    /// # Errors
    ///
    /// `by` is none of the approvers, there is no such approval, or the store cannot be written.
    pub async fn answer(
        &self,
        tenant: &TenantId,
        id: &str,
        allow: bool,
        by: &str,
    ) -> Result<Answered, AnswerError> {
        let approval = self.store.approval(tenant, id).await?;
        let approval = approval.ok_or_else(|| StoreError::NoSuchApproval { id: id.to_owned() })?;
        check_name(by)?;
        // The rules of the run count, whatever configuration the answer is given with.
        let approvers = Question::from_bytes(&approval.asked.shown).approvers;
        if let Some(approvers) = approvers.filter(|names| !names.iter().any(|name| name == by)) {
            return Err(AnswerError::NotAnApprover {
                by: by.to_owned(),
                tool: approval.asked.tool.clone(),
                approvers,
            });
        }
        Ok(match self.store.answer(tenant, id, allow, by).await? {
            AnswerOutcome::Recorded(approval) => Answered::Recorded(approval),
            AnswerOutcome::Late(approval) => Answered::Late(approval),
        })
    }

    /// Allows all further calls of the tool of an approval in its run.
    ///
    /// # Errors
    ///
    /// As for [`Approvals::answer`].
    pub async fn allow_all(&self, approval: &StoredApproval, by: &str) -> Result<(), AnswerError> {
        let question = Question::from_bytes(&approval.asked.shown);
        let Some(bound_to) = question.all_calls else {
            return Ok(());
        };
        let asked = all_calls(&approval.asked, bound_to);
        let tenant = asked.tenant.clone();
        let all = self.store.ask(asked).await?;
        self.answer(&tenant, &all.id, true, by).await?;
        Ok(())
    }

    /// Returns when an approval is not open any more: another process or another task of this one has
    /// answered it, or its time is up.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or the approval is gone.
    pub async fn answered(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<StoredApproval, StoreError> {
        let mut failures = 0;
        loop {
            match self.store.approval(tenant, id).await {
                Ok(Some(approval)) if approval.state != ApprovalState::Open => return Ok(approval),
                Ok(Some(_)) => failures = 0,
                Ok(None) => return Err(StoreError::NoSuchApproval { id: id.to_owned() }),
                // A store that cannot be read for a moment costs no run.
                Err(error) if failures >= MAX_FAILURES => return Err(error),
                Err(_) => failures += 1,
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// Names are printed and stored as they are.
fn check_name(name: &str) -> Result<(), AnswerError> {
    let is_shown = |c: char| !pml_gateway::is_unsafe_to_show(c);
    match !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_shown) {
        true => Ok(()),
        false => Err(AnswerError::Name),
    }
}

/// The approval of all calls of a tool in a run.
fn all_calls(asked: &NewApproval, bound_to: [u8; 32]) -> NewApproval {
    NewApproval {
        number: ALL_CALLS,
        bound_to,
        ..asked.clone()
    }
}
