//! Opening a store on a server: the pool, the version, the key.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use tokio_postgres::NoTls;
use tokio_postgres::error::SqlState;

use super::errors::{from_pool, from_postgres};
use super::tls::{Encrypted, ServerUrl, Tls};
use crate::error::StoreError;
use crate::key::choose_key;
use crate::options::StoreOptions;
use crate::schema::{MIGRATIONS, Migration, newest};
use crate::vault::Vault;

/// Connections of one process: the writer, the renewal, and reads.
const CONNECTIONS: usize = 6;

/// How long to wait for a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The advisory lock of migrations: `pml` in ASCII, and a number.
const MIGRATION_LOCK: i64 = 0x706d_6c00;

/// Connects, brings the schema to the newest version, and finds the key.
pub(super) async fn open(
    url: &str,
    options: &StoreOptions,
    store: &Arc<str>,
) -> Result<(Pool, Vault), StoreError> {
    let pool = pool(url, options, store)?;
    wait_until_up(&pool).await;
    migrate(&pool, MIGRATIONS, store).await?;
    let vault = unlock(&pool, options, store).await?;
    Ok((pool, vault))
}

/// Waits while the server starts. Any other error is that of the first work.
async fn wait_until_up(pool: &Pool) {
    let begun = Instant::now();
    while begun.elapsed() < CONNECT_TIMEOUT {
        match pool.get().await {
            Err(PoolError::Backend(error))
                if error.code() == Some(&SqlState::CANNOT_CONNECT_NOW) =>
            {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            _ => return,
        }
    }
}

fn pool(url: &str, options: &StoreOptions, store: &Arc<str>) -> Result<Pool, StoreError> {
    let invalid = |detail: String| StoreError::InvalidUrl {
        url: store.to_string(),
        detail: Some(detail),
    };
    let ServerUrl { mut config, tls } = ServerUrl::parse(url).map_err(invalid)?;
    // A transaction of a process that was stopped must not hold its rows for longer than its lease.
    // Only works that ask for it wait for the disk of the server.
    let idle = options.lease.min(CONNECT_TIMEOUT).as_millis().max(1);
    let ours = format!(
        "-c idle_in_transaction_session_timeout={idle} -c lock_timeout={} -c synchronous_commit=off",
        CONNECT_TIMEOUT.as_millis()
    );
    let session = match config.get_options() {
        Some(theirs) => format!("{theirs} {ours}"),
        None => ours,
    };
    config.options(session);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_application_name().is_none() {
        config.application_name("pml");
    }
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = match tls {
        Tls::Off => Manager::from_config(config, NoTls, recycling),
        Tls::SystemRoots => {
            let tls = Encrypted::with_system_roots().map_err(invalid)?;
            Manager::from_config(config, tls, recycling)
        }
        Tls::RootFile(path) => {
            let tls = Encrypted::with_root_file(&path).map_err(invalid)?;
            Manager::from_config(config, tls, recycling)
        }
    };
    Pool::builder(manager)
        .max_size(CONNECTIONS)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECT_TIMEOUT))
        .create_timeout(Some(CONNECT_TIMEOUT))
        .build()
        .map_err(|error| StoreError::Unreachable {
            store: store.clone(),
            detail: error.to_string(),
        })
}

/// Brings the schema to the newest version, in one transaction.
async fn migrate(
    pool: &Pool,
    migrations: &[Migration],
    store: &Arc<str>,
) -> Result<(), StoreError> {
    let failed = |error: tokio_postgres::Error| from_postgres(store, &error);
    let mut client = pool.get().await.map_err(|error| from_pool(store, &error))?;
    let transaction = client.transaction().await.map_err(failed)?;
    let lock = "SELECT pg_advisory_xact_lock($1)";
    transaction
        .execute(lock, &[&MIGRATION_LOCK])
        .await
        .map_err(failed)?;
    let exists = "SELECT to_regclass('pml_meta') IS NOT NULL";
    let exists = transaction.query_one(exists, &[]).await.map_err(failed)?;
    let found = match exists.get(0) {
        false => 0,
        true => {
            let version = "SELECT value FROM pml_meta WHERE name = 'version'";
            let version = transaction.query_one(version, &[]).await.map_err(failed)?;
            let version: Vec<u8> = version.get(0);
            version.try_into().map_or(0, i64::from_be_bytes)
        }
    };
    let known = newest(migrations);
    if found > known {
        let store = store.clone();
        return Err(StoreError::NewerVersion {
            store,
            found,
            known,
        });
    }
    for migration in migrations {
        if migration.version > found {
            for sql in [migration.sql, migration.postgres_sql] {
                transaction.batch_execute(sql).await.map_err(failed)?;
            }
        }
    }
    if found < known {
        let version = "INSERT INTO pml_meta (name, value) VALUES ('version', $1) \
                       ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        let known = known.to_be_bytes().to_vec();
        transaction
            .execute(version, &[&known])
            .await
            .map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}

/// Finds the key and compares it with the store's check.
async fn unlock(
    pool: &Pool,
    options: &StoreOptions,
    store: &Arc<str>,
) -> Result<Vault, StoreError> {
    let failed = |error: tokio_postgres::Error| from_postgres(store, &error);
    let client = pool.get().await.map_err(|error| from_pool(store, &error))?;
    let select = "SELECT value FROM pml_meta WHERE name = 'key_check'";
    let check = || async {
        let row = client.query_opt(select, &[]).await.map_err(failed)?;
        Ok::<Option<Vec<u8>>, StoreError>(row.map(|row| row.get(0)))
    };
    let known = check().await?;
    let vault = Vault::new(&choose_key(options, known.is_none(), store)?);
    let known = match known {
        Some(known) => Some(known),
        None => {
            // The first of two processes decides.
            let insert = "INSERT INTO pml_meta (name, value) VALUES ('key_check', $1) \
                          ON CONFLICT DO NOTHING";
            client
                .execute(insert, &[&vault.check().as_slice()])
                .await
                .map_err(failed)?;
            check().await?
        }
    };
    match known.is_some_and(|known| known == vault.check()) {
        true => Ok(vault),
        false => Err(StoreError::WrongKey {
            store: store.clone(),
        }),
    }
}
