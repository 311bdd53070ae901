//! A Merkle tree that grows: of each level of tiles, the hashes of the last, incomplete tile.

use crate::hash::{Hash, root_of};
use crate::tile::TILE_WIDTH;

/// The right edge of a tree.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    size: u64,
    levels: Vec<Vec<Hash>>,
}

/// A tile that got its last hash.
pub struct FullTile {
    pub level: u8,
    pub index: u64,
    pub hashes: Vec<Hash>,
}

impl Tree {
    /// The tree with these incomplete tiles.
    pub fn from_parts(size: u64, levels: Vec<Vec<Hash>>) -> Self {
        Self { size, levels }
    }

    /// The number of entries.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds an entry. Tiles that are full now are passed to `full`, the lowest level first.
    pub fn push(&mut self, leaf: Hash, mut full: impl FnMut(FullTile)) {
        self.size += 1;
        let (mut hash, mut in_tile) = (leaf, self.size);
        for level in 0_u8.. {
            if self.levels.len() <= usize::from(level) {
                self.levels.push(Vec::new());
            }
            let hashes = &mut self.levels[usize::from(level)];
            hashes.push(hash);
            if (hashes.len() as u64) < TILE_WIDTH {
                return;
            }
            let Some(root) = root_of(hashes) else {
                return;
            };
            in_tile /= TILE_WIDTH;
            full(FullTile {
                level,
                index: in_tile - 1,
                hashes: std::mem::take(hashes),
            });
            hash = root;
        }
    }

    /// The hashes of the entries in the last, incomplete tile.
    pub fn last_leaves(&self) -> &[Hash] {
        self.levels.first().map_or(&[][..], Vec::as_slice)
    }

    /// The incomplete tiles that are not empty: level, index and hashes.
    pub fn partial_tiles(&self) -> impl Iterator<Item = (u8, u64, &[Hash])> {
        let mut width = 1_u64;
        (0_u8..)
            .zip(&self.levels)
            .filter_map(move |(level, hashes)| {
                width = width.saturating_mul(TILE_WIDTH);
                (!hashes.is_empty()).then_some((level, self.size / width, &hashes[..]))
            })
    }

    /// The root of the tree. An incomplete subtree is the last node of the level above it.
    pub fn root(&self) -> Hash {
        let mut last: Option<Hash> = None;
        for hashes in &self.levels {
            last = match last {
                None => root_of(hashes),
                Some(last) => {
                    let mut nodes = hashes.clone();
                    nodes.push(last);
                    root_of(&nodes)
                }
            };
        }
        last.unwrap_or_else(Hash::empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::leaf_hash;

    #[test]
    fn the_root_is_that_of_the_whole_tree_at_every_size() {
        let mut tree = Tree::default();
        let mut leaves = Vec::new();
        for n in 0..1500_u32 {
            let leaf = leaf_hash(&n.to_be_bytes());
            leaves.push(leaf);
            tree.push(leaf, |tile| assert_eq!(tile.hashes.len(), 256));
            if n % 37 == 0 || n % 256 < 2 || n % 256 > 253 {
                assert_eq!(Some(tree.root()), root_of(&leaves), "{n}");
            }
        }
        let tiles: Vec<_> = tree
            .partial_tiles()
            .map(|(level, index, hashes)| (level, index, hashes.len()))
            .collect();
        assert_eq!(tiles, [(0, 5, 220), (1, 0, 5)]);
    }
}
