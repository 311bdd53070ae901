//! Errors of search and of its model.

use std::io;
use std::path::PathBuf;

/// A failed operation of search. Ranking itself does not fail: it falls back to words alone.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query has no text.
    #[error("the query is empty: say in a few words what the tool should do")]
    EmptyQuery,
    /// The query has this many characters.
    #[error("the query has {0} characters, the limit is {max}: shorten it", max = crate::query::MAX_QUERY_CHARS)]
    LongQuery(usize),
    /// The limit of hits is out of bounds.
    #[error("invalid limit {0}: expected a number from 1 to {max}", max = crate::query::MAX_HITS)]
    Limit(u32),
    /// The threshold is out of bounds.
    #[error("invalid threshold {0}: expected a number from 0 to 1")]
    Threshold(f64),
    /// A file or folder of the index cannot be read or written.
    #[error("{} cannot be used ({source}): check its permissions and the space on the disk", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The index is damaged or cannot be built.
    #[error("the index cannot be used ({0}): `pml index --rebuild` creates a new one")]
    Index(String),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Why the model cannot be used; search then ranks by words alone.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModelError {
    /// A file differs from its checksum.
    #[error("{what} is damaged: its SHA-256 differs from the expected one; install it again")]
    Checksum {
        /// The file.
        what: String,
    },
    /// A file of a hub's model is not the one of its first use.
    #[error("{} changed since the model was first used: remove the model's folder to download it again, or {} to accept the change", file.display(), sums.display())]
    Changed {
        /// The file.
        file: PathBuf,
        /// The file with the checksums of the first use.
        sums: PathBuf,
    },
    /// A folder lacks a file of the model.
    #[error("{what} is missing in {}: a model has model.onnx, SHA256SUMS and the tokenizer's files", folder.display())]
    Missing {
        /// The file's name.
        what: String,
        /// The model's folder.
        folder: PathBuf,
    },
    /// The name is not that of a model.
    #[error("unknown model `{0}`: `pml model list` shows the available models")]
    Unknown(String),
    /// The ONNX Runtime library could not be downloaded.
    #[error(
        "the ONNX Runtime library is missing and could not be downloaded ({0}): install Python with pip and let it reach a package index, or set ORT_DYLIB_PATH"
    )]
    Download(String),
    /// No ONNX Runtime library is pinned for this platform.
    #[error(
        "no ONNX Runtime library is pinned for this platform: install one and set ORT_DYLIB_PATH to it"
    )]
    Platform,
    /// The ONNX Runtime library does not load.
    #[error("the ONNX Runtime library {} cannot be loaded ({reason}): set ORT_DYLIB_PATH to another, or remove the file to download it again", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// The loader's error.
        reason: String,
    },
    /// The model fails to load or to run.
    #[error("the model cannot be used ({0}): choose another with `pml model use`")]
    Broken(String),
}
