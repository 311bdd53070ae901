//! Durable runs of `pml serve`.

use serde_json::json;

use super::client::Client;
use super::ledger::Ledger;

const SCRIPT: &str = "await tools.s.record({ text: 'a' }); await tools.s.look({ hold: 'before' }); await tools.s.record({ text: 'b' }); return 'whole'";

#[test]
fn a_server_that_starts_resumes_the_runs_that_a_killed_one_left() {
    let ledger = Ledger::new();
    let mut first = Client::start(&ledger);
    first.execute(1, SCRIPT);
    ledger.wait_until_held();
    first.process.kill().unwrap();
    first.process.wait().unwrap();
    ledger.let_go();
    let mut second = Client::start(&ledger);
    ledger.wait_for_effects(2);
    let runs = ledger.json(&["runs", "--json"]);
    let id = runs["runs"][0]["id"].as_str().expect("an id").to_owned();
    // The last answer is on its way into the store.
    let mut state = json!(null);
    for _ in 0..200 {
        state = ledger.json(&["runs", "show", &id, "--json"])["state"].clone();
        if state == "done" {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(state, "done");
    assert_eq!(ledger.json(&["resume", &id, "--json"])["result"], "whole");
    assert_eq!(ledger.effects(), ["record a", "record b"]);
    second.process.kill().unwrap();
    second.process.wait().unwrap();
}

#[test]
fn a_server_that_is_shut_down_leaves_its_runs_resumable_and_says_how_many() {
    let ledger = Ledger::new();
    let mut server = Client::start(&ledger);
    server.execute(1, SCRIPT);
    ledger.wait_until_held();
    let pid = server.process.id().to_string();
    std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .unwrap();
    let mut errors = String::new();
    let mut stderr = server.process.stderr.take().expect("a pipe");
    std::io::Read::read_to_string(&mut stderr, &mut errors).unwrap();
    server.process.wait().unwrap();
    assert!(
        errors.contains("runs were interrupted") && errors.contains("runs=1"),
        "{errors}"
    );
    ledger.let_go();
    let resumed = ledger.run(&["resume", "--all", "--json"]);
    assert_eq!(
        super::ledger::parse(&resumed)["result"],
        "whole",
        "{resumed:?}"
    );
    assert_eq!(ledger.effects(), ["record a", "record b"]);
}

#[test]
fn a_script_without_calls_leaves_no_run() {
    let ledger = Ledger::new();
    let mut server = Client::start(&ledger);
    server.execute(1, "return 6 * 7");
    let reply = server.receive(1);
    assert!(reply.to_string().contains("42"), "{reply}");
    assert_eq!(ledger.json(&["runs", "--json"])["runs"], json!([]));
    server.process.kill().unwrap();
    server.process.wait().unwrap();
}
