//! Settling requests whose outcome is unknown.

use pml_protocol::{RunId, TenantId};

use crate::claim::{Locked, lock_run};
use crate::context::Context;
use crate::error::StoreError;
use crate::model::{EntryState, RunState};
use crate::rows::{ENTRY_COLUMNS, decode_entry, entry_place};
use crate::sql::{Transaction, Work, statement};

/// What a person decided about a request whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// It happened, with this answer, in the recording's format.
    Happened(Vec<u8>),
    /// It did not happen, and is to be sent.
    Send,
    /// It counts as failed, with this answer, in the recording's format.
    GiveUp(Vec<u8>),
}

/// Settles a request of a run that no living process owns.
pub(crate) struct Settle {
    pub tenant: TenantId,
    pub id: RunId,
    pub number: u32,
    pub how: Settlement,
}

impl Work for Settle {
    /// `None` if another transaction holds the row of the run.
    type Output = Option<()>;

    fn is_durable(&self) -> bool {
        true
    }

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Option<()>, StoreError> {
        let row = match lock_run(transaction, context, &self.tenant, &self.id).await? {
            Locked::Row(row) => row,
            Locked::Busy => return Ok(None),
        };
        let now = transaction.now().await?;
        row.refuse_if_ended()?;
        row.refuse_if_owned(now)?;
        self.check_entry(transaction, context).await?;
        let answer = match &self.how {
            Settlement::Send => None,
            Settlement::Happened(answer) | Settlement::GiveUp(answer) => {
                let item = self.number.to_string();
                let place = entry_place((&self.tenant, &self.id), "answer", &item);
                Some(context.seal(transaction, place, answer).await?)
            }
        };
        let state = match answer {
            Some(_) => EntryState::Answered,
            None => EntryState::Resend,
        };
        let (tenant, id) = (self.tenant.as_str(), self.id.as_str());
        // An answer is the last one so far.
        let order = match answer {
            None => "NULL",
            Some(_) => {
                "(SELECT COALESCE(MAX(answer_order), 0) + 1 FROM pml_entries WHERE tenant = $4 AND run = $5)"
            }
        };
        transaction
            .execute(statement!(
                format!(
                    "UPDATE pml_entries SET state = $1, answer = $2, at = $3, answer_order = {order} \
                     WHERE tenant = $4 AND run = $5 AND number = $6"
                ),
                state.as_str(),
                answer,
                now,
                tenant,
                id,
                self.number,
            ))
            .await?;
        if row.state() == RunState::Unknown {
            // A run in which nothing is unknown any more waits to be resumed.
            transaction
                .execute(statement!(
                    "UPDATE pml_runs SET state = 'waiting', reason = 'settled', updated = $1 \
                     WHERE tenant = $2 AND id = $3 AND NOT EXISTS (SELECT 1 FROM pml_entries \
                     WHERE tenant = $2 AND run = $3 AND state = 'intended' AND class = 'guarded')",
                    now,
                    tenant,
                    id,
                ))
                .await?;
        }
        Ok(Some(()))
    }
}

impl Settle {
    /// Refuses an entry that is not there or whose outcome is known.
    async fn check_entry<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<(), StoreError> {
        let rows = transaction
            .query(statement!(
                format!(
                    "SELECT {ENTRY_COLUMNS} FROM pml_entries \
                     WHERE tenant = $1 AND run = $2 AND number = $3"
                ),
                self.tenant.as_str(),
                self.id.as_str(),
                self.number,
            ))
            .await?;
        let (id, number) = (self.id.clone(), self.number);
        let Some(row) = rows.into_iter().next() else {
            return Err(StoreError::NoSuchEntry { id, number });
        };
        let entry = decode_entry(row).map_err(|error| context.unexpected(error))?;
        match entry.state {
            EntryState::Intended => Ok(()),
            EntryState::Answered => Err(StoreError::AlreadyAnswered { id, number }),
            EntryState::Resend => Err(StoreError::AlreadySettled { id, number }),
        }
    }
}
