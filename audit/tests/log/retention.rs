//! Old entries.

use std::fs;
use std::time::Duration;

use pml_audit::{AuditFolder, AuditLog, Event, Filter, LogOptions, Retention, verify_folder};
use serde_json::json;

use crate::fixture::{files, is_whole, options, write_events};

fn open_with(folder: &std::path::Path, hot: Duration, cold: Duration) {
    let options = LogOptions {
        retention: Retention { hot, cold },
        ..options()
    };
    let log = AuditLog::open(folder, options).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    log.append(&Event::new("pml.test", &json!({}))).unwrap();
    log.close();
}

#[test]
fn old_entries_are_compressed_then_removed_and_the_log_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    write_events(folder.path(), 800);
    open_with(folder.path(), Duration::ZERO, year);
    let archive = folder.path().join("log-0/tile/entries/001.gz");
    assert!(archive.exists(), "{:?}", files(folder.path()));
    assert!(!folder.path().join("log-0/tile/entries/001").exists());
    assert!(is_whole(folder.path()));
    let events = |folder| {
        let intents = Filter {
            kind: Some("pml.call".to_owned()),
            ..Filter::default()
        };
        AuditFolder::open(folder)
            .unwrap()
            .query(&intents)
            .unwrap()
            .len()
    };
    assert_eq!(events(folder.path()), 800, "compressed entries can be read");
    let whole = fs::read(&archive).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&archive, &changed).unwrap();
        assert!(!is_whole(folder.path()), "byte {at}");
    }
    fs::remove_file(&archive).unwrap();
    assert!(!is_whole(folder.path()), "removed by somebody else");
    fs::write(&archive, &whole).unwrap();
    open_with(folder.path(), Duration::ZERO, Duration::ZERO);
    assert!(!archive.exists());
    let verified = verify_folder(folder.path(), &[]).unwrap();
    assert!(verified.is_whole(), "{verified:#?}");
    assert_eq!(verified.logs[0].pruned, 768);
    assert!(events(folder.path()) < 800);
    AuditFolder::open(folder.path())
        .unwrap()
        .prove(&verified.logs[0].origin, 5)
        .unwrap_err();
}
