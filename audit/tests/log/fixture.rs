//! Logs for the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pml_audit::{AuditLog, Event, LogOptions, verify_folder};
use serde_json::json;

pub fn options() -> LogOptions {
    LogOptions {
        interval: Duration::from_millis(20),
        sync: false,
        ..LogOptions::default()
    }
}

/// Appends events, and closes the log.
pub fn write_events(folder: &Path, count: usize) {
    let log = AuditLog::open(folder, options()).unwrap();
    for n in 0..count {
        let data = json!({ "n": n, "tool": "fs:write_file", "arguments": "sha256:00" });
        log.append(&Event::new("pml.call.intent", &data).about("fs:write_file"))
            .unwrap();
    }
    log.close();
}

/// All files below a folder, without the locks.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if path.ends_with("lock") => {}
            false => found.push(path),
        }
    }
    found.sort();
    found
}

pub fn is_whole(folder: &Path) -> bool {
    verify_folder(folder, &[]).unwrap().is_whole()
}
