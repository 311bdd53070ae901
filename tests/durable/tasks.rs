//! `execute_code` as an MCP task: of 2025-11-25, and of the extension of 2026-07-28.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Client;
use super::ledger::Ledger;
use crate::serve::driver::HttpServer;

const HELD: &str = "await tools.s.record({ text: 'a' }); await tools.s.look({ hold: 'before' }); await tools.s.record({ text: 'b' }); return 'whole'";
const MAIL: &str =
    "const found = await tools.s.look({ text: 'mail ada@example.com' }); return found.text";
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Sends requests to a client's server, numbered from 100.
struct Asking {
    client: Client,
    next: u32,
}

impl Asking {
    fn start(ledger: &Ledger) -> Self {
        Self::of(Client::start(ledger))
    }

    fn of(client: Client) -> Self {
        Self { client, next: 100 }
    }

    fn send(&mut self, method: &str, params: Value) -> u32 {
        self.next += 1;
        self.client.send(
            &json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }),
        );
        self.next
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.client.receive(id)
    }

    /// Begins a task, and returns its id.
    fn begin(&mut self, code: &str) -> String {
        let created = self.ask("tools/call", call(code, json!({ "ttl": 60_000 })));
        let task = &created["result"]["task"];
        assert_eq!(task["status"], "working", "{created}");
        assert_eq!(task["ttl"], 60_000, "{created}");
        assert!(task["pollInterval"].is_u64(), "{created}");
        task["taskId"].as_str().expect("an id").to_owned()
    }

    fn task(&mut self, id: &str) -> Value {
        self.ask("tasks/get", json!({ "taskId": id }))["result"].clone()
    }

    fn result(&mut self, id: &str) -> Value {
        self.ask("tasks/result", json!({ "taskId": id }))
    }

    /// Polls until the task has this status.
    fn wait_for(&mut self, id: &str, status: &str) -> Value {
        poll(status, || self.task(id))
    }
}

fn call(code: &str, task: Value) -> Value {
    json!({ "name": "execute_code", "arguments": { "code": code }, "task": task })
}

