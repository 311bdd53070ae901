//! The runs that this process owns, their fencing tokens and their leases.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pml_protocol::{RunId, TenantId};

use crate::context::Context;
use crate::error::StoreError;
use crate::sql::{Transaction, Work, statement};

/// A run that this process owns, or owned.
#[derive(Debug)]
pub(crate) struct OwnedRun {
    pub tenant: TenantId,
    pub id: RunId,
    /// The fencing token: every write under it is refused once another owner has a higher one.
    pub fence: i64,
    /// How long a lease is.
    lease: Duration,
    /// When the lease ends by [`lease_clock`], in milliseconds; 0 once it is given up or lost.
    lease_until: AtomicU64,
    /// The first failed write. The journal has a hole from there on, so nothing more is written.
    failure: OnceLock<StoreError>,
}

impl OwnedRun {
    /// A run whose lease begins now.
    pub fn new(tenant: TenantId, id: RunId, fence: i64, lease: Duration) -> Self {
        let run = Self {
            tenant,
            id,
            fence,
            lease,
            lease_until: AtomicU64::new(0),
            failure: OnceLock::new(),
        };
        run.extend_lease(lease_clock());
        run
    }

    /// Notes a lease that began at `from` by the [`lease_clock`].
    pub fn extend_lease(&self, from: Duration) {
        let until = (from + self.lease).as_millis();
        let until = until.try_into().unwrap_or(u64::MAX);
        self.lease_until.store(until, Ordering::Relaxed);
    }

    /// Notes that the lease is given up or lost.
    pub fn end_lease(&self) {
        self.lease_until.store(0, Ordering::Relaxed);
    }

    pub fn holds_lease(&self) -> bool {
        lease_clock().as_millis() < u128::from(self.lease_until.load(Ordering::Relaxed))
    }

    /// Keeps the first failure.
    pub fn fail(&self, error: StoreError) {
        if matches!(error, StoreError::LostOwnership { .. }) {
            self.end_lease();
        }
        let _ = self.failure.set(error);
    }

    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.get()
    }

    pub fn lost(&self) -> StoreError {
        let id = self.id.clone();
        StoreError::LostOwnership { id }
    }
}

/// The clock of leases: it runs on while the machine is suspended or this process is stopped.
pub(crate) fn lease_clock() -> Duration {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Duration::new(
            time.tv_sec.try_into().unwrap_or(0),
            time.tv_nsec.try_into().unwrap_or(0),
        )
    }
    #[cfg(not(target_os = "linux"))]
    {
        static START: OnceLock<std::time::Instant> = OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }
}

/// All runs with a lease that has to be renewed.
#[derive(Debug, Default)]
pub(crate) struct OwnedRuns(Mutex<HashMap<Key, Arc<OwnedRun>>>);

type Key = (TenantId, RunId);

impl OwnedRuns {
    pub fn insert(&self, run: Arc<OwnedRun>) {
        self.map().insert((run.tenant.clone(), run.id.clone()), run);
    }

    /// Forgets a run, unless this process has claimed it anew since.
    pub fn remove(&self, run: &OwnedRun) {
        let key = (run.tenant.clone(), run.id.clone());
        let mut map = self.map();
        if map.get(&key).is_some_and(|owned| owned.fence == run.fence) {
            map.remove(&key);
        }
    }

    pub fn get(&self, tenant: &TenantId, id: &RunId) -> Option<Arc<OwnedRun>> {
        self.map().get(&(tenant.clone(), id.clone())).cloned()
    }

    pub fn is_empty(&self) -> bool {
        self.map().is_empty()
    }

    /// Begins a renewal of all leases.
    pub fn renewal(&self) -> Renewal {
        let mut runs: Vec<_> = self.map().values().cloned().collect();
        // Two transactions that lock the rows of several runs do it in the same order.
        runs.sort_by(|one, other| (&one.tenant, &one.id).cmp(&(&other.tenant, &other.id)));
        Renewal {
            begun: lease_clock(),
            runs,
        }
    }

    /// Notes what a renewal did: a lease that was renewed lasts longer, and a run that has no lease any
    /// more has another owner.
    pub fn finish_renewal(&self, renewal: &Renewal, renewed: &[bool]) {
        for (run, is_renewed) in renewal.runs.iter().zip(renewed) {
            let owned = self.get(&run.tenant, &run.id);
            // This process may have given it up meanwhile.
            if !owned.is_some_and(|owned| Arc::ptr_eq(&owned, run)) {
                continue;
            }
            match is_renewed {
                true => run.extend_lease(renewal.begun),
                false => {
                    run.fail(run.lost());
                    self.remove(run);
                }
            }
        }
    }

    fn map(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<OwnedRun>>> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renews the leases of all runs that this process owned when it began. A run that this process has
/// claimed without noticing, because the caller did not wait for it, is not among them.
pub(crate) struct Renewal {
    begun: Duration,
    runs: Vec<Arc<OwnedRun>>,
}

impl Work for Renewal {
    /// Which of the runs still have this owner.
    type Output = Vec<bool>;

    async fn run<T: Transaction>(
        &self,
        transaction: &mut T,
        context: &Context,
    ) -> Result<Vec<bool>, StoreError> {
        let until = transaction.now().await?.saturating_add(context.lease_ms());
        let mut renewed = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let rows = transaction
                .execute(statement!(
                    "UPDATE pml_runs SET lease_until = $1 \
                     WHERE tenant = $2 AND id = $3 AND fence = $4 AND owner = $5",
                    until,
                    run.tenant.as_str(),
                    run.id.as_str(),
                    run.fence,
                    context.owner.as_str(),
                ))
                .await?;
            renewed.push(rows == 1);
        }
        Ok(renewed)
    }
}
