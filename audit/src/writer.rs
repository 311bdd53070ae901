//! Appends entries to the last bundle of a log.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use crate::bundle::MAX_ENTRY;
use crate::error::AuditError;
use crate::event::write_entry;
use crate::files::LogFiles;
use crate::hash::{Hash, leaf_hash};
use crate::tile::{self, TILE_WIDTH};

/// The end of a log, to which one thread at a time appends. An entry is in the file when
/// [`LogWriter::append`] returns: it survives the end of this process.
pub struct LogWriter {
    files: LogFiles,
    origin: String,
    size: u64,
    /// The partial bundle; `None` before its first entry.
    open: Option<OpenBundle>,
    /// Hashes of entries that are not in the tree yet.
    unsealed: Vec<Hash>,
    /// Bundles that were filled since the last checkpoint.
    filled: Vec<PathBuf>,
    buffer: Vec<u8>,
}

/// The bundle that entries are appended to.
pub struct OpenBundle {
    pub index: u64,
    pub file: File,
    pub path: PathBuf,
    pub bytes: u64,
}

/// What a checkpoint is to cover.
pub struct Unsealed {
    pub hashes: Vec<Hash>,
    /// Files whose bytes must reach the disk before the checkpoint does.
    pub written: Vec<PathBuf>,
}

impl LogWriter {
    pub fn new(
        files: LogFiles,
        origin: &str,
        size: u64,
        open: Option<OpenBundle>,
        unsealed: Vec<Hash>,
    ) -> Self {
        Self {
            files,
            origin: origin.to_owned(),
            size,
            open,
            unsealed,
            filled: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Appends an event and returns its position.
    pub fn append(&mut self, members: &[u8]) -> Result<u64, AuditError> {
        let index = self.size;
        self.buffer.clear();
        self.buffer.extend_from_slice(&[0, 0]);
        write_entry(&mut self.buffer, &self.origin, index, members);
        let length = self.buffer.len() - 2;
        let Some(length) = u16::try_from(length).ok().filter(|_| length <= MAX_ENTRY) else {
            return Err(AuditError::TooLarge(length));
        };
        self.buffer[..2].copy_from_slice(&length.to_be_bytes());
        self.write()?;
        self.unsealed.push(leaf_hash(&self.buffer[2..]));
        self.size += 1;
        if self.size.is_multiple_of(TILE_WIDTH) {
            self.close_bundle()?;
        }
        Ok(index)
    }

    /// Writes the buffer to the bundle, or leaves the bundle as it was.
    fn write(&mut self) -> Result<(), AuditError> {
        // The bundle is full already where an earlier rename failed, or the process ended before it.
        let next = self.size / TILE_WIDTH;
        if self.open.as_ref().is_some_and(|open| open.index < next) {
            self.close_bundle()?;
        }
        let open = match &mut self.open {
            Some(open) => open,
            empty => {
                let bundle = create(&self.files, self.size / TILE_WIDTH)?;
                empty.insert(bundle)
            }
        };
        let written = open.file.write_all(&self.buffer);
        if let Err(error) = written {
            // A part of an entry would hide all that follow. If it stays, the next start removes it.
            let _ = open.file.set_len(open.bytes);
            return Err(AuditError::file(&open.path)(error));
        }
        open.bytes += self.buffer.len() as u64;
        Ok(())
    }

    /// Gives a full bundle its name.
    fn close_bundle(&mut self) -> Result<(), AuditError> {
        let Some(open) = &self.open else {
            return Ok(());
        };
        let path = tile::entry_bundle(&self.files.folder, open.index, TILE_WIDTH);
        fs::rename(&open.path, &path).map_err(AuditError::file(&path))?;
        // The folder of the partial bundle is empty now.
        let _ = fs::remove_dir(tile::partial_bundles(&self.files.folder, open.index));
        self.open = None;
        self.filled.push(path);
        Ok(())
    }

    /// Takes what the next checkpoint is to cover, and names the partial bundle after it.
    pub fn take_unsealed(&mut self) -> Result<Unsealed, AuditError> {
        let mut written = std::mem::take(&mut self.filled);
        if let Some(open) = &mut self.open {
            let (index, width) = (self.size / TILE_WIDTH, self.size % TILE_WIDTH);
            if width > 0 {
                let path = tile::entry_bundle(&self.files.folder, index, width);
                fs::rename(&open.path, &path).map_err(AuditError::file(&path))?;
                open.path = path;
            }
            written.push(open.path.clone());
        }
        Ok(Unsealed {
            hashes: std::mem::take(&mut self.unsealed),
            written,
        })
    }
}

fn create(files: &LogFiles, index: u64) -> Result<OpenBundle, AuditError> {
    let path = tile::entry_bundle(&files.folder, index, 0);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(AuditError::file(folder))?;
    }
    let open = OpenOptions::new().create(true).append(true).open(&path);
    let file = open.map_err(AuditError::file(&path))?;
    let bytes = file.metadata().map_err(AuditError::file(&path))?.len();
    Ok(OpenBundle {
        index,
        file,
        path,
        bytes,
    })
}
