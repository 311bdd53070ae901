//! A SQLite store that is open.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::job_queue::{Job, JobSender, job_queue};
use super::open::{Opened, connect, open};
use super::transaction::{Files, Mode, run};
use super::writer::Writer;
use crate::blobs::BlobFolder;
use crate::context::Context;
use crate::error::StoreError;
use crate::lease::{OwnedRun, OwnedRuns};
use crate::options::StoreOptions;
use crate::owner::Owner;
use crate::run_writer::WriteQueue;
use crate::sql::Work;

/// How long a transaction waits for the write lock of another process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A SQLite store.
pub(crate) struct Sqlite {
    jobs: Arc<JobSender>,
    owned: Arc<OwnedRuns>,
    reader: Arc<Reader>,
}

/// The connection for reads; `None` after the store was closed.
struct Reader {
    connection: Mutex<Option<Connection>>,
    files: Files,
    context: Arc<Context>,
}

impl Sqlite {
    pub async fn open(path: PathBuf, options: StoreOptions) -> Result<Self, StoreError> {
        on_blocking_thread(move || Self::open_now(path, &options)).await
    }

    fn open_now(path: PathBuf, options: &StoreOptions) -> Result<Self, StoreError> {
        let store: Arc<str> = options.url.to_string().into();
        let Opened {
            connection,
            vault,
            store_id,
        } = open(&path, options, &store)?;
        let files = Files {
            blobs: BlobFolder::new(&options.data_folder, &store_id),
            database: path,
            store: store.clone(),
        };
        let reading = connect(&files.database).and_then(|reading| {
            reading.execute_batch("PRAGMA query_only = ON")?;
            Ok(reading)
        });
        let reading = reading.map_err(|error| files.failed(&error))?;
        let context = Arc::new(Context {
            store,
            vault,
            owner: Owner::current()?.to_string(),
            lease: options.lease,
            durability: options.durability,
        });
        let owned = Arc::new(OwnedRuns::default());
        let writer = Writer {
            connection,
            files: files.clone(),
            context: context.clone(),
            owned: owned.clone(),
            syncs: false,
        };
        let (jobs, queued) = job_queue();
        std::thread::Builder::new()
            .name("pml-store".to_owned())
            .spawn(move || writer.work(&queued))
            .map_err(|error| StoreError::Database {
                store: files.store.clone(),
                detail: format!("cannot start its thread: {error}"),
            })?;
        Ok(Self {
            jobs,
            owned,
            reader: Arc::new(Reader {
                connection: Mutex::new(Some(reading)),
                files,
                context,
            }),
        })
    }

    pub fn queue(&self) -> Arc<dyn WriteQueue> {
        self.jobs.clone()
    }

    pub fn owned_runs(&self) -> &OwnedRuns {
        &self.owned
    }

    pub fn own(&self, run: Arc<OwnedRun>) {
        self.owned.insert(run);
        // A writer thread without runs waits for a job alone. A closed store has none.
        self.jobs.send(Job::Wake);
    }

    pub async fn read<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        let reader = self.reader.clone();
        on_blocking_thread(move || reader.run(&work)).await
    }

    /// In the order of the queue: after all writes that runs of this process queued before.
    pub async fn write<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        let (done, output) = oneshot::channel();
        let work = Box::new(move |writer: &mut Writer| {
            // A caller that does not wait any more needs no answer.
            let _ = done.send(writer.run(&work));
        });
        if !self.jobs.send(Job::Work(work)) {
            return Err(StoreError::Closed);
        }
        output.await.unwrap_or(Err(StoreError::Closed))
    }

    pub async fn close(&self) {
        let (stopped, stop) = oneshot::channel();
        if self.jobs.send(Job::Stop(stopped)) {
            // An error means the same: the thread has ended.
            let _ = stop.await;
        }
        self.reader.close();
    }
}

impl Reader {
    fn run<W: Work>(&self, work: &W) -> Result<W::Output, StoreError> {
        let mut connection = self.lock();
        let connection = connection.as_mut().ok_or(StoreError::Closed)?;
        run(connection, &self.files, &self.context, Mode::Read, work)
    }

    fn close(&self) {
        drop(self.lock().take());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Connection>> {
        // A panic leaves at worst an open transaction, which the next `BEGIN` reports.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs what blocks outside of the event loop.
async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    // A panic of the work, or the end of the runtime.
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or(Err(StoreError::Closed))
}
