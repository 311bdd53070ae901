//! `pml.labels`: what a run has read decides where it may write.

mod random;

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::serve::driver::{StdioClient, envelope, text as text_of};
use crate::support::repository;

const PATH: &str = "web:fetch → run → mail:send";

fn tool(name: &str, annotations: Value) -> Value {
    json!({
        "name": name, "description": format!("the tool {name}"),
        "inputSchema": { "type": "object" }, "annotations": annotations,
    })
}

/// A folder with the servers `web`, which returns what anybody wrote, `crm`, which returns private data, and
/// `mail`, which sends.
fn place(labels: Value) -> Place {
    place_with(json!({ "labels": labels }))
}

fn place_with(pml: Value) -> Place {
    let place = Place::empty();
    let script = repository().join("tests/lock/changing.py");
    let read = |open: bool| json!({ "readOnlyHint": true, "openWorldHint": open });
    let write = |open: bool| json!({ "readOnlyHint": false, "destructiveHint": false, "openWorldHint": open });
    let mut servers = serde_json::Map::new();
    for (name, tools) in [
        ("web", json!([tool("fetch", read(true))])),
        (
            "crm",
            json!([tool("list", read(false)), tool("add", write(false))]),
        ),
        ("mail", json!([tool("send", write(true))])),
    ] {
        let file = format!("{name}.json");
        fs::write(
            place.folder().join(&file),
            json!({ "tools": tools }).to_string(),
        )
        .unwrap();
        let server =
            json!({ "command": "python3", "args": [script, file], "trust": "annotations" });
        servers.insert(name.to_owned(), server);
    }
    let config = json!({ "mcpServers": servers, "pml": pml });
    fs::write(place.file(), format!("{config:#}")).unwrap();
    place
}

fn enforced() -> Place {
    place(json!({ "mode": "enforce", "sources": { "mail:*": "trusted" } }))
}

