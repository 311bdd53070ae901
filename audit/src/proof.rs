//! Proofs that an entry is in the log, and that the log has only grown (RFC 6962, section 2.1).

use std::cell::RefCell;
use std::collections::HashMap;

use serde::Serialize;

use crate::bundle::{self, Bundle};
use crate::checkpoint::Checkpoint;
use crate::error::AuditError;
use crate::files::LogFiles;
use crate::hash::{Hash, leaf_hash, node_hash, split};
use crate::tile::TILE_WIDTH;

/// A proof, with everything that another program needs to verify it.
#[derive(Debug, Clone, Serialize)]
pub struct Proof {
    /// The signed checkpoint.
    pub checkpoint: String,
    /// The key that verifies the checkpoint.
    pub key: String,
    /// The size of the tree.
    pub size: u64,
    /// The root of the tree, base64.
    pub root: String,
    /// The position of the entry; of a proof of growth, the earlier size.
    pub index: u64,
    /// The entry, byte for byte; none in a proof of growth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The hash of the entry; of a proof of growth, the earlier root. Base64.
    pub hash: String,
    /// The hashes of the proof, base64.
    pub proof: Vec<String>,
}

/// Why a proof proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the proof does not lead to the root of the checkpoint")]
pub struct ProofError;

/// Reads the hashes of a tree.
struct TreeReader<'a> {
    files: &'a LogFiles,
    size: u64,
    tiles: RefCell<HashMap<(u8, u64), Vec<Hash>>>,
}

impl TreeReader<'_> {
    /// The root over the entries `from..to`, which is a subtree of RFC 6962.
    fn root(&self, from: u64, to: u64) -> Result<Hash, AuditError> {
        let width = to - from;
        if !width.is_power_of_two() {
            let middle = from + split(width);
            return Ok(node_hash(self.root(from, middle)?, self.root(middle, to)?));
        }
        // The tile whose hashes are the highest below this subtree.
        let height = width.trailing_zeros();
        let level = (height / 8) as u8;
        if !height.is_multiple_of(8) {
            let middle = from + width / 2;
            return Ok(node_hash(self.root(from, middle)?, self.root(middle, to)?));
        }
        let node = from >> height;
        let (tile, at) = (node / TILE_WIDTH, (node % TILE_WIDTH) as usize);
        let mut tiles = self.tiles.borrow_mut();
        if let Some(hashes) = tiles.get(&(level, tile)) {
            return Ok(hashes[at]);
        }
        let nodes = self.size >> height;
        let present = (nodes - tile * TILE_WIDTH).min(TILE_WIDTH);
        let hashes = self.files.tile(level, tile, present)?;
        let hash = hashes[at];
        tiles.insert((level, tile), hashes);
        Ok(hash)
    }

    fn path(&self, index: u64, from: u64, to: u64) -> Result<Vec<Hash>, AuditError> {
        if to - from == 1 {
            return Ok(Vec::new());
        }
        let middle = from + split(to - from);
        let (mut path, sibling) = match index < middle {
            true => (self.path(index, from, middle)?, self.root(middle, to)?),
            false => (self.path(index, middle, to)?, self.root(from, middle)?),
        };
        path.push(sibling);
        Ok(path)
    }

    /// `SUBPROOF` of RFC 6962 for the entries `from..to` and the earlier size `from + earlier`.
    fn growth(
        &self,
        earlier: u64,
        from: u64,
        to: u64,
        is_root: bool,
    ) -> Result<Vec<Hash>, AuditError> {
        if from + earlier == to {
            return Ok(match is_root {
                true => Vec::new(),
                false => vec![self.root(from, to)?],
            });
        }
        let half = split(to - from);
        let middle = from + half;
        let (mut path, sibling) = match earlier <= half {
            true => (
                self.growth(earlier, from, middle, is_root)?,
                self.root(middle, to)?,
            ),
            false => (
                self.growth(earlier - half, middle, to, false)?,
                self.root(from, middle)?,
            ),
        };
        path.push(sibling);
        Ok(path)
    }
}

fn checkpoint(files: &LogFiles) -> Result<(String, String, Checkpoint), AuditError> {
    let path = files.path("checkpoint");
    let key = files.verifying_key()?;
    let note = std::fs::read_to_string(&path).map_err(AuditError::file(&path))?;
    let checkpoint = Checkpoint::open(&note, &key)
        .map_err(|error| AuditError::damaged(&path, error.to_string()))?;
    Ok((note, key.to_text(), checkpoint))
}

fn reader(files: &LogFiles, size: u64) -> TreeReader<'_> {
    TreeReader {
        files,
        size,
        tiles: RefCell::default(),
    }
}