fn poll(status: &str, mut get: impl FnMut() -> Value) -> Value {
    let began = Instant::now();
    loop {
        let task = get();
        if task["status"] == status {
            return task;
        }
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "not {status}: {task}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The code and the message of an error.
fn error(reply: &Value) -> (i64, &str) {
    let error = &reply["error"];
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("{reply}"));
    (code, error["message"].as_str().unwrap_or_default())
}

fn envelope(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{result}"))).expect("an envelope")
}

#[test]
fn a_task_survives_kill_9_of_the_server_and_is_read_over_a_new_connection() {
    let ledger = Ledger::new();
    let mut first = Asking::start(&ledger);
    let id = first.begin(HELD);
    assert_eq!(first.task(&id)["status"], "working");
    ledger.wait_until_held();
    first.client.kill();
    ledger.let_go();
    let mut second = Asking::start(&ledger);
    let reply = second.result(&id);
    assert_eq!(envelope(&reply["result"])["result"], "whole", "{reply}");
    assert_eq!(reply["result"]["_meta"][RELATED]["taskId"], id.as_str());
    assert_eq!(second.task(&id)["status"], "completed");
    assert_eq!(ledger.effects(), ["record a", "record b"]);
    assert_eq!(
        ledger.json(&["runs", "show", &id, "--json"])["state"],
        "done"
    );
    let listed = second.ask("tasks/list", json!({}));
    assert_eq!(
        listed["result"]["tasks"][0]["taskId"],
        id.as_str(),
        "{listed}"
    );
    // After another restart the result is still there.
    second.client.kill();
    let mut third = Asking::start(&ledger);
    assert_eq!(
        third.result(&id)["result"]["content"],
        reply["result"]["content"]
    );
    third.client.kill();
}

#[test]
fn a_task_goes_on_at_the_next_start_when_its_client_disconnects() {
    let ledger = Ledger::new();
    let mut first = Asking::start(&ledger);
    let id = first.begin(HELD);
    ledger.wait_until_held();
    first.client.disconnect();
    ledger.let_go();
    let mut second = Asking::start(&ledger);
    let reply = second.result(&id);
    assert_eq!(envelope(&reply["result"])["result"], "whole", "{reply}");
    assert_eq!(ledger.effects(), ["record a", "record b"]);
    second.client.kill();
}

#[test]
fn the_result_of_a_task_is_that_of_the_direct_call_scrubbed_alike() {
    let ledger = Ledger::new();
    let mut asking = Asking::start(&ledger);
    for code in [
        MAIL,
        "return 6 * 7",
        "throw new Error('no')",
        "syntax error",
        "console.log('x'); return [1]",
    ] {
        let direct = asking.ask(
            "tools/call",
            json!({ "name": "execute_code", "arguments": { "code": code } }),
        );
        let id = asking.begin(code);
        let mut result = asking.result(&id)["result"].clone();
        assert_eq!(result["_meta"][RELATED]["taskId"], id.as_str(), "{result}");
        let mut direct = direct["result"].clone();
        let meta = result["_meta"].as_object_mut().expect("meta");
        meta.remove(RELATED);
        let keys = |result: &Value| -> Vec<String> {
            result["_meta"]["pml/stats"]
                .as_object()
                .expect("stats")
                .keys()
                // Whether anything is read ahead depends on what the servers have listed by then.
                .filter(|key| *key != "speculation")
                .cloned()
                .collect()
        };
        assert_eq!(keys(&result), keys(&direct));
        result["_meta"] = json!(null);
        direct["_meta"] = json!(null);
        let (mut of_task, mut of_call) = (envelope(&result), envelope(&direct));
        for envelope in [&mut of_task, &mut of_call] {
            // A run that failed says its id, and a call its time.
            envelope.as_object_mut().unwrap().remove("run");
            envelope.as_object_mut().unwrap().remove("calls");
        }
        assert_eq!(of_task, of_call, "{code}");
        assert_eq!(result["isError"], direct["isError"], "{code}");
        assert!(!result.to_string().contains("ada@example.com"), "{result}");
        let status = asking.task(&id)["status"].clone();
        let expected = match result["isError"] == json!(true) {
            true => "failed",
            false => "completed",
        };
        assert_eq!(status, expected, "{code}");
    }
    asking.client.kill();
}

#[test]
fn a_placeholder_of_a_result_that_a_later_session_reads_goes_back_to_its_server() {
    let ledger = Ledger::new();
    let mut first = Asking::start(&ledger);
    let id = first.begin(MAIL);
    first.wait_for(&id, "completed");
    first.client.kill();
    let mut second = Asking::start(&ledger);
    let result = second.result(&id);
    let shown = envelope(&result["result"])["result"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
        .to_owned();
    let placeholder = shown.strip_prefix("mail ").expect("a mail").to_owned();
    assert!(placeholder.starts_with("[EMAIL_1"), "{shown}");
    let code = format!("await tools.s.record({{ text: '{placeholder}' }})");
    let id = second.begin(&code);
    let result = second.result(&id);
    assert_eq!(ledger.effects(), ["record ada@example.com"], "{result}");
    second.client.kill();
}

#[test]
fn tasks_are_announced_and_wrong_requests_are_refused_in_a_sentence() {
    let ledger = Ledger::new();
    let mut asking = Asking::start(&ledger);
    let tools = asking.ask("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().expect("tools") {
        let expected = match tool["name"] == "execute_code" {
            true => json!({ "taskSupport": "optional" }),
            false => json!(null),
        };
        assert_eq!(tool["execution"], expected, "{tool}");
    }
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        for id in ["nightly", "../x", ""] {
            let reply = asking.ask(method, json!({ "taskId": id }));
            let (code, message) = error(&reply);
            assert!(
                code == -32602 && message.contains("there is no such task"),
                "{reply}"
            );
        }
        assert_eq!(error(&asking.ask(method, json!({}))).0, -32602);
    }
    assert_eq!(
        error(&asking.ask("tasks/list", json!({ "cursor": "x" }))).0,
        -32602
    );
    for task in [json!(7), json!({ "ttl": "long" })] {
        assert_eq!(
            error(&asking.ask("tools/call", call("return 1", task))).0,
            -32602
        );
    }
    let no_code = json!({ "name": "execute_code", "arguments": {}, "task": {} });
    let reply = asking.ask("tools/call", no_code);
    assert!(
        error(&reply).0 == -32602 && error(&reply).1.contains("code"),
        "{reply}"
    );
    let other = json!({ "name": "search_tools", "arguments": { "query": "x" }, "task": {} });
    assert_eq!(error(&asking.ask("tools/call", other)).0, -32601);
    // A run that is not a task is not shown as one.
    asking.ask(
        "tools/call",
        json!({ "name": "execute_code", "arguments": { "code": MAIL } }),
    );
    assert_eq!(
        asking.ask("tasks/list", json!({}))["result"]["tasks"],
        json!([])
    );
    let run = ledger.json(&["runs", "--json"])["runs"][0]["id"].clone();
    assert_eq!(
        error(&asking.ask("tasks/get", json!({ "taskId": run }))).0,
        -32602
    );
    asking.client.kill();
}

#[test]
fn a_task_is_gone_after_its_ttl_which_the_retention_bounds() {
    let ledger = Ledger::new();
    let mut asking = Asking::start(&ledger);
    let short = asking.ask("tools/call", call("return 1", json!({ "ttl": 1000 })));
    let id = short["result"]["task"]["taskId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let long = asking.ask("tools/call", call("return 1", json!({ "ttl": 1e15 })));
    assert_eq!(
        long["result"]["task"]["ttl"],
        90_u64 * 24 * 60 * 60 * 1000,
        "{long}"
    );
    let unset = asking.ask("tools/call", call("return 1", json!({})));
    assert_eq!(
        unset["result"]["task"]["ttl"],
        24 * 60 * 60 * 1000,
        "{unset}"
    );
    std::thread::sleep(Duration::from_millis(1100));
    let reply = asking.result(&id);
    let (code, message) = error(&reply);
    assert!(
        code == -32602 && message.contains("expired") && message.contains("1000 ms"),
        "{reply}"
    );
    let listed = asking.ask("tasks/list", json!({}))["result"]["tasks"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    asking.client.kill();
}

#[test]
fn cancelling_a_task_cancels_its_run() {
    let ledger = Ledger::new();
    let mut asking = Asking::start(&ledger);
    let id = asking.begin(HELD);
    ledger.wait_until_held();
    let waiting = asking.send("tasks/result", json!({ "taskId": id }));
    let cancelling = asking.send("tasks/cancel", json!({ "taskId": id }));
    let [reply, cancelled] = asking.client.receive_both([waiting, cancelling]);
    assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
    assert!(error(&reply).1.contains("was cancelled"), "{reply}");
    assert_eq!(
        ledger.json(&["runs", "show", &id, "--json"])["state"],
        "cancelled"
    );
    let again = asking.ask("tasks/cancel", json!({ "taskId": id }));
    assert!(
        error(&again).0 == -32602 && error(&again).1.contains("has ended"),
        "{again}"
    );
    ledger.let_go();
    assert_eq!(
        asking.ask(
            "tools/call",
            json!({ "name": "execute_code", "arguments": { "code": "return 1" } })
        )["result"]["isError"],
        false
    );
    assert_eq!(ledger.effects(), ["record a"]);
    asking.client.kill();
}

#[test]
fn a_session_has_at_most_32_tasks_that_run() {
    let ledger = Ledger::new();
    let mut asking = Asking::start(&ledger);
    let code = "await tools.s.look({ hold: 'before' })";
    let ids: Vec<String> = (0..32).map(|_| asking.begin(code)).collect();
    let reply = asking.ask("tools/call", call(code, json!({})));
    assert!(error(&reply).1.contains("at most 32"), "{reply}");
    asking.ask("tasks/cancel", json!({ "taskId": ids[0] }));
    asking.begin(code);
    asking.client.kill();
}

#[test]
fn the_status_is_notified_to_the_client_that_began_the_task() {
    let ledger = Ledger::new();
    let mut asking = Asking::start(&ledger);
    let id = asking.begin("await tools.s.look({ hold: 'before' })");
    ledger.let_go();
    let notified = asking.client.asked("notifications/tasks/status");
    assert_eq!(notified["params"]["taskId"], id.as_str(), "{notified}");
    assert_eq!(notified["params"]["status"], "completed", "{notified}");
    asking.client.kill();
}

/// A ledger on which `record` needs approval.
fn with_approval() -> Ledger {
    let ledger = Ledger::new();
    ledger.configure_pml(
        json!({ "effects": { "s:look": "read" }, "policy": { "ask": ["s:record"] } }),
    );
    ledger
}

const APPROVED: &str = "return await tools.s.record({ text: 'ask' })";

#[test]
fn a_task_that_waits_for_approval_says_the_command_and_goes_on_with_it() {
    let ledger = with_approval();
    let mut asking = Asking::start(&ledger);
    let id = asking.begin(APPROVED);
    let task = asking.wait_for(&id, "input_required");
    let message = task["statusMessage"]
        .as_str()
        .expect("a message")
        .to_owned();
    let approval = ledger.json(&["approvals", "--json"])["approvals"][0]["id"].clone();
    let approval = approval.as_str().expect("an approval");
    assert!(
        message.contains(&format!("pml approvals allow {approval}")),
        "{message}"
    );
    assert!(
        ledger
            .run(&["approvals", "allow", approval])
            .status
            .success()
    );
    let reply = asking.result(&id);
    assert_eq!(
        envelope(&reply["result"])["result"]["text"],
        "ask",
        "{reply}"
    );
    assert_eq!(ledger.effects(), ["record ask"]);
    asking.client.kill();
}

#[test]
fn the_user_of_a_client_is_asked_while_it_waits_for_the_result() {
    let ledger = with_approval();
    for (decision, effects) in [("Deny", 0), ("Allow", 1)] {
        let mut asking = Asking::of(Client::start_with(&ledger, json!({ "elicitation": {} })));
        let id = asking.begin(APPROVED);
        asking.wait_for(&id, "input_required");
        let waiting = asking.send("tasks/result", json!({ "taskId": id }));
        let question = asking.client.asked("elicitation/create");
        assert_eq!(
            question["params"]["_meta"][RELATED]["taskId"],
            id.as_str(),
            "{question}"
        );
        let text = question["params"]["message"].as_str().unwrap_or_default();
        assert!(text.contains("s:record"), "{question}");
        asking
            .client
            .send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": {
            "action": "accept", "content": { "decision": decision } } }));
        let reply = asking.client.receive(waiting);
        assert_eq!(reply["result"]["isError"], effects == 0, "{reply}");
        assert_eq!(ledger.effects().len(), effects);
        asking.client.kill();
    }
}

