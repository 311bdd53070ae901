//! Opening a SQLite file: what it is, its version, its key.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use super::database::BUSY_TIMEOUT;
use super::errors::{from_io, from_sqlite};
use crate::error::StoreError;
use crate::key::{choose_key, random_bytes, to_hex};
use crate::options::StoreOptions;
use crate::schema::{MIGRATIONS, Migration, newest};
use crate::vault::Vault;

/// Marks a file as a store of pml: the letters `pmls`.
const APPLICATION_ID: i64 = 0x706d_6c73;

/// A file that is open, and what is in it.
pub(super) struct Opened {
    pub connection: Connection,
    pub vault: Vault,
    /// Random, made with the file.
    pub store_id: String,
}

/// Opens a store, and makes it if the file is empty or missing.
pub(super) fn open(
    path: &Path,
    options: &StoreOptions,
    store: &Arc<str>,
) -> Result<Opened, StoreError> {
    create_file(path).map_err(|error| from_io(store, path, &error))?;
    let failed = |error: rusqlite::Error| from_sqlite(store, path, &error);
    let mut connection = connect(path).map_err(failed)?;
    check_program(&connection, store, path)?;
    use_write_ahead_log(&connection).map_err(failed)?;
    migrate(&mut connection, MIGRATIONS, store, path)?;
    let (vault, store_id) = unlock(&mut connection, options, store, path)?;
    Ok(Opened {
        connection,
        vault,
        store_id,
    })
}

/// A connection to a file that exists.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Closing the store does not wait for the disk: the next process reads the log.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// Creates an empty file that only the user can read. SQLite gives its other files the same mode.
fn create_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        pml_files::create_private_dir(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Refuses a database of another program, before anything is written to it.
fn check_program(connection: &Connection, store: &Arc<str>, path: &Path) -> Result<(), StoreError> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id");
    let objects = number("SELECT COUNT(*) FROM sqlite_schema");
    let failed = |error| from_sqlite(store, path, &error);
    match (application.map_err(failed)?, objects.map_err(failed)?) {
        (APPLICATION_ID, _) | (0, 0) => Ok(()),
        _ => Err(StoreError::NotAStore {
            store: store.clone(),
        }),
    }
}

/// Turns the write-ahead log on. SQLite does not wait here for another process that does the same.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        let set = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        let is_busy = set
            .as_ref()
            .is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy));
        if !is_busy || begun.elapsed() > BUSY_TIMEOUT {
            set?;
            return connection.execute_batch("PRAGMA synchronous = NORMAL");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Brings the schema to the newest version, in one transaction.
pub(super) fn migrate(
    connection: &mut Connection,
    migrations: &[Migration],
    store: &Arc<str>,
    path: &Path,
) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| from_sqlite(store, path, &error);
    let known = newest(migrations);
    let version = |connection: &Connection| {
        connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
    };
    let found = version(connection).map_err(failed)?;
    if found > known {
        let store = store.clone();
        return Err(StoreError::NewerVersion {
            store,
            found,
            known,
        });
    }
    if found == known {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(failed)?;
    // Another process may have been first.
    let found = version(&transaction).map_err(failed)?;
    for migration in migrations {
        if migration.version > found {
            let sql = migration.sql.replace("BYTEA", "BLOB");
            transaction.execute_batch(&sql).map_err(failed)?;
        }
    }
    let marks = format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {}",
        known.max(found)
    );
    transaction.execute_batch(&marks).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Finds the key and compares it with the store's check.
fn unlock(
    connection: &mut Connection,
    options: &StoreOptions,
    store: &Arc<str>,
    path: &Path,
) -> Result<(Vault, String), StoreError> {
    let failed = |error: rusqlite::Error| from_sqlite(store, path, &error);
    if read_lock(connection).map_err(failed)?.is_none() {
        let transaction = connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(failed)?;
        // Another process may have been first.
        if read_lock(&transaction).map_err(failed)?.is_none() {
            let vault = Vault::new(&choose_key(options, true, store)?);
            let id: [u8; 8] = random_bytes()?;
            let insert = "INSERT INTO pml_meta (name, value) VALUES (?1, ?2)";
            for (name, value) in [("key_check", &vault.check()[..]), ("store_id", &id)] {
                transaction.execute(insert, (name, value)).map_err(failed)?;
            }
        }
        transaction.commit().map_err(failed)?;
    }
    let damaged = || StoreError::Damaged {
        store: store.clone(),
        detail: "it has no check of its key".to_owned(),
    };
    let (check, id) = read_lock(connection).map_err(failed)?.ok_or_else(damaged)?;
    let vault = Vault::new(&choose_key(options, false, store)?);
    match check == vault.check() {
        true => Ok((vault, to_hex(&id))),
        false => Err(StoreError::WrongKey {
            store: store.clone(),
        }),
    }
}

/// The check of the key and the id of the store; `None` before they are made.
fn read_lock(connection: &Connection) -> rusqlite::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let select = "SELECT c.value, i.value FROM pml_meta c, pml_meta i \
                  WHERE c.name = 'key_check' AND i.name = 'store_id'";
    connection
        .query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a later version may do.
    const LATER: Migration = Migration {
        version: MIGRATIONS.len() as i64 + 1,
        sql: "ALTER TABLE pml_runs ADD COLUMN note TEXT; UPDATE pml_runs SET note = script;",
        postgres_sql: "",
    };

    fn with_later() -> Vec<Migration> {
        let known = MIGRATIONS
            .iter()
            .map(|migration| Migration { ..*migration });
        known.chain([LATER]).collect()
    }

    /// A file of the first version, with a run.
    fn old_file(path: &Path) -> Connection {
        create_file(path).unwrap();
        let mut connection = connect(path).unwrap();
        migrate(&mut connection, &MIGRATIONS[..1], &"s".into(), path).unwrap();
        connection
            .execute_batch(
                "INSERT INTO pml_runs VALUES ('local', 'r', 'p', 'run', 'a.ts', x'00', x'00', \
                 'done', NULL, NULL, 1, 1, 1, NULL, 1, 0, 0)",
            )
            .unwrap();
        connection
    }

    #[test]
    fn an_older_file_is_migrated_with_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut connection = old_file(&path);
        for _ in 0..2 {
            migrate(&mut connection, &with_later(), &"s".into(), &path).unwrap();
        }
        let note: String = connection
            .query_row("SELECT note FROM pml_runs", [], |row| row.get(0))
            .unwrap();
        assert_eq!(note, "a.ts");
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut connection = old_file(&path);
        let mut migrations = with_later();
        migrations[MIGRATIONS.len()].sql = "ALTER TABLE pml_runs ADD COLUMN note TEXT; nonsense;";
        migrate(&mut connection, &migrations, &"s".into(), &path).unwrap_err();
        let found = migrate(&mut connection, &with_later(), &"s".into(), &path);
        assert_eq!(found, Ok(()));
    }

    #[test]
    fn an_older_program_leaves_a_newer_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut connection = old_file(&path);
        migrate(&mut connection, &with_later(), &"s".into(), &path).unwrap();
        let error = migrate(&mut connection, MIGRATIONS, &"s".into(), &path).unwrap_err();
        assert!(matches!(error, StoreError::NewerVersion { .. }), "{error}");
    }
}
