//! `pml runs` and `pml resume`: ids, states, mistakes.

use serde_json::json;

use super::ledger::{Ledger, kill, parse, stderr};

#[test]
fn a_run_prints_its_id_and_a_finished_run_gives_its_result_again() {
    let ledger = Ledger::new();
    let output = ledger
        .start("console.log('once'); await tools.s.record({ text: 'a' }); return { n: 1 }")
        .wait_with_output()
        .expect("pml ends");
    assert!(stderr(&output).contains("run r"), "{output:?}");
    let outcome = parse(&output);
    assert_eq!(outcome["run"], "r", "{outcome}");
    let again = ledger.resume();
    assert_eq!(again["result"], json!({ "n": 1 }));
    assert_eq!(again["logs"], outcome["logs"]);
    assert_eq!(ledger.effects(), ["record a"]);
    let shown = ledger.show();
    assert_eq!(shown["state"], "done");
    assert_eq!(shown["calls"][0]["class"], "guarded");
    let listed = ledger.json(&["runs", "--json"]);
    assert_eq!(listed["runs"][0]["id"], "r", "{listed}");
    let purged = ledger.json(&["runs", "purge", "--json"]);
    assert_eq!(purged["purged"], 1);
    assert_eq!(ledger.run(&["runs", "show", "r"]).status.code(), Some(2));
}

#[test]
fn a_run_without_a_call_leaves_nothing() {
    let ledger = Ledger::new();
    let output = ledger.start("return 6 * 7").wait_with_output().unwrap();
    assert_eq!(parse(&output)["result"], 42);
    assert_eq!(ledger.json(&["runs", "--json"])["runs"], json!([]));
}

#[test]
fn mistakes_are_one_sentence_each() {
    let ledger = Ledger::new();
    let run = ledger.start("await tools.s.look({}); return 1");
    assert!(run.wait_with_output().unwrap().status.success());
    for (words, expected) in [
        (&["resume", "x"][..], "there is no run `x`"),
        (&["runs", "show", "x"], "there is no run `x`"),
        (&["runs", "cancel", "x"], "there is no run `x`"),
        (&["runs", "cancel", "r"], "has ended"),
        (&["runs", "settle", "r", "1", "--send"], "has ended"),
        (&["runs", "settle", "r", "1", "--happened", "{"], "as JSON"),
        (&["runs", "settle", "r", "1"], "required"),
        (&["resume", "../x"], "invalid run id"),
        (&["runs", "list", "--state", "lost"], "expected running"),
    ] {
        let output = ledger.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let message = stderr(&output);
        assert!(message.contains(expected), "{words:?}: {message}");
    }
    ledger.write("script.ts", "return 1");
    let again = ledger
        .pml(&["run", "--durable", "--run-id", "r"])
        .arg(ledger.file("script.ts"))
        .output()
        .unwrap();
    assert!(stderr(&again).contains("already is a run `r`"), "{again:?}");
}

#[test]
fn a_run_is_executed_by_one_process_at_a_time_and_can_be_cancelled() {
    let ledger = Ledger::new();
    let run = ledger.start("await tools.s.record({ text: 'a' }); await tools.s.look({ hold: 'before' }); await tools.s.record({ text: 'b' }); return 1");
    ledger.wait_until_held();
    assert_eq!(ledger.show()["state"], "running");
    let second = ledger.run(&["resume", "r"]);
    assert_eq!(second.status.code(), Some(2), "{second:?}");
    assert!(
        stderr(&second).contains("is being executed by process"),
        "{second:?}"
    );
    assert!(ledger.run(&["runs", "cancel", "r"]).status.success());
    ledger.let_go();
    let output = run.wait_with_output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(ledger.effects(), ["record a"]);
    assert_eq!(ledger.show()["state"], "cancelled");
    let resumed = ledger.run(&["resume", "r"]);
    assert!(stderr(&resumed).contains("was cancelled"), "{resumed:?}");
}

#[test]
fn a_changed_script_is_refused_with_what_does_not_match() {
    let ledger = Ledger::new();
    let script =
        "await tools.s.record({ text: 'a' });\nawait tools.s.look({ hold: 'before' });\nreturn 1";
    let run = ledger.start(script);
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    ledger.write("script.ts", &script.replace("'a'", "'x'"));
    let refused = ledger.run(&["resume", "r"]);
    let message = stderr(&refused);
    for part in [
        "has changed since run r began",
        "-   1  await",
        "+   1  await",
        "s:record",
        "--force",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(ledger.effects(), ["record a"]);
    let forced = ledger.json(&["resume", "r", "--json", "--force"]);
    assert_eq!(forced["ok"], true, "{forced}");
    assert_eq!(ledger.effects(), ["record a", "record x"]);
}

#[test]
fn all_interrupted_runs_are_resumed_at_once() {
    let ledger = Ledger::new();
    let run = ledger.start(
        "await tools.s.record({ text: 'a' }); await tools.s.look({ hold: 'before' }); return 1",
    );
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let output = ledger.run(&["resume", "--all", "--json"]);
    assert_eq!(parse(&output)["result"], 1, "{output:?}");
    assert_eq!(ledger.show()["state"], "done");
    assert!(ledger.run(&["resume", "--all"]).status.success());
}

#[test]
fn a_store_that_cannot_be_used_is_named_and_left_as_it_is() {
    let ledger = Ledger::new();
    std::fs::create_dir_all(ledger.file("store")).unwrap();
    ledger.write(
        "store/pml.db",
        "not a database, and long enough to be looked at by SQLite",
    );
    let output = ledger.run(&["runs"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("left as it is") || stderr(&output).contains("another program"),
        "{output:?}"
    );
    let text = std::fs::read_to_string(ledger.file("store/pml.db")).unwrap();
    assert!(text.starts_with("not a database"));
}
