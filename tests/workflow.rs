//! `pml workflow`: plans through the binary, with the demo server.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{pml, repository};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    pml()
        .args(args)
        .args(["--config", "examples/workflows/servers.json"])
        .current_dir(repository())
        .env_clear()
        .env("HOME", home.path())
        .env("CI", "true")
        .output()
        .unwrap()
}

fn report(args: &[&str]) -> Value {
    let output = run(args);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", text(&output.stdout), text(&output.stderr)))
}

/// Runs a plan that a test wrote.
fn run_plan(plan: &Value, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).unwrap();
    let file = file.to_str().unwrap();
    run(&[&["workflow", "run", file], flags].concat())
}

fn example(name: &str) -> String {
    format!("examples/workflows/{name}")
}

#[test]
fn every_example_gives_its_output_and_prints_its_speed_up() {
    for (name, check) in [
        (
            "five-reads.json",
            (|output| output[0]["name"] == "billing" && output[4]["name"] == "search")
                as fn(&Value) -> bool,
        ),
        ("fan-out.yaml", |output| *output == json!(600)),
        ("parse-aggregate.json", |output| {
            output["files"] == 5 && output["keys"][0] == "limits"
        }),
        ("analyses.json", |output| {
            output["mean"] == 3.875
                && output["outliers"].is_null()
                && output["why"]
                    .as_str()
                    .unwrap()
                    .contains("no model for 8 values")
                && output["spread"] == 8
        }),
        ("ab-test.json", |output| {
            *output == json!({ "first": 0, "last": 502, "same": true })
                || (output["same"] == true && output["first"] == 0)
        }),
        ("config-issue.json", |output| {
            output["text"]
                .as_str()
                .unwrap()
                .starts_with("Found: 5 services: billing")
        }),
    ] {
        let file = example(name);
        let report = report(&["workflow", "run", &file, "--json"]);
        assert_eq!(report["ok"], true, "{name}: {report:#}");
        assert!(check(&report["output"]), "{name}: {:#}", report["output"]);
        assert!(report["times"]["speedup"].as_f64().unwrap() > 0.0);
        let printed = run(&["workflow", "run", &file]);
        assert!(text(&printed.stderr).contains("times faster"), "{name}");
        let checked = run(&["workflow", "check", &file]);
        assert!(
            checked.status.success(),
            "{name}: {}",
            text(&checked.stdout)
        );
    }
}

#[test]
fn the_script_beside_the_plans_runs() {
    let output = run(&["run", "--json", &example("from-script.ts")]);
    let outcome: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let result = &outcome["result"];
    assert_eq!(result["ok"], true, "{outcome:#}");
    assert_eq!(result["names"][0], "billing", "{result}");
    assert_eq!(result["read"], json!({ "done": 5, "all": 5 }));
    assert!(result["words"].as_u64() > Some(3), "{result}");
    assert_eq!(
        result["steps"],
        json!(["1 of 4", "2 of 4", "3 of 4", "4 of 4"])
    );
}

#[test]
fn a_stream_of_events_ends_with_the_report() {
    let plan = json!({ "order": "submission", "tasks": [
        { "id": "slow", "tool": "demo:slow", "args": { "ms": 80, "steps": 2 }, "stream": true },
        { "id": "each", "tool": "demo:count_text", "for_each": ["a", "b c"], "args": { "text": "$ITEM" }, "stream": true },
    ] });
    let output = run_plan(&plan, &["--stream"]);
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| lines.iter().filter(|line| line["event"] == kind).count();
    assert_eq!(
        (of("started"), of("progress"), of("part"), of("ended")),
        (2, 2, 2, 2),
        "{lines:?}"
    );
    let ended: Vec<&Value> = lines
        .iter()
        .filter(|line| line["event"] == "ended")
        .collect();
    assert_eq!(
        (&ended[0]["task"], &ended[1]["task"]),
        (&json!("slow"), &json!("each"))
    );
    assert_eq!(ended[1]["output"][1]["words"], 2);
    assert_eq!(lines.last().unwrap()["report"]["ok"], true);
}

