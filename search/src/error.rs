//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// Why something about search failed. A search itself goes on with words alone wherever it can.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the query is empty: say in a few words what the tool should do")]
    EmptyQuery,
    #[error("the query has {0} characters and may have {max}: say it shorter", max = crate::query::QUERY_CHARS)]
    LongQuery(usize),
    #[error("the limit is {0} and must be from 1 to {max}", max = crate::query::MOST_HITS)]
    Limit(u32),
    #[error("the threshold is {0} and must be from 0 to 1")]
    Threshold(f64),
    #[error("{} cannot be used ({source}): check its permissions and the space on the disk", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("the index cannot be used ({0}): `pml index --rebuild` makes a new one")]
    Index(String),
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Why there is no model: search then has words alone.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModelError {
    #[error("{what} is damaged: its SHA-256 is not the one that is expected; install it again")]
    Checksum { what: String },
    #[error("{what} is missing in {}: it takes model.onnx, SHA256SUMS and the tokenizer's files", folder.display())]
    Missing { what: String, folder: PathBuf },
    #[error("there is no model called `{0}`: `pml model list` shows which there are")]
    Unknown(String),
    #[error(
        "the ONNX Runtime library is not there and could not be fetched ({0}): install Python with pip and let it reach a package index, or set ORT_DYLIB_PATH"
    )]
    Fetch(String),
    #[error(
        "no ONNX Runtime library is pinned for this platform: install one and set ORT_DYLIB_PATH to it"
    )]
    Platform,
    #[error("the ONNX Runtime library {} cannot be loaded ({reason}): set ORT_DYLIB_PATH to another, or remove the file to fetch it again", path.display())]
    Library { path: PathBuf, reason: String },
    #[error("the model cannot be used ({0}): choose another with `pml model use`")]
    Broken(String),
}
