//! Deleting and packing what has ended.

use pml_protocol::{RunId, TenantId};

use crate::context::Context;
use crate::error::StoreError;
use crate::model::UnixMs;
use crate::rows::{CHECKPOINTS, ENTRIES, RUNS, run_id};
use crate::sql::{BlobKey, Transaction, Work, statement};

/// What [`Store::maintain`](crate::Store::maintain) did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Maintained {
    /// Runs whose journal was compressed.
    pub packed: u64,
    /// Runs that were deleted.
    pub deleted: u64,
    /// Approvals that were deleted.
    pub approvals: u64,
    /// Large values that no run needs any more.
    pub blobs: u64,
}

/// How many runs one query lists, and how many blobs one transaction removes: other processes wait for
/// it.
pub(crate) const BATCH: usize = 64;

/// Which ended runs a [`DueRuns`] lists.
#[derive(Debug, Clone)]
pub(crate) enum Due {
    /// Those whose journal is not packed.
    Unpacked,
    /// All.
    All,
    /// All of one tenant.
    OfTenant(TenantId),
}

/// Lists runs that ended before a time, the oldest first. The only query over all tenants besides
/// [`DeleteApprovals`]: it is what the operator's retention is for.
pub(crate) struct DueRuns {
    pub due: Due,
    pub ended_before: UnixMs,
}

impl Work for DueRuns {
    type Output = Vec<(TenantId, RunId)>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Self::Output, StoreError> {
        let mut select = statement!("", self.ended_before);
        let condition = match &self.due {
            Due::Unpacked => "packed = 0",
            Due::All => "packed IN (0, 1)",
            Due::OfTenant(tenant) => {
                select.values.push(tenant.as_str().into());
                "packed IN (0, 1) AND tenant = $2"
            }
        };
        select.sql = format!(
            "SELECT tenant, id FROM pml_runs WHERE {condition} AND ended < $1 \
             ORDER BY ended LIMIT {BATCH}"
        )
        .into();
        let rows = transaction.query(select).await?;
        rows.into_iter()
            .map(|mut row| Ok((TenantId::named(&row.text()?), run_id(&mut row)?)))
            .collect::<Result<_, _>>()
            .map_err(|error| context.unexpected(error))
    }
}

/// Deletes ended runs with all that belongs to them, except approvals, which have a retention of their
/// own.
pub(crate) struct DeleteRuns {
    pub runs: Vec<(TenantId, RunId)>,
}

impl Work for DeleteRuns {
    /// How many there were.
    type Output = u64;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        _: &Context,
    ) -> Result<u64, StoreError> {
        let mut deleted = 0;
        for (tenant, id) in &self.runs {
            let (tenant, id) = (tenant.as_str(), id.as_str());
            let gone = transaction
                .execute(statement!(
                    "DELETE FROM pml_runs WHERE tenant = $1 AND id = $2 AND ended IS NOT NULL",
                    tenant,
                    id,
                ))
                .await?;
            if gone == 0 {
                continue;
            }
            deleted += 1;
            let tables = [ENTRIES, CHECKPOINTS, "pml_packs"].map(|table| {
                let delete = format!("DELETE FROM {table} WHERE tenant = $1 AND run = $2");
                statement!(delete, tenant, id)
            });
            transaction.execute_all(tables.into()).await?;
            let sources = [RUNS, ENTRIES, CHECKPOINTS, "pml_packs"].map(|source| {
                statement!(
                    "DELETE FROM pml_blob_refs WHERE tenant = $1 AND run = $2 AND source = $3",
                    tenant,
                    id,
                    source,
                )
            });
            transaction.execute_all(sources.into()).await?;
        }
        Ok(deleted)
    }
}

/// Deletes approvals that were answered, or expired, before a time.
pub(crate) struct DeleteApprovals {
    pub before: UnixMs,
}

impl Work for DeleteApprovals {
    /// How many there were.
    type Output = u64;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        _: &Context,
    ) -> Result<u64, StoreError> {
        let deleted = transaction
            .execute(statement!(
                "DELETE FROM pml_approvals WHERE COALESCE(answered, expires) < $1",
                self.before,
            ))
            .await?;
        if deleted > 0 {
            transaction
                .execute(statement!(
                    "DELETE FROM pml_blob_refs WHERE source = 'pml_approvals' AND NOT EXISTS \
                     (SELECT 1 FROM pml_approvals a \
                     WHERE a.tenant = pml_blob_refs.tenant AND a.run = pml_blob_refs.run)"
                ))
                .await?;
        }
        Ok(deleted)
    }
}

/// Lists the large values that no run needs any more.
pub(crate) struct UnusedBlobs;

impl Work for UnusedBlobs {
    type Output = Vec<BlobKey>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        _: &Context,
    ) -> Result<Vec<BlobKey>, StoreError> {
        transaction.unused_blobs().await
    }
}

/// Removes large values, unless a run has begun to need them.
pub(crate) struct RemoveBlobs {
    pub blobs: Vec<BlobKey>,
}

impl Work for RemoveBlobs {
    /// How many were removed.
    type Output = u64;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        _: &Context,
    ) -> Result<u64, StoreError> {
        transaction.remove_unused_blobs(self.blobs.clone()).await
    }
}

/// The time of the store, for [`Retention`](crate::Retention).
pub(crate) struct Now;

impl Work for Now {
    type Output = UnixMs;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        _: &Context,
    ) -> Result<UnixMs, StoreError> {
        transaction.now().await
    }
}
