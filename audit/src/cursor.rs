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
        let path = files.path(&format!("sink-{sink}"));
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
        let mut text = String::new();
        let read = Read::by_ref(&mut file)
            .take(DIGITS as u64)
            .read_to_string(&mut text);
        read.map_err(AuditError::file(&path))?;
        // A position that cannot be read is the oldest one: at least once.
        let next = text.trim().parse().unwrap_or(0);
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
        loop {
            let index = self.next / TILE_WIDTH;
            let bytes = match bundle::read(&self.files.folder, index)? {
                Bundle::Full(bytes)
                | Bundle::Archived { bytes, .. }
                | Bundle::Partial { bytes, .. } => bytes,
                Bundle::Missing => {
                    // Removed by retention if there are later ones.
                    match bundle::read(&self.files.folder, index + 1)? {
                        Bundle::Missing => return Ok(Vec::new()),
                        _ => {
                            self.next = (index + 1) * TILE_WIDTH;
                            continue;
                        }
                    }
                }
            };
            let behind = (self.next % TILE_WIDTH) as usize;
            let entries = bundle::entries(&bytes)
                .0
                .into_iter()
                .skip(behind)
                .take(most);
            return Ok(entries
                .map(|entry| String::from_utf8_lossy(entry).into_owned())
                .collect());
        }
    }

    /// The sink has taken the next `count` events.
    pub fn advance(&mut self, count: usize) -> Result<(), AuditError> {
        let next = self.next + count as u64;
        let write = |file: &mut File| -> io::Result<()> {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(format!("{next:0DIGITS$}").as_bytes())
        };
        write(&mut self.file).map_err(AuditError::file(&self.path))?;
        self.next = next;
        Ok(())
    }
}
