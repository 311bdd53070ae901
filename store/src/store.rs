//! The store: what the rest of pml calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use pml_protocol::{RunId, TenantId};

use crate::approvals::{
    Answer, AnswerOutcome, ApprovalFilter, Ask, GetApproval, ListApprovals, VoidApproval,
};
use crate::backend::Backend;
use crate::claim::{Cancel, Claim, ClaimedRun};
use crate::error::StoreError;
use crate::journal::{GetJournal, GetRun, ListRuns, Resumable, RunFilter};
use crate::key::{not_writable, random_bytes};
use crate::lease::{OwnedRun, lease_clock};
use crate::model::{JournalEntry, NewApproval, NewRun, StoredApproval, StoredRun, UnixMs};
use crate::options::{Retention, StoreOptions};
use crate::pack::Pack;
use crate::retention::{
    BATCH, DeleteApprovals, DeleteRuns, Due, DueRuns, Maintained, Now, RemoveBlobs, UnusedBlobs,
};
use crate::run_writer::RunWriter;
use crate::settle::{Settle, Settlement};
use crate::sql::Work;
use crate::url::StoreUrl;

/// How often a row is tried that another transaction holds, and how long to wait between. A write of
/// the owner holds it for a few milliseconds.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(25);

/// How far apart the first fencing tokens of new runs are. Each claim of a run adds one, so the claims of
/// one run never reach the token of another.
const FENCE_STEP: i64 = 1 << 20;

/// A store of durable runs. Clones are the same store.
///
/// Reads see what is written; a write that is still queued is not (see [`RunWriter::flush`]).
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// use pml_protocol::{RunId, TenantId};
/// use pml_store::{Checkpoint, NewRun, RunState, Store, StoreOptions, StoreUrl};
///
/// let url = StoreUrl::Sqlite(folder.path().join("store.db"));
/// let store = Store::open(StoreOptions::new(url, folder.path())).await?;
/// let (tenant, id) = (TenantId::local(), RunId::random());
/// let writer = store.begin(NewRun {
///     tenant: tenant.clone(),
///     id: id.clone(),
///     principal: "local".to_owned(),
///     origin: "run".to_owned(),
///     script: "nightly.ts".to_owned(),
///     script_digest: [0; 32],
///     spec: b"source and arguments".to_vec(),
///     task_ttl: None,
/// });
/// writer.checkpoint(Checkpoint { key: "page".to_owned(), value: b"7".to_vec() });
/// writer.finish(RunState::Done, None, b"result").await?;
///
/// let run = store.run(&tenant, &id).await?;
/// assert_eq!(run.unwrap().outcome.as_deref(), Some(&b"result"[..]));
/// store.close().await;
/// # Ok::<(), pml_store::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store(Arc<Inner>);

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.0.url)
    }
}

struct Inner {
    url: StoreUrl,
    backend: Backend,
    retention: Retention,
    lease: Duration,
    /// The first fencing token of the next new run. It begins with a random number: two processes that
    /// begin a run with the same id do not have the same token, so the second of them is refused.
    next_fence: AtomicI64,
}

