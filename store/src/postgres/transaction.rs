//! A transaction of PostgreSQL.

use std::error::Error;
use std::sync::Arc;

use deadpool_postgres::Pool;
use futures_util::future::try_join_all;
use tokio_postgres::IsolationLevel;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::errors::{from_pool, from_postgres, is_transient};
use crate::context::Context;
use crate::error::StoreError;
use crate::model::UnixMs;
use crate::sql::{BlobKey, Row, Statement, Transaction, Value, Work, statement};
use crate::vault::{BlobName, SealedBlob};

/// The advisory lock of blobs: shared by transactions that refer to one, exclusive for their removal.
const BLOB_LOCK: i64 = 0x706d_6c01;

/// The condition for a row `b` of `pml_blobs` that nothing refers to.
const UNUSED: &str = "NOT EXISTS (SELECT 1 FROM pml_blob_refs r \
     WHERE r.tenant = b.tenant AND r.name = b.name)";

/// How a transaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Sees one state of the database.
    Read,
    /// Sees what others have committed before each statement, so a check of a fence is never stale.
    Write,
}

/// A transaction that was not committed.
pub(super) struct Failed {
    pub error: StoreError,
    /// Whether it may succeed if it is repeated.
    pub is_transient: bool,
}

/// Does a work in one transaction.
pub(super) async fn run<W: Work>(
    pool: &Pool,
    context: &Context,
    mode: Mode,
    work: &W,
) -> Result<W::Output, Failed> {
    let store = &context.store;
    let failed = |error: tokio_postgres::Error| Failed {
        is_transient: is_transient(&error),
        error: from_postgres(store, &error),
    };
    let mut client = pool.get().await.map_err(|error| Failed {
        error: from_pool(store, &error),
        is_transient: matches!(&error, deadpool_postgres::PoolError::Backend(error) if is_transient(error)),
    })?;
    let begin = match mode {
        Mode::Read => client
            .build_transaction()
            .isolation_level(IsolationLevel::RepeatableRead)
            .read_only(true),
        Mode::Write => client
            .build_transaction()
            .isolation_level(IsolationLevel::ReadCommitted),
    };
    let mut transaction = PostgresTransaction {
        inner: begin.start().await.map_err(failed)?,
        store,
        is_transient: false,
    };
    let is_durable = mode == Mode::Write && work.is_durable();
    if is_durable {
        let sync = "SET LOCAL synchronous_commit = on";
        transaction
            .inner
            .batch_execute(sync)
            .await
            .map_err(failed)?;
    }
    match work.run(&mut transaction, context).await {
        Ok(output) => {
            transaction.inner.commit().await.map_err(failed)?;
            Ok(output)
        }
        // Dropping the transaction rolls it back.
        Err(error) => Err(Failed {
            is_transient: transaction.is_transient,
            error,
        }),
    }
}

struct PostgresTransaction<'a> {
    inner: deadpool_postgres::Transaction<'a>,
    store: &'a Arc<str>,
    /// Whether the last error may be gone when the transaction is repeated.
    is_transient: bool,
}

impl PostgresTransaction<'_> {
    fn failed(&mut self, error: &tokio_postgres::Error) -> StoreError {
        self.is_transient = is_transient(error);
        from_postgres(self.store, error)
    }

    async fn execute_now(&self, statement: &Statement) -> Result<u64, tokio_postgres::Error> {
        let prepared = self.inner.prepare_cached(&statement.sql).await?;
        self.inner.execute_raw(&prepared, &statement.values).await
    }

    async fn query_now(&self, statement: &Statement) -> Result<Vec<Row>, tokio_postgres::Error> {
        let prepared = self.inner.prepare_cached(&statement.sql).await?;
        let parameters = statement
            .values
            .iter()
            .map(|value| value as &(dyn ToSql + Sync));
        let parameters: Vec<_> = parameters.collect();
        let rows = self.inner.query(&prepared, &parameters).await?;
        rows.into_iter()
            .map(|row| {
                let values = (0..row.len()).map(|at| row.try_get(at));
                Ok(Row::new(values.collect::<Result<_, _>>()?))
            })
            .collect()
    }
}

