//! Everything that can go wrong with a store, each as one sentence with what to do next.

use std::path::PathBuf;
use std::sync::Arc;

use pml_protocol::RunId;

use crate::model::RunState;

/// An error of the store. No variant holds a stored value, a key or a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The tenant has no such run.
    #[error("there is no run `{id}`: `pml runs` lists the runs of this store")]
    NotFound {
        /// The id that was asked for.
        id: RunId,
    },
    /// A new run has the id of another one.
    #[error(
        "there already is a run `{id}`: choose another id, or continue that run with `pml resume {id}`"
    )]
    Exists {
        /// The id that both have.
        id: RunId,
    },
    /// A living process executes the run.
    #[error(
        "run `{id}` is being executed by {}: wait until it ends, or end it with `pml runs cancel {id}`",
        process(*pid)
    )]
    Owned {
        /// The run.
        id: RunId,
        /// The process id of its owner, in the owner's pid namespace, where it is known.
        pid: Option<u32>,
    },
    /// The run has ended, so it cannot be claimed, settled or cancelled.
    #[error("run `{id}` has ended ({}): `pml runs show {id}` shows how", state.as_str())]
    Ended {
        /// The run.
        id: RunId,
        /// How it ended.
        state: RunState,
    },
    /// Another process claimed the run, or it was cancelled: this process must not go on with it.
    #[error(
        "run `{id}` was taken over or cancelled by another process: nothing more of this execution is written"
    )]
    LostOwnership {
        /// The run.
        id: RunId,
    },
    /// The writer was used after it gave up the run.
    #[error("run `{id}` was given up by this process: claim it again to write to it")]
    Released {
        /// The run.
        id: RunId,
    },
    /// The run has no request with this number.
    #[error("run `{id}` has no request {number}: `pml runs show {id}` lists its requests")]
    NoSuchEntry {
        /// The run.
        id: RunId,
        /// The number that was asked for.
        number: u32,
    },
    /// The request has an answer, so there is nothing to settle.
    #[error("request {number} of run `{id}` already has an answer: it was not changed")]
    AlreadyAnswered {
        /// The run.
        id: RunId,
        /// The request.
        number: u32,
    },
    /// The request was settled before and waits to be sent.
    #[error("request {number} of run `{id}` is already settled: `pml resume {id}` sends it")]
    AlreadySettled {
        /// The run.
        id: RunId,
        /// The request.
        number: u32,
    },
    /// The tenant has no such approval.
    #[error("there is no approval `{id}`: `pml approvals` lists them")]
    NoSuchApproval {
        /// The id that was asked for.
        id: String,
    },
    /// The text does not name a store.
    #[error(
        "invalid store `{url}`: expected `sqlite:PATH` or `postgres://user@host/database`{}",
        detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default()
    )]
    InvalidUrl {
        /// What was given, without a password.
        url: String,
        /// What is wrong with it, if more is known.
        detail: Option<String>,
    },
    /// The text is not a key.
    #[error(
        "invalid store key: expected 32 bytes as 64 hexadecimal digits or as base64, for example from `openssl rand -hex 32`"
    )]
    InvalidKey,
    /// The store was sealed with another key.
    #[error(
        "the key does not fit {store}: use the key that the store was made with (`store.key` in the data folder, or `pml.store.key`)"
    )]
    WrongKey {
        /// The store.
        store: Arc<str>,
    },
    /// The store exists and its key file does not.
    #[error(
        "{store} is sealed and its key file {} is missing: put the file back, or give the key in `pml.store.key`",
        file.display()
    )]
    KeyMissing {
        /// The store.
        store: Arc<str>,
        /// Where the key file is expected.
        file: PathBuf,
    },
    /// Other users can read the key file.
    #[error(
        "the key file {path} can be read by other users (mode {mode:04o}): run `chmod 600 {path}`",
        path = file.display()
    )]
    KeyPermissions {
        /// The key file.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file is damaged. It is left as it is.
    #[error(
        "{store} is damaged and was left as it is ({detail}): restore it from a backup, or choose another store with `--store`"
    )]
    Damaged {
        /// The store.
        store: Arc<str>,
        /// What SQLite or the check of a value said.
        detail: String,
    },
    /// The file is a SQLite database of another program.
    #[error("{store} is a database of another program: choose another file with `--store`")]
    NotAStore {
        /// The store.
        store: Arc<str>,
    },
    /// A newer version of pml wrote the store.
    #[error(
        "{store} has version {found}, and this pml knows versions up to {known}: update pml, or choose another store with `--store`"
    )]
    NewerVersion {
        /// The store.
        store: Arc<str>,
        /// The version of its schema.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// A file or folder cannot be created or written.
    #[error(
        "cannot write {} ({detail}): make it writable, or choose another store with `--store`",
        path.display()
    )]
    NotWritable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// The disk or the quota is full.
    #[error("the disk of {store} is full: free some space, then resume the run")]
    Full {
        /// The store.
        store: Arc<str>,
    },
    /// Another process holds the write lock for longer than the store waits.
    #[error(
        "{store} is locked by another process for more than {} seconds: end that process, then resume the run",
        crate::sqlite::BUSY_TIMEOUT.as_secs()
    )]
    Locked {
        /// The store.
        store: Arc<str>,
    },
    /// The PostgreSQL server does not answer.
    #[error("cannot reach {store} ({detail}): check the server and `pml.store.url`")]
    Unreachable {
        /// The store.
        store: Arc<str>,
        /// What the client library said.
        detail: String,
    },
    /// Any other error of the database.
    #[error("{store} failed ({detail}): nothing of this transaction was written")]
    Database {
        /// The store.
        store: Arc<str>,
        /// What the database said.
        detail: String,
    },
    /// A value is larger than the cipher can seal.
    #[error("a value of more than 256 GiB cannot be stored: make it smaller")]
    TooLarge,
    /// The kernel gives no random bytes.
    #[error("cannot read random bytes from the kernel ({detail})")]
    Randomness {
        /// What the kernel said.
        detail: String,
    },
    /// The store was closed.
    #[error("the store was closed: open it again")]
    Closed,
}

fn process(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}