#[test]
fn a_task_with_an_unknown_outcome_says_how_to_settle_it() {
    let ledger = Ledger::new();
    let mut first = Asking::start(&ledger);
    let id = first.begin("return await tools.s.record({ text: 'x', hold: 'after' })");
    ledger.wait_until_held();
    first.client.kill();
    let mut second = Asking::start(&ledger);
    let task = second.wait_for(&id, "input_required");
    let message = task["statusMessage"]
        .as_str()
        .expect("a message")
        .to_owned();
    assert!(
        message.contains(&format!("pml runs settle {id} 1")),
        "{message}"
    );
    let settled = ledger.run(&["runs", "settle", &id, "1", "--happened", "{\"text\":\"x\"}"]);
    assert!(settled.status.success(), "{settled:?}");
    let reply = second.result(&id);
    assert_eq!(envelope(&reply["result"])["result"]["text"], "x", "{reply}");
    assert_eq!(ledger.effects(), ["record x"]);
    second.client.kill();
}

const TOKENS: &str = "0123456789-abcdef-one\n0123456789-abcdef-two\n";

fn serve_http(ledger: &Ledger, tokens: Option<&str>) -> HttpServer {
    let mut words = vec![
        "serve",
        "--http",
        "127.0.0.1:0",
        "--log-format",
        "json",
        "--drain",
        "1s",
    ];
    if tokens.is_none() {
        words.push("--no-token");
    }
    let mut command = ledger.pml(&words);
    if let Some(tokens) = tokens {
        command.env("PML_TOKEN", tokens);
    }
    HttpServer::start(command)
}