impl Transaction for PostgresTransaction<'_> {
    const LOCK_ROW: &'static str = " FOR UPDATE SKIP LOCKED";

    async fn execute(&mut self, statement: Statement) -> Result<u64, StoreError> {
        let changed = self.execute_now(&statement).await;
        changed.map_err(|error| self.failed(&error))
    }

    /// All statements are sent before the first answer is read.
    async fn execute_all(&mut self, statements: Vec<Statement>) -> Result<(), StoreError> {
        let executed = {
            let this = &*self;
            try_join_all(
                statements
                    .iter()
                    .map(|statement| this.execute_now(statement)),
            )
            .await
        };
        executed.map(drop).map_err(|error| self.failed(&error))
    }

    async fn query(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let rows = self.query_now(&statement).await;
        rows.map_err(|error| self.failed(&error))
    }

    /// The clock of the server: those of its clients may differ.
    async fn now(&mut self) -> Result<UnixMs, StoreError> {
        let now = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";
        let rows = self.query(statement!(now)).await?;
        let now = rows
            .into_iter()
            .next()
            .and_then(|mut row| row.number().ok());
        now.ok_or_else(|| StoreError::Database {
            store: self.store.clone(),
            detail: "the server has no time".to_owned(),
        })
    }

    async fn put_blob(&mut self, tenant: &str, blob: SealedBlob) -> Result<(), StoreError> {
        let lock = "SELECT pg_advisory_xact_lock_shared($1)";
        self.execute(statement!(lock, BLOB_LOCK)).await?;
        let insert = "INSERT INTO pml_blobs (tenant, name, bytes) VALUES ($1, $2, $3) \
                      ON CONFLICT DO NOTHING";
        self.execute(statement!(insert, tenant, &blob.name, blob.bytes))
            .await?;
        Ok(())
    }

    async fn blob(&mut self, tenant: &str, name: BlobName) -> Result<Option<Vec<u8>>, StoreError> {
        let select = "SELECT bytes FROM pml_blobs WHERE tenant = $1 AND name = $2";
        let rows = self.query(statement!(select, tenant, &name)).await?;
        Ok(rows.into_iter().next().and_then(|mut row| row.bytes().ok()))
    }

    async fn unused_blobs(&mut self) -> Result<Vec<BlobKey>, StoreError> {
        let select = format!("SELECT tenant, name FROM pml_blobs b WHERE {UNUSED}");
        let rows = self.query(statement!(select)).await?;
        let keys = rows.into_iter().map(|mut row| {
            let (tenant, name) = (row.text().ok()?, row.digest().ok()?);
            Some(BlobKey { tenant, name })
        });
        Ok(keys.flatten().collect())
    }

    async fn remove_unused_blobs(&mut self, blobs: Vec<BlobKey>) -> Result<u64, StoreError> {
        let lock = "SELECT pg_advisory_xact_lock($1)";
        self.execute(statement!(lock, BLOB_LOCK)).await?;
        let delete =
            format!("DELETE FROM pml_blobs b WHERE tenant = $1 AND name = $2 AND {UNUSED}");
        let mut removed = 0;
        for BlobKey { tenant, name } in blobs {
            let delete = statement!(delete.clone(), tenant, &name);
            removed += self.execute(delete).await?;
        }
        Ok(removed)
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) => number.to_sql_checked(ty, out),
            Self::Text(text) => text.to_sql_checked(ty, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        <i64 as ToSql>::accepts(ty)
            || <String as ToSql>::accepts(ty)
            || <Vec<u8> as ToSql>::accepts(ty)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        match *ty {
            Type::INT8 => Ok(Self::Int(i64::from_sql(ty, raw)?)),
            Type::BYTEA => Ok(Self::Bytes(raw.to_vec())),
            _ => Ok(Self::Text(String::from_sql(ty, raw)?)),
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        <Self as ToSql>::accepts(ty)
    }
}
