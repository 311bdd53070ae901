//! Taking over a run, and cancelling one.

use std::sync::atomic::{AtomicI64, Ordering};

use pml_protocol::{RunId, TenantId};

use crate::context::Context;
use crate::error::StoreError;
use crate::journal::read_journal;
use crate::model::{Checkpoint, JournalEntry, RunState, StoredRun};
use crate::rows::{CHECKPOINTS, RUN_COLUMNS, RunRow, checkpoint_place};
use crate::run_writer::RunWriter;
use crate::sql::{Transaction, Work, statement};

/// A run that this process has taken over.
#[derive(Debug)]
pub struct ClaimedRun {
    /// Writes its journal from here on.
    pub writer: RunWriter,
    /// The run, with the state and the reason that it had before. In the store it is running.
    pub run: StoredRun,
    /// Its journal, by number.
    pub entries: Vec<JournalEntry>,
    /// Its checkpoints, by key.
    pub checkpoints: Vec<Checkpoint>,
}

/// A row that a rule wants to change.
pub(crate) enum Locked {
    Row(Box<RunRow>),
    /// Another transaction holds the row.
    Busy,
}

/// Reads a run and locks its row until the end of the transaction.
pub(crate) async fn lock_run<T: Transaction>(
    transaction: &mut T,
    context: &Context,
    tenant: &TenantId,
    id: &RunId,
) -> Result<Locked, StoreError> {
    let select = |columns: &str, lock: &str| {
        statement!(
            format!("SELECT {columns} FROM pml_runs WHERE tenant = $1 AND id = $2{lock}"),
            tenant.as_str(),
            id.as_str(),
        )
    };
    let rows = transaction.query(select(RUN_COLUMNS, T::LOCK_ROW)).await?;
    if let Some(row) = rows.into_iter().next() {
        let row = RunRow::decode(row).map_err(|error| context.unexpected(error))?;
        return Ok(Locked::Row(Box::new(row)));
    }
    match transaction.query(select("id", "")).await?.is_empty() {
        true => Err(StoreError::NotFound { id: id.clone() }),
        false => Ok(Locked::Busy),
    }
}

/// Makes this process the owner of a run that no living process owns.
pub(crate) struct Claim {
    pub tenant: TenantId,
    pub id: RunId,
    /// The fence of an attempt whose commit may have succeeded unseen; 0 before.
    granted: AtomicI64,
}

/// What a claim found.
pub(crate) struct Claimed {
    pub fence: i64,
    pub run: StoredRun,
    pub entries: Vec<JournalEntry>,
    pub checkpoints: Vec<Checkpoint>,
}

impl Work for Claim {
    /// `None` if another transaction holds the row.
    type Output = Option<Claimed>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Option<Claimed>, StoreError> {
        let row = match lock_run(transaction, context, &self.tenant, &self.id).await? {
            Locked::Row(row) => row,
            Locked::Busy => return Ok(None),
        };
        let now = transaction.now().await?;
        row.refuse_if_ended()?;
        let is_granted = row.fence == self.granted.load(Ordering::Relaxed)
            && row
                .owner
                .as_ref()
                .is_some_and(|owner| owner.to_string() == context.owner);
        if !is_granted {
            row.refuse_if_owned(now)?;
        }
        let fence = row.fence + 1;
        self.granted.store(fence, Ordering::Relaxed);
        transaction
            .execute(statement!(
                "UPDATE pml_runs SET owner = $1, fence = $2, lease_until = $3, updated = $4, \
                 state = 'running', reason = NULL WHERE tenant = $5 AND id = $6",
                context.owner.as_str(),
                fence,
                now.saturating_add(context.lease_ms()),
                now,
                self.tenant.as_str(),
                self.id.as_str(),
            ))
            .await?;
        let mut run = row.open(transaction, context, now).await?;
        run.is_owned = true;
        Ok(Some(Claimed {
            fence,
            run,
            entries: read_journal(transaction, context, (&self.tenant, &self.id)).await?,
            checkpoints: self.checkpoints(transaction, context).await?,
        }))
    }
}

impl Claim {
    pub fn new(tenant: TenantId, id: RunId) -> Self {
        let granted = AtomicI64::new(0);
        Self {
            tenant,
            id,
            granted,
        }
    }

    async fn checkpoints<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        let rows = transaction
            .query(statement!(
                format!(
                    "SELECT key, value FROM {CHECKPOINTS} WHERE tenant = $1 AND run = $2 ORDER BY key"
                ),
                self.tenant.as_str(),
                self.id.as_str(),
            ))
            .await?;
        let mut checkpoints = Vec::with_capacity(rows.len());
        for mut row in rows {
            let columns = row.text().and_then(|key| Ok((key, row.bytes()?)));
            let (key, value) = columns.map_err(|error| context.unexpected(error))?;
            let place = checkpoint_place((&self.tenant, &self.id), &key);
            let value = context.open(transaction, place, &value).await?;
            checkpoints.push(Checkpoint { key, value });
        }
        Ok(checkpoints)
    }
}

/// Ends a run, also one that another process executes: its next write is refused.
pub(crate) struct Cancel {
    pub tenant: TenantId,
    pub id: RunId,
}

impl Work for Cancel {
    /// `None` if another transaction holds the row.
    type Output = Option<StoredRun>;

    fn is_durable(&self) -> bool {
        true
    }

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Option<StoredRun>, StoreError> {
        let row = match lock_run(transaction, context, &self.tenant, &self.id).await? {
            Locked::Row(row) => row,
            Locked::Busy => return Ok(None),
        };
        let now = transaction.now().await?;
        if row.state() == RunState::Cancelled {
            return row.open(transaction, context, now).await.map(Some);
        }
        row.refuse_if_ended()?;
        let (tenant, id) = (self.tenant.as_str(), self.id.as_str());
        transaction
            .execute(statement!(
                "UPDATE pml_runs SET state = 'cancelled', reason = NULL, ended = $1, updated = $1, \
                 owner = NULL, lease_until = 0, fence = fence + 1 WHERE tenant = $2 AND id = $3",
                now,
                tenant,
                id,
            ))
            .await?;
        transaction
            .execute(statement!(
                "UPDATE pml_approvals SET state = 'void' \
                 WHERE tenant = $1 AND run = $2 AND state = 'open'",
                tenant,
                id,
            ))
            .await?;
        let mut run = row.open(transaction, context, now).await?;
        run.state = RunState::Cancelled;
        run.reason = None;
        run.is_owned = false;
        run.ended = Some(now);
        run.updated = now;
        Ok(Some(run))
    }
}
