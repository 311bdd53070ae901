//! What is wrong with a token or a key.

use std::io;
use std::path::PathBuf;

use crate::date;
use crate::token_id::TokenId;

/// Why a token or a key cannot be used. Each is one sentence with what to do next.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It is not a token, or not a whole one.
    #[error("the capability token is damaged or truncated: copy all that `pml token mint` printed")]
    Damaged,
    /// It is longer than any token of ours.
    #[error(
        "the capability token is larger than {limit} bytes: mint a new one with fewer patterns"
    )]
    TooLarge {
        /// The most that is read.
        limit: usize,
    },
    /// It was attenuated too often.
    #[error("the capability token has more than {limit} blocks: mint a new one")]
    TooManyBlocks {
        /// The most that is accepted.
        limit: usize,
    },
    /// A signature is not that of the key that it should be.
    #[error(
        "the capability token is not signed with the root key of this installation: `pml token key` prints which one that is"
    )]
    Forged,
    /// A block has statements that are not evaluated here.
    #[error(
        "block {block} of the capability token has statements that pml does not know: restrict tokens with `pml token attenuate`"
    )]
    UnknownStatement {
        /// The number of the block, from 0.
        block: usize,
    },
    /// Its time is over.
    #[error("the capability token expired at {}: ask for a new one", date::written(*.at))]
    Expired {
        /// Seconds since 1970.
        at: u64,
    },
    /// It was revoked, or one that it was made from.
    #[error("the capability token was revoked ({id}): ask for a new one")]
    Revoked {
        /// The revoked block.
        id: TokenId,
    },
    /// All its calls are made.
    #[error("the capability token has used all its {limit} calls: ask for a new one")]
    Spent {
        /// The budget.
        limit: u32,
    },
    /// It can be attenuated no more.
    #[error("the capability token is sealed, so it cannot be attenuated: use it as it is")]
    Sealed,
    /// A tenant or principal that is no name.
    #[error(
        "invalid name `{0}` of a tenant or principal: use 1 to 64 letters, digits, `.`, `-` and `_`"
    )]
    Name(String),
    /// A glob that cannot be written into a token.
    #[error(
        "the pattern `{0}` cannot be in a token: it has a quote, a backslash or a control character, or more than 256 bytes"
    )]
    Pattern(String),
    /// A token without patterns would permit every tool.
    #[error("a token needs the tools that it permits: name them with --allow, `*` for all")]
    NothingAllowed,
    /// A time that has no date of four digits.
    #[error("a token expires before the year 10000: choose a shorter time")]
    TooLate,
    /// The text is not a key.
    #[error("invalid key: a public key is `ed25519/` and 64 hexadecimal digits")]
    Key,
    /// A key file that others can read.
    #[error("the key {} can be read by other users: run `chmod 600` on it, and make a new one if others may have it", .path.display())]
    KeyIsOpen {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{} cannot be used: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file has another content than we write.
    #[error("{} is damaged in line {line}: correct the line", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// The library that signs failed; it says why.
    #[error("the token cannot be made: {0}")]
    Library(String),
}

impl TokenError {
    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
