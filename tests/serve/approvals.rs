//! Asking a person before a tool is called.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::driver::{Http, Lines, envelope, plan_for_stdio, python};
use crate::gateway::{Place, demo};

fn place(policy: Value) -> (tempfile::TempDir, Place) {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with(&json!({
        "mcpServers": { "demo": demo(data.path()) },
        "pml": { "policy": policy },
    }));
    (data, place)
}

/// Adds and deletes many notes; deleting is marked as destructive.
const MANY: &str = "
const ids = [];
for (let n = 0; n < 50; n++) ids.push((await tools.demo.add_note({ title: 't' + n, text: 'x' })).id);
const deleted = await Promise.all(ids.map((id) => callTool('demo:delete_note', { id })));
return [deleted.filter((answer) => answer.success).length, deleted.find((answer) => !answer.success)?.error.message];
";

fn with_elicitation(mut plan: Value, answer: Value) -> Value {
    plan["elicit"] = answer;
    plan
}

#[test]
fn fifty_calls_are_asked_about_once() {
    let (_data, place) = place(json!({}));
    let steps = json!([{ "tool": "execute_code", "args": { "code": MANY } }]);
    let plan = with_elicitation(
        plan_for_stdio(&place, "legacy", steps),
        json!({ "action": "accept", "content": { "decision": "Allow these" } }),
    );
    let heard = python(&plan);
    assert_eq!(envelope(&heard["steps"][0])["result"][0], 50, "{heard}");
    let asked = heard["asked"].as_array().unwrap();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(
        asked[0]
            .as_str()
            .unwrap()
            .starts_with("Approve 50 calls of demo:delete_note?"),
        "{asked:?}"
    );
}

#[test]
fn a_loop_of_single_calls_is_asked_about_once() {
    let (_data, place) = place(json!({ "ask": ["demo:add_*"] }));
    let code = "for (let n = 0; n < 20; n++) await tools.demo.add_note({ title: 't', text: 'x' }); return (await tools.demo.list_notes()).notes.length";
    let steps = json!([
        { "tool": "execute_code", "args": { "code": code } },
        { "tool": "call_tool", "args": { "tool": "demo:add_note", "args": { "title": "t", "text": "x" } } },
    ]);
    let plan = with_elicitation(
        plan_for_stdio(&place, "legacy", steps),
        json!({ "action": "accept", "content": { "decision": "Allow all in this script" } }),
    );
    let heard = python(&plan);
    assert_eq!(envelope(&heard["steps"][0])["result"], 20, "{heard}");
    assert_eq!(heard["steps"][1]["isError"], false, "{heard}");
    assert_eq!(
        heard["asked"].as_array().unwrap().len(),
        2,
        "one for the loop, one for the call: {heard}"
    );
}

#[test]
fn a_no_reaches_the_script_as_an_error() {
    let (_data, place) = place(json!({}));
    let steps = json!([{ "tool": "execute_code", "args": { "code": MANY } }]);
    let plan = with_elicitation(
        plan_for_stdio(&place, "legacy", steps),
        json!({ "action": "decline" }),
    );
    let heard = python(&plan);
    let result = envelope(&heard["steps"][0])["result"].clone();
    assert_eq!(result[0], 0, "{heard}");
    assert!(
        result[1]
            .as_str()
            .unwrap()
            .contains("the user did not allow it"),
        "{result}"
    );
}

#[test]
fn without_a_session_the_question_comes_with_the_answer() {
    let (_data, place) = place(json!({}));
    let server = Http::open(&place, &[]);
    let mut plan = json!({
        "mode": "2026-07-28", "url": server.url,
        "steps": [{ "tool": "execute_code", "args": { "code": MANY } }],
    });
    plan = with_elicitation(
        plan,
        json!({ "action": "accept", "content": { "decision": "Allow all in this script" } }),
    );
    let heard = python(&plan);
    assert_eq!(envelope(&heard["steps"][0])["result"][0], 50, "{heard}");
    assert_eq!(heard["asked"].as_array().unwrap().len(), 1, "{heard}");
}

#[test]
fn a_client_that_cannot_ask_is_refused_where_the_operator_wants_it() {
    let (_data, place) = place(json!({ "ask": ["demo:add_note"] }));
    let mut client = Lines::open(&place, &[]);
    let envelope =
        client.run("return (await callTool('demo:add_note', { title: 't', text: 'x' })).error");
    let told = envelope["result"].to_string();
    assert!(
        told.contains("this client cannot ask") && told.contains("pml.policy.ask"),
        "{told}"
    );
    let call = client.call(
        "call_tool",
        json!({ "tool": "demo:add_note", "args": { "title": "t", "text": "x" } }),
    );
    assert_eq!(call["isError"], true, "{call}");
}

#[test]
fn what_is_only_marked_destructive_goes_through_where_nobody_can_be_asked() {
    let (_data, place) = place(json!({}));
    let mut client = Lines::open(&place, &[]);
    assert_eq!(client.run(MANY)["result"][0], 50);
}

#[test]
fn the_time_for_an_answer_is_not_the_scripts_and_ends() {
    let (_data, place) = place(json!({ "ask": ["demo:add_note"], "askTime": "1500ms" }));
    let mut client = Lines::open_with(&place, &[], json!({ "elicitation": {} }));
    let answer = client.ask(
        "tools/call",
        json!({ "name": "execute_code", "arguments": {
            "code": "return (await callTool('demo:add_note', { title: 't', text: 'x' })).error.message",
            "timeout_ms": 1000,
        } }),
    );
    let told = envelope(&answer["result"]);
    assert!(
        told["result"]
            .as_str()
            .is_some_and(|told| told.contains("did not answer in time")),
        "{told}"
    );
    assert!(
        client
            .notices
            .iter()
            .any(|message| message["method"] == "elicitation/create")
    );
}

#[test]
fn a_script_that_has_ended_waits_for_no_answer() {
    let (_data, place) = place(json!({ "ask": ["demo:add_note"] }));
    let mut client = Lines::open_with(&place, &[], json!({ "elicitation": {} }));
    let began = Instant::now();
    let outcome = client.run(
        "tools.demo.add_note({ title: 't', text: 'x' });\n\
         await new Promise((done) => setTimeout(done, 500));\nthrow new Error('over')",
    );
    assert_eq!(outcome["error"]["message"], "Error: over", "{outcome}");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn time_stands_still_until_the_last_of_several_questions() {
    let (_data, place) = place(json!({ "ask": ["demo:*"], "askTime": "1500ms" }));
    let mut client = Lines::open_with(&place, &[], json!({ "elicitation": {} }));
    let code = "const calls = [callTool('demo:add_note', { title: 't', text: 'x' }), callTool('demo:list_files')];\n\
        return (await Promise.all(calls)).map((call) => call.error.kind)";
    let answer = client.ask(
        "tools/call",
        json!({ "name": "execute_code", "arguments": { "code": code, "timeout_ms": 1000 } }),
    );
    // Two answers were waited for, 1.5 s each, one after the other.
    let told = envelope(&answer["result"]);
    assert_eq!(told["result"], json!(["denied", "denied"]), "{told}");
}
