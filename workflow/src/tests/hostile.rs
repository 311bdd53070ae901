//! Plans that are meant to hurt.

use std::time::Instant;

use serde_json::{Value, json};

use super::fake::*;
use crate::*;

fn parse(text: &str) -> Result<Plan, PlanError> {
    Plan::parse(text, &PlanLimits::default())
}

#[test]
fn a_cycle_is_named_with_its_path() {
    let error = refused(json!({ "tasks": [
        { "id": "a", "tool": "x:y", "args": { "v": "$OUTPUT[c]" } },
        { "id": "b", "tool": "x:y", "args": { "v": "$OUTPUT[a]" } },
        { "id": "c", "code": "return $OUTPUT[b]" },
        { "id": "d", "tool": "x:y", "depends_on": ["a"] },
    ] }));
    assert!(error.contains("wait for each other"), "{error}");
    for path in [
        "`a` → `b` → `c` → `a`",
        "`b` → `c` → `a` → `b`",
        "`c` → `a` → `b` → `c`",
    ] {
        if error.contains(path) {
            return;
        }
    }
    panic!("{error}");
}

#[test]
fn a_task_that_waits_for_itself_is_a_cycle() {
    for task in [
        json!({ "id": "a", "tool": "x:y", "depends_on": ["a"] }),
        json!({ "id": "a", "tool": "x:y", "args": { "v": "$OUTPUT[a]" } }),
    ] {
        let error = refused(json!({ "tasks": [task] }));
        assert!(error.contains("`a` → `a`"), "{error}");
    }
}

