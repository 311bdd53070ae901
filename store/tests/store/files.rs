//! Files that are not what they should be. Each gets one sentence, and none is changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use pml_store::{Store, StoreError, StoreOptions, StoreUrl};

use crate::child::Process;
use crate::fixture::{Fixture, block_on, intent, new_run, on_sqlite};

/// Opens a store that cannot be opened; checks that the sentence says where.
async fn refused(options: &StoreOptions) -> StoreError {
    let error = Store::open(options.clone()).await.expect_err("it opened");
    let text = error.to_string();
    assert!(!text.contains('\n') && text.contains(": "), "{text}");
    error
}

/// Writes a store with one run, closes it, and returns the path of its file.
async fn store_file(fixture: &Fixture) -> std::path::PathBuf {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    writer.append_durable(intent(1)).await.unwrap();
    writer.release().await.unwrap();
    store.close().await;
    fixture.folder.path().join("store.db")
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    on_sqlite(async |fixture| {
        let path = fixture.folder.path().join("store.db");
        let text = "not a database, but somebody's notes\n".repeat(100);
        fs::write(&path, &text).unwrap();
        let error = refused(&fixture.options).await;
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("store.db"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    });
}

#[test]
fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    on_sqlite(async |fixture| {
        let path = fixture.folder.path().join("store.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .execute_batch("CREATE TABLE notes (text TEXT)")
            .unwrap();
        drop(other);
        let before = fs::read(&path).unwrap();
        let error = refused(&fixture.options).await;
        assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    });
}

#[test]
fn a_damaged_store_is_reported_and_left_as_it_is() {
    on_sqlite(async |fixture| {
        let path = store_file(&fixture).await;
        // SQLite copies its log into the file when the last connection is closed.
        drop(rusqlite::Connection::open(&path).map(|store| {
            store
                .query_row("SELECT COUNT(*) FROM pml_runs", [], |_| Ok(()))
                .unwrap();
        }));
        let mut bytes = fs::read(&path).unwrap();
        assert!(bytes.len() > 8192);
        for byte in &mut bytes[4096..] {
            *byte = 0xff;
        }
        fs::write(&path, &bytes).unwrap();
        let error = refused(&fixture.options).await;
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    });
}

#[test]
fn a_newer_store_is_refused_and_left_as_it_is() {
    on_sqlite(async |fixture| {
        let path = store_file(&fixture).await;
        let store = rusqlite::Connection::open(&path).unwrap();
        store.execute_batch("PRAGMA user_version = 1000").unwrap();
        drop(store);
        let error = refused(&fixture.options).await;
        assert!(
            matches!(error, StoreError::NewerVersion { found: 1000, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("update pml"), "{error}");
    });
}

#[test]
fn a_swapped_row_does_not_open() {
    on_sqlite(async |fixture| {
        let store = fixture.open().await;
        for run in ["a", "b"] {
            let writer = store.begin(new_run(run));
            writer.append_durable(intent(1)).await.unwrap();
        }
        store.close().await;
        let path = fixture.folder.path().join("store.db");
        let file = rusqlite::Connection::open(&path).unwrap();
        file.execute_batch(
            "UPDATE pml_entries SET request = (SELECT request FROM pml_entries WHERE run = 'b') \
             WHERE run = 'a'",
        )
        .unwrap();
        drop(file);
        let store = fixture.open().await;
        let tenant = crate::fixture::tenant();
        let error = store.journal(&tenant, &crate::fixture::id("a")).await;
        let error = error.unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(
            error.to_string().contains("`request` of run `a`"),
            "{error}"
        );
        let journal = store.journal(&tenant, &crate::fixture::id("b")).await;
        assert_eq!(journal.unwrap().len(), 1);
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    on_sqlite(async |fixture| {
        // Root may write to read-only folders; nobody may create a file below a file.
        let file = fixture.folder.path().join("file");
        fs::write(&file, "").unwrap();
        let url = StoreUrl::Sqlite(file.join("store.db"));
        let error = refused(&StoreOptions::new(url, fixture.folder.path())).await;
        assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
        let url = StoreUrl::Sqlite(fixture.folder.path().join("store.db"));
        let error = refused(&StoreOptions::new(url, &file)).await;
        assert!(
            matches!(&error, StoreError::NotWritable { path, .. } if *path == file),
            "{error}"
        );
        let url = StoreUrl::Sqlite(Path::new("/proc/self/store.db").to_owned());
        let error = refused(&StoreOptions::new(url, fixture.folder.path())).await;
        assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
    });
}

#[test]
fn only_the_user_can_read_the_files() {
    on_sqlite(async |mut fixture| {
        let folder = fixture.folder.path().join("data/pml");
        fixture.options.data_folder = folder.clone();
        fixture.options.url = StoreUrl::Sqlite(folder.join("store.db"));
        let store = fixture.open().await;
        let mut run = new_run("r");
        run.spec = vec![0; 300_000];
        let writer = store.begin(run);
        writer.append_durable(intent(1)).await.unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        let files = crate::fixture::files_below(&folder);
        // The database, its log and shared memory, the key, a blob.
        assert_eq!(files.len(), 5, "{files:?}");
        for file in files {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    });
}

#[test]
fn a_full_disk_is_one_sentence_and_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let url = StoreUrl::Sqlite(folder.path().join("store.db"));
    let options = StoreOptions::new(url, folder.path());
    let program = std::env::current_exe().unwrap();
    // A file system of 1 MiB that only the child sees.
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command.arg("mount -t tmpfs -o size=1m none \"$0\" && exec \"$@\"");
    command.arg(folder.path()).arg(program);
    let mut process = Process::start_in(command, "fill", &options);
    let Some(error) = process.line() else {
        eprintln!("no user namespaces here: a full disk is NOT tested");
        return;
    };
    assert!(error.contains("is full"), "{error}");
    let counts = process.line().unwrap();
    let (acknowledged, found) = counts.split_once(' ').unwrap();
    assert_eq!(acknowledged, found);
    assert!(acknowledged.parse::<u32>().unwrap() > 5);
    process.wait();
}

#[test]
fn a_server_that_does_not_answer_is_named_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    // Port 1 of this machine: nothing listens there.
    let url = "postgres://ada:secret@127.0.0.1:1/pml".parse().unwrap();
    let error = block_on(refused(&StoreOptions::new(url, folder.path())));
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("ada:***@127.0.0.1"), "{error}");
    assert!(!format!("{error:?}").contains("secret"));
}
