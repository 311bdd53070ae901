//! The audit log of `pml serve`, through the binary.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::gateway::{Place, demo};
use crate::serve::driver::StdioClient;

mod sinks;

/// A place with the demo server and settings of `pml.audit`.
fn place(audit: Value) -> (tempfile::TempDir, Place) {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("a.json"), r#"{ "version": "1.0.0" }"#).unwrap();
    let configuration = json!({
        "mcpServers": { "demo": demo(data.path()) },
        "pml": { "audit": audit },
    });
    (data, Place::with(&configuration))
}

fn log_folder(place: &Place) -> PathBuf {
    place.folder().join("audit")
}

fn events(place: &Place, flags: &[&str]) -> Vec<Value> {
    let output = place.run(&[&["audit", "query", "--json"], flags].concat());
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const READ: &str = "return (await tools.demo.read_json({ path: 'a.json' })).version";

#[test]
fn a_call_of_a_script_is_recorded_with_digests_and_who_made_it() {
    let (_data, place) = place(json!({ "path": "audit" }));
    let mut client = StdioClient::open(&place, &[]);
    assert_eq!(client.run(READ)["result"], "1.0.0");
    assert_eq!(client.run("return 1")["result"], 1);
    client.close();
    let calls = events(&place, &["--type", "pml.call"]);
    assert_eq!(calls.len(), 2, "{calls:#?}");
    let (intent, outcome) = (&calls[0], &calls[1]);
    assert_eq!(intent["type"], "pml.call.intent");
    assert_eq!(intent["specversion"], "1.0");
    assert_eq!(intent["subject"], "demo:read_json");
    assert_eq!(
        (&intent["tenant"], &intent["principal"]),
        (&json!("local"), &json!("local"))
    );
    assert!(
        intent["policyhash"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    assert!(!intent.to_string().contains("a.json"), "{intent}");
    assert_eq!(outcome["data"]["ok"], true);
    assert_eq!(outcome["data"]["replayed"], false);
    assert_eq!(outcome["runid"], intent["runid"]);
    let runs = events(&place, &["--type", "pml.run"]);
    assert_eq!(
        runs.len(),
        2,
        "a run without a call is one event: {runs:#?}"
    );
    assert_eq!(runs[0]["runid"], intent["runid"]);
    assert_eq!(runs[1]["data"]["calls"], 0);
    let loaded = events(&place, &["--type", "pml.config.loaded"]);
    assert_eq!(loaded[0]["data"]["servers"], json!(["demo"]));
    let verified = place.run(&["audit", "verify", "--json"]);
    assert!(verified.status.success(), "{verified:?}");
    let found: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(found["logs"][0]["uncovered"], 0, "{found}");
}

#[test]
fn a_changed_event_is_found_and_named() {
    let (_data, place) = place(json!({ "path": "audit" }));
    let mut client = StdioClient::open(&place, &[]);
    client.run(READ);
    client.close();
    let folder = log_folder(&place).join("log-0/tile/entries/000.p");
    let bundle = fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = fs::read(&bundle).unwrap();
    let at = text
        .windows(14)
        .position(|part| part == b"demo:read_json")
        .unwrap();
    let mut changed = text.clone();
    changed[at + 5] = b'R';
    fs::write(&bundle, &changed).unwrap();
    let output = place.run(&["audit", "verify"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("DAMAGED") && said.contains("is not the one that was logged"),
        "{said}"
    );
    assert!(said.contains("Not proved"), "{said}");
    // The next server does not write to a damaged log.
    let mut client = StdioClient::open(&place, &[]);
    client.run("return 1");
    client.close();
    assert!(log_folder(&place).join("log-1").exists());
    assert_eq!(fs::read(&bundle).unwrap(), changed);
    let opened = place.run(&["audit", "query", "--type", "pml.log.opened", "--json"]);
    let opened = String::from_utf8_lossy(&opened.stdout).into_owned();
    assert!(
        opened.contains("other entries than those that were signed"),
        "{opened}"
    );
}

#[test]
fn kill_9_keeps_what_was_called_and_a_whole_log() {
    let (_data, place) = place(json!({ "path": "audit", "onFailure": "block" }));
    for round in 1..=3 {
        let mut client = StdioClient::open(&place, &[]);
        assert_eq!(client.run(READ)["result"], "1.0.0");
        // Dropping the client kills the server with SIGKILL.
        drop(client);
        let output = place.run(&["audit", "verify"]);
        assert!(output.status.success(), "{output:?}");
        let outcomes = events(&place, &["--type", "pml.call.outcome"]);
        assert_eq!(outcomes.len(), round, "{outcomes:#?}");
        assert_eq!(events(&place, &["--type", "pml.run"]).len(), round);
    }
    assert!(
        !log_folder(&place).join("log-1").exists(),
        "the log is continued"
    );
}

#[test]
fn two_servers_at_once_write_a_log_each() {
    let (_data, place) = place(json!({ "path": "audit" }));
    let mut clients = [
        StdioClient::open(&place, &[]),
        StdioClient::open(&place, &[]),
    ];
    for client in &mut clients {
        client.run(READ);
    }
    for client in clients {
        client.close();
    }
    assert_eq!(events(&place, &["--type", "pml.call.intent"]).len(), 2);
    assert!(place.run(&["audit", "verify"]).status.success());
    assert!(log_folder(&place).join("log-1").exists());
}

#[test]
fn a_log_that_is_switched_off_is_not_there() {
    let (_data, place) = place(json!({ "path": "audit", "enabled": false }));
    let mut client = StdioClient::open(&place, &[]);
    client.run(READ);
    client.close();
    assert!(!log_folder(&place).exists());
    let output = place.run(&["audit", "verify"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("there is no audit log"));
}

#[test]
fn events_are_exported_in_three_formats_and_a_checkpoint_is_compared() {
    let (_data, place) = place(json!({ "path": "audit" }));
    let mut client = StdioClient::open(&place, &[]);
    client.run(READ);
    client.close();
    let export = |format: &str| {
        let output = place.run(&["audit", "export", "--format", format]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let batch: Vec<Value> = serde_json::from_str(&export("cloudevents")).unwrap();
    assert_eq!(batch.len(), export("jsonl").lines().count());
    let table = export("csv");
    assert!(table.starts_with("time,type,subject,"), "{table}");
    assert!(table.contains("\"demo:read_json\""), "{table}");
    let checkpoint = place.run(&["audit", "checkpoint"]).stdout;
    fs::write(place.folder().join("kept.txt"), checkpoint).unwrap();
    let with_kept = ["audit", "verify", "--checkpoint", "kept.txt"];
    assert!(place.run(&with_kept).status.success());
    fs::remove_dir_all(log_folder(&place)).unwrap();
    assert_eq!(place.run(&with_kept).status.code(), Some(1));
    let mut client = StdioClient::open(&place, &[]);
    client.run(READ);
    client.close();
    assert!(
        place.run(&["audit", "verify"]).status.success(),
        "a new log is whole"
    );
    assert_eq!(
        place.run(&with_kept).status.code(),
        Some(1),
        "and not the one that was kept"
    );
}

#[test]
fn an_event_and_the_growth_of_the_log_have_proofs() {
    let (_data, place) = place(json!({ "path": "audit" }));
    let mut client = StdioClient::open(&place, &[]);
    for _ in 0..4 {
        client.run(READ);
    }
    client.close();
    let intent = events(&place, &["--type", "pml.call.intent"]).remove(1);
    let (source, id) = (
        intent["source"].as_str().unwrap(),
        intent["id"].as_str().unwrap(),
    );
    let output = place.run(&["audit", "prove", source, id]);
    assert!(output.status.success(), "{output:?}");
    let proof: Value = serde_json::from_slice(&output.stdout).unwrap();
    let entry: Value = serde_json::from_str(proof["entry"].as_str().unwrap()).unwrap();
    assert_eq!(entry, intent);
    let grown = place.run(&["audit", "prove", source, "--since", "3"]);
    assert!(grown.status.success(), "{grown:?}");
    for (wrong, expected) in [
        ([source, "9999"], "error: there is no entry 9999"),
        (
            ["/pml/0", "1"],
            "error: there is no log `pml/0`: `pml audit verify` lists the logs",
        ),
    ] {
        let output = place.run(&[&["audit", "prove"][..], &wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn events_show_scrubbed_values_where_the_operator_wants_that() {
    let (_data, place) = place(json!({ "path": "audit", "values": true }));
    let mut client = StdioClient::open(&place, &[]);
    client.run(READ);
    client.run("await tools.demo.read_json({ path: 'jane.doe@acme-corp.com' }).catch(() => 0)");
    client.close();
    let calls = events(&place, &["--type", "pml.call"]);
    assert_eq!(calls.len(), 4, "{calls:#?}");
    assert_eq!(calls[0]["data"]["shown"], r#"{"path":"a.json"}"#);
    let result = calls[1]["data"]["shown"].as_str().unwrap();
    assert!(result.contains("1.0.0"), "{result}");
    let shown = calls[2]["data"]["shown"].as_str().unwrap();
    assert!(shown.contains("[EMAIL_1]"), "{shown}");
    assert!(!format!("{calls:?}").contains("jane.doe"), "{calls:#?}");
}

#[test]
fn events_are_chosen_by_session_time_and_number() {
    let (_data, place) = place(json!({ "path": "audit" }));
    for _ in 0..2 {
        let mut client = StdioClient::open(&place, &[]);
        client.run(READ);
        client.close();
    }
    let all = events(&place, &[]);
    let calls = events(&place, &["--type", "pml.call"]);
    let session = calls[0]["session"].as_str().unwrap();
    let of_session = events(&place, &["--session", session]);
    assert_eq!(of_session.len(), 3, "{of_session:#?}");
    assert_eq!(events(&place, &["--last", "2"]), all[all.len() - 2..]);
    let time = calls[2]["time"].as_str().unwrap();
    let before = events(&place, &["--until", time]);
    let after = events(&place, &["--since", time]);
    assert_eq!([before, after].concat(), all);
    assert_eq!(events(&place, &["--since", "1h"]), all);
    let output = place.run(&["audit", "query", "--since", "yesterday"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn commands_are_recorded_where_the_operator_wants_that() {
    let (_data, place) = place(json!({ "path": "audit", "commands": true }));
    let called = place.run(&["call", "demo:read_json", r#"{ "path": "a.json" }"#]);
    assert!(called.status.success(), "{called:?}");
    assert_eq!(place.result(READ), "1.0.0");
    let calls = events(&place, &["--type", "pml.call"]);
    let kinds: Vec<&str> = calls
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let pair = ["pml.call.intent", "pml.call.outcome"];
    assert_eq!(kinds, [pair, pair].concat(), "{calls:#?}");
    assert_eq!(calls[1]["data"]["ok"], true);
    let ended = events(&place, &["--type", "pml.run.ended"]);
    assert_eq!(ended.len(), 1, "{ended:#?}");
    assert_eq!(ended[0]["runid"], calls[2]["runid"]);
    assert!(place.run(&["audit", "verify"]).status.success());

    let (_data, silent) = self::place(json!({ "path": "audit" }));
    assert_eq!(silent.result(READ), "1.0.0");
    assert_eq!(events(&silent, &[]), Vec::<Value>::new());
}

#[test]
fn a_call_that_the_log_lacks_is_found_by_the_journals() {
    let (_data, place) = place(json!({ "path": "audit", "commands": true }));
    let durable = |id: &str| {
        let output = place.run(&["run", "--durable", "--run-id", id, "--json", "-e", READ]);
        assert!(output.status.success(), "{output:?}");
    };
    durable("recorded");
    let complete = place.run(&["audit", "reconcile", "--json"]);
    assert_eq!(complete.status.code(), Some(0), "{complete:?}");
    // The same, with a log that was switched off in between.
    let text = fs::read_to_string(place.file()).unwrap();
    let commands = text.replace("\"commands\": true", "\"commands\": false");
    fs::write(place.file(), commands).unwrap();
    durable("unrecorded");
    fs::write(place.file(), text).unwrap();
    let output = place.run(&["audit", "reconcile"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("MISSING run unrecorded called `demo:read_json` 1 times; the log has 0"),
        "{said}"
    );
    assert!(!said.contains("run recorded"), "{said}");
}

#[test]
fn a_changed_lock_file_is_an_event() {
    let (_data, place) = place(json!({ "path": "audit" }));
    let locked = place.run(&["lock"]);
    assert!(locked.status.success(), "{locked:?}");
    let changed = events(&place, &["--type", "pml.lock.changed"]);
    assert_eq!(changed.len(), 1, "{changed:#?}");
    assert_eq!(changed[0]["data"]["before"], Value::Null);
    assert!(
        changed[0]["data"]["after"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
}

#[test]
fn a_durable_run_is_replayed_against_its_journal_and_live_with_another_argument() {
    let (data, place) = place(json!({ "path": "audit" }));
    fs::write(data.path().join("b.json"), r#"{ "version": "2.0.0" }"#).unwrap();
    let script = "console.log(Date.now(), Math.random(), crypto.randomUUID()); \
                  return (await tools.demo.read_json({ path: args[1] })).version";
    let flags = [
        "run",
        "--durable",
        "--run-id",
        "r",
        "--json",
        "-e",
        script,
        "--",
        "--file",
        "a.json",
    ];
    let output = place.run(&flags);
    assert!(output.status.success(), "{output:?}");
    // The servers have changed, and the journal has not.
    fs::write(data.path().join("a.json"), r#"{ "version": "9.9.9" }"#).unwrap();
    let same = place.run(&["audit", "replay", "r"]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let said = String::from_utf8_lossy(&same.stdout);
    assert!(
        said.contains("against its journal: the same, 1 calls"),
        "{said}"
    );
    let live = place.run(&[
        "audit",
        "replay",
        "r",
        "--live",
        "--set",
        "file=b.json",
        "--json",
    ]);
    assert_eq!(live.status.code(), Some(1), "{live:?}");
    let found: Value = serde_json::from_slice(&live.stdout).unwrap();
    let result = &found["differences"][0];
    assert_eq!(
        (&result["what"], &result["recorded"], &result["replayed"]),
        (&json!("result"), &json!("1.0.0"), &json!("2.0.0"))
    );
    let events = events(&place, &["--type", "pml.run.replayed"]);
    assert_eq!(events.len(), 2, "{events:#?}");
    assert_eq!(
        (&events[0]["data"]["same"], &events[1]["data"]["live"]),
        (&json!(true), &json!(true))
    );
    let refused = place.run(&["audit", "replay", "r", "--set", "file=b.json"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
