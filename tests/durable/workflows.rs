//! Durable workflows: killed at random times, resumed, and their effects counted.

use std::collections::BTreeSet;
use std::process::{Child, Output};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use super::ledger::{Ledger, kill, parse, stderr};

/// Guarded calls in a chain and in parallel, reads, code with randomness, and code that calls tools.
fn plan() -> Value {
    let mut tasks = vec![
        json!({ "id": "drawn", "code": "return `drawn-${Math.random()}-${Date.now()}`" }),
        json!({ "id": "first", "tool": "s:record", "args": { "text": "$OUTPUT[drawn]", "ms": 5 } }),
        json!({ "id": "code", "code": "await tools.s.record({ text: 'in-code-' + $OUTPUT[first].text.length, ms: 5 });\nreturn (await tools.s.look({ text: 'seen' })).text" }),
        json!({ "id": "many", "tool": "s:record", "for_each": [0, 1, 2, 3, 4, 5, 6, 7], "args": { "text": "many-$ITEM", "ms": 20 } }),
    ];
    for n in 0..10_usize {
        let before = match n.checked_sub(1) {
            Some(before) => format!("chain{before}"),
            None => "first".to_owned(),
        };
        tasks.push(json!({ "id": format!("chain{n}"), "tool": "s:record", "args": { "text": format!("chain-{n}"), "ms": 8 }, "depends_on": [before] }));
    }
    json!({ "tasks": tasks, "output": { "drawn": "$OUTPUT[drawn]", "code": "$OUTPUT[code]", "many": "$OUTPUT[many]" } })
}

fn start(ledger: &Ledger) -> Child {
    ledger.write("plan.json", &plan().to_string());
    let mut command = ledger.pml(&["workflow", "run", "--durable", "--run-id", "r", "--json"]);
    command
        .arg(ledger.file("plan.json"))
        .spawn()
        .expect("pml starts")
}

fn settle(ledger: &Ledger) {
    let done = ledger.effects();
    for call in ledger.show()["unknown"].as_array().expect("a list") {
        let number = call["call"].to_string();
        let text = call["args"]["text"].as_str().expect("a record");
        let result = json!({ "text": text }).to_string();
        let how: &[&str] = match done.contains(&format!("record {text}")) {
            true => &["--happened", &result],
            false => &["--send"],
        };
        ledger.json(&[&["runs", "settle", "r", &number, "--json"], how].concat());
    }
}

#[test]
fn no_guarded_effect_of_a_workflow_happens_twice_whenever_it_is_killed() {
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let mut random = seed;
    let mut next = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % below
    };
    let runs = std::env::var("PML_FAULT_KILLS").ok();
    let runs = runs
        .and_then(|kills| kills.parse::<usize>().ok())
        .unwrap_or(100)
        / 10;
    for _ in 0..runs.max(1) {
        let ledger = Ledger::new();
        let mut run = start(&ledger);
        for _ in 0..8 {
            std::thread::sleep(Duration::from_millis(60 + next(350)));
            if run.try_wait().expect("a child").is_some() {
                break;
            }
            kill(run);
            run = match ledger.run(&["runs", "show", "r"]).status.success() {
                true => {
                    settle(&ledger);
                    ledger
                        .pml(&["resume", "r", "--json"])
                        .spawn()
                        .expect("pml starts")
                }
                false => start(&ledger),
            };
        }
        let _ = run.wait();
        settle(&ledger);
        let report = ledger.resume();
        assert_eq!(report["ok"], true, "{report:#}\n{:#}", ledger.show());
        let effects = ledger.effects();
        let distinct: BTreeSet<&String> = effects.iter().collect();
        assert_eq!(distinct.len(), effects.len(), "{effects:?}");
        assert_eq!(effects.len(), 20, "{effects:?}");
        let drawn = report["output"]["drawn"].as_str().expect("a text");
        assert!(effects.contains(&format!("record {drawn}")), "{effects:?}");
        assert_eq!(report["output"]["code"], "seen");
    }
}

