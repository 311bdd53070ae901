//! How far a sink has taken the events of a log. The log is the spool: what a sink has not taken is read
//! from it again, also after a restart.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::bundle::{self, Bundle};
use crate::error::AuditError;
use crate::files::LogFiles;
use crate::tile::TILE_WIDTH;

/// Digits of a position in its file: a new one overwrites an old one as a whole.
const DIGITS: usize = 20;

/// The position of a sink in a log, which no other process may move meanwhile.
pub struct SinkCursor {
    files: LogFiles,
    path: PathBuf,
    file: File,
    next: u64,
}

impl SinkCursor {
    /// The cursor of a sink in a log; `None` if another process has it. A new sink begins with the
    /// oldest event.
    pub fn acquire(files: LogFiles, sink: &str) -> Result<Option<Self>, AuditError> {
        let path = path(&files, sink);
        let open = OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(&path);
        let mut file = open.map_err(AuditError::file(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            Err(fs::TryLockError::Error(error)) => return Err(AuditError::file(&path)(error)),
        }
        let next = position(&mut file).map_err(AuditError::file(&path))?;
        Ok(Some(Self {
            files,
            path,
            file,
            next,
        }))
    }

    /// The folder of the log.
    pub fn folder(&self) -> &Path {
        &self.files.folder
    }

    /// The next events, as they are stored; an empty list if the sink has all.
    pub fn batch(&mut self, most: usize) -> Result<Vec<String>, AuditError> {
        let mut index = self.next / TILE_WIDTH;
        let bytes = loop {
            match bundle::read(&self.files.folder, index)? {
                Bundle::Full(bytes)
                | Bundle::Archived { bytes, .. }
                | Bundle::Partial { bytes, .. } => break bytes,
                // Removed by retention if there are later ones.
                Bundle::Missing if index < size(&self.files)? / TILE_WIDTH => index += 1,
                Bundle::Missing => return Ok(Vec::new()),
            }
        };
        self.next = self.next.max(index * TILE_WIDTH);
        let behind = (self.next % TILE_WIDTH) as usize;
        let entries = bundle::entries(&bytes)
            .0
            .into_iter()
            .skip(behind)
            .take(most);
        Ok(entries
            .map(|entry| String::from_utf8_lossy(entry).into_owned())
            .collect())
    }

    /// How many signed events the sink does not have.
    pub fn waiting(&self) -> Result<u64, AuditError> {
        Ok(size(&self.files)?.saturating_sub(self.next))
    }

    /// The sink has taken the next `count` events.
    pub fn advance(&mut self, count: u64) -> Result<(), AuditError> {
        let next = self.next + count;
        let write = |file: &mut File| -> io::Result<()> {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(format!("{next:0DIGITS$}").as_bytes())
        };
        write(&mut self.file).map_err(AuditError::file(&self.path))?;
        self.next = next;
        Ok(())
    }
}

/// How many signed events of a log a sink does not have, whichever process sends them.
pub fn waiting(files: &LogFiles, sink: &str) -> Result<u64, AuditError> {
    let path = path(files, sink);
    let next = match File::open(&path).and_then(|mut file| position(&mut file)) {
        Ok(next) => next,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(AuditError::file(&path)(error)),
    };
    Ok(size(files)?.saturating_sub(next))
}

fn path(files: &LogFiles, sink: &str) -> PathBuf {
    files.path(&format!("sink-{sink}"))
}

/// The position in a file. One that cannot be read is the oldest one: at least once.
fn position(file: &mut File) -> io::Result<u64> {
    let mut text = String::new();
    Read::by_ref(file)
        .take(DIGITS as u64)
        .read_to_string(&mut text)?;
    Ok(text.trim().parse().unwrap_or(0))
}

/// The events that the newest checkpoint covers.
fn size(files: &LogFiles) -> Result<u64, AuditError> {
    let checkpoint = files.checkpoint(&files.verifying_key()?)?;
    Ok(checkpoint.map_or(0, |checkpoint| checkpoint.size))
}
