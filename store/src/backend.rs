//! The database behind a store.

use std::sync::Arc;

use crate::error::StoreError;
use crate::lease::{OwnedRun, OwnedRuns};
use crate::options::StoreOptions;
use crate::postgres::Postgres;
use crate::run_writer::WriteQueue;
use crate::sql::Work;
use crate::sqlite::Sqlite;
use crate::url::StoreUrl;

/// The database of a store. The rules are the same for all: see [`Work`].
pub(crate) enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Backend {
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        match options.url.clone() {
            StoreUrl::Sqlite(path) => Ok(Self::Sqlite(Sqlite::open(path, options).await?)),
            StoreUrl::Postgres(url) => Ok(Self::Postgres(Postgres::open(&url, options).await?)),
        }
    }

    /// Where runs queue their writes.
    pub fn queue(&self) -> Arc<dyn WriteQueue> {
        match self {
            Self::Sqlite(sqlite) => sqlite.queue(),
            Self::Postgres(postgres) => postgres.queue(),
        }
    }

    /// The runs whose leases are renewed.
    pub fn owned_runs(&self) -> &OwnedRuns {
        match self {
            Self::Sqlite(sqlite) => sqlite.owned_runs(),
            Self::Postgres(postgres) => postgres.owned_runs(),
        }
    }

    /// Adds a run to those whose leases are renewed.
    pub fn own(&self, run: Arc<OwnedRun>) {
        match self {
            Self::Sqlite(sqlite) => sqlite.own(run),
            Self::Postgres(postgres) => postgres.own(run),
        }
    }

    /// Does a work in a transaction that only reads.
    pub async fn read<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.read(work).await,
            Self::Postgres(postgres) => postgres.read(work).await,
        }
    }

    /// Does a work in a transaction that may write.
    pub async fn write<W: Work>(&self, work: W) -> Result<W::Output, StoreError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.write(work).await,
            Self::Postgres(postgres) => postgres.write(work).await,
        }
    }

    /// Writes what is queued, then refuses everything.
    pub async fn close(&self) {
        match self {
            Self::Sqlite(sqlite) => sqlite.close().await,
            Self::Postgres(postgres) => postgres.close().await,
        }
    }
}
