//! `pml.guards` through the binary: every way to a tool, dry runs, the log of a run, audit events, and
//! `pml tools show`.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::serve::driver::StdioClient;
use crate::support::repository;

const METADATA: &str = "http://169.254.169.254/latest/meta-data/";

/// A place with the server `s`, which writes down the calls that arrive.
fn place(pml: Value) -> Place {
    let script = repository().join("gateway/tests/servers/effects.py");
    let server =
        json!({ "command": "python3", "args": ["-u", script, "journal"], "trust": "annotations" });
    Place::with(&json!({ "mcpServers": { "s": server }, "pml": pml }))
}

fn arrived(place: &Place) -> usize {
    let journal = fs::read_to_string(place.folder().join("journal"));
    journal.unwrap_or_default().lines().count()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_way_to_a_tool_goes_past_the_guards() {
    let place = place(json!({}));
    let script = format!(
        r#"
        const url = "{METADATA}";
        const said = (promise) => promise.then(() => "sent", (error) => error.kind + ": " + error.message);
        const stream = async () => {{ for await (const part of streamTool("s:look", {{ url }})) return "part"; }};
        const plan = {{ tasks: [
          {{ id: "a", tool: "s:look", args: {{ url }}, optional: true }},
          {{ id: "b", code: "return await callTool('s:look', {{ url: '{METADATA}' }}).then((r) => r.error.kind)" }},
        ] }};
        const report = await runWorkflow(plan);
        const batch = await callToolsBatch([{{ tool: "s:look", args: {{ url }} }}]).then(JSON.stringify, String);
        return [
          await said(tools.s.look({{ url }})),
          (await callTool("s:look", {{ url }})).error.kind,
          await said(stream()),
          report.tasks.a.error.kind,
          report.tasks.b.error?.message ?? report.output ?? "done",
          batch,
        ];
        "#
    );
    let envelope = place.script(&script);
    assert_eq!(envelope["ok"], true, "{envelope:#}");
    let result = &envelope["result"];
    for at in [0, 2] {
        let said = result[at].as_str().unwrap();
        assert!(
            said.starts_with("denied: `s:look` was not called: the guard `network`"),
            "{said}"
        );
    }
    assert_eq!(
        (&result[1], &result[3]),
        (&json!("denied"), &json!("denied")),
        "{result:#}"
    );
    assert!(
        result[5].as_str().unwrap().contains("guard `network`"),
        "{result:#}"
    );

    let envelope = place.script(&format!("await tools.s.look({{ url: '{METADATA}' }})"));
    assert_eq!(envelope["error"]["kind"], "denied", "{envelope:#}");
    let hint = envelope["error"]["hint"].as_str().unwrap();
    assert!(hint.starts_with("Correct what the guard names"), "{hint}");

    let output = place.run(&["call", "s:look", &json!({ "url": METADATA }).to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("guard `network`"),
        "{}",
        stderr(&output)
    );
    let batch = json!({ "role": "assistant", "content": [
        { "type": "tool_use", "id": "t1", "name": "s__look", "input": { "url": METADATA } } ] });
    fs::write(place.folder().join("batch.json"), batch.to_string()).unwrap();
    let output = place.run(&["call", "--batch", "batch.json"]);
    assert!(
        stdout(&output).contains("guard `network`"),
        "{}",
        stdout(&output)
    );
    let plan = json!({ "tasks": [{ "id": "a", "tool": "s:look", "args": { "url": METADATA } }] });
    fs::write(place.folder().join("plan.json"), plan.to_string()).unwrap();
    let output = place.run(&["workflow", "run", "--json", "plan.json"]);
    assert!(
        stdout(&output).contains("guard `network`"),
        "{}",
        stdout(&output)
    );

    let mut client = StdioClient::open(&place, &[]);
    let result = client.call(
        "call_tool",
        json!({ "tool": "s:look", "args": { "url": METADATA } }),
    );
    assert!(result.to_string().contains("guard `network`"), "{result}");
    let envelope = client.run(&format!(
        "return await tools.s.look({{ url: '{METADATA}' }})"
    ));
    assert_eq!(envelope["error"]["kind"], "denied", "{envelope:#}");
    client.close();
    assert_eq!(arrived(&place), 0);
}

#[test]
fn warnings_are_in_the_log_of_the_run_and_verdicts_in_the_audit_log() {
    let place = place(json!({
        "audit": { "path": "audit" },
        "guards": { "runaway": { "verdict": "warn", "calls": 1 } },
    }));
    let mut client = StdioClient::open(&place, &[]);
    let envelope = client.run("await tools.s.look({}); return await tools.s.look({})");
    assert!(
        envelope["logs"]
            .to_string()
            .contains("guard `runaway`: the same call was made 1 times"),
        "{envelope:#}"
    );
    // The next call of the session, not of the run, and a reference that was not resolved.
    let result = client.call(
        "call_tool",
        json!({ "tool": "s:look", "args": { "a": "$OUTPUT[x].y" } }),
    );
    assert!(
        result["content"][1]["text"]
            .as_str()
            .unwrap()
            .contains("guard `references`"),
        "{result}"
    );
    let envelope = client.run(&format!(
        "return (await callTool('s:look', {{ url: '{METADATA}' }})).success"
    ));
    assert_eq!(envelope["result"], false);
    client.close();
    let output = place.run(&["audit", "query", "--json", "--type", "pml.call"]);
    let guards: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["data"]["guards"].is_array())
        .map(|event| event["data"]["guards"][0].clone())
        .collect();
    let mut verdicts: Vec<(&str, &str)> = guards
        .iter()
        .map(|note| {
            (
                note["guard"].as_str().unwrap(),
                note["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    // The call was made ahead of time as well.
    verdicts.dedup();
    assert_eq!(
        verdicts,
        [
            ("runaway", "warn"),
            ("references", "warn"),
            ("network", "block")
        ]
    );
    let output = place.run(&["call", "s:look", r#"{ "a": "$ITEM" }"#]);
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("warning: guard `references`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn dry_runs_say_what_guards_would_do() {
    let place = place(json!({ "guards": {
        "preconditions": { "after": { "s:wipe": ["s:look"] } }
    } }));
    let script = r#"
        const said = [(await callTool("s:wipe", {})).error?.kind, (await callTool("s:look", { a: "$ITEM" })).success];
        return [...said, (await callTool("s:wipe", {})).success];
    "#;
    let output = place.run(&["run", "--json", "--dry-run", "-e", script]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        printed["result"],
        json!(["denied", true, true]),
        "{printed:#}"
    );
    let planned = printed["planned"].as_array().unwrap();
    assert_eq!(
        planned[0]["guards"][0]["guard"], "preconditions",
        "{printed:#}"
    );
    assert_eq!(planned[1]["guards"][0]["verdict"], "warn");
    assert_eq!(planned[2].get("guards"), None);
    let plan = json!({ "tasks": [{ "id": "a", "tool": "s:wipe", "args": {} }] });
    fs::write(place.folder().join("plan.json"), plan.to_string()).unwrap();
    let output = place.run(&["workflow", "dry-run", "plan.json"]);
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert!(said.contains("guard `preconditions`"), "{said}");
    assert_eq!(arrived(&place), 0);
}

#[test]
fn a_resumed_run_remembers_the_calls_before_the_interruption() {
    let place = place(json!({
        "policy": { "ask": ["s:act"] },
        "guards": { "preconditions": { "after": { "s:act": ["s:put"] } } },
    }));
    let script = place.folder().join("s.ts");
    fs::write(
        &script,
        "await tools.s.put({}); return await tools.s.act({})",
    )
    .unwrap();
    let script = script.to_str().unwrap();
    let envelope = |output: &Output| -> Value {
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)))
    };
    let waiting = place.run(&["run", "--durable", "--run-id", "r", "--json", script]);
    assert_eq!(
        envelope(&waiting)["error"]["kind"],
        "waiting",
        "{}",
        stdout(&waiting)
    );
    assert_eq!(arrived(&place), 1);
    let allowed = place.run(&["approvals", "allow", "--run", "r", "--all-calls"]);
    assert!(allowed.status.success(), "{}", stderr(&allowed));
    // Another process: the call of `s:put` is answered from the journal.
    let resumed = place.run(&["resume", "r", "--json"]);
    assert_eq!(envelope(&resumed)["result"], "done", "{}", stdout(&resumed));
    assert_eq!(arrived(&place), 2);
}

#[test]
fn every_rule_of_a_tool_is_shown() {
    let place = place(json!({
        "guards": { "preset": "strict", "time": { "tools": { "s:look": { "soft": "1s", "hard": "5s" } } } },
        "policy": {
            "deny": ["s:wipe"],
            "rate": { "tools": { "s:look": "5/s" }, "perPrincipal": "9/s" },
            "concurrency": { "servers": { "s": 3 }, "principals": { "ci": 2 } },
            "cache": { "tools": { "s:lo*": "1m" } },
            "budget": { "tools": { "s:*": 7 } },
        },
        "labels": { "mode": "enforce", "sources": { "s:look": "untrusted" } },
        "workflows": { "costs": { "s:look": 0.25 } },
    }));
    let output = place.run(&["tools", "show", "s:look"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = stdout(&output);
    for line in [
        "s:look",
        "effect   read, by annotations",
        "policy   permit for local",
        "lock     no lock file",
        "labels   returns untrusted, public",
        "guards   preset strict",
        "block  time: calls of more than 1s (warn), calls of more than 5s",
        "3 calls at once of server `s`",
        "7 calls of tools `s:*` per run",
        "30 s per call",
        "5/1s of tools `s:look`",
        "9/1s of the principal",
        "cache    results for 1m, by `s:lo*`",
        "retry    up to 3 attempts",
        "price    0.25",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let output = place.run(&["tools", "show", "s:look", "--principal", "ci", "--json"]);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["policy"]["principal"], "ci");
    assert_eq!(shown["effect"]["class"], "read");
    assert!(
        shown["limits"]
            .to_string()
            .contains("2 calls at once of the principal"),
        "{shown:#}"
    );
    assert_eq!(shown["guards"]["preset"], "strict");
    assert!(
        shown["source"]["reachedBy"]
            .as_str()
            .unwrap()
            .contains("effects.py")
    );

    let shown = stdout(&place.run(&["tools", "show", "s:wipe"]));
    assert!(
        shown.contains("deny for local, by `pml.policy.deny: s:wipe`")
            || shown.contains("deny for local"),
        "{shown}"
    );
    let output = place.run(&["tools", "show", "s:loook"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("the nearest are `s:look`"),
        "{}",
        stderr(&output)
    );
    let output = place.run(&["tools", "show", "nowhere:x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(place.run(&["lock"]).status.success());
    let shown = stdout(&place.run(&["tools", "show", "s:look"]));
    assert!(
        shown.contains("lock     as pinned") && shown.contains("version 1"),
        "{shown}"
    );
}

#[test]
fn a_mistake_in_the_guards_refuses_the_start() {
    let place = place(json!({ "guards": { "netwrk": "off" } }));
    let output = place.run(&["run", "-e", "return 1"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("did you mean `network`?") && said.contains(".mcp.json"),
        "{said}"
    );
}

#[test]
fn the_example_blocks_what_it_says() {
    let home = Place::empty();
    let binary = crate::support::binary();
    let path = std::env::var("PATH").unwrap();
    let output = std::process::Command::new("sh")
        .arg("examples/guards/guards.sh")
        .current_dir(repository())
        .env("HOME", home.folder())
        .env_remove("XDG_DATA_HOME")
        .env(
            "PATH",
            format!("{}:{path}", binary.parent().unwrap().display()),
        )
        .output()
        .unwrap();
    let shown = stdout(&output);
    assert!(output.status.success(), "{shown}{}", stderr(&output));
    assert!(
        shown.contains("block  preconditions: calls before `demo:list_*` has answered"),
        "{shown}"
    );
    let said = shown.split("what guards say:").nth(1).unwrap().trim();
    assert!(
        said.starts_with("preconditions references network"),
        "{said}"
    );
    assert!(said.ends_with("sent sent sent runaway"), "{said}");
}
