//! The hashes of RFC 6962: leaves and nodes with a prefix each, so that neither can pass for the other.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The digest of a byte string.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_parts(&[bytes])
    }

    pub(crate) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        for part in parts {
            context.update(part);
        }
        let mut hash = [0; 32];
        hash.copy_from_slice(context.finish().as_ref());
        Self(hash)
    }

    /// The root of the empty tree.
    pub(crate) fn empty() -> Self {
        Self::of(b"")
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.try_into().ok()?))
    }

    /// The form of checkpoints and proofs.
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }

    /// Reads what [`Hash::to_base64`] wrote.
    pub fn from_base64(text: &str) -> Option<Self> {
        Self::from_slice(&STANDARD.decode(text).ok()?)
    }
}

/// Hexadecimal digits.
impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// The hash of an entry.
pub fn leaf_hash(entry: &[u8]) -> Hash {
    Hash::of_parts(&[&[0], entry])
}

pub(crate) fn node_hash(left: Hash, right: Hash) -> Hash {
    Hash::of_parts(&[&[1], &left.0, &right.0])
}

/// The root over some nodes. `None` without any.
pub(crate) fn root_of(nodes: &[Hash]) -> Option<Hash> {
    match nodes {
        [] => None,
        [only] => Some(*only),
        _ => {
            let (left, right) = nodes.split_at(split(nodes.len() as u64) as usize);
            Some(node_hash(root_of(left)?, root_of(right)?))
        }
    }
}

/// The largest power of two below `size`, which is at least 2.
pub(crate) fn split(size: u64) -> u64 {
    1 << (63 - (size - 1).leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree of the reference implementation of RFC 6962 (`merkletree_test`).
    pub const LEAVES: [&str; 8] = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ];
    const ROOTS: [&str; 8] = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    }

    #[test]
    fn roots_are_those_of_the_reference_implementation() {
        let leaves: Vec<Hash> = LEAVES.iter().map(|leaf| leaf_hash(&bytes(leaf))).collect();
        for (size, root) in ROOTS.iter().enumerate() {
            assert_eq!(root_of(&leaves[..=size]).unwrap().to_string(), *root);
        }
        assert_eq!(
            Hash::empty().to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
