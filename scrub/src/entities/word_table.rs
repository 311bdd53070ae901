//! What is known of a word: its cluster, which groups words that are used alike, and the lists of names it
//! is in.

/// The word is a given name.
pub const GIVEN_NAME: u8 = 1;
/// The word is a family name.
#[allow(
    dead_code,
    reason = "the model sees all flags at once; the name documents the file"
)]
pub const FAMILY_NAME: u8 = 2;
/// The word is a place or a part of its name.
pub const PLACE: u8 = 4;
/// The word ends or begins the name of an organisation: `GmbH`, `University`.
pub const ORGANISATION: u8 = 8;
/// The word is common in lower case.
pub const COMMON: u8 = 16;
/// The word is a title or an occupation that precedes a name.
pub const TITLE: u8 = 32;

/// Bytes of an entry in the file: the hash, the cluster, the flags.
const ENTRY: usize = 6;
/// The hashes are found by their first bits.
const INDEX_BITS: u32 = 14;

/// Clusters and flags by the hash of a word.
pub struct WordTable {
    hashes: Vec<u32>,
    entries: Vec<(u8, u8)>,
    /// Where the hashes with these first bits begin.
    index: Vec<u32>,
}

impl WordTable {
    /// Reads entries, which are sorted by hash: hash (little-endian), cluster, flags. A part of an entry at
    /// the end is left out.
    pub fn read(bytes: &[u8]) -> Self {
        let mut table = Self {
            hashes: Vec::with_capacity(bytes.len() / ENTRY),
            entries: Vec::with_capacity(bytes.len() / ENTRY),
            index: Vec::with_capacity(1 << INDEX_BITS),
        };
        for entry in bytes.chunks_exact(ENTRY) {
            table
                .hashes
                .push(u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]));
            table.entries.push((entry[4], entry[5]));
        }
        for first in 0..=1u64 << INDEX_BITS {
            let least = first << (32 - INDEX_BITS);
            let at = table
                .hashes
                .partition_point(|hash| u64::from(*hash) < least);
            table.index.push(at as u32);
        }
        table
    }

    /// The cluster and the flags of a word; 0 and 0 for an unknown one.
    pub fn get(&self, hash: u32) -> (u8, u8) {
        let first = (hash >> (32 - INDEX_BITS)) as usize;
        let (from, to) = (self.index[first] as usize, self.index[first + 1] as usize);
        match self.hashes[from..to].binary_search(&hash) {
            Ok(at) => self.entries[from + at],
            Err(_) => (0, 0),
        }
    }
}

/// FNV-1a over the bytes of a word, with the bits mixed at the end.
pub fn hash(bytes: impl Iterator<Item = u8>) -> u32 {
    let hash = bytes.fold(0x811c_9dc5u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    hash ^ (hash >> 13)
}
