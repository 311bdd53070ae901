//! The folder of all logs. Each process that runs at the same time writes a log of its own; a log that
//! no process writes is continued by the next one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::AuditError;
use crate::files::LogFiles;
use crate::note::SigningKey;
use crate::proof::{self, Proof};
use crate::query::{self, Filter, LogEntry};
use crate::recover::{LogEnd, recover};
use crate::verify::{self, Damage, Verified};

/// The most logs of one folder: the most processes at the same time.
const MAX_LOGS: u32 = 4096;

fn log_folder(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("log-{number}"))
}

/// A log that this process may write.
pub struct Acquired {
    pub files: LogFiles,
    pub key: SigningKey,
    pub end: LogEnd,
    pub lock: File,
    pub is_new: bool,
    /// The other logs, which `verify` misses if they are removed.
    pub others: Vec<KnownLog>,
    /// Logs that were skipped, and why.
    pub damaged: Vec<String>,
}

/// A log as another one knows it.
#[derive(Serialize)]
pub struct KnownLog {
    origin: String,
    size: u64,
}

/// Takes the first log that no other process writes, or begins a new one. A damaged log is left as
/// it is.
pub fn acquire(folder: &Path, sync: bool) -> Result<Acquired, AuditError> {
    pml_files::create_private_dir(folder).map_err(AuditError::file(folder))?;
    let (mut others, mut damaged) = (Vec::new(), Vec::new());
    for number in 0..MAX_LOGS {
        let path = log_folder(folder, number);
        pml_files::create_private_dir(&path).map_err(AuditError::file(&path))?;
        let files = LogFiles {
            sync,
            ..LogFiles::new(&path)
        };
        let Some(lock) = files.lock()? else {
            others.extend(known(&files));
            continue;
        };
        match open(&files) {
            Ok((key, end, is_new)) => {
                let rest = (number + 1..).map(|number| LogFiles::new(&log_folder(folder, number)));
                others.extend(rest.map_while(|files| known(&files)));
                return Ok(Acquired {
                    files,
                    key,
                    end,
                    lock,
                    is_new,
                    others,
                    damaged,
                });
            }
            Err(error @ AuditError::Damaged { .. }) => {
                tracing::warn!(%error, "a log is not continued");
                others.extend(known(&files));
                damaged.push(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    Err(AuditError::damaged(
        folder,
        format!("all {MAX_LOGS} logs are in use"),
    ))
}

fn open(files: &LogFiles) -> Result<(SigningKey, LogEnd, bool), AuditError> {
    let key = files.signing_key()?;
    let checkpoint = files.checkpoint(&key.verifying_key())?;
    let end = recover(files, checkpoint.as_ref())?;
    if checkpoint.is_none() && end.size > 0 {
        let path = files.path("checkpoint");
        return Err(AuditError::damaged(&path, "the checkpoint is missing"));
    }
    Ok((key, end, checkpoint.is_none()))
}

fn known(files: &LogFiles) -> Option<KnownLog> {
    let key = files.verifying_key().ok()?;
    let size = files
        .checkpoint(&key)
        .ok()
        .flatten()
        .map_or(0, |checkpoint| checkpoint.size);
    let origin = key.name().to_owned();
    Some(KnownLog { origin, size })
}

/// The logs of a folder, by their number; none if it does not exist.
pub(crate) fn log_files(folder: &Path) -> Result<Vec<LogFiles>, AuditError> {
    let names = match fs::read_dir(folder) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(AuditError::file(folder)(error)),
    };
    let mut numbers = Vec::new();
    for name in names {
        let name = name.map_err(AuditError::file(folder))?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("log-"));
        numbers.extend(number.and_then(|number| number.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    let files = |number| LogFiles::new(&log_folder(folder, number));
    Ok(numbers.into_iter().map(files).collect())
}

/// All logs of a folder, to be read. Processes may write them meanwhile.
pub struct AuditFolder {
    logs: Vec<LogFiles>,
}

impl AuditFolder {
    /// Finds the logs.
    ///
    /// # Errors
    ///
    /// The folder cannot be read. A folder that does not exist has no logs.
    pub fn open(folder: &Path) -> Result<Self, AuditError> {
        Ok(Self {
            logs: log_files(folder)?,
        })
    }

    /// The newest signed checkpoint of each log, to be kept elsewhere.
    ///
    /// # Errors
    ///
    /// A checkpoint is missing or damaged.
    pub fn checkpoints(&self) -> Result<Vec<String>, AuditError> {
        self.logs
            .iter()
            .map(|files| {
                let path = files.path("checkpoint");
                files.checkpoint(&files.verifying_key()?)?;
                fs::read_to_string(&path).map_err(AuditError::file(&path))
            })
            .collect()
    }

    /// The events that a filter lets pass, by their time.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn query(&self, filter: &Filter) -> Result<Vec<LogEntry>, AuditError> {
        let mut found = Vec::new();
        for files in &self.logs {
            query::read(files, filter, &mut found)?;
        }
        found.sort_by(|one, other| one.time().cmp(other.time()));
        if let Some(last) = filter.last {
            found.drain(..found.len().saturating_sub(last));
        }
        Ok(found)
    }

    /// Proves that the event `id` of a log is in the tree that its checkpoint covers.
    ///
    /// # Errors
    ///
    /// There is no such log or event, or the log is damaged.
    pub fn prove(&self, origin: &str, id: u64) -> Result<Proof, AuditError> {
        proof::inclusion(self.log(origin)?, id)
    }

    /// Proves that the log has only grown since it had `size` entries.
    ///
    /// # Errors
    ///
    /// There is no such log, it is smaller, or it is damaged.
    pub fn prove_growth(&self, origin: &str, size: u64) -> Result<Proof, AuditError> {
        proof::consistency(self.log(origin)?, size)
    }

    fn log(&self, origin: &str) -> Result<&LogFiles, AuditError> {
        let origin = origin.trim_start_matches('/');
        let is_it = |files: &&LogFiles| files.verifying_key().is_ok_and(|key| key.name() == origin);
        let found = self.logs.iter().find(is_it);
        found.ok_or_else(|| AuditError::NoLog(origin.to_owned()))
    }
}

/// Checks all logs of a folder, and that they contain the checkpoints `kept`, which were kept elsewhere.
///
/// # Errors
///
/// The folder cannot be read.
pub fn verify_folder(folder: &Path, kept: &[String]) -> Result<Verified, AuditError> {
    let logs = AuditFolder::open(folder)?.logs;
    let mut verified = Verified::default();
    for files in &logs {
        verified.logs.push(verify::verify_log(files, kept));
    }
    let missing = |origin: &str| !verified.logs.iter().any(|log| log.origin == origin);
    for note in kept {
        let origin = note.lines().next().unwrap_or_default();
        if missing(origin) {
            verified.damage.push(Damage {
                path: folder.to_owned(),
                what: format!("the log `{origin}` of a checkpoint is missing"),
            });
        }
    }
    let known: Vec<_> = verified
        .logs
        .iter()
        .flat_map(|log| &log.known)
        .cloned()
        .collect();
    for (origin, size) in known {
        let log = verified.logs.iter().find(|log| log.origin == origin);
        let found = log.map_or(0, |log| log.size);
        if log.is_none() || found < size {
            let what = format!("the log `{origin}` had {size} entries, and has {found}");
            let path = folder.to_owned();
            if !verified.damage.iter().any(|damage| damage.what == what) {
                verified.damage.push(Damage { path, what });
            }
        }
    }
    Ok(verified)
}