#[test]
fn an_unknown_call_waits_for_a_person_and_the_rest_is_kept() {
    let ledger = Ledger::new();
    let plan = json!({ "tasks": [
        { "id": "a", "tool": "s:record", "args": { "text": "a" } },
        { "id": "b", "tool": "s:record", "args": { "text": "b", "hold": "before" }, "depends_on": ["a"] },
        { "id": "c", "tool": "s:record", "args": { "text": "c" }, "depends_on": ["b"] },
    ] });
    ledger.write("plan.json", &plan.to_string());
    let mut command = ledger.pml(&["workflow", "run", "--durable", "--run-id", "r", "--json"]);
    let run = command
        .arg(ledger.file("plan.json"))
        .spawn()
        .expect("pml starts");
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let waiting = ledger.run(&["resume", "r", "--json"]);
    assert_eq!(waiting.status.code(), Some(75));
    let shown = ledger.run(&["workflow", "show", "r"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("3 tasks, 3 layers"));
    settle(&ledger);
    let report = ledger.resume();
    assert_eq!(report["ok"], true, "{report:#}");
    let effects = ledger.effects();
    let distinct: BTreeSet<&String> = effects.iter().collect();
    assert_eq!((effects.len(), distinct.len()), (3, 3), "{effects:?}");
}

/// Starts a durable plan with the id `r` and waits for its end.
fn run_durable(ledger: &Ledger, plan: &Value, flags: &[&str]) -> Output {
    ledger.write("plan.json", &plan.to_string());
    let words = ["workflow", "run", "--durable", "--run-id", "r", "--json"];
    let mut command = ledger.pml(&[&words, flags].concat());
    command
        .arg(ledger.file("plan.json"))
        .output()
        .expect("pml starts")
}

fn distinct(effects: &[String]) -> usize {
    effects.iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn a_guarded_call_without_an_answer_is_unknown_although_pml_lives() {
    // The answer is late, the server dies, and the deadline of the plan passes while the call is under way.
    let late = json!({ "text": "b", "hold": "after" });
    let cases = [
        (
            late.clone(),
            json!({ "timeout": "400ms", "fallback": { "tool": "s:record", "args": { "text": "instead" } } }),
            json!({}),
        ),
        (
            json!({ "text": "b", "die": "after" }),
            json!({ "optional": true, "retry": 3, "depends_on": ["a", "d"] }),
            json!({}),
        ),
        (late, json!({}), json!({ "deadline": "2s" })),
    ];
    for (args, fields, of_plan) in cases {
        let ledger = Ledger::new();
        let mut task = json!({ "id": "b", "tool": "s:record", "args": args, "depends_on": ["a"] });
        merge(&mut task, &fields);
        let mut plan = json!({ "tasks": [
            { "id": "a", "tool": "s:record", "args": { "text": "a" } },
            task,
            { "id": "c", "tool": "s:record", "args": { "text": "c" }, "depends_on": ["b"] },
            { "id": "d", "tool": "s:record", "args": { "text": "d", "ms": 100 }, "depends_on": ["a"] },
        ] });
        merge(&mut plan, &of_plan);
        let waiting = run_durable(&ledger, &plan, &[]);
        assert_eq!(
            waiting.status.code(),
            Some(75),
            "{plan:#}\n{}",
            stderr(&waiting)
        );
        assert!(
            stderr(&waiting).contains("pml runs settle r"),
            "{}",
            stderr(&waiting)
        );
        let report = parse(&waiting);
        assert_eq!(report["tasks"][1]["state"], "unknown", "{report:#}");
        // What does not depend on the call went on, and nothing stood in for it.
        let mut effects = ledger.effects();
        effects.sort();
        assert_eq!(effects, ["record a", "record b", "record d"]);
        let shown = ledger.show();
        assert_eq!(shown["state"], "unknown", "{shown:#}");
        assert_eq!(
            shown["unknown"].as_array().expect("a list").len(),
            1,
            "{shown:#}"
        );
        ledger.let_go();
        settle(&ledger);
        let report = ledger.resume();
        assert_eq!(report["ok"], true, "{report:#}");
        let effects = ledger.effects();
        assert_eq!((effects.len(), distinct(&effects)), (4, 4), "{effects:?}");
    }
}

fn merge(value: &mut Value, fields: &Value) {
    for (key, field) in fields.as_object().expect("an object") {
        value[key] = field.clone();
    }
}

#[test]
fn a_call_that_was_given_up_lets_the_fallback_run() {
    let ledger = Ledger::new();
    let plan = json!({ "tasks": [
        { "id": "b", "tool": "s:record", "args": { "text": "b", "hold": "before" }, "timeout": "300ms",
          "fallback": { "tool": "s:record", "args": { "text": "instead" } } },
    ] });
    assert_eq!(run_durable(&ledger, &plan, &[]).status.code(), Some(75));
    ledger.json(&["runs", "settle", "r", "1", "--json", "--give-up"]);
    let report = ledger.resume();
    assert_eq!(report["output"]["text"], "instead", "{report:#}");
    assert_eq!(ledger.effects(), ["record instead"]);
}

#[test]
fn a_read_without_an_answer_is_an_ordinary_failure() {
    let ledger = Ledger::new();
    let plan = json!({ "tasks": [
        { "id": "b", "tool": "s:look", "args": { "hold": "before" }, "timeout": "300ms", "optional": true },
        { "id": "c", "tool": "s:record", "args": { "text": "c $ERROR[b].kind" } },
    ] });
    let run = run_durable(&ledger, &plan, &[]);
    assert!(run.status.success(), "{}", stderr(&run));
    assert_eq!(ledger.effects(), ["record c timeout"]);
}

#[test]
fn the_answer_to_the_question_before_a_task_is_kept() {
    let plan = json!({ "tasks": [
        { "id": "a", "tool": "s:record", "args": { "text": "a" } },
        { "id": "ask", "tool": "s:record", "approve": "send to ada@example.com?", "args": { "text": "asked" }, "depends_on": ["a"] },
        { "id": "code", "code": "return 7", "approve": true },
        { "id": "held", "tool": "s:record", "args": { "text": "held", "hold": "before" }, "depends_on": ["ask", "code"] },
    ] });
    let ledger = Ledger::new();
    let waiting = run_durable(&ledger, &plan, &[]);
    assert_eq!(waiting.status.code(), Some(75), "{}", stderr(&waiting));
    assert_eq!(ledger.show()["state"], "waiting");
    let open = || {
        let listed = ledger.json(&["approvals", "--json"]);
        listed["approvals"].as_array().expect("a list").clone()
    };
    let (asked, seen) = (open(), format!("{:?}", open()));
    assert_eq!(asked.len(), 2, "{asked:#?}");
    assert!(seen.contains("send to [EMAIL_1]?"), "{seen}");
    for approval in &asked {
        ledger.json(&[
            "approvals",
            "allow",
            approval["id"].as_str().expect("an id"),
            "--json",
        ]);
    }
    // Killed behind the answers, it does not ask again.
    let resumed = ledger
        .pml(&["resume", "r", "--json"])
        .spawn()
        .expect("pml starts");
    ledger.wait_until_held();
    kill(resumed);
    ledger.let_go();
    assert!(open().is_empty());
    settle(&ledger);
    let report = ledger.resume();
    assert_eq!(report["ok"], true, "{report:#}");
    assert_eq!(
        ledger.effects(),
        ["record a", "record asked", "record held"]
    );
}

#[test]
fn a_refused_task_is_not_started_and_yes_allows_all() {
    let plan = json!({ "tasks": [{ "id": "a", "tool": "s:record", "approve": true, "args": { "text": "a" } }] });
    let ledger = Ledger::new();
    assert_eq!(run_durable(&ledger, &plan, &[]).status.code(), Some(75));
    ledger.json(&["approvals", "deny", "--run", "r", "--json"]);
    let report = ledger.resume();
    assert_eq!(report["tasks"][0]["state"], "failed", "{report:#}");
    assert_eq!(report["tasks"][0]["error"]["kind"], "denied", "{report:#}");
    assert!(ledger.effects().is_empty());

    let ledger = Ledger::new();
    let report = parse(&run_durable(&ledger, &plan, &["--yes"]));
    assert_eq!(report["ok"], true, "{report:#}");
    assert_eq!(ledger.effects(), ["record a"]);
}

/// Two effects with a read between them that waits until the test lets it go.
fn held_plan() -> Value {
    json!({ "tasks": [
        { "id": "a", "tool": "s:record", "args": { "text": "a" } },
        { "id": "drawn", "code": "return `drawn-${Math.random()}`" },
        { "id": "held", "tool": "s:look", "args": { "hold": "before" }, "depends_on": ["a", "drawn"] },
        { "id": "b", "tool": "s:record", "args": { "text": "$OUTPUT[drawn]" }, "depends_on": ["held"] },
    ], "output": "$OUTPUT[b].text" })
}

#[test]
fn a_plan_of_a_client_is_resumed_by_the_next_server() {
    let ledger = Ledger::new();
    ledger.configure_pml(json!({ "workflows": { "tool": true }, "effects": { "s:look": "read" } }));
    let mut first = Client::start(&ledger);
    first.send(
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "execute_workflow", "arguments": { "plan": held_plan() } } }),
    );
    ledger.wait_until_held();
    first.kill();
    ledger.let_go();
    let second = Client::start(&ledger);
    ledger.wait_for_effects(2);
    let effects = ledger.effects();
    assert_eq!(effects[0], "record a");
    assert!(effects[1].starts_with("record drawn-"), "{effects:?}");
    let runs = || ledger.json(&["runs", "list", "--json"]);
    ledger.wait("the run has ended", || {
        runs().to_string().contains("\"done\"")
    });
    second.disconnect();
    assert_eq!(ledger.effects().len(), 2);
}

#[test]
fn a_durable_script_finds_the_calls_of_its_plan_in_its_journal() {
    let ledger = Ledger::new();
    let plan = held_plan();
    let script = format!(
        "const first = await tools.s.record({{ text: 'first' }});
         const {{ output, tasks }} = await runWorkflow({plan});
         await tools.s.record({{ text: 'last' }});
         return [first.text, output, Object.values(tasks).map((task) => task.state)];"
    );
    let run = ledger.start(&script);
    ledger.wait_until_held();
    kill(run);
    ledger.let_go();
    let outcome = ledger.resume();
    let result = &outcome["result"];
    assert_eq!(
        result[2],
        json!(["done", "done", "done", "done"]),
        "{outcome:#}"
    );
    let effects = ledger.effects();
    let drawn = result[1].as_str().expect("a text");
    let expected = [
        "record first",
        "record a",
        &format!("record {drawn}"),
        "record last",
    ];
    assert_eq!(effects, expected, "{outcome:#}");
}
