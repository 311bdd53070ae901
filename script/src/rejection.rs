//! Why a script cannot be run.

use swc_core::common::{BytePos, SourceMap};

/// Why a script cannot be translated. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// What is wrong with it.
    pub kind: RejectionKind,
    /// One sentence.
    pub message: String,
    /// Where it is wrong.
    pub line: u32,
    /// In characters.
    pub column: u32,
}

/// The kinds of [`Rejection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// The text is not TypeScript, or uses a part of it that is off.
    Syntax,
    /// The script imports a module that it may not import.
    Import,
}

impl Rejection {
    /// A failure of the translation as a whole.
    pub(crate) fn nowhere(message: impl Into<String>) -> Self {
        Self::at(RejectionKind::Syntax, message, 1, 1)
    }

    pub(crate) fn at(
        kind: RejectionKind,
        message: impl Into<String>,
        line: u32,
        column: u32,
    ) -> Self {
        Self {
            kind,
            message: message.into(),
            line,
            column,
        }
    }
}

/// A rejection whose place is still an offset.
pub(crate) struct Located {
    pub kind: RejectionKind,
    pub message: String,
    pub at: BytePos,
}

impl Located {
    pub fn locate(self, map: &SourceMap) -> Rejection {
        let place = map.lookup_char_pos(self.at);
        Rejection::at(
            self.kind,
            self.message,
            place.line as u32,
            place.col.0 as u32 + 1,
        )
    }
}
