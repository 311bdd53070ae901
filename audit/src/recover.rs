//! Opens a log after its last process ended, in whatever way.
//!
//! The checkpoint says what the tree was; entries behind it were appended after it was signed. A part of
//! an entry at the very end was never acknowledged and is removed.

use std::fs::OpenOptions;

use crate::bundle::{self, Bundle};
use crate::checkpoint::Checkpoint;
use crate::error::AuditError;
use crate::files::LogFiles;
use crate::hash::{Hash, leaf_hash};
use crate::tile::TILE_WIDTH;
use crate::tree::Tree;
use crate::writer::OpenBundle;

/// The end of a log.
pub struct LogEnd {
    /// The tree at the newest checkpoint.
    pub tree: Tree,
    /// The entries behind it.
    pub unsealed: Vec<Hash>,
    /// The bundle to append to.
    pub open: Option<OpenBundle>,
    pub size: u64,
}

/// Finds the end of a log.
pub fn recover(files: &LogFiles, checkpoint: Option<&Checkpoint>) -> Result<LogEnd, AuditError> {
    let tree = match checkpoint {
        Some(checkpoint) => read_tree(files, checkpoint)?,
        None => Tree::default(),
    };
    let (mut size, mut unsealed, mut open) = (tree.size(), Vec::new(), None);
    loop {
        let (index, known) = (size / TILE_WIDTH, size % TILE_WIDTH);
        let (bytes, path) = match bundle::read(&files.folder, index)? {
            Bundle::Full(bytes) | Bundle::Archived { bytes, .. } => (bytes, None),
            Bundle::Partial { path, bytes } => (bytes, Some(path)),
            Bundle::Missing if known == 0 => break,
            Bundle::Missing => {
                let reason = format!("bundle {index}, which the checkpoint covers, is missing");
                return Err(AuditError::damaged(&files.folder, reason));
            }
        };
        let (entries, whole) = bundle::entries(&bytes);
        if (entries.len() as u64) < known {
            let reason = format!("bundle {index} has fewer entries than the checkpoint covers");
            return Err(AuditError::damaged(&files.folder, reason));
        }
        let mut hashes: Vec<Hash> = entries.iter().map(|entry| leaf_hash(entry)).collect();
        let new = hashes.split_off(known as usize);
        if known > 0 && hashes != tree.last_leaves() {
            let reason = format!("bundle {index} has other entries than those that were signed");
            return Err(AuditError::damaged(&files.folder, reason));
        }
        unsealed.extend(new);
        size = index * TILE_WIDTH + entries.len() as u64;
        if let Some(path) = path {
            let file = OpenOptions::new().append(true).open(&path);
            let file = file.map_err(AuditError::file(&path))?;
            if whole < bytes.len() {
                file.set_len(whole as u64)
                    .map_err(AuditError::file(&path))?;
            }
            let bytes = whole as u64;
            open = Some(OpenBundle {
                index,
                file,
                path,
                bytes,
            });
            break;
        }
        if entries.len() as u64 != TILE_WIDTH || whole != bytes.len() {
            let reason = format!("bundle {index} does not have {TILE_WIDTH} entries");
            return Err(AuditError::damaged(&files.folder, reason));
        }
    }
    Ok(LogEnd {
        tree,
        unsealed,
        open,
        size,
    })
}

/// The right edge of the tree that a checkpoint covers.
fn read_tree(files: &LogFiles, checkpoint: &Checkpoint) -> Result<Tree, AuditError> {
    let (mut nodes, mut levels) = (checkpoint.size, Vec::new());
    for level in 0_u8.. {
        if nodes == 0 {
            break;
        }
        let width = nodes % TILE_WIDTH;
        levels.push(match width {
            0 => Vec::new(),
            _ => files.tile(level, nodes / TILE_WIDTH, width)?,
        });
        nodes /= TILE_WIDTH;
    }
    let tree = Tree::from_parts(checkpoint.size, levels);
    match tree.root() == checkpoint.root {
        true => Ok(tree),
        false => Err(AuditError::damaged(
            &files.path("checkpoint"),
            "the hash tiles are not those that the checkpoint was signed over",
        )),
    }
}