/// The JSON-RPC message of a response, which may be an event stream.
fn message(body: &str) -> Value {
    let json = body.find("{\"").map_or("", |at| &body[at..]);
    let mut messages = serde_json::Deserializer::from_str(json).into_iter();
    messages
        .next()
        .unwrap_or_else(|| panic!("{body}"))
        .unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// A session of 2025-11-25 over HTTP.
struct Session<'s> {
    server: &'s HttpServer,
    headers: Vec<(&'static str, String)>,
}

impl<'s> Session<'s> {
    fn open(server: &'s HttpServer, token: &str) -> (Self, Value) {
        let headers = vec![("Authorization", format!("Bearer {token}"))];
        let mut session = Self { server, headers };
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let (status, head, body) = session.post(&hello);
        assert_eq!(status, 200, "{head}");
        let id = head
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        session
            .headers
            .push(("Mcp-Session-Id", id.expect("a session").to_owned()));
        session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        (session, message(&body))
    }

    fn post(&self, body: &Value) -> (u16, String, String) {
        self.server
            .post(&borrowed(&self.headers), &body.to_string())
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        message(&self.post(&body).2)
    }
}

fn borrowed<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect()
}

#[test]
fn a_task_over_http_goes_on_without_its_client_and_is_its_principals_alone() {
    let ledger = Ledger::new();
    let server = serve_http(&ledger, Some(TOKENS));
    let (session, hello) = Session::open(&server, "0123456789-abcdef-one");
    let capabilities = &hello["result"]["capabilities"];
    assert_eq!(
        capabilities["tasks"]["requests"]["tools"]["call"],
        json!({}),
        "{hello}"
    );
    let created = session.ask("tools/call", call(HELD, json!({})));
    let id = created["result"]["task"]["taskId"]
        .as_str()
        .unwrap_or_else(|| panic!("{created}"))
        .to_owned();
    ledger.wait_until_held();
    server.send("DELETE", &borrowed(&session.headers), "");
    ledger.let_go();
    let (later, _) = Session::open(&server, "0123456789-abcdef-one");
    let reply = later.ask("tasks/result", json!({ "taskId": id }));
    assert_eq!(envelope(&reply["result"])["result"], "whole", "{reply}");
    let (other, _) = Session::open(&server, "0123456789-abcdef-two");
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let refused = other.ask(method, json!({ "taskId": id }));
        assert!(
            error(&refused).1.contains("there is no such task"),
            "{refused}"
        );
    }
    assert_eq!(
        other.ask("tasks/list", json!({}))["result"]["tasks"],
        json!([])
    );
}

