//! How a store is opened.

use std::path::PathBuf;
use std::time::Duration;

use crate::key::StoreKey;
use crate::url::StoreUrl;

/// How a store is opened.
///
/// ```
/// use pml_store::{Durability, StoreOptions};
///
/// let options = StoreOptions {
///     durability: Durability::Power,
///     ..StoreOptions::new("sqlite:/var/lib/pml/store.db".parse()?, "/var/lib/pml")
/// };
/// assert_eq!(options.lease.as_secs(), 30);
/// # Ok::<(), pml_store::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Where the rows are.
    pub url: StoreUrl,
    /// The key that seals values. `None`: the key file `store.key` of the data folder, which is made
    /// together with a new store.
    pub key: Option<StoreKey>,
    /// What a durable append survives.
    pub durability: Durability,
    /// How long ended runs and answered approvals are kept.
    pub retention: Retention,
    /// How long a process owns a run without a sign of life. It is renewed after a third of this.
    pub lease: Duration,
    /// The folder of the key file and, for SQLite, of large values. It is created with mode 0700.
    pub data_folder: PathBuf,
}

impl StoreOptions {
    /// The defaults: a lease of 30 seconds, process durability, the key file of the data folder.
    pub fn new(url: StoreUrl, data_folder: impl Into<PathBuf>) -> Self {
        Self {
            url,
            key: None,
            durability: Durability::default(),
            retention: Retention::default(),
            lease: Duration::from_secs(30),
            data_folder: data_folder.into(),
        }
    }
}

/// What a durable append survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of this process, also by `kill -9`: the page cache of the kernel has the row. No fsync.
    #[default]
    Process,
    /// A power cut: the row is fsynced. The rows that wait at the same time share one fsync.
    Power,
}

/// How long a store keeps what has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How long the journal of an ended run is kept as it was written; then it is compressed.
    pub hot: Duration,
    /// How long an ended run is kept at all, counted from its end.
    pub cold: Duration,
    /// How long an answered or expired approval is kept.
    pub approvals: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        Self {
            hot: day,
            cold: 90 * day,
            approvals: 90 * day,
        }
    }
}
