//! A transaction of SQLite. Its futures are ready at once: it runs on a thread that may block.

use std::future::{Future, ready};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::errors::{from_io, from_sqlite};
use crate::blobs::BlobFolder;
use crate::context::Context;
use crate::error::StoreError;
use crate::model::UnixMs;
use crate::options::Durability;
use crate::sql::{BlobKey, Row, Statement, Transaction, Value, Work};
use crate::vault::{BlobName, SealedBlob};

/// The files of a store.
#[derive(Debug, Clone)]
pub(super) struct Files {
    /// The store in messages.
    pub store: Arc<str>,
    pub database: PathBuf,
    pub blobs: BlobFolder,
}

impl Files {
    pub fn failed(&self, error: &rusqlite::Error) -> StoreError {
        from_sqlite(&self.store, &self.database, error)
    }
}

/// How a transaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    /// Takes the write lock at once: a transaction that begins with reading could fail later.
    Write,
}

/// Does a work in one transaction.
pub(super) fn run<W: Work>(
    connection: &mut Connection,
    files: &Files,
    context: &Context,
    mode: Mode,
    work: &W,
) -> Result<W::Output, StoreError> {
    let begin = match mode {
        Mode::Read => "BEGIN",
        Mode::Write => "BEGIN IMMEDIATE",
    };
    execute_cached(connection, begin).map_err(|error| files.failed(&error))?;
    let mut transaction = SqliteTransaction {
        connection,
        files,
        sync_blobs: work.is_durable() && context.durability == Durability::Power,
    };
    let done = now_or_never(work.run(&mut transaction, context)).and_then(|output| {
        match execute_cached(connection, "COMMIT") {
            Ok(()) => Ok(output),
            Err(error) => Err(files.failed(&error)),
        }
    });
    if done.is_err() && !connection.is_autocommit() {
        // The error that counts is the first one.
        let _ = execute_cached(connection, "ROLLBACK");
    }
    done
}

fn execute_cached(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// The result of a future that waits for nothing but a [`SqliteTransaction`].
fn now_or_never<T>(future: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let mut context = std::task::Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(result) => result,
        // Unreachable: a `Work` awaits only methods of its transaction, and those are ready.
        Poll::Pending => Err(StoreError::Closed),
    }
}

struct SqliteTransaction<'a> {
    connection: &'a mut Connection,
    files: &'a Files,
    sync_blobs: bool,
}

impl SqliteTransaction<'_> {
    fn execute_now(&self, statement: &Statement) -> rusqlite::Result<u64> {
        let mut prepared = self.connection.prepare_cached(&sqlite_text(statement))?;
        let changed = prepared.execute(rusqlite::params_from_iter(&statement.values))?;
        Ok(changed as u64)
    }

    fn query_now(&self, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
        let mut prepared = self.connection.prepare_cached(&sqlite_text(statement))?;
        let columns = prepared.column_count();
        let rows = prepared.query_map(rusqlite::params_from_iter(&statement.values), |row| {
            let values = (0..columns).map(|at| Ok(owned(row.get_ref(at)?)));
            Ok(Row::new(values.collect::<rusqlite::Result<_>>()?))
        })?;
        rows.collect()
    }

    fn is_used(&self, name: &BlobName) -> rusqlite::Result<bool> {
        let select = "SELECT EXISTS (SELECT 1 FROM pml_blob_refs WHERE name = ?1)";
        let mut select = self.connection.prepare_cached(select)?;
        select.query_row([&name[..]], |row| row.get(0))
    }

    fn unused_blobs_now(&self) -> Result<Vec<BlobKey>, StoreError> {
        let mut unused = Vec::new();
        for name in self
            .files
            .blobs
            .names()
            .map_err(|error| self.file_failed(&error))?
        {
            if !self
                .is_used(&name)
                .map_err(|error| self.files.failed(&error))?
            {
                let tenant = String::new();
                unused.push(BlobKey { tenant, name });
            }
        }
        Ok(unused)
    }

    fn remove_unused_blobs_now(&self, blobs: &[BlobKey]) -> Result<u64, StoreError> {
        let folder = &self.files.blobs;
        folder
            .remove_leftovers()
            .map_err(|error| self.file_failed(&error))?;
        let mut removed = 0;
        for BlobKey { name, .. } in blobs {
            if !self
                .is_used(name)
                .map_err(|error| self.files.failed(&error))?
            {
                folder
                    .remove(name)
                    .map_err(|error| self.file_failed(&error))?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn file_failed(&self, error: &std::io::Error) -> StoreError {
        from_io(&self.files.store, self.files.blobs.path(), error)
    }
}

impl Transaction for SqliteTransaction<'_> {
    /// The write lock of the database covers all rows.
    const LOCK_ROW: &'static str = "";

    fn execute(
        &mut self,
        statement: Statement,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send {
        let changed = self.execute_now(&statement);
        ready(changed.map_err(|error| self.files.failed(&error)))
    }

    fn execute_all(
        &mut self,
        statements: Vec<Statement>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let executed = statements
            .iter()
            .try_for_each(|statement| self.execute_now(statement).map(drop));
        ready(executed.map_err(|error| self.files.failed(&error)))
    }

    fn query(
        &mut self,
        statement: Statement,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send {
        let rows = self.query_now(&statement);
        ready(rows.map_err(|error| self.files.failed(&error)))
    }

    fn now(&mut self) -> impl Future<Output = Result<UnixMs, StoreError>> + Send {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let ms = since.map_or(0, |since| since.as_millis());
        ready(Ok(ms.try_into().unwrap_or(u64::MAX)))
    }

    fn put_blob(
        &mut self,
        _tenant: &str,
        blob: SealedBlob,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let put = self
            .files
            .blobs
            .put(&blob.name, &blob.bytes, self.sync_blobs);
        ready(put.map_err(|error| self.file_failed(&error)))
    }

    fn blob(
        &mut self,
        _tenant: &str,
        name: BlobName,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> + Send {
        ready(match self.files.blobs.get(&name) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::Database {
                store: self.files.store.clone(),
                detail: error.to_string(),
            }),
        })
    }

    fn unused_blobs(&mut self) -> impl Future<Output = Result<Vec<BlobKey>, StoreError>> + Send {
        ready(self.unused_blobs_now())
    }

    fn remove_unused_blobs(
        &mut self,
        blobs: Vec<BlobKey>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send {
        ready(self.remove_unused_blobs_now(&blobs))
    }
}

/// The text of a statement with SQLite's parameters, `?1` for `$1`.
fn sqlite_text(statement: &Statement) -> String {
    statement.sql.replace('$', "?")
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        // No column has this type; it is refused where the column is read.
        ValueRef::Real(_) => Value::Null,
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