/// A request of 2026-07-28 by a client that knows tasks.
fn extension(server: &HttpServer, method: &str, params: Value) -> Value {
    extension_of(
        server,
        method,
        params,
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} }, "elicitation": { "form": {} } }),
    )
}

fn extension_of(
    server: &HttpServer,
    method: &str,
    mut params: Value,
    capabilities: Value,
) -> Value {
    for (key, value) in [
        ("protocolVersion", json!("2026-07-28")),
        ("clientInfo", json!({ "name": "t", "version": "1" })),
        ("clientCapabilities", capabilities),
    ] {
        params["_meta"][format!("io.modelcontextprotocol/{key}")] = value;
    }
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", method.to_owned()),
    ];
    if let Some(name) = params["name"].as_str().or(params["taskId"].as_str()) {
        headers.push(("Mcp-Name", name.to_owned()));
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    message(&server.post(&borrowed(&headers), &body.to_string()).2)
}

fn execute(server: &HttpServer, code: &str) -> Value {
    extension(
        server,
        "tools/call",
        json!({ "name": "execute_code", "arguments": { "code": code } }),
    )["result"]
        .clone()
}

fn get(server: &HttpServer, id: &str) -> Value {
    extension(server, "tasks/get", json!({ "taskId": id }))["result"].clone()
}

