//! A full disk.

use std::path::Path;
use std::process::Command;

use pml_audit::{AuditFolder, AuditLog, Event, Filter, LogOptions, verify_folder};
use serde_json::json;

use crate::fixture::options;

const FOLDER: &str = "PML_AUDIT_FULL_DISK";

/// Not a test by itself: the process on a small file system of its own.
#[test]
fn full_disk_process() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let data = json!({ "text": "x".repeat(1000) });
    let event = Event::new("pml.test", &data);
    for block in [true, false] {
        let folder = folder.join(if block { "block" } else { "degrade" });
        let filler = folder.with_extension("filler");
        std::fs::write(&filler, vec![1; 100_000]).unwrap();
        let options = LogOptions { block, ..options() };
        let log = AuditLog::open(&folder, options).unwrap();
        let refused: Vec<_> = (0..600).filter_map(|_| log.record(&event).err()).collect();
        match block {
            true => {
                let first = refused[0].to_string();
                assert!(first.contains("No space left"), "{first}");
            }
            false => assert!(refused.is_empty(), "{refused:?}"),
        }
        std::fs::remove_file(&filler).unwrap();
        log.record(&event).unwrap();
        log.close();
        let verified = verify_folder(&folder, &[]).unwrap();
        assert!(verified.is_whole(), "{verified:#?}");
        let count = |kind: &str| {
            let filter = Filter {
                kind: Some(kind.to_owned()),
                ..Filter::default()
            };
            AuditFolder::open(&folder).unwrap().query(&filter).unwrap()
        };
        let (gaps, events) = (count("pml.audit.gap"), count("pml.test").len());
        let dropped: u64 = gaps
            .iter()
            .filter_map(|gap| gap.event["data"]["dropped"].as_u64())
            .sum();
        let missing = if block { refused.len() as u64 } else { dropped };
        assert_eq!(gaps.is_empty(), block, "{gaps:?}");
        assert!(
            missing > 0 && events as u64 + missing == 601,
            "{events} and {missing}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
    println!("both ways are as they should be");
}

#[test]
fn a_full_disk_refuses_events_or_notes_the_gap_as_the_operator_wants() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=400k none \"$PML_AUDIT_FULL_DISK\" || exit 99
        exec \"$0\" full_disk::full_disk_process --exact --nocapture";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, folder.path())
        .output();
    let Ok(output) = output else {
        eprintln!("no `unshare` here: a full disk is NOT tested");
        return;
    };
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    if output.status.code() == Some(99) || text.contains("unshare failed") {
        eprintln!("no user namespaces here: a full disk is NOT tested");
        return;
    }
    assert!(text.contains("both ways are as they should be"), "{text}");
}