#[test]
fn a_hundred_thousand_tasks_are_refused_at_once() {
    let tasks: Vec<Value> = (0..100_000)
        .map(|n| json!({ "id": n, "tool": "a:b", "args": { "x": "$OUTPUT[0]" } }))
        .collect();
    let text = json!({ "tasks": tasks }).to_string();
    let started = Instant::now();
    let error = parse(&text).unwrap_err().to_string();
    assert_eq!(error, "tasks: 100000 tasks; the limit is 10000");
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn chains_edges_and_texts_have_limits() {
    let chain: Vec<Value> = (0..2_000)
        .map(|n: usize| json!({ "id": format!("t{n}"), "tool": "a:b", "depends_on": n.checked_sub(1).map(|n| format!("t{n}")) }))
        .collect();
    let error = refused(json!({ "tasks": chain }));
    assert!(error.contains("longest chain has 2000 tasks"), "{error}");
    let all: Vec<String> = (0..5_000).map(|n| format!("t{n}")).collect();
    let dense: Vec<Value> = (0..5_000)
        .map(|n| json!({ "id": format!("t{n}"), "tool": "a:b", "depends_on": &all[..n.min(100)] }))
        .collect();
    let error = refused(json!({ "tasks": dense }));
    assert!(error.contains("more than 200000 dependencies"), "{error}");
    assert!(parse(&" ".repeat(17 * 1024 * 1024)).is_err());
}

#[test]
fn megabytes_of_dollars_are_read_in_one_pass() {
    for unit in ["$", "$$", "${", "$OUTPUT", "$OUTPUT.", "$1", "$INPUT.a[0]"] {
        let text = unit.repeat(1_000_000 / unit.len());
        let started = Instant::now();
        let value = json!({ "tasks": [{ "id": "a", "tool": "x:y", "args": { "v": text } }] });
        let _ = Plan::from_value(value, &PlanLimits::default());
        assert!(started.elapsed().as_secs() < 3, "{unit}");
    }
}

#[test]
fn deep_and_bent_plans_are_refused_without_a_panic() {
    for text in [
        "null",
        "[]",
        "{}",
        "3",
        "\"x\"",
        "{\"tasks\":3}",
        "{\"tasks\":[3]}",
        "{\"tasks\":[{}]}",
        "{\"tasks\":[{\"id\":{}}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"code\":\"1\"}]}",
        "{\"tasks\":[{\"id\":\"a$\",\"tool\":\"x:y\"}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\"},{\"id\":\"a\",\"tool\":\"x:y\"}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"xy\"}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"args\":[1]}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"retry\":-1}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"timeout\":\"soon\"}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"for_each\":3}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"args\":{\"x\":\"$ITEM\"}}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"fallback\":\"a\"}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"race\":\"a\"}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"when\":\"((\"}]}",
        "{\"tasks\":[{\"id\":\"a\",\"tool\":\"x:y\",\"when\":false}]}",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    let deep = format!("{{\"tasks\":{}", "[".repeat(1_000_000));
    assert!(parse(&deep).is_err());
}

#[test]
fn a_mistake_has_a_place_and_the_nearest_name() {
    let error = refused(json!({ "tasks": [
        { "id": "read", "tool": "fs:read", "arg": {}, "depends_on": ["raed"] },
        { "id": "b", "code": "return $OUTPUT[reed]" },
    ], "on_eror": "stop" }));
    for part in [
        "plan: unknown field `on_eror`; did you mean `on_error`?",
        "tasks[0]: unknown field `arg`; did you mean `args`?",
        "tasks[0].depends_on: there is no task `raed`; did you mean `read`?",
        "tasks[1].code: there is no task `reed`; did you mean `read`?",
    ] {
        assert!(error.contains(part), "{part}\n{error}");
    }
}

#[test]
fn tools_that_do_not_exist_and_arguments_that_cannot_fit_are_found() {
    let plan = plan(json!({ "tasks": [
        { "id": "a", "tool": "fs:raed_file", "args": {} },
        { "id": "b", "tool": "fs:read_file", "args": { "pth": 1, "path": 3, "mode": "x", "lines": "$OUTPUT[a]" } },
        { "id": "c", "tool": "fs:read_file", "args": { "path": "$INPUT.x and more" } },
        { "id": "d", "tool": "fs:read_file", "args": {} },
        { "id": "e", "tool": "gone:tool" },
    ] }));
    let tools = [KnownTool {
        id: "fs:read_file".to_owned(),
        schema: json!({
            "type": "object", "required": ["path"], "additionalProperties": false,
            "properties": { "path": { "type": "string" }, "lines": { "type": "integer" }, "mode": { "enum": ["r"] } },
        }),
    }];
    let problems = check_tools(&plan, &tools, &["gone".to_owned()].into());
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "tasks[0].tool: there is no tool `fs:raed_file`; did you mean `fs:read_file`?",
            "tasks[1].args.pth: there is no argument `pth`; did you mean `path`?",
            "tasks[1].args.path: expected `string`, found `integer`",
            "tasks[1].args.mode: `\"x\"` is not one of \"r\"",
            "tasks[3].args: the argument `path` is missing",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_over_the_limit_fails_its_task() {
    let plan = plan(json!({ "tasks": [
        { "id": "a", "tool": "work:do", "for_each": "$INPUT.list" },
        { "id": "b", "tool": "work:do", "for_each": "$INPUT.text" },
    ] }));
    let options = RunOptions {
        input: json!({ "list": vec![0; 10_001], "text": "abc" }),
        ..RunOptions::default()
    };
    let fake = Fake::new();
    let report = run(&plan, &fake, options).await;
    assert_eq!(fake.call_count(), 0);
    assert_eq!(report.count(TaskState::Failed), 2);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_run_within_their_concurrency() {
    let tasks: Vec<Value> = (0..10_000_usize)
        .map(|n| {
            let before = n.checked_sub(100).map(|n| format!("$OUTPUT[t{n}].n"));
            json!({ "id": format!("t{n}"), "tool": "work:do", "args": { "ms": 1, "n": n, "before": before } })
        })
        .collect();
    let fake = Fake::new();
    let report = run_plan(&fake, json!({ "tasks": tasks }), json!({})).await;
    assert!(report.ok);
    assert_eq!(fake.call_count(), 10_000);
    assert!(fake.peak() <= 64);
}

#[tokio::test(start_paused = true)]
async fn prototypes_are_fields_like_any_other() {
    let report = run_plan(
        &Fake::new(),
        json!({ "tasks": [
            { "id": "a", "tool": "work:do", "args": { "value": { "__proto__": { "x": 1 }, "n": 2 } } },
            { "id": "own", "tool": "work:do", "args": { "value": "$OUTPUT[a].__proto__.x" } },
            { "id": "inherited", "tool": "work:do", "optional": true, "args": { "value": "$OUTPUT[a].toString" } },
            { "id": "none", "tool": "work:do", "args": { "value": "$OUTPUT[a].constructor.prototype?" } },
            { "id": "__proto__", "tool": "work:do", "args": { "value": 3 } },
            { "id": "constructor", "tool": "work:do", "args": { "value": "$OUTPUT[__proto__]" } },
        ], "output": ["$OUTPUT[own]", "$OUTPUT[inherited]", "$OUTPUT[none]", "$OUTPUT[constructor]"] }),
        json!({}),
    )
    .await;
    assert_eq!(report.output, json!([1, null, null, 3]));
    assert_eq!(states(&report)["inherited"], TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn outputs_that_look_like_references_or_code_stay_texts() {
    let evil = "$OUTPUT[secret] ${INPUT.key} \"+process.exit()+\"`${1}`";
    let report = run_plan(
        &Fake::new(),
        json!({ "tasks": [
            { "id": "secret", "tool": "work:do", "args": { "value": "hunter2" } },
            { "id": "a", "tool": "work:do", "args": { "value": "$INPUT.evil" } },
            { "id": "b", "tool": "work:do", "args": { "value": "said: $OUTPUT[a]" } },
            { "id": "c", "code": "return $OUTPUT[b]" },
        ], "output": ["$OUTPUT[b]", "$OUTPUT[c].source", "$OUTPUT[c].globals[\"$OUTPUT\"].b"] }),
        json!({ "evil": evil, "key": "hunter3" }),
    )
    .await;
    let said = format!("said: {evil}");
    assert_eq!(report.output, json!([said, "return $OUTPUT[\"b\"]", said]));
}

#[tokio::test(start_paused = true)]
async fn texts_of_a_megabyte_pass_through() {
    let text = "x".repeat(1_000_000);
    let fake = Fake::new();
    let report = run_plan(
        &fake,
        json!({ "tasks": [
            { "id": "a", "tool": "work:do", "args": { "value": "$INPUT.text" } },
            { "id": "b", "tool": "work:do", "for_each": [1, 2, 3], "args": { "value": "$OUTPUT[a]$ITEM" } },
        ] }),
        json!({ "text": text }),
    )
    .await;
    assert_eq!(report.output[2].as_str().unwrap().len(), 1_000_001);
}
