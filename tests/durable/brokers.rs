//! Two processes on one PostgreSQL.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::ledger::{Ledger, parse};

#[path = "../../store/tests/store/postgres_server.rs"]
mod postgres_server;

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn a_process_that_was_stopped_past_its_lease_changes_nothing_when_it_goes_on() {
    let Some(url) = postgres_server::url() else {
        return;
    };
    let ledger = Ledger::new();
    ledger.configure_pml(json!({ "effects": { "s:look": "read" }, "store": {
        "lease": "30s", "key": "0123456789abcdef".repeat(4) } }));
    ledger.write("script.ts", "await tools.s.record({ text: 'a' });\nawait tools.s.look({ hold: 'before' });\nawait tools.s.record({ text: 'b' });\nreturn 'whole'");
    // The worker of the stopped process goes on, and so does its time limit.
    let limits = ["--timeout", "10m", "--tool-timeout", "10m"];
    let zombie = ledger
        .pml_on(&url, &["run", "--durable", "--run-id", "zombie", "--json"])
        .args(limits)
        .arg(ledger.file("script.ts"))
        .spawn()
        .expect("pml starts");
    ledger.wait_until_held();
    signal(zombie.id(), "-STOP");
    let resume = || {
        ledger
            .pml_on(&url, &["resume", "zombie", "--json"])
            .output()
            .expect("pml starts")
    };
    let refused = resume();
    assert_eq!(
        refused.status.code(),
        Some(2),
        "the lease holds: {refused:?}"
    );
    ledger.let_go();
    let began = Instant::now();
    let mut resumed = refused;
    while resumed.status.code() == Some(2) && began.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_secs(2));
        resumed = resume();
    }
    assert_eq!(parse(&resumed)["result"], "whole", "{resumed:?}");
    assert_eq!(ledger.effects(), ["record a", "record b"]);

    signal(zombie.id(), "-CONT");
    let output = zombie.wait_with_output().expect("pml ends");
    let outcome = parse(&output);
    assert_eq!(outcome["error"]["kind"], "cancelled", "{outcome}");
    let message = outcome["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("another process"), "{message}");
    assert_eq!(ledger.effects(), ["record a", "record b"]);
    // What the other process has finished stays finished.
    assert_eq!(parse(&resume())["result"], "whole");
}
