//! Errors of PostgreSQL, as errors of the store.

use std::error::Error as _;
use std::sync::Arc;

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::error::StoreError;

/// What an error of the server or the connection means.
pub(super) fn from_postgres(store: &Arc<str>, error: &tokio_postgres::Error) -> StoreError {
    let store = store.clone();
    let Some(reported) = error.as_db_error() else {
        let detail = match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        return match is_lost(error) {
            true => StoreError::Unreachable { store, detail },
            false => StoreError::Database { store, detail },
        };
    };
    let detail = reported.message().to_owned();
    match reported.code() {
        &SqlState::DISK_FULL => StoreError::Full { store },
        _ if is_lost(error) || is_login(reported.code()) => {
            StoreError::Unreachable { store, detail }
        }
        _ => StoreError::Database { store, detail },
    }
}

/// What it means that the pool has no connection.
pub(super) fn from_pool(store: &Arc<str>, error: &PoolError) -> StoreError {
    match error {
        PoolError::Closed => StoreError::Closed,
        PoolError::Backend(error) => from_postgres(store, error),
        other => StoreError::Unreachable {
            store: store.clone(),
            detail: other.to_string(),
        },
    }
}

/// Whether the same transaction may succeed if it is repeated: the connection was lost, the server
/// restarts, or two transactions waited for each other. All works can be repeated, also one whose commit
/// has succeeded unseen.
pub(super) fn is_transient(error: &tokio_postgres::Error) -> bool {
    let is_conflict = matches!(
        error.code(),
        Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE)
    );
    is_conflict || is_lost(error)
}

fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(code) => {
            // Class 08 is the connection, class 57P the shutdown of the server; 25P03 is a transaction
            // that was idle for longer than the server allows.
            code.code().starts_with("08")
                || code.code().starts_with("57P")
                || code == &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        }
        None => {
            error.is_closed()
                || error
                    .source()
                    .is_some_and(|source| source.is::<std::io::Error>())
        }
    }
}

/// Whether the server refused the login, or has no such database.
fn is_login(code: &SqlState) -> bool {
    code.code().starts_with("28") || code == &SqlState::INVALID_CATALOG_NAME
}
