//! The tool `execute_workflow`, and `runWorkflow` in scripts of clients.

use serde_json::{Value, json};

use super::driver::{StdioClient, envelope, text};
use crate::gateway::{Place, demo};

fn open() -> (tempfile::TempDir, Place, StdioClient) {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with(&json!({
        "mcpServers": { "demo": demo(data.path()) },
        "pml": { "workflows": { "tool": true } },
    }));
    let client = StdioClient::open(&place, &[]);
    (data, place, client)
}

fn tools(client: &mut StdioClient) -> Vec<Value> {
    let listed = client.ask("tools/list", json!({}));
    listed["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn the_tool_is_listed_if_the_operator_wants_it_and_is_small() {
    let (_data, _place, mut client) = open();
    let tools_with = tools(&mut client);
    let tool = tools_with
        .iter()
        .find(|tool| tool["name"] == "execute_workflow");
    let tool = tool.expect("it is listed");
    // Four characters a token, as the description of the other tools is counted.
    let chars = tool.to_string().chars().count();
    assert!(chars / 4 < 250, "{chars} characters: {tool}");

    let place = Place::with_servers(json!({ "demo": demo(std::path::Path::new(".")) }));
    let mut client = StdioClient::open(&place, &[]);
    assert_eq!(tools(&mut client).len(), 3);
    let answer = client.ask(
        "tools/call",
        json!({ "name": "execute_workflow", "arguments": { "plan": { "tasks": [] } } }),
    );
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no such tool"),
        "{answer}"
    );
}

#[test]
fn a_plan_runs_and_its_reply_is_scrubbed() {
    let (_data, _place, mut client) = open();
    let plan = json!({ "tasks": [
        { "id": "a", "tool": "demo:count_text", "args": { "text": "$INPUT.text" } },
        { "id": "b", "code": "console.log('of b'); return { words: $OUTPUT[a].words, mail: 'ada@example.com' }" },
        { "id": "bad", "tool": "demo:count_text", "args": { "text": "$OUTPUT[b].words" } },
        { "id": "after", "code": "return $OUTPUT[bad]" },
    ] });
    let arguments = json!({ "plan": plan, "input": { "text": "one two" } });
    let result = client.call("execute_workflow", arguments);
    assert_eq!(result["isError"], true, "{result}");
    let envelope = envelope(&result);
    assert!(!text(&result).contains("ada@example.com"), "{envelope}");
    let report = &envelope["result"];
    assert_eq!(report["state"], "partial", "{envelope:#}");
    let states: Vec<&str> = report["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["done", "done", "failed", "skipped"]);
    assert!(report["times"]["criticalPath"].is_array(), "{envelope:#}");
    assert_eq!(envelope["logs"][0]["text"], "of b", "{envelope:#}");
}

#[test]
fn mistakes_of_a_plan_are_found_before_anything_runs() {
    let (data, _place, mut client) = open();
    for (plan, expected) in [
        (
            json!({ "tasks": [{ "id": "a", "tool": "demo:count_txt" }] }),
            "the nearest are `demo:count_text`",
        ),
        (
            json!({ "tasks": [{ "id": "a", "tool": "demo:count_text", "args": { "txt": "x" } }] }),
            "tasks[0].args",
        ),
        (
            json!({ "tasks": [{ "id": "a", "code": "return $OUTPUT[b]" }] }),
            "there is no task `b`",
        ),
        (
            json!({ "tasks": [{ "id": "a", "code": "return 1", "when": "$INPUT.x" }] }),
            "the input `x` is missing",
        ),
    ] {
        let result = client.call("execute_workflow", json!({ "plan": plan }));
        assert_eq!(result["isError"], true, "{result}");
        assert!(
            text(&result).contains(expected),
            "{expected}: {}",
            text(&result)
        );
    }
    let result = client.call("execute_workflow", json!({}));
    assert!(text(&result).contains("`plan` is missing"), "{result}");
    drop(data);
}

#[test]
fn a_large_output_is_behind_a_handle_and_the_states_are_shown() {
    let (_data, _place, mut client) = open();
    let plan = json!({ "tasks": [{ "id": "a", "code": "return Array.from({ length: 100000 }, (_, n) => n)" }] });
    let envelope = envelope(&client.call("execute_workflow", json!({ "plan": plan })));
    let report = &envelope["result"];
    assert_eq!(report["tasks"][0]["state"], "done", "{envelope:#}");
    let handle = report["output"]["handle"].as_str().unwrap();
    let loaded = client.run(&format!("return (await load('{handle}')).length"));
    assert_eq!(loaded["result"], 100_000);
}

#[test]
fn every_task_is_a_progress_notification() {
    let (_data, _place, mut client) = open();
    let tasks: Vec<Value> = (0..5)
        .map(|n| json!({ "id": format!("t{n}"), "tool": "demo:slow", "args": { "ms": 20 * n } }))
        .collect();
    let id = client.request(
        "tools/call",
        json!({ "name": "execute_workflow", "arguments": { "plan": { "tasks": tasks } }, "_meta": { "progressToken": "p" } }),
    );
    let mut messages = Vec::new();
    loop {
        let message = client.receive();
        if message["method"] == "notifications/progress" {
            messages.push(message["params"]["message"].as_str().unwrap().to_owned());
        }
        if message["id"] == id {
            break;
        }
    }
    for n in 0..5 {
        let done = messages
            .iter()
            .any(|text| text.ends_with(&format!("done t{n}")));
        assert!(done, "{messages:?}");
    }
}

#[test]
fn a_script_of_a_client_runs_plans_even_when_all_workers_wait_for_theirs() {
    let (_data, _place, mut client) = open();
    let code = "const { output } = await runWorkflow({ tasks: [{ id: 'a', code: 'return 2' }, { id: 'b', code: 'return $OUTPUT[a] * 21' }] }); return output";
    // More at once than scripts can run.
    let ids: Vec<u64> = (0..40)
        .map(|_| client.request("tools/call", json!({ "name": "execute_code", "arguments": { "code": code, "timeout_ms": 60000 } })))
        .collect();
    for id in ids {
        let answer = client.answer(id);
        assert_eq!(envelope(&answer["result"])["result"], 42, "{answer}");
    }
}

#[test]
fn a_plan_ends_at_the_time_limit_that_the_client_asks_for() {
    let (_data, _place, mut client) = open();
    let plan = json!({ "tasks": [{ "id": "a", "tool": "demo:slow", "args": { "ms": 20000 } }] });
    let result = client.call(
        "execute_workflow",
        json!({ "plan": plan, "timeout_ms": 300 }),
    );
    let envelope = envelope(&result);
    assert_eq!(envelope["error"]["kind"], "timeout", "{envelope:#}");
}
