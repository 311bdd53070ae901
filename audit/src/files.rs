//! The files of one log: key, checkpoint, history of checkpoints, hash tiles.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pml_files::{Access, write_atomic};

use crate::bundle::read_optional;
use crate::checkpoint::Checkpoint;
use crate::error::AuditError;
use crate::hash::Hash;
use crate::note::{SigningKey, VerifyingKey};
use crate::tile::{self, TILE_WIDTH};

/// Lines of a signed checkpoint: name, size, root, an empty one, the signature.
const CHECKPOINT_LINES: usize = 5;

/// The folder of one log.
#[derive(Debug, Clone)]
pub struct LogFiles {
    pub folder: PathBuf,
    /// Whether what is written survives a power failure, not only the end of the process.
    pub sync: bool,
}

impl LogFiles {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            sync: true,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The key of the log; a new log gets a new one.
    pub fn signing_key(&self) -> Result<SigningKey, AuditError> {
        let path = self.path("key");
        if let Some(bytes) = read_optional(&path)? {
            let text = String::from_utf8_lossy(&bytes);
            let key = SigningKey::parse(&text)
                .map_err(|error| AuditError::damaged(&path, error.to_string()))?;
            return match text == format!("{}\n", key.to_secret_text()) {
                true => Ok(key),
                false => Err(AuditError::damaged(&path, "it is more or less than a key")),
            };
        }
        if self.path("checkpoint").exists() {
            return Err(AuditError::damaged(&path, "the key of the log is missing"));
        }
        let mut name = [0; 8];
        ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut name)
            .map_err(|_| AuditError::invalid("key", "the system has no randomness"))?;
        let key = SigningKey::generate(&format!("pml/{:016x}", u64::from_be_bytes(name)))?;
        let public = format!("{}\n", key.verifying_key().to_text());
        self.write("key.pub", public.as_bytes())?;
        let secret = format!("{}\n", key.to_secret_text());
        self.write("key", secret.as_bytes())?;
        Ok(key)
    }

    pub fn verifying_key(&self) -> Result<VerifyingKey, AuditError> {
        let path = self.path("key.pub");
        let text = fs::read_to_string(&path).map_err(AuditError::file(&path))?;
        let key = VerifyingKey::parse(&text)
            .map_err(|error| AuditError::damaged(&path, error.to_string()))?;
        match text == format!("{}\n", key.to_text()) {
            true => Ok(key),
            false => Err(AuditError::damaged(&path, "it is more or less than a key")),
        }
    }

    /// The newest checkpoint. `None` in a new log.
    pub fn checkpoint(&self, key: &VerifyingKey) -> Result<Option<Checkpoint>, AuditError> {
        let path = self.path("checkpoint");
        let Some(bytes) = read_optional(&path)? else {
            return Ok(None);
        };
        let note = String::from_utf8_lossy(&bytes);
        let checkpoint = Checkpoint::open(&note, key);
        checkpoint
            .map(Some)
            .map_err(|error| AuditError::damaged(&path, error.to_string()))
    }

    pub fn write_checkpoint(&self, note: &str) -> Result<(), AuditError> {
        self.write("checkpoint", note.as_bytes())
    }

    /// Adds a checkpoint to those that are kept for ever.
    pub fn keep_checkpoint(&self, note: &str) -> Result<(), AuditError> {
        let path = self.path("checkpoints");
        let write = || -> io::Result<()> {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            let before = file.metadata()?.len();
            file.write_all(note.as_bytes()).inspect_err(|_| {
                // A part of a checkpoint would be damage.
                let _ = file.set_len(before);
            })
        };
        write().map_err(AuditError::file(&path))
    }

    /// The checkpoints that were kept, oldest first.
    pub fn kept_checkpoints(&self, key: &VerifyingKey) -> Result<Vec<Checkpoint>, AuditError> {
        let path = self.path("checkpoints");
        let Some(bytes) = read_optional(&path)? else {
            return Ok(Vec::new());
        };
        let damaged = |reason: String| AuditError::damaged(&path, reason);
        let text = String::from_utf8(bytes).map_err(|error| damaged(error.to_string()))?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines
            .chunks(CHECKPOINT_LINES)
            .enumerate()
            .map(|(number, note)| {
                let checkpoint = Checkpoint::open(&note.concat(), key);
                checkpoint.map_err(|error| damaged(format!("checkpoint {}: {error}", number + 1)))
            })
            .collect()
    }

    /// The hashes of a tile; of a partial tile, which may be full by now, the first `width`.
    pub fn tile(&self, level: u8, index: u64, width: u64) -> Result<Vec<Hash>, AuditError> {
        let mut path = tile::hash_tile(&self.folder, level, index, width);
        let mut bytes = read_optional(&path)?;
        if bytes.is_none() && width < TILE_WIDTH {
            path = tile::hash_tile(&self.folder, level, index, TILE_WIDTH);
            bytes = read_optional(&path)?;
        }
        let bytes = bytes.ok_or_else(|| AuditError::damaged(&path, "the tile is missing"))?;
        let hashes: Vec<Hash> = bytes.chunks(32).filter_map(Hash::from_slice).collect();
        let is_whole = bytes.len() % 32 == 0 && hashes.len() as u64 >= width;
        match is_whole {
            true => Ok(hashes[..width as usize].to_vec()),
            false => Err(AuditError::damaged(&path, "the tile is not whole")),
        }
    }

    pub fn write_tile(&self, level: u8, index: u64, hashes: &[Hash]) -> Result<(), AuditError> {
        let path = tile::hash_tile(&self.folder, level, index, hashes.len() as u64);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(AuditError::file(folder))?;
        }
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.0).collect();
        self.replace(&path, &bytes)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), AuditError> {
        self.replace(&self.path(name), bytes)
    }

    /// Writes a file that is there as a whole or not at all.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), AuditError> {
        if self.sync {
            return write_atomic(path, bytes, Access::OwnerOnly).map_err(AuditError::file(path));
        }
        let temporary = path.with_extension("new");
        let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
        written.map_err(AuditError::file(path))
    }

    /// Takes the log for this process. `None` if another process has it.
    pub fn lock(&self) -> Result<Option<File>, AuditError> {
        let path = self.path("lock");
        let open = OpenOptions::new().create(true).append(true).open(&path);
        let file = open.map_err(AuditError::file(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(AuditError::file(&path)(error)),
        }
    }
}