impl Store {
    /// Opens a store, and creates it if it does not exist.
    ///
    /// # Errors
    /// The store cannot be reached, read or written, is newer than this program, or has another key. A
    /// file that is not a store is left as it is.
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let folder = &options.data_folder;
        pml_files::create_private_dir(folder).map_err(|error| not_writable(folder, &error))?;
        let (retention, lease) = (options.retention, options.lease);
        let url = options.url.clone();
        let backend = Backend::open(options).await?;
        Ok(Self(Arc::new(Inner {
            url,
            backend,
            retention,
            lease,
            next_fence: AtomicI64::new(i64::from(u32::from_le_bytes(random_bytes()?)) * FENCE_STEP),
        })))
    }

    /// How long ended runs are kept.
    pub fn retention(&self) -> &Retention {
        &self.0.retention
    }

    /// The journal of a new run, which this process owns. Nothing is written yet: the row of the run is
    /// written in the transaction of its first entry.
    pub fn begin(&self, run: NewRun) -> RunWriter {
        let fence = self.0.next_fence.fetch_add(FENCE_STEP, Ordering::Relaxed);
        let (tenant, id) = (run.tenant.clone(), run.id.clone());
        let owned = Arc::new(OwnedRun::new(tenant, id, fence, self.0.lease));
        RunWriter::of_new_run(self.0.backend.queue(), owned, run)
    }

    /// Takes over a run that has not ended and that no living process owns: the lease of its owner has
    /// ended, or the owner ran on this machine and is gone.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Owned`], [`StoreError::Ended`].
    pub async fn claim(&self, tenant: &TenantId, id: &RunId) -> Result<ClaimedRun, StoreError> {
        let claim = || Claim::new(tenant.clone(), id.clone());
        let asked = lease_clock();
        let claimed = self.write_when_free(id, claim).await?;
        let owned = OwnedRun::new(tenant.clone(), id.clone(), claimed.fence, self.0.lease);
        // The store granted the lease at some time after it was asked.
        owned.extend_lease(asked);
        let owned = Arc::new(owned);
        self.0.backend.own(owned.clone());
        Ok(ClaimedRun {
            writer: RunWriter::of_claimed_run(self.0.backend.queue(), owned),
            run: claimed.run,
            entries: claimed.entries,
            checkpoints: claimed.checkpoints,
        })
    }

    /// A run.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn run(
        &self,
        tenant: &TenantId,
        id: &RunId,
    ) -> Result<Option<StoredRun>, StoreError> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.0.backend.read(GetRun { tenant, id }).await
    }

    /// Runs, the newest first. Their `spec` and `outcome` are left empty.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn runs(
        &self,
        tenant: &TenantId,
        filter: &RunFilter,
    ) -> Result<Vec<StoredRun>, StoreError> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.0.backend.read(ListRuns { tenant, filter }).await
    }

    /// The journal of a run, by number.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or the store cannot be read.
    pub async fn journal(
        &self,
        tenant: &TenantId,
        id: &RunId,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let (tenant, id) = (tenant.clone(), id.clone());
        self.0.backend.read(GetJournal { tenant, id }).await
    }

    /// The runs that have not ended and that no living process owns, the oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn resumable(
        &self,
        tenant: &TenantId,
        origin: Option<&str>,
    ) -> Result<Vec<RunId>, StoreError> {
        let (tenant, origin) = (tenant.clone(), origin.map(str::to_owned));
        self.0.backend.read(Resumable { tenant, origin }).await
    }

    /// Marks a run as cancelled, also one that a process executes: its next write is refused. Its open
    /// approvals become void. A run that is already cancelled stays as it is.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or [`StoreError::Ended`] for a run that is done or has failed.
    pub async fn cancel(&self, tenant: &TenantId, id: &RunId) -> Result<StoredRun, StoreError> {
        let cancel = || Cancel {
            tenant: tenant.clone(),
            id: id.clone(),
        };
        let run = self.write_when_free(id, cancel).await?;
        let owned_runs = self.0.backend.owned_runs();
        if let Some(owned) = owned_runs.get(tenant, id) {
            owned.fail(owned.lost());
            owned_runs.remove(&owned);
        }
        Ok(run)
    }

    /// Settles a request whose outcome is unknown, in a run that no living process owns. A run in the
    /// state unknown waits to be resumed once no guarded request is without an answer.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Owned`], [`StoreError::Ended`],
    /// [`StoreError::NoSuchEntry`], [`StoreError::AlreadyAnswered`], [`StoreError::AlreadySettled`].
    pub async fn settle(
        &self,
        tenant: &TenantId,
        id: &RunId,
        number: u32,
        how: Settlement,
    ) -> Result<(), StoreError> {
        let settle = || Settle {
            tenant: tenant.clone(),
            id: id.clone(),
            number,
            how: how.clone(),
        };
        self.write_when_free(id, settle).await
    }

    /// Deletes the runs of a tenant that ended before a time; returns how many. Their large values
    /// follow with the next [`maintain`](Self::maintain).
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn purge(&self, tenant: &TenantId, ended_before: UnixMs) -> Result<u64, StoreError> {
        let due = Due::OfTenant(tenant.clone());
        self.delete_due(due, ended_before).await
    }

    /// Applies the retention: packs journals of runs that ended a while ago, deletes old runs and
    /// approvals, and removes large values that nothing needs any more. In short transactions, so other
    /// processes can write in between.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn maintain(&self) -> Result<Maintained, StoreError> {
        let Retention {
            hot,
            cold,
            approvals,
        } = self.0.retention;
        let backend = &self.0.backend;
        let now = backend.read(Now).await?;
        let before = |age: Duration| {
            let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
            now.saturating_sub(age)
        };
        let mut done = Maintained {
            deleted: self.delete_due(Due::All, before(cold)).await?,
            ..Maintained::default()
        };
        loop {
            let ended_before = before(hot);
            let due = Due::Unpacked;
            let runs = backend.read(DueRuns { due, ended_before }).await?;
            if runs.is_empty() {
                break;
            }
            for (tenant, id) in runs {
                backend.write(Pack { tenant, id }).await?;
                done.packed += 1;
            }
        }
        let before = before(approvals);
        done.approvals = backend.write(DeleteApprovals { before }).await?;
        let unused = backend.read(UnusedBlobs).await?;
        for blobs in unused.chunks(BATCH) {
            let blobs = blobs.to_vec();
            done.blobs += backend.write(RemoveBlobs { blobs }).await?;
        }
        Ok(done)
    }

    /// Asks for an approval. The same question (run, number and digest) is asked once: the row that
    /// exists is returned, in any state. An open row of the same request with another digest becomes
    /// void.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn ask(&self, approval: NewApproval) -> Result<StoredApproval, StoreError> {
        self.0.backend.write(Ask { approval }).await
    }

    /// An approval.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn approval(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<Option<StoredApproval>, StoreError> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        self.0.backend.read(GetApproval { tenant, id }).await
    }

    /// Approvals, the newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn approvals(
        &self,
        tenant: &TenantId,
        filter: &ApprovalFilter,
    ) -> Result<Vec<StoredApproval>, StoreError> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.0.backend.read(ListApprovals { tenant, filter }).await
    }

    /// Answers an approval. An answer that comes too late changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NoSuchApproval`], or the store cannot be written.
    pub async fn answer(
        &self,
        tenant: &TenantId,
        id: &str,
        allow: bool,
        by: &str,
    ) -> Result<AnswerOutcome, StoreError> {
        let answer = Answer {
            tenant: tenant.clone(),
            id: id.to_owned(),
            allow,
            by: by.to_owned(),
        };
        self.0.backend.write(answer).await
    }

    /// Makes an approval void that is open, or allowed and not used yet. One that is denied, expired or
    /// void stays as it is.
    ///
    /// # Errors
    /// [`StoreError::NoSuchApproval`], or the store cannot be written.
    pub async fn void_approval(&self, tenant: &TenantId, id: &str) -> Result<(), StoreError> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        self.0.backend.write(VoidApproval { tenant, id }).await
    }

    /// Writes what is queued and closes the store. Everything after it returns [`StoreError::Closed`].
    /// Runs that were not given up keep their lease until it ends or this process does.
    pub async fn close(&self) {
        self.0.backend.close().await;
    }

    /// Does a work on one run. Its row may be held by another transaction for a moment.
    async fn write_when_free<W, T>(&self, id: &RunId, work: impl Fn() -> W) -> Result<T, StoreError>
    where
        W: Work<Output = Option<T>>,
    {
        for _ in 0..BUSY_TRIES {
            if let Some(done) = self.0.backend.write(work()).await? {
                return Ok(done);
            }
            tokio::time::sleep(BUSY_PAUSE).await;
        }
        let id = id.clone();
        Err(StoreError::Owned { id, pid: None })
    }

    async fn delete_due(&self, due: Due, ended_before: UnixMs) -> Result<u64, StoreError> {
        let mut deleted = 0;
        loop {
            let due = due.clone();
            let runs = self.0.backend.read(DueRuns { due, ended_before }).await?;
            if runs.is_empty() {
                return Ok(deleted);
            }
            for runs in runs.chunks(8) {
                let runs = runs.to_vec();
                deleted += self.0.backend.write(DeleteRuns { runs }).await?;
            }
        }
    }
}