#[test]
fn a_dry_run_estimates_from_earlier_runs_and_names_what_slows_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, value: &Value| {
        let file = folder.path().join(name);
        std::fs::write(&file, value.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let servers = json!({ "demo": { "command": "pml", "args": ["demo-server", folder.path()] } });
    let config = write("servers.json", &json!({ "mcpServers": servers }));
    let tasks: Vec<Value> = (0..12)
        .map(|n| json!({ "id": format!("t{n}"), "tool": "demo:slow", "args": { "ms": 30 } }))
        .collect();
    let plan = write("plan.json", &json!({ "tasks": tasks }));
    let pml = |args: &[&str]| {
        let output = pml()
            .args(args)
            .args(["--json", "--config", &config])
            .env_clear()
            .env("HOME", home.path())
            .env("CI", "true")
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        report
    };
    let before = pml(&["workflow", "dry-run", &plan]);
    assert_eq!(before["estimate"]["confidence"], "low", "{before:#}");
    assert_eq!(pml(&["workflow", "run", &plan])["ok"], true);
    let after = pml(&["workflow", "dry-run", &plan])["estimate"].clone();
    assert_eq!(after["confidence"], "high", "{after:#}");
    assert_eq!(after["calls"], 12);
    let likely = after["timeMs"]["likely"].as_f64().unwrap();
    assert!((30.0..400.0).contains(&likely), "{after:#}");
    assert!(after["bytes"].as_f64().unwrap() > 100.0, "{after:#}");

    let limited = json!({
        "mcpServers": servers,
        "pml": {
            "policy": { "concurrency": { "servers": { "demo": 2 } } },
            "workflows": { "costs": { "demo:*": 0.25 } },
        },
    });
    write("servers.json", &limited);
    let slowed = pml(&["workflow", "dry-run", &plan])["estimate"].clone();
    let by = slowed["slowed"][0]["by"].as_str();
    assert_eq!(by, Some("the concurrency of server `demo`"), "{slowed:#}");
    assert!(
        slowed["timeMs"]["likely"].as_f64().unwrap() > 3.0 * likely,
        "{slowed:#}"
    );
    assert_eq!(slowed["cost"], 3.0);
}

#[test]
fn a_fan_out_takes_as_long_as_its_longest_chain() {
    let report = report(&["workflow", "run", &example("fan-out.yaml"), "--json"]);
    let times = &report["times"];
    let (wall, critical) = (
        times["wallMs"].as_f64().unwrap(),
        times["criticalPathMs"].as_f64().unwrap(),
    );
    assert!(wall < 600.0 && critical >= 250.0, "{times}");
    assert_eq!(times["criticalPath"][0], "start");
}

#[test]
fn values_in_code_are_values_whatever_they_look_like() {
    let evil = "\"+process.exit(1)+`${globalThis.x = 1}`'); throw 1; //";
    let plan = json!({ "tasks": [
        { "id": "a", "code": "return $INPUT.evil" },
        { "id": "b", "code": "return { same: $OUTPUT[a] === $INPUT.evil, x: typeof x, text: '$OUTPUT[a]' }" },
    ] });
    let input = format!("evil={}", json!(evil));
    let output = run_plan(&plan, &["--input", &input, "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({ "same": true, "x": "undefined", "text": "$OUTPUT[a]" });
    assert_eq!(report["output"], expected, "{report:#}");
}

#[test]
fn code_can_call_tools_and_its_error_has_a_line() {
    let plan = json!({ "tasks": [
        { "id": "count", "code": "const { files } = await tools.demo.list_files({ path: 'services' });\nreturn files.length" },
        { "id": "bad", "code": "const n = $OUTPUT[count];\nthrow new Error(`n is ${n}`)", "optional": true },
        { "id": "why", "code": "return $ERROR[bad].message" },
    ] });
    let output = run_plan(&plan, &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let why = report["output"].as_str().unwrap();
    assert!(why.contains("n is 5") && why.contains("line 2"), "{why}");
}

#[test]
fn a_failed_task_makes_the_exit_code_one_and_keeps_the_rest() {
    let plan = json!({ "tasks": [
        { "id": "bad", "tool": "demo:read_json", "args": { "path": "missing.json" } },
        { "id": "after", "code": "return $OUTPUT[bad]" },
        { "id": "good", "tool": "demo:read_json", "args": { "path": "services/billing.json", "pointer": "/name" } },
    ] });
    let output = run_plan(&plan, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["state"], "partial");
    let states: Vec<&str> = report["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["failed", "skipped", "done"]);
    assert_eq!(report["output"]["good"], "billing");
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.yaml");
    std::fs::write(
        &file,
        "tasks:\n  - { id: a, tool: \"demo:red_file\", args: { pth: x } }\n  - { id: b, tool: \"demo:read_file\", args: { path: 3 } }\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let output = run(&["workflow", "check", file]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stdout);
    assert!(
        printed.contains(
            "tasks[0].tool: there is no tool `demo:red_file`; did you mean `demo:read_file`?"
        ),
        "{printed}"
    );
    assert!(
        printed.contains("tasks[1].args.path: expected `string`, found `integer`"),
        "{printed}"
    );

    let cycle = json!({ "tasks": [{ "id": "a", "code": "return $OUTPUT[b]" }, { "id": "b", "code": "return $OUTPUT[a]" }] });
    let output = run_plan(&cycle, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("wait for each other"),
        "{}",
        text(&output.stderr)
    );

    let output = run_plan(
        &json!({ "tasks": [{ "id": "a", "tool": "demo:list_files", "args": { "path": "$INPUT.dir" } }] }),
        &["--input", "dri=x"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("the input `dir` is missing; did you mean `dri`?"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_dry_run_sends_nothing() {
    let report = report(&[
        "workflow",
        "dry-run",
        &example("config-issue.json"),
        "--json",
    ]);
    let planned = report["dryRun"]["planned"].as_array().unwrap();
    let tools: Vec<&str> = planned
        .iter()
        .map(|call| call["tool"].as_str().unwrap())
        .collect();
    assert!(tools.contains(&"demo:list_files"), "{tools:?}");
    assert!(tools.contains(&"demo:add_note"), "{tools:?}");
}

#[test]
fn what_is_printed_is_scrubbed() {
    let plan =
        json!({ "tasks": [{ "id": "a", "code": "return 'write to jane.roe@example.org'" }] });
    for flags in [&["--scrub", "--json"][..], &["--scrub"]] {
        let output = run_plan(&plan, flags);
        let printed = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(!printed.contains("jane.roe"), "{printed}");
        assert!(printed.contains("[EMAIL_1"), "{printed}");
    }
}

#[test]
fn a_task_that_asks_is_refused_without_a_terminal() {
    let plan = json!({ "tasks": [{ "id": "a", "code": "return 1", "approve": "really?" }] });
    let output = run_plan(&plan, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("--yes"),
        "{}",
        text(&output.stderr)
    );
    assert!(run_plan(&plan, &["--yes"]).status.success());
}

#[test]
fn a_plan_is_shown_in_every_format() {
    for (format, begins) in [
        ("text", "config summary to an issue: 5 tasks, 5 layers"),
        ("mermaid", "flowchart LR"),
        ("dot", "digraph plan {"),
        ("svg", "<svg xmlns="),
        ("json", "{"),
    ] {
        let output = run(&[
            "workflow",
            "show",
            &example("config-issue.json"),
            "--format",
            format,
        ]);
        let printed = text(&output.stdout);
        assert!(printed.starts_with(begins), "{format}: {printed}");
    }
}

#[test]
fn a_recorded_run_becomes_a_plan_that_gives_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.json");
    let script = "const { files } = await tools.demo.list_files({ path: 'services' });\n\
        const texts = [];\nfor (const file of files) texts.push(await tools.demo.read_json({ path: file.path }));\n\
        return texts.length";
    let recorded = run(&["run", "--record", recording.to_str().unwrap(), "-e", script]);
    assert!(recorded.status.success(), "{}", text(&recorded.stderr));
    let reads = ["--read", "demo:list_files", "--read", "demo:read_json"];
    let made = run(&[
        &["workflow", "from-run", recording.to_str().unwrap()],
        &reads[..],
    ]
    .concat());
    let plan: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(
        plan["tasks"][1]["args"]["path"],
        "$OUTPUT[t1].files[0].path"
    );
    let output = run_plan(&plan, &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The five reads, which the script made one after another, are one layer.
    assert_eq!(report["output"].as_object().unwrap().len(), 5, "{report:#}");
    assert_eq!(report["output"]["t2"]["name"], "billing");
}

#[test]
fn the_schema_is_published_with_the_typings() {
    assert!(
        Path::new(&repository())
            .join("typings/workflow.schema.json")
            .exists()
    );
}