fn to_base64(hashes: Vec<Hash>) -> Vec<String> {
    hashes.into_iter().map(Hash::to_base64).collect()
}

/// The proof that an entry is in the log.
pub fn inclusion(files: &LogFiles, index: u64) -> Result<Proof, AuditError> {
    let (note, key, Checkpoint { size, root, .. }) = checkpoint(files)?;
    if index >= size {
        return Err(AuditError::NoEntry { index, size });
    }
    let bytes = match bundle::read(&files.folder, index / TILE_WIDTH)? {
        Bundle::Full(bytes) | Bundle::Archived { bytes, .. } | Bundle::Partial { bytes, .. } => {
            bytes
        }
        Bundle::Missing => return Err(AuditError::Pruned(index)),
    };
    let entries = bundle::entries(&bytes).0;
    let entry = entries.get((index % TILE_WIDTH) as usize);
    let entry = entry.ok_or(AuditError::Pruned(index))?;
    let hash = leaf_hash(entry);
    let path = reader(files, size).path(index, 0, size)?;
    verify_inclusion(hash, index, size, &path, root)
        .map_err(|error| AuditError::damaged(&files.folder, format!("entry {index}: {error}")))?;
    Ok(Proof {
        checkpoint: note,
        key,
        size,
        root: root.to_base64(),
        index,
        entry: Some(String::from_utf8_lossy(entry).into_owned()),
        hash: hash.to_base64(),
        proof: to_base64(path),
    })
}

/// The proof that the log has only grown since it had `earlier` entries.
pub fn consistency(files: &LogFiles, earlier: u64) -> Result<Proof, AuditError> {
    let (note, key, Checkpoint { size, root, .. }) = checkpoint(files)?;
    if earlier == 0 || earlier > size {
        return Err(AuditError::NoEntry {
            index: earlier,
            size,
        });
    }
    let reader = reader(files, size);
    let path = reader.growth(earlier, 0, size, true)?;
    let before = reader.root(0, earlier)?;
    Ok(Proof {
        checkpoint: note,
        key,
        size,
        root: root.to_base64(),
        index: earlier,
        entry: None,
        hash: before.to_base64(),
        proof: to_base64(path),
    })
}

/// Verifies that the entry with this hash is at `index` of the tree.
///
/// # Errors
///
/// The proof does not lead to `root`.
pub fn verify_inclusion(
    hash: Hash,
    index: u64,
    size: u64,
    proof: &[Hash],
    root: Hash,
) -> Result<(), ProofError> {
    if index >= size {
        return Err(ProofError);
    }
    let (mut node, mut last, mut hash) = (index, size - 1, hash);
    for sibling in proof {
        if last == 0 {
            return Err(ProofError);
        }
        if node % 2 == 1 || node == last {
            hash = node_hash(*sibling, hash);
            while node % 2 == 0 && node != 0 {
                node /= 2;
                last /= 2;
            }
        } else {
            hash = node_hash(hash, *sibling);
        }
        node /= 2;
        last /= 2;
    }
    match last == 0 && hash == root {
        true => Ok(()),
        false => Err(ProofError),
    }
}

/// Verifies that the tree of `size` entries begins with that of `earlier` entries.
///
/// # Errors
///
/// The proof does not lead from one root to the other.
pub fn verify_consistency(
    earlier: (u64, Hash),
    now: (u64, Hash),
    proof: &[Hash],
) -> Result<(), ProofError> {
    let ((first, first_root), (second, second_root)) = (earlier, now);
    if first == second {
        let is_same = proof.is_empty() && first_root == second_root;
        return if is_same { Ok(()) } else { Err(ProofError) };
    }
    if first == 0 || first > second {
        return Err(ProofError);
    }
    let mut hashes = proof.iter().copied();
    let (mut node, mut last) = (first - 1, second - 1);
    while node % 2 == 1 {
        node /= 2;
        last /= 2;
    }
    // A full tree proves itself.
    let start = if first.is_power_of_two() {
        first_root
    } else {
        hashes.next().ok_or(ProofError)?
    };
    let (mut old, mut new) = (start, start);
    for sibling in hashes {
        if last == 0 {
            return Err(ProofError);
        }
        if node % 2 == 1 || node == last {
            old = node_hash(sibling, old);
            new = node_hash(sibling, new);
            while node % 2 == 0 && node != 0 {
                node /= 2;
                last /= 2;
            }
        } else {
            new = node_hash(new, sibling);
        }
        node /= 2;
        last /= 2;
    }
    match last == 0 && old == first_root && new == second_root {
        true => Ok(()),
        false => Err(ProofError),
    }
}
