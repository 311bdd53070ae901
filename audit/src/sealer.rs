//! Adds new entries to the tree and signs checkpoints, away from the path of calls.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::checkpoint::Checkpoint;
use crate::error::AuditError;
use crate::files::LogFiles;
use crate::hash::Hash;
use crate::note::SigningKey;
use crate::tile;
use crate::tree::Tree;
use crate::writer::Unsealed;

/// How often a checkpoint is kept for ever, besides the last one of a process.
const KEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The tree of a log, and its key.
pub struct Sealer {
    files: LogFiles,
    key: SigningKey,
    tree: Tree,
    /// Hashes whose checkpoint could not be written.
    waiting: Vec<Hash>,
    unsynced: Vec<PathBuf>,
    /// Partial tiles that the newest checkpoint needs.
    partial: Vec<PathBuf>,
    kept: Option<Instant>,
    newest: Option<String>,
}

impl Sealer {
    pub fn new(files: LogFiles, key: SigningKey, tree: Tree) -> Self {
        let path = |(level, index, hashes): (u8, u64, &[Hash])| {
            tile::hash_tile(&files.folder, level, index, hashes.len() as u64)
        };
        let partial = tree.partial_tiles().map(path).collect();
        Self {
            files,
            key,
            tree,
            waiting: Vec::new(),
            unsynced: Vec::new(),
            partial,
            kept: None,
            newest: None,
        }
    }

    /// Whether a checkpoint is still to be written.
    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Covers new entries with a checkpoint. If that fails, they wait for the next attempt.
    pub fn seal(&mut self, unsealed: Unsealed) -> Result<(), AuditError> {
        self.waiting.extend(unsealed.hashes);
        self.unsynced.extend(unsealed.written);
        self.unsynced.dedup();
        // The tree changes only if everything is written.
        let mut tree = self.tree.clone();
        let mut full = Vec::new();
        for hash in &self.waiting {
            tree.push(*hash, |tile| full.push(tile));
        }
        for tile in &full {
            self.files
                .write_tile(tile.level, tile.index, &tile.hashes)?;
        }
        let mut partial = Vec::new();
        for (level, index, hashes) in tree.partial_tiles() {
            let path = tile::hash_tile(&self.files.folder, level, index, hashes.len() as u64);
            if !self.partial.contains(&path) {
                self.files.write_tile(level, index, hashes)?;
            }
            partial.push(path);
        }
        self.sync()?;
        let checkpoint = Checkpoint {
            origin: self.key.name().to_owned(),
            size: tree.size(),
            root: tree.root(),
        };
        let note = self.key.sign(&checkpoint.to_string());
        self.files.write_checkpoint(&note)?;
        self.tree = tree;
        self.waiting.clear();
        let before = std::mem::replace(&mut self.partial, partial);
        for path in before.iter().filter(|path| !self.partial.contains(path)) {
            // What stays is of no harm.
            let _ = fs::remove_file(path);
            let _ = path.parent().map(fs::remove_dir);
        }
        self.newest = Some(note);
        match self.kept.is_none_or(|kept| kept.elapsed() >= KEEP_INTERVAL) {
            true => self.keep(),
            false => Ok(()),
        }
    }

    /// Keeps the newest checkpoint for ever.
    pub fn keep(&mut self) -> Result<(), AuditError> {
        if let Some(note) = &self.newest {
            self.files.keep_checkpoint(note)?;
            self.newest = None;
            self.kept = Some(Instant::now());
        }
        Ok(())
    }

    /// Entries reach the disk before the checkpoint that covers them.
    fn sync(&mut self) -> Result<(), AuditError> {
        let written = std::mem::take(&mut self.unsynced);
        if !self.files.sync {
            return Ok(());
        }
        for path in written {
            // A bundle that is filled meanwhile has another name, and is synced with the next checkpoint.
            if let Ok(file) = File::open(&path) {
                file.sync_data().map_err(AuditError::file(&path))?;
            }
        }
        Ok(())
    }
}
