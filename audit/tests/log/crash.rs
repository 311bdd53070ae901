//! A writer that is killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use pml_audit::{AuditFolder, AuditLog, Event, Filter, verify_folder};
use serde_json::json;

use crate::fixture::{is_whole, options};

const FOLDER: &str = "PML_AUDIT_CRASH_FOLDER";

/// Not a test by itself: the process that is killed. It prints each acknowledged event.
#[test]
fn writer_process() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let log = AuditLog::open(folder.as_ref(), options()).unwrap();
    for n in 0_u64.. {
        let data = json!({ "n": n, "text": "x".repeat((n % 700) as usize) });
        log.append(&Event::new("pml.test", &data)).unwrap();
        println!("written {n}");
    }
}

#[test]
fn kill_9_loses_no_acknowledged_event_and_leaves_a_whole_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut total = 0;
    for round in 0..12_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["crash::writer_process", "--exact", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let written = |line: &str| {
            line.strip_prefix("written ")
                .map(|n| n.parse::<usize>().unwrap())
        };
        let mut acknowledged = 0;
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(40 + 17 * round));
            child.kill().unwrap();
            child.wait().unwrap();
        });
        while let Some(Ok(line)) = lines.next() {
            acknowledged = written(&line).map_or(acknowledged, |n| n + 1);
        }
        killer.join().unwrap();
        let verified = verify_folder(folder.path(), &[]).unwrap();
        assert!(verified.is_whole(), "{round}: {verified:#?}");
        let filter = Filter {
            kind: Some("pml.test".to_owned()),
            ..Filter::default()
        };
        let found = AuditFolder::open(folder.path())
            .unwrap()
            .query(&filter)
            .unwrap()
            .len();
        assert!(
            found >= total + acknowledged,
            "{found} of {total} + {acknowledged}"
        );
        assert!(
            found <= total + acknowledged + 1,
            "{found} of {total} + {acknowledged}"
        );
        total = found;
    }
    AuditLog::open(folder.path(), options()).unwrap().close();
    let verified = verify_folder(folder.path(), &[]).unwrap();
    assert!(verified.is_whole());
    assert_eq!(verified.logs.len(), 1, "the log is continued");
    assert_eq!(verified.logs[0].uncovered, 0);
}

#[test]
fn a_process_that_ends_before_the_first_entry_of_a_bundle_leaves_the_bundle_before_it() {
    let folder = tempfile::tempdir().unwrap();
    // With the event of the start, the first bundle is full.
    crate::fixture::write_events(folder.path(), 255);
    let empty = folder.path().join("log-0/tile/entries/001.p");
    std::fs::create_dir_all(&empty).unwrap();
    std::fs::write(empty.join("0"), b"").unwrap();
    crate::fixture::write_events(folder.path(), 10);
    let verified = verify_folder(folder.path(), &[]).unwrap();
    assert!(verified.is_whole(), "{verified:#?}");
    assert_eq!(verified.logs[0].size, 267);
}

#[test]
fn a_part_of_an_entry_at_the_end_is_removed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    crate::fixture::write_events(folder.path(), 10);
    let partial = folder.path().join("log-0/tile/entries/000.p/11");
    let mut bytes = std::fs::read(&partial).unwrap();
    bytes.extend([0, 200, b'{']);
    std::fs::write(&partial, bytes).unwrap();
    assert!(is_whole(folder.path()), "it was never acknowledged");
    crate::fixture::write_events(folder.path(), 10);
    let verified = verify_folder(folder.path(), &[]).unwrap();
    assert!(verified.is_whole());
    assert_eq!(verified.logs[0].size, 22);
}
