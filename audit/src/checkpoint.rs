//! A checkpoint: the size and the root of a log, which its key signs (C2SP `tlog-checkpoint`).

use std::fmt;

use crate::error::AuditError;
use crate::hash::Hash;
use crate::note::{SignedNote, VerifyingKey};

/// The state of a log at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log.
    pub origin: String,
    /// How many entries it has.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Hash,
}

impl Checkpoint {
    /// Reads a signed checkpoint.
    ///
    /// # Errors
    ///
    /// It does not have its form, or its signature is not of this key.
    pub fn open(note: &str, key: &VerifyingKey) -> Result<Self, AuditError> {
        let note = SignedNote::open(note, key)?;
        let checkpoint = Self::parse(note.text())?;
        if checkpoint.origin != key.name() {
            return Err(AuditError::invalid("checkpoint", "it is of another log"));
        }
        Ok(checkpoint)
    }

    fn parse(text: &str) -> Result<Self, AuditError> {
        let mut lines = text.lines();
        let parsed = (|| {
            let origin = lines.next().filter(|line| !line.is_empty())?;
            let written = lines.next()?;
            let size: u64 = written.parse().ok()?;
            let root = Hash::from_base64(lines.next()?)?;
            // `01` and `+1` are not how the size 1 is written.
            (size.to_string() == written).then(|| Self {
                origin: origin.to_owned(),
                size,
                root,
            })
        })();
        parsed.ok_or_else(|| {
            AuditError::invalid(
                "checkpoint",
                "expected a name, a size and a root, a line each",
            )
        })
    }
}

/// The text that is signed.
impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, size, root } = self;
        write!(f, "{origin}\n{size}\n{}\n", root.to_base64())
    }
}
