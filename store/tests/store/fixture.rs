//! A store for one test, on one of the databases.

use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pml_protocol::{EffectClass, RunId, TenantId};
use pml_store::{EntryState, JournalEntry, NewRun, Store, StoreOptions, StoreUrl, UnixMs};
use tempfile::TempDir;

use crate::postgres_server;

/// Declares tests that run on both databases. Each is an `async fn(Fixture)`.
macro_rules! on_both_databases {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                crate::fixture::on_sqlite(super::$test);
            })*
        }
        mod postgres {
            $(#[test]
            fn $test() {
                crate::fixture::on_postgres(super::$test);
            })*
        }
    };
}
pub(crate) use on_both_databases;

/// A store that does not exist yet, and the folder of its files.
pub struct Fixture {
    pub folder: TempDir,
    pub options: StoreOptions,
}

impl Fixture {
    pub async fn open(&self) -> Store {
        Store::open(self.options.clone()).await.unwrap()
    }

    pub fn is_sqlite(&self) -> bool {
        matches!(self.options.url, StoreUrl::Sqlite(_))
    }
}

/// Runs a test on a SQLite file.
pub fn on_sqlite(test: impl AsyncFnOnce(Fixture)) {
    let folder = tempfile::tempdir().unwrap();
    let url = StoreUrl::Sqlite(folder.path().join("store.db"));
    block_on(test(fixture(url, folder)));
}

/// Runs a test in a new schema of the server.
pub fn on_postgres(test: impl AsyncFnOnce(Fixture)) {
    static SCHEMAS: AtomicU32 = AtomicU32::new(0);
    let Some(server) = postgres_server::url() else {
        return;
    };
    let schema = format!("test_{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let config = &server.parse::<tokio_postgres::Config>().unwrap();
        let (client, connection) = connect(config).await;
        let connection = tokio::spawn(connection);
        let create = format!("CREATE SCHEMA {schema}");
        client.batch_execute(&create).await.unwrap();
        drop(client);
        connection.await.unwrap();
        let url = format!("{server}?options=-csearch_path%3D{schema}");
        test(fixture(url.parse().unwrap(), folder)).await;
    });
}

/// The socket appears a moment before the server accepts connections.
async fn connect(
    config: &tokio_postgres::Config,
) -> (tokio_postgres::Client, impl Future<Output = ()> + use<>) {
    let begun = Instant::now();
    loop {
        match config.connect(tokio_postgres::NoTls).await {
            Ok((client, connection)) => return (client, async { connection.await.unwrap() }),
            Err(error) if begun.elapsed() > Duration::from_secs(30) => panic!("{error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

fn fixture(url: StoreUrl, folder: TempDir) -> Fixture {
    let options = StoreOptions::new(url, folder.path());
    Fixture { folder, options }
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

pub fn tenant() -> TenantId {
    TenantId::local()
}

pub fn id(text: &str) -> RunId {
    text.parse().unwrap()
}

pub fn new_run(id: &str) -> NewRun {
    NewRun {
        tenant: tenant(),
        id: self::id(id),
        principal: "local".to_owned(),
        origin: "run".to_owned(),
        script: "nightly.ts".to_owned(),
        script_digest: [1; 32],
        spec: b"spec".to_vec(),
        task_ttl: None,
    }
}

/// A guarded call without an answer.
pub fn intent(number: u32) -> JournalEntry {
    JournalEntry {
        number,
        key: [2; 32],
        occurrence: number,
        title: "call mail:send".to_owned(),
        class: Some(EffectClass::Guarded),
        state: EntryState::Intended,
        request: format!("request {number}").into_bytes(),
        answer: None,
        answer_order: None,
        clock_ms: None,
        at: now(),
    }
}

/// The same with an answer.
pub fn answered(number: u32, order: u32) -> JournalEntry {
    JournalEntry {
        state: EntryState::Answered,
        answer: Some(format!("answer {number}").into_bytes()),
        answer_order: Some(order),
        clock_ms: Some(1000),
        ..intent(number)
    }
}

pub fn now() -> UnixMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_millis() as u64
}

/// Whether a file below a folder contains the bytes.
pub fn any_file_contains(folder: &Path, needle: &[u8]) -> bool {
    files_below(folder).into_iter().any(|file| {
        let bytes = std::fs::read(file).unwrap();
        bytes.windows(needle.len()).any(|window| window == needle)
    })
}

pub fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}
