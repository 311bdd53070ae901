//! Checks that a log is whole: every entry against the tiles, the tiles against the signed checkpoints.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::bundle::{self, Bundle};
use crate::checkpoint::Checkpoint;
use crate::error::AuditError;
use crate::files::LogFiles;
use crate::hash::{Hash, leaf_hash};
use crate::note::VerifyingKey;
use crate::retention::{ARCHIVED, PRUNED};
use crate::tile::{self, TILE_WIDTH};
use crate::tree::Tree;

/// Something that is not as the log wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Where.
    pub path: PathBuf,
    /// What is wrong.
    pub what: String,
}

/// What was found in a folder of logs.
#[derive(Debug, Default, Serialize)]
pub struct Verified {
    /// The logs.
    pub logs: Vec<VerifiedLog>,
    /// Damage that is of no single log.
    pub damage: Vec<Damage>,
}

impl Verified {
    /// Whether nothing is damaged.
    pub fn is_whole(&self) -> bool {
        self.all_damage().next().is_none()
    }

    /// All damage.
    pub fn all_damage(&self) -> impl Iterator<Item = &Damage> {
        self.logs
            .iter()
            .flat_map(|log| &log.damage)
            .chain(&self.damage)
    }
}

/// What was found in one log.
#[derive(Debug, Default, Serialize)]
pub struct VerifiedLog {
    /// Its folder.
    pub folder: PathBuf,
    /// Its name.
    pub origin: String,
    /// Its root, hexadecimal.
    pub root: String,
    /// Entries that the newest checkpoint covers.
    pub size: u64,
    /// Entries behind the checkpoint, which nothing proves yet.
    pub uncovered: u64,
    /// Entries that are not kept any more; their hashes are.
    pub pruned: u64,
    /// Checkpoints that the tree was compared with.
    pub checkpoints: usize,
    /// What is wrong.
    pub damage: Vec<Damage>,
    /// Logs that this one knows, with their sizes at that time.
    #[serde(skip)]
    pub known: Vec<(String, u64)>,
}

/// Checks a log, and that it contains the checkpoints of it among `kept`.
pub fn verify_log(files: &LogFiles, kept: &[String]) -> VerifiedLog {
    let mut pass = Pass::new(files);
    if let Err(error) = pass.run(kept) {
        let (path, what) = match error {
            AuditError::Damaged { path, reason } => (path, reason),
            AuditError::File { path, source } => (path, source.to_string()),
            other => (files.folder.clone(), other.to_string()),
        };
        pass.damaged(&path, what);
    }
    pass.log
}

struct Pass<'a> {
    files: &'a LogFiles,
    log: VerifiedLog,
    tree: Tree,
    /// Compressed bundles: position and digest of the file.
    archives: Vec<(u64, String)>,
    missing: Vec<u64>,
    /// What events of the log say about compressed and removed bundles.
    archived: HashSet<(u64, String)>,
    pruned: HashSet<u64>,
}

impl<'a> Pass<'a> {
    fn new(files: &'a LogFiles) -> Self {
        Self {
            files,
            log: VerifiedLog {
                folder: files.folder.clone(),
                ..VerifiedLog::default()
            },
            tree: Tree::default(),
            archives: Vec::new(),
            missing: Vec::new(),
            archived: HashSet::new(),
            pruned: HashSet::new(),
        }
    }

    fn damaged(&mut self, path: &Path, what: impl Into<String>) {
        self.log.damage.push(Damage {
            path: path.to_owned(),
            what: what.into(),
        });
    }

    fn run(&mut self, kept: &[String]) -> Result<(), AuditError> {
        let key = self.files.verifying_key()?;
        self.log.origin = key.name().to_owned();
        if self.files.path("key").exists() && self.files.signing_key()?.verifying_key() != key {
            self.damaged(&self.files.path("key"), "it is not the key of this log");
        }
        let path = self.files.path("checkpoint");
        let Some(newest) = self.files.checkpoint(&key)? else {
            let is_new = matches!(bundle::read(&self.files.folder, 0)?, Bundle::Missing)
                && !self.files.path("checkpoints").exists();
            if !is_new {
                self.damaged(&path, "the checkpoint is missing");
            }
            return Ok(());
        };
        self.log.size = newest.size;
        self.log.root = newest.root.to_string();
        let checkpoints = self.checkpoints(&key, kept, &newest)?;
        self.log.checkpoints = checkpoints.len();
        self.entries(&newest, &checkpoints)?;
        self.archives();
        Ok(())
    }

