//! A kill at each boundary of a call, for each class of effect.

use serde_json::json;

use super::ledger::{Ledger, kill};

/// A call of each class, held at a place of the server.
fn script(tool: &str, place: &str) -> String {
    let args = match tool {
        "pay" => format!("{{ amount: 7, hold: '{place}' }}"),
        _ => format!("{{ text: 'b', hold: '{place}' }}"),
    };
    format!(
        "await tools.s.record({{ text: 'a' }});\n\
         const held = await tools.s.{tool}({args});\n\
         await tools.s.record({{ text: 'c' }});\n\
         return held;"
    )
}

#[test]
fn a_call_that_may_be_repeated_is_sent_again_after_a_kill() {
    for (tool, place, effects) in [
        ("look", "before", vec!["record a", "record c"]),
        ("look", "after", vec!["record a", "record c"]),
        ("put", "before", vec!["record a", "put b", "record c"]),
        (
            "put",
            "after",
            vec!["record a", "put b", "put b", "record c"],
        ),
    ] {
        let ledger = Ledger::new();
        let run = ledger.start(&script(tool, place));
        ledger.wait_until_held();
        kill(run);
        let shown = ledger.show();
        assert_eq!(shown["state"], "waiting", "{shown}");
        assert_eq!(shown["waitsFor"], "resume", "{shown}");
        ledger.let_go();
        let outcome = ledger.resume();
        assert_eq!(outcome["ok"], true, "{tool} {place}: {outcome}");
        assert_eq!(outcome["result"], json!({ "text": "b" }));
        assert_eq!(outcome["run"], "r");
        assert_eq!(ledger.effects(), effects, "{tool} {place}");
    }
}

#[test]
fn a_keyed_call_is_sent_again_with_the_same_key() {
    for place in ["before", "after"] {
        let ledger = Ledger::new();
        let run = ledger.start(&script("pay", place));
        ledger.wait_until_held();
        kill(run);
        ledger.let_go();
        let outcome = ledger.resume();
        assert_eq!(outcome["ok"], true, "{place}: {outcome}");
        let effects = ledger.effects();
        let paid = effects.iter().filter(|line| line.starts_with("pay "));
        assert_eq!(paid.count(), 1, "{place}: {effects:?}");
        assert_eq!(effects.len(), 3, "{place}: {effects:?}");
    }
}

#[test]
fn a_guarded_call_without_an_answer_is_unknown_until_a_person_settles_it() {
    let settlements: [(&str, &[&str], serde_json::Value, &[&str]); 4] = [
        (
            "after",
            &["--happened", r#"{"text":"b"}"#],
            json!({ "text": "b" }),
            &["record a", "record b", "record c"],
        ),
        (
            "before",
            &["--send"],
            json!({ "text": "b" }),
            &["record a", "record b", "record c"],
        ),
        (
            "after",
            &["--happened", "null"],
            json!(null),
            &["record a", "record b", "record c"],
        ),
        ("before", &["--give-up"], json!(null), &["record a"]),
    ];
    for (place, how, result, effects) in settlements {
        let ledger = Ledger::new();
        let run = ledger.start(&script("record", place));
        ledger.wait_until_held();
        kill(run);
        let shown = ledger.show();
        assert_eq!(shown["state"], "unknown", "{shown}");
        assert_eq!(shown["unknown"][0]["tool"], "s:record", "{shown}");
        assert_eq!(shown["unknown"][0]["args"]["text"], "b", "{shown}");
        ledger.let_go();
        let waits = ledger.run(&["resume", "r", "--json"]);
        assert_eq!(waits.status.code(), Some(75));
        let outcome = super::ledger::parse(&waits);
        assert_eq!(outcome["error"]["kind"], "unknown", "{outcome}");
        let call = shown["unknown"][0]["call"].to_string();
        let settled = ledger.json(&[&["runs", "settle", "r", &call, "--json"], how].concat());
        assert_eq!(settled["call"].to_string(), call);
        let outcome = ledger.resume();
        match how[0] {
            "--give-up" => {
                assert_eq!(outcome["ok"], false, "{outcome}");
                assert_eq!(ledger.show()["state"], "failed");
            }
            _ => {
                assert_eq!(outcome["ok"], true, "{place} {how:?}: {outcome}");
                assert_eq!(outcome["result"], result);
            }
        }
        assert_eq!(ledger.effects(), effects, "{place} {how:?}");
    }
}

#[test]
fn a_reconciling_tool_is_asked_before_a_person_is() {
    for (place, effects) in [
        ("before", ["record a", "record b", "record c"]),
        ("after", ["record a", "record b", "record c"]),
    ] {
        let ledger = Ledger::new();
        ledger.configure(json!({
            "s:find": "read",
            "s:record": {
                "class": "guarded",
                "reconcile": { "tool": "s:find", "args": { "text": "$ARGS.text" } },
            },
        }));
        let run = ledger.start(&script("record", place));
        ledger.wait_until_held();
        kill(run);
        ledger.let_go();
        let outcome = ledger.resume();
        assert_eq!(outcome["ok"], true, "{place}: {outcome}");
        assert_eq!(outcome["result"], json!({ "text": "b" }), "{place}");
        assert_eq!(ledger.effects(), effects, "{place}");
    }
}

#[test]
fn a_kill_before_the_intent_or_after_the_result_leaves_nothing_unknown() {
    let ledger = Ledger::new();
    // The timer holds the script between the answer and the next intent.
    let run = ledger.start(
        "await tools.s.record({ text: 'a' }); await new Promise(r => setTimeout(r, 1500));\n\
         await tools.s.record({ text: 'b' }); return 'done'",
    );
    ledger.wait_for_effects(1);
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill(run);
    assert_eq!(ledger.show()["unknown"], json!([]));
    assert_eq!(ledger.resume()["result"], "done");
    assert_eq!(ledger.effects(), ["record a", "record b"]);
}

#[test]
fn a_killed_worker_leaves_the_run_to_be_resumed() {
    let ledger = Ledger::new();
    let run = ledger.start("await tools.s.record({ text: 'a' }); await tools.s.look({ hold: 'before' }); await tools.s.record({ text: 'b' }); return 1");
    ledger.wait_until_held();
    let workers = super::kills::workers_of(run.id());
    assert!(!workers.is_empty(), "a worker runs the script");
    for worker in workers {
        super::kills::kill_pid(worker);
    }
    let output = run.wait_with_output().expect("pml ends");
    assert_eq!(output.status.code(), Some(70), "{output:?}");
    ledger.let_go();
    assert_eq!(ledger.resume()["result"], 1);
    assert_eq!(ledger.effects(), ["record a", "record b"]);
}
