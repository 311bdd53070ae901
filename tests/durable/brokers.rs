//! Two processes on one PostgreSQL.

use std::process::Command;
use std::time::Duration;

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
        "lease": "8s", "key": "0123456789abcdef".repeat(4) } }));
    ledger.write("script.ts", "await tools.s.record({ text: 'a' });\nawait tools.s.look({ hold: 'before' });\nawait tools.s.record({ text: 'b' });\nreturn 'whole'");
    let zombie = ledger
        .pml_on(&url, &["run", "--durable", "--run-id", "zombie", "--json"])
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
    std::thread::sleep(Duration::from_secs(9));
    ledger.let_go();
    assert_eq!(parse(&resume())["result"], "whole");
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