    /// All checkpoints that the tree must go through, by size.
    fn checkpoints(
        &mut self,
        key: &VerifyingKey,
        kept: &[String],
        newest: &Checkpoint,
    ) -> Result<Vec<Checkpoint>, AuditError> {
        let mut all = self.files.kept_checkpoints(key)?;
        if all.is_empty() && newest.size > 0 {
            self.damaged(
                &self.files.path("checkpoints"),
                "the earlier checkpoints are missing",
            );
        }
        for note in kept {
            if note.lines().next() == Some(key.name()) {
                match Checkpoint::open(note, key) {
                    Ok(checkpoint) => all.push(checkpoint),
                    Err(error) => {
                        let what = format!("a checkpoint that was kept elsewhere: {error}");
                        self.damaged(&self.files.path("key.pub"), what);
                    }
                }
            }
        }
        for early in all.iter().filter(|known| known.size > newest.size) {
            let what = format!(
                "the log had {} entries, and its checkpoint covers {}",
                early.size, newest.size
            );
            self.log.damage.push(Damage {
                path: self.files.path("checkpoint"),
                what,
            });
        }
        all.retain(|known| known.size <= newest.size);
        all.push(newest.clone());
        all.sort_by_key(|known| known.size);
        Ok(all)
    }

    fn entries(
        &mut self,
        newest: &Checkpoint,
        checkpoints: &[Checkpoint],
    ) -> Result<(), AuditError> {
        let mut due = checkpoints.iter().peekable();
        let mut index = 0;
        loop {
            let begin = index * TILE_WIDTH;
            let covered = newest.size.saturating_sub(begin).min(TILE_WIDTH);
            let hashes = self.bundle(index, covered)?;
            for hash in hashes.iter().take(covered as usize) {
                self.compare(&mut due);
                self.push(*hash);
            }
            self.log.uncovered += hashes.len() as u64 - covered.min(hashes.len() as u64);
            if (hashes.len() as u64) < covered {
                let path = tile::entry_bundle(&self.files.folder, index, TILE_WIDTH);
                let what = format!(
                    "entries from {} on are missing",
                    begin + hashes.len() as u64
                );
                self.damaged(&path, what);
                return Ok(());
            }
            if (hashes.len() as u64) < TILE_WIDTH {
                break;
            }
            index += 1;
        }
        self.compare(&mut due);
        self.partial_tiles()
    }