/// How many calls have reached the server.
fn calls(place: &Place, server: &str) -> usize {
    let file = place.folder().join(format!("{server}.json.calls"));
    fs::read_to_string(file).unwrap_or_default().lines().count()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_anybody_wrote_does_not_reach_a_tool_that_sends() {
    let place = enforced();
    let envelope =
        place.script("await tools.web.fetch({}); return await tools.mail.send({ to: 'x' })");
    let error = &envelope["error"];
    assert_eq!(error["kind"], "denied", "{envelope:#}");
    assert!(error["message"].as_str().unwrap().contains(PATH), "{error}");
    let crossings = &envelope["labels"]["crossings"];
    assert_eq!(crossings, &json!([{ "path": PATH, "refused": true }]));
    assert_eq!(calls(&place, "mail"), 0);
}

#[test]
fn private_data_goes_back_to_its_server_and_to_no_other() {
    let place = enforced();
    let back = place.script("await tools.crm.list({}); return await tools.crm.add({ n: 1 })");
    assert_eq!(back["ok"], true, "{back:#}");
    let away = place.script("await tools.crm.list({}); return await tools.mail.send({ n: 1 })");
    let message = away["error"]["message"].as_str().unwrap();
    assert!(message.contains("private data of `crm`"), "{message}");
    assert!(message.contains("crm:list → run → mail:send"), "{message}");
}

#[test]
fn observed_flows_are_sent_and_reported() {
    let place = place(json!({}));
    let script = "await tools.web.fetch({}); await tools.mail.send({})";
    let envelope = place.script(script);
    assert_eq!(envelope["ok"], true, "{envelope:#}");
    let crossings = &envelope["labels"]["crossings"];
    assert_eq!(crossings, &json!([{ "path": PATH, "refused": false }]));
    let told = stderr(&place.run(&["run", "-e", script]));
    assert!(told.contains(PATH) && told.contains("enforce"), "{told}");
    let off = self::place(json!({ "mode": "off" })).script(script);
    assert_eq!(off["labels"], Value::Null);
}

#[test]
fn a_call_that_was_made_before_an_answer_does_not_depend_on_it() {
    let place = enforced();
    let script = "return (await Promise.all([tools.web.fetch({}), tools.mail.send({})])).length";
    assert_eq!(place.result(script), 2);
    let later = "const page = tools.web.fetch({}); await tools.crm.list({}); await page; return await callTool('mail:send', {})";
    assert_eq!(place.result(later)["error"]["kind"], "denied");
}

#[test]
fn a_caught_refusal_is_in_the_reply_and_in_the_stored_run() {
    let place = enforced();
    let script = "await tools.web.fetch({}); return (await callTool('mail:send', {})).success";
    fs::write(place.folder().join("flow.ts"), script).unwrap();
    let run = place.run(&["run", "--durable", "--run-id", "flow-1", "flow.ts"]);
    assert_eq!(
        String::from_utf8_lossy(&run.stdout).trim(),
        "false",
        "{}",
        stderr(&run)
    );
    let shown = place.run(&["runs", "show", "flow-1"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(&format!("flow {PATH}: refused")), "{shown}");
    let mut client = StdioClient::open(&place, &[]);
    let reply = client.run(script);
    assert_eq!(reply["flows"], json!([PATH]), "{reply:#}");
}

#[test]
fn a_dry_run_predicts_the_refusal() {
    let place = enforced();
    let script = "await tools.web.fetch({}); await tools.mail.send({})";
    let envelope = place.script_with(&["--dry-run"], script);
    let refused = &envelope["planned"][1]["refused"];
    assert_eq!(refused["kind"], "denied", "{envelope:#}");
    assert!(refused["message"].as_str().unwrap().contains(PATH));
    assert_eq!(calls(&place, "web"), 0);
}

#[test]
fn what_tools_return_and_accept_is_listed() {
    let listed = enforced().run(&["tools", "--labels"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for (tool, returns, accepts) in [
        ("web:fetch", "untrusted, public", "trusted"),
        ("crm:list", "trusted, private to crm", "any"),
        ("mail:send", "trusted, public", "trusted, public"),
    ] {
        let line = listed.lines().find(|line| line.starts_with(tool)).unwrap();
        assert!(line.contains(&format!("returns {returns} ")), "{line}");
        assert!(line.ends_with(&format!("accepts {accepts}")), "{line}");
    }
}

#[test]
fn check_reports_what_is_refused_for_certain() {
    let script = "const page = await tools.web.fetch({});\nawait tools.mail.send(page);";
    for (place, is_refused) in [(enforced(), true), (place(json!({})), false)] {
        fs::write(place.folder().join("flow.ts"), script).unwrap();
        let checked = place.run(&["check", "flow.ts"]);
        let report = String::from_utf8_lossy(&checked.stdout).into_owned() + &stderr(&checked);
        assert_eq!(
            report.contains(PATH) && report.contains("[refused-flow]"),
            is_refused,
            "{report}"
        );
    }
}

#[test]
fn a_result_that_the_model_has_read_raises_its_session() {
    let place = enforced();
    let mut client = StdioClient::open(&place, &[]);
    let send = "return await tools.mail.send({})";
    assert_eq!(client.run(send)["ok"], true);
    client.run("return (await tools.web.fetch({ page: 1 })).page");
    let refused = client.run(send);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("web:fetch → session → run → mail:send"),
        "{message}"
    );
    let call = client.call("call_tool", json!({ "tool": "mail:send", "args": {} }));
    assert!(
        text_of(&call).contains("web:fetch → session → run"),
        "{call}"
    );
    assert_eq!(calls(&place, "mail"), 1);
}

#[test]
fn logs_and_errors_raise_the_session_like_results() {
    for script in [
        "console.log((await tools.web.fetch({ page: 'x' })).page)",
        "throw new Error((await tools.web.fetch({ page: 'x' })).page)",
        // The number of the answer's letters is an answer, too.
        "return (await tools.web.fetch({ page: 'x' })).page.length",
    ] {
        let place = enforced();
        let mut client = StdioClient::open(&place, &[]);
        client.run(script);
        let refused = client.run("return await tools.mail.send({})");
        assert_eq!(refused["error"]["kind"], "denied", "{script}: {refused:#}");
    }
}

#[test]
fn a_held_result_keeps_the_session_clean_and_its_handle_carries_the_label() {
    let place = enforced();
    let mut client = StdioClient::open(&place, &[]);
    let code = "console.log('SECRET'); return await tools.web.fetch({ secret: 'SECRET', n: 1 })";
    let held = envelope(&client.call("execute_code", json!({ "code": code, "hold": true })));
    assert_eq!(
        held["truncated"]["shape"], "an object with 2 properties",
        "{held:#}"
    );
    assert!(
        !held.to_string().to_lowercase().contains("secret"),
        "{held:#}"
    );
    assert_eq!(held["calls"], Value::Null);
    assert_eq!(client.run("return await tools.mail.send({})")["ok"], true);
    let handle = held["truncated"]["handle"].as_str().unwrap();
    let loading =
        format!("const page = await load('{handle}'); return await callTool('mail:send', page)");
    let refused = client.run(&loading)["result"]["error"].clone();
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.contains("web:fetch → store → run → mail:send"),
        "{message}"
    );
    assert_eq!(calls(&place, "mail"), 1);
}

#[test]
fn the_error_of_a_held_run_is_its_kind_and_its_line() {
    let place = enforced();
    let mut client = StdioClient::open(&place, &[]);
    let code =
        "const page = await tools.web.fetch({ page: 'SECRET' });\nthrow new Error(page.page)";
    let held = envelope(&client.call("execute_code", json!({ "code": code, "hold": true })));
    assert_eq!(held["error"]["kind"], "runtime", "{held:#}");
    assert_eq!(held["error"]["line"], 2);
    assert!(!held.to_string().contains("SECRET"), "{held:#}");
    assert_eq!(client.run("return await tools.mail.send({})")["ok"], true);
}

#[test]
fn a_result_over_the_limit_is_shown_as_its_shape_where_labels_are_enforced() {
    let code = "const { text } = await tools.web.fetch({ text: 'SECRET '.repeat(4000) }); return [text, text]";
    let place = enforced();
    let mut client = StdioClient::open(&place, &[]);
    let reply = client.run(code);
    assert_eq!(
        reply["truncated"]["shape"],
        "a list of 2 texts of 28000 characters"
    );
    assert!(!reply.to_string().contains("SECRET"), "{reply:#}");
    assert_eq!(client.run("return await tools.mail.send({})")["ok"], true);
    let observed = self::place(json!({}));
    let mut client = StdioClient::open(&observed, &[]);
    assert!(
        client.run(code)["truncated"]["preview"]
            .as_str()
            .unwrap()
            .contains("SECRET")
    );
}

#[test]
fn a_stored_value_carries_the_label_of_its_run() {
    let place = enforced();
    let mut client = StdioClient::open(&place, &[]);
    let code = "await store('page', await tools.web.fetch({}));";
    client.call("execute_code", json!({ "code": code, "hold": true }));
    assert_eq!(client.run("return await tools.mail.send({})")["ok"], true);
    let refused = client.run("await load('page'); return await tools.mail.send({})");
    assert_eq!(refused["error"]["kind"], "denied", "{refused:#}");
}

#[test]
fn a_resumed_run_has_read_what_its_journal_answers() {
    let place = place_with(json!({
        "labels": { "mode": "enforce", "sinks": { "crm:*": "any" } },
        "policy": { "ask": ["crm:add"] },
    }));
    let script = "await tools.web.fetch({}); await tools.crm.add({}); return (await callTool('mail:send', {})).error.message";
    fs::write(place.folder().join("flow.ts"), script).unwrap();
    let waiting = place.run(&["run", "--durable", "--run-id", "flow-1", "flow.ts"]);
    assert!(
        stderr(&waiting).contains("approval"),
        "{}",
        stderr(&waiting)
    );
    let listed = place.run(&["approvals", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed["approvals"][0]["id"].as_str().unwrap();
    assert!(place.run(&["approvals", "allow", id]).status.success());
    let resumed = place.run(&["resume", "flow-1"]);
    let message = String::from_utf8_lossy(&resumed.stdout).into_owned();
    assert!(message.contains(PATH), "{message}{}", stderr(&resumed));
    assert_eq!(calls(&place, "web"), 1);
    assert_eq!(calls(&place, "mail"), 0);
}

#[test]
fn policies_see_what_the_run_has_read() {
    let place = place_with(
        json!({ "policy": { "file": "policy.cedar" }, "labels": { "sinks": { "*": "any" } } }),
    );
    let policy = r#"permit(principal, action, resource);
@id("clean-mail") forbid(principal, action == Action::"mail:send", resource)
when { context.run.untrusted || context.run.private.contains("crm") };"#;
    fs::write(place.folder().join("policy.cedar"), policy).unwrap();
    assert_eq!(place.script("return await tools.mail.send({})")["ok"], true);
    for read in ["web.fetch", "crm.list"] {
        let envelope = place.script(&format!(
            "await tools.{read}({{}}); await tools.mail.send({{}})"
        ));
        let message = envelope["error"]["message"].as_str().unwrap();
        assert!(message.contains("clean-mail"), "{message}");
    }
    assert_eq!(calls(&place, "mail"), 1);
}

#[test]
fn rules_replace_what_servers_say() {
    let rules = json!({
        "mode": "enforce",
        "sources": { "web:*": "trusted", "crm:list": "untrusted", "crm:resources": "untrusted" },
        "sinks": { "mail:send": "trusted" },
    });
    let place = place(rules);
    assert_eq!(
        place.script("await tools.web.fetch({}); await tools.mail.send({})")["ok"],
        true
    );
    for read in ["await tools.crm.list({})", "await listResources('crm')"] {
        let envelope = place.script(&format!("{read}; await tools.mail.send({{}})"));
        assert_eq!(envelope["error"]["kind"], "denied", "{read}: {envelope:#}");
    }
}

#[test]
fn definitions_are_untrusted_where_a_rule_says_so() {
    let place = place(json!({ "mode": "enforce", "sources": { "web:definitions": "untrusted" } }));
    for (look, is_refused) in [
        ("await describeTool('web:fetch')", true),
        ("await describeTool('crm:list')", false),
        ("await searchTools('fetch')", true),
    ] {
        let envelope = place.script(&format!("{look}; await tools.mail.send({{}})"));
        assert_eq!(
            envelope["error"]["kind"] == "denied",
            is_refused,
            "{look}: {envelope:#}"
        );
    }
    let mut client = StdioClient::open(&place, &[]);
    client.call("search_tools", json!({ "query": "fetch" }));
    let refused = client.run("return await tools.mail.send({})");
    assert_eq!(refused["error"]["kind"], "denied", "{refused:#}");
}

#[test]
fn a_rule_for_a_server_that_does_not_exist_refuses_the_start() {
    let place = place(json!({ "sources": { "wep:*": "untrusted" } }));
    let output = place.run(&["run", "-e", "1"]);
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    assert!(told.contains("did you mean `web`?"), "{told}");
}

#[test]
fn each_task_of_a_plan_has_the_label_of_what_it_depends_on() {
    let place = enforced();
    let plan = json!({ "tasks": [
        { "id": "page", "tool": "web:fetch" },
        // It begins after the page was read, and has nothing to do with it.
        { "id": "wait", "code": "await new Promise((done) => setTimeout(done, 300)); return 'hello'" },
        { "id": "free", "tool": "mail:send", "args": { "text": "$OUTPUT[wait]" } },
        { "id": "by_value", "tool": "mail:send", "args": { "text": "$OUTPUT[page]" } },
        { "id": "in_code", "code": "return await tools.mail.send({ text: $OUTPUT[page] ? 'yes' : 'no' })" },
        { "id": "skipped", "code": "return 1", "when": "$OUTPUT[page] == 7" },
        { "id": "by_condition", "tool": "mail:send", "args": { "text": "$OUTPUT[skipped]?" } },
    ] });
    fs::write(place.folder().join("plan.json"), plan.to_string()).unwrap();
    let file = place.folder().join("plan.json");
    let output = place.run(&["workflow", "run", "--json", file.to_str().unwrap()]);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    let states: Vec<&str> = report["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["state"].as_str().unwrap())
        .collect();
    let expected = [
        "done", "done", "done", "failed", "failed", "skipped", "failed",
    ];
    assert_eq!(states, expected, "{report:#}");
    for refused in [3, 6] {
        let error = &report["tasks"][refused]["error"];
        assert_eq!(error["kind"], "denied", "{report:#}");
        assert!(error["message"].as_str().unwrap().contains(PATH), "{error}");
    }
    assert_eq!(calls(&place, "mail"), 1);
}
