//! A log that this process writes.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;

use crate::error::AuditError;
use crate::event::Event;
use crate::files::LogFiles;
use crate::folder;
use crate::recover::LogEnd;
use crate::retention::{self, Retention};
use crate::sealer::Sealer;
use crate::writer::LogWriter;

/// How often old entries are looked for.
const RETENTION_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// How a log is written.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// How often a checkpoint is signed while events come.
    pub interval: Duration,
    /// Whether checkpoints survive a power failure. Without, all survives the end of the process.
    pub sync: bool,
    /// How long entries are kept.
    pub retention: Retention,
    /// Whether [`AuditLog::record`] fails if the log cannot be written, or drops the event and notes
    /// the gap when it can be written again.
    pub block: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            sync: true,
            retention: Retention::default(),
            block: true,
        }
    }
}

/// A log that this process writes. Cheap to share; the last reference signs the last checkpoint.
pub struct AuditLog {
    shared: Arc<Shared>,
    sealer: Mutex<Option<JoinHandle<()>>>,
    block: bool,
}

struct Shared {
    files: LogFiles,
    writer: Mutex<LogWriter>,
    closing: Mutex<bool>,
    closed: Condvar,
    dropped: AtomicU64,
    /// Held as long as the log is written.
    _lock: File,
}

impl Shared {
    fn append<D: Serialize>(&self, event: &Event<'_, D>) -> Result<u64, AuditError> {
        let members = event.members()?;
        lock(&self.writer).append(&members)
    }

    fn seal(&self, sealer: &mut Sealer) -> Result<(), AuditError> {
        let unsealed = lock(&self.writer).take_unsealed()?;
        match unsealed.hashes.is_empty() && !sealer.is_behind() {
            true => Ok(()),
            false => sealer.seal(unsealed),
        }
    }

    /// Waits for the next checkpoint. Returns whether it is the last one.
    fn wait(&self, interval: Duration) -> bool {
        let closing = lock(&self.closing);
        let waited = self
            .closed
            .wait_timeout_while(closing, interval, |closing| !*closing);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds a lock; what is behind it is whole after each statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AuditLog {
    /// Opens a log below `folder` that no other process writes, or begins a new one.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn open(folder: &Path, options: LogOptions) -> Result<Self, AuditError> {
        let acquired = folder::acquire(folder, options.sync)?;
        let LogEnd {
            tree,
            unsealed,
            open,
            size,
        } = acquired.end;
        let origin = acquired.key.name().to_owned();
        let writer = LogWriter::new(acquired.files.clone(), &origin, size, open, unsealed);
        let mut sealer = Sealer::new(acquired.files.clone(), acquired.key, tree);
        let shared = Arc::new(Shared {
            files: acquired.files,
            writer: Mutex::new(writer),
            closing: Mutex::default(),
            closed: Condvar::new(),
            dropped: AtomicU64::new(0),
            _lock: acquired.lock,
        });
        if acquired.is_new {
            // From here on, a log without a checkpoint is a damaged one.
            sealer.seal(lock(&shared.writer).take_unsealed()?)?;
        }
        let opened = json!({ "logs": acquired.others, "damaged": acquired.damaged });
        let (thread, sealing) = (shared.clone(), options.clone());
        let sealer = std::thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || run(&thread, sealer, &sealing))
            .map_err(AuditError::file(folder))?;
        let log = Self {
            shared,
            sealer: Mutex::new(Some(sealer)),
            block: options.block,
        };
        log.record(&Event::new("pml.log.opened", &opened))?;
        Ok(log)
    }

    /// Appends an event and returns its position. The event is in the file then, and survives the
    /// end of this process.
    ///
    /// # Errors
    ///
    /// The file cannot be written; the log is as it was before.
    pub fn append<D: Serialize>(&self, event: &Event<'_, D>) -> Result<u64, AuditError> {
        self.shared.append(event)
    }

    /// Appends an event, as the operator wants it where that fails: see [`LogOptions::block`].
    ///
    /// # Errors
    ///
    /// The event is not in the log, and what it is about must not happen.
    pub fn record<D: Serialize>(&self, event: &Event<'_, D>) -> Result<(), AuditError> {
        let dropped = &self.shared.dropped;
        let missing = dropped.load(Ordering::Relaxed);
        let gap = match missing {
            0 => Ok(0),
            _ => self.append(&Event::new("pml.audit.gap", &json!({ "dropped": missing }))),
        };
        match gap.and_then(|_| {
            // Other threads may have dropped more meanwhile.
            dropped.fetch_sub(
                missing.min(dropped.load(Ordering::Relaxed)),
                Ordering::Relaxed,
            );
            self.append(event)
        }) {
            Ok(_) => Ok(()),
            Err(error) if self.block => Err(error),
            Err(error) => {
                if dropped.fetch_add(1, Ordering::Relaxed) == 0 {
                    tracing::warn!(%error, "events are missing in the audit log from here on");
                }
                Ok(())
            }
        }
    }

    /// The folder of the log.
    pub fn folder(&self) -> &Path {
        &self.shared.files.folder
    }

    /// Signs the last checkpoint. Events that come later are covered by the next start.
    pub fn close(&self) {
        *lock(&self.shared.closing) = true;
        self.shared.closed.notify_all();
        if let Some(sealer) = lock(&self.sealer).take() {
            // A panic of the thread is reported by the panic hook.
            let _ = sealer.join();
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.close();
    }
}

/// Signs checkpoints until the log is closed.
fn run(shared: &Shared, mut sealer: Sealer, options: &LogOptions) {
    let (mut is_failing, mut cleaned) = (false, None::<Instant>);
    loop {
        let is_last = shared.wait(options.interval);
        let sealed = shared.seal(&mut sealer);
        let sealed = sealed.and_then(|()| match is_last {
            true => sealer.keep(),
            false => Ok(()),
        });
        if let Err(error) = &sealed
            && !is_failing
        {
            tracing::warn!(%error, "the audit log has no new checkpoint: it is tried again");
        }
        is_failing = sealed.is_err();
        if is_last {
            return;
        }
        if cleaned.is_none_or(|cleaned| cleaned.elapsed() >= RETENTION_INTERVAL) && !is_failing {
            cleaned = Some(Instant::now());
            let note = |kind: &str, data: &serde_json::Value| {
                shared.append(&Event::new(kind, data)).map(drop)
            };
            if let Err(error) = retention::apply(&shared.files, &options.retention, note) {
                tracing::warn!(%error, "old entries of the audit log are not compressed");
            }
        }
    }
}