    /// Compares the tree with the checkpoints of its size.
    fn compare<'c>(&mut self, due: &mut std::iter::Peekable<impl Iterator<Item = &'c Checkpoint>>) {
        while let Some(known) = due.next_if(|known| known.size <= self.tree.size()) {
            if known.size == self.tree.size() && known.root != self.tree.root() {
                let what = format!(
                    "the first {} entries are not those that were signed",
                    known.size
                );
                self.damaged(&self.files.path("checkpoint"), what);
            }
        }
    }

    fn push(&mut self, hash: Hash) {
        let mut full = Vec::new();
        self.tree.push(hash, |tile| full.push(tile));
        for tile in full {
            self.tile(tile.level, tile.index, &tile.hashes);
        }
    }

    fn partial_tiles(&mut self) -> Result<(), AuditError> {
        let tree = self.tree.clone();
        for (level, index, hashes) in tree.partial_tiles() {
            self.tile(level, index, hashes);
        }
        Ok(())
    }

    /// Compares a tile with what the entries give.
    fn tile(&mut self, level: u8, index: u64, hashes: &[Hash]) {
        let width = hashes.len() as u64;
        let path = tile::hash_tile(&self.files.folder, level, index, width);
        let expected: Vec<u8> = hashes.iter().flat_map(|hash| hash.0).collect();
        let what = match bundle::read_optional(&path) {
            Ok(Some(found)) if found == expected => return,
            // A writer has replaced it by a wider one meanwhile.
            Ok(None)
                if width < TILE_WIDTH
                    && self
                        .files
                        .tile(level, index, width)
                        .is_ok_and(|found| found == hashes) =>
            {
                return;
            }
            Ok(None) => "the tile is missing".to_owned(),
            Ok(Some(found)) => {
                let at = found
                    .chunks(32)
                    .zip(expected.chunks(32))
                    .position(|(one, other)| one != other);
                let first =
                    index * TILE_WIDTH + at.unwrap_or(hashes.len().min(found.len() / 32)) as u64;
                match level {
                    0 => format!(
                        "entry {first} is not the one that was logged, or this tile was changed"
                    ),
                    _ => "this tile was changed, or entries below it".to_owned(),
                }
            }
            Err(error) => error.to_string(),
        };
        self.damaged(&path, what);
    }

    /// The hashes of the entries of a bundle.
    fn bundle(&mut self, index: u64, covered: u64) -> Result<Vec<Hash>, AuditError> {
        let path = tile::entry_bundle(&self.files.folder, index, TILE_WIDTH);
        let (bytes, is_full) = match bundle::read(&self.files.folder, index)? {
            Bundle::Full(bytes) => (bytes, true),
            Bundle::Archived { file, bytes } => {
                self.archives.push((index, Hash::of(&file).to_string()));
                (bytes, true)
            }
            Bundle::Partial { bytes, .. } => (bytes, false),
            Bundle::Missing if covered == TILE_WIDTH => {
                self.missing.push(index);
                self.log.pruned += TILE_WIDTH;
                return self.files.tile(0, index, TILE_WIDTH);
            }
            Bundle::Missing => return Ok(Vec::new()),
        };
        let (entries, whole) = bundle::entries(&bytes);
        // The last entry of a process that was killed may be a part.
        let may_be_torn = !is_full && covered < TILE_WIDTH;
        if (whole < bytes.len() && !may_be_torn)
            || entries.len() as u64 > TILE_WIDTH
            || (is_full && (entries.len() as u64) < TILE_WIDTH)
        {
            self.damaged(
                &path,
                format!("the bundle does not consist of {TILE_WIDTH} entries"),
            );
        }
        for entry in entries.iter().take(covered as usize) {
            self.note(entry);
        }
        Ok(entries.into_iter().map(leaf_hash).collect())
    }

    /// Notes what an event says about other parts of the logs.
    fn note(&mut self, entry: &[u8]) {
        let says = |text: &str| memchr::memmem::find(entry, text.as_bytes()).is_some();
        if !says(ARCHIVED) && !says(PRUNED) && !says("pml.log.opened") {
            return;
        }
        let Ok(event) = serde_json::from_slice::<Value>(entry) else {
            return;
        };
        let data = &event["data"];
        let bundle = data["bundle"].as_u64();
        match (event["type"].as_str(), bundle) {
            (Some(ARCHIVED), Some(bundle)) => {
                let digest = data["sha256"].as_str().unwrap_or_default();
                self.archived.insert((bundle, digest.to_owned()));
            }
            (Some(PRUNED), Some(bundle)) => {
                self.pruned.insert(bundle);
            }
            (Some("pml.log.opened"), _) => {
                let logs = data["logs"].as_array().into_iter().flatten();
                self.log.known.extend(logs.filter_map(|log| {
                    Some((log["origin"].as_str()?.to_owned(), log["size"].as_u64()?))
                }));
            }
            _ => {}
        }
    }

    /// Compares compressed and missing bundles with what the log says about them.
    fn archives(&mut self) {
        for (index, digest) in std::mem::take(&mut self.archives) {
            if !self.archived.contains(&(index, digest)) {
                let path = bundle::archive_path(&self.files.folder, index);
                self.damaged(&path, "the file is not the one that the log wrote");
            }
        }
        for index in std::mem::take(&mut self.missing) {
            if !self.pruned.contains(&index) {
                let path = tile::entry_bundle(&self.files.folder, index, TILE_WIDTH);
                self.damaged(
                    &path,
                    "the bundle was removed, and not by the retention of the log",
                );
            }
        }
    }
}