#[test]
fn with_the_extension_a_long_script_becomes_a_task_and_survives_kill_9() {
    let ledger = Ledger::new();
    let server = serve_http(&ledger, None);
    let discovered = extension(&server, "server/discover", json!({}));
    let extensions = &discovered["result"]["capabilities"]["extensions"];
    assert_eq!(
        extensions["io.modelcontextprotocol/tasks"],
        json!({}),
        "{discovered}"
    );
    // A short one is answered at once.
    let direct = execute(&server, "return 6 * 7");
    assert_eq!(envelope(&direct)["result"], 42, "{direct}");
    let created = execute(&server, HELD);
    assert_eq!(created["resultType"], "task", "{created}");
    assert_eq!(created["status"], "working", "{created}");
    assert!(
        created["ttlMs"].is_u64() && created["pollIntervalMs"].is_u64(),
        "{created}"
    );
    let id = created["taskId"].as_str().expect("an id").to_owned();
    assert_eq!(get(&server, &id)["status"], "working");
    // SAFETY: the process is our child and has not been waited for.
    unsafe { libc::kill(server.id() as i32, libc::SIGKILL) };
    drop(server);
    ledger.let_go();
    let server = serve_http(&ledger, None);
    let task = poll("completed", || get(&server, &id));
    assert_eq!(envelope(&task["result"])["result"], "whole", "{task}");
    assert_eq!(task["result"]["isError"], false, "{task}");
    assert_eq!(ledger.effects(), ["record a", "record b"]);
    let unknown = extension(&server, "tasks/get", json!({ "taskId": "nothing" }));
    assert!(
        error(&unknown).1.contains("there is no such task"),
        "{unknown}"
    );
    let unable = extension_of(&server, "tasks/get", json!({ "taskId": id }), json!({}));
    assert!(
        unable["error"]["data"]
            .to_string()
            .contains("io.modelcontextprotocol/tasks"),
        "{unable}"
    );
}

#[test]
fn with_the_extension_a_task_is_answered_and_cancelled() {
    let ledger = with_approval();
    let server = serve_http(&ledger, None);
    let slow = format!("await new Promise((done) => setTimeout(done, 1500)); {APPROVED}");
    let created = execute(&server, &slow);
    let id = created["taskId"]
        .as_str()
        .unwrap_or_else(|| panic!("{created}"))
        .to_owned();
    let task = poll("input_required", || get(&server, &id));
    let inputs = task["inputRequests"]
        .as_object()
        .unwrap_or_else(|| panic!("{task}"));
    let (key, form) = inputs.iter().next().unwrap_or_else(|| panic!("{task}"));
    assert_eq!(form["method"], "elicitation/create", "{task}");
    let ignored = json!({ "nothing": { "action": "accept" } });
    extension(
        &server,
        "tasks/update",
        json!({ "taskId": id, "inputResponses": ignored }),
    );
    assert_eq!(get(&server, &id)["status"], "input_required");
    let answer = json!({ key: { "action": "accept", "content": { "decision": "Allow" } } });
    let acknowledged = extension(
        &server,
        "tasks/update",
        json!({ "taskId": id, "inputResponses": answer }),
    );
    assert_eq!(
        acknowledged["result"]["resultType"], "complete",
        "{acknowledged}"
    );
    let task = poll("completed", || get(&server, &id));
    assert_eq!(envelope(&task["result"])["result"]["text"], "ask", "{task}");
    assert_eq!(ledger.effects(), ["record ask"]);
    let created = execute(&server, "await tools.s.look({ hold: 'before' })");
    let id = created["taskId"]
        .as_str()
        .unwrap_or_else(|| panic!("{created}"))
        .to_owned();
    extension(&server, "tasks/cancel", json!({ "taskId": id }));
    assert_eq!(get(&server, &id)["status"], "cancelled");
}
