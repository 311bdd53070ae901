//! A store on a PostgreSQL server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::Pool;
use tokio::sync::{mpsc, oneshot};

use super::open::{CONNECT_TIMEOUT, open};
use super::transaction::{Mode, run};
use super::writer::{Job, Queue, write};
use crate::context::Context;
use crate::error::StoreError;
use crate::lease::{OwnedRun, OwnedRuns};
use crate::options::StoreOptions;
use crate::owner::Owner;
use crate::run_writer::WriteQueue;
use crate::sql::Work;

/// How long a transaction is repeated after the connection was lost, and how long to wait between.
const RETRY_FOR: Duration = CONNECT_TIMEOUT;
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// A PostgreSQL store.
pub(crate) struct Postgres {
    jobs: mpsc::UnboundedSender<Job>,
    queue: Arc<Queue>,
    owned: Arc<OwnedRuns>,
    connections: Arc<Connections>,
}

/// The connections to the server.
pub(super) struct Connections {
    pool: Pool,
    context: Context,
}

impl Postgres {
    pub async fn open(url: &str, options: StoreOptions) -> Result<Self, StoreError> {
        let store: Arc<str> = options.url.to_string().into();
        let (pool, vault) = open(url, &options, &store).await?;
        let context = Context {
            store,
            vault,
            owner: Owner::current()?.to_string(),
            lease: options.lease,
            durability: options.durability,
        };
        let connections = Arc::new(Connections { pool, context });
        let owned = Arc::new(OwnedRuns::default());
        let (jobs, queued) = mpsc::unbounded_channel();
        tokio::spawn(write(connections.clone(), owned.clone(), queued));
        Ok(Self {
            queue: Arc::new(Queue(jobs.clone())),
            jobs,
            owned,
            connections,
        })
    }

    pub fn queue(&self) -> Arc<dyn WriteQueue> {
        self.queue.clone()
    }

    pub fn owned_runs(&self) -> &OwnedRuns {
        &self.owned
    }

    pub fn own(&self, run: Arc<OwnedRun>) {
        self.owned.insert(run);
    }

    pub async fn read<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        self.connections.repeat(Mode::Read, &work).await
    }

    pub async fn write<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        self.connections.write(&work).await
    }

    pub async fn close(&self) {
        let (stopped, stop) = oneshot::channel();
        if self.jobs.send(Job::Stop(stopped)).is_ok() {
            // An error means the same: the task has ended.
            let _ = stop.await;
        }
        self.connections.pool.close();
    }
}

impl Connections {
    pub fn lease(&self) -> Duration {
        self.context.lease
    }

    pub async fn write<W: Work>(&self, work: &W) -> Result<W::Output, StoreError> {
        self.repeat(Mode::Write, work).await
    }

    /// Does a work, again if the connection is lost.
    async fn repeat<W: Work>(&self, mode: Mode, work: &W) -> Result<W::Output, StoreError> {
        let mut failing_since = None;
        loop {
            let failed = match run(&self.pool, &self.context, mode, work).await {
                Ok(output) => return Ok(output),
                Err(failed) => failed,
            };
            // Counted from the first failure: a process that was stopped in its first try tries again.
            let since = failing_since.get_or_insert_with(Instant::now);
            if !failed.is_transient || since.elapsed() > RETRY_FOR {
                return Err(failed.error);
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }
}
