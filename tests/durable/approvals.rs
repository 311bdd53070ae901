//! Approvals of durable runs: they outlive the process that asked, and are for one call.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use pml_approvals::{Signed, WebhookSecret};
use serde_json::{Value, json};

use super::client::Client;
use super::ledger::{Ledger, kill, parse, stderr};

const SCRIPT: &str = "await tools.s.look({ text: 'first' }); return await tools.s.record({ text: 'mail to ada@example.com' })";
const SECRET: &str = "a secret of the test's webhook";

/// A ledger whose effects need approval.
fn asking(approvals: Value) -> Ledger {
    let ledger = Ledger::new();
    configure(&ledger, json!(["s:record"]), approvals);
    ledger
}

fn configure(ledger: &Ledger, ask: Value, approvals: Value) {
    ledger.configure_pml(json!({
        "effects": { "s:look": "read" },
        "policy": { "ask": ask },
        "approvals": approvals,
    }));
}

/// Runs a script until it waits.
fn wait_for_approval(ledger: &Ledger, script: &str) -> Value {
    let output = ledger.start(script).wait_with_output().expect("pml ends");
    assert_eq!(output.status.code(), Some(75), "{output:?}");
    let outcome = parse(&output);
    assert_eq!(outcome["error"]["kind"], "waiting", "{outcome}");
    outcome
}

fn open(ledger: &Ledger) -> Vec<Value> {
    let listed = ledger.json(&["approvals", "--json"]);
    listed["approvals"].as_array().expect("a list").clone()
}

/// The id of the only open approval.
fn only(ledger: &Ledger) -> String {
    let open = open(ledger);
    assert_eq!(open.len(), 1, "{open:?}");
    open[0]["id"].as_str().expect("an id").to_owned()
}

fn effects_of_one_mail(ledger: &Ledger) {
    assert_eq!(ledger.effects(), ["record mail to ada@example.com"]);
}

#[test]
fn a_run_waits_for_its_approval_and_goes_on_with_it() {
    let ledger = asking(json!({}));
    let outcome = wait_for_approval(&ledger, SCRIPT);
    let id = only(&ledger);
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("approval {id}")), "{message}");
    let shown = &open(&ledger)[0];
    assert_eq!(shown["arguments"], "{\"text\":\"mail to [EMAIL_1]\"}");
    assert_eq!(
        (&shown["call"], &shown["tool"]),
        (&json!(2), &json!("s:record"))
    );
    let run = ledger.show();
    assert_eq!(run["state"], "waiting");
    assert_eq!(run["waitsFor"], "approval");
    assert_eq!(run["approvals"][0]["id"], id.as_str());
    // Resumed without an answer, it waits for the same one.
    assert_eq!(ledger.resume()["error"]["kind"], "waiting");
    assert_eq!(only(&ledger), id);
    assert!(ledger.effects().is_empty());

    let allowed = ledger.json(&["approvals", "allow", &id, "--json"]);
    assert_eq!(allowed[0]["state"], "allowed", "{allowed}");
    assert_eq!(ledger.resume()["result"]["text"], "mail to ada@example.com");
    effects_of_one_mail(&ledger);
    assert_eq!(ledger.reads(), ["first"]);
    // A late answer changes nothing.
    let late = ledger.run(&["approvals", "deny", &id]);
    assert_eq!(late.status.code(), Some(1));
    assert!(stderr(&late).contains("was allowed before by"), "{late:?}");
    let unknown = ledger.run(&["approvals", "allow", "missing0"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("missing0"), "{unknown:?}");
}

#[test]
fn a_refused_call_is_an_error_of_the_script() {
    let ledger = asking(json!({}));
    wait_for_approval(&ledger, SCRIPT);
    assert!(
        ledger
            .run(&["approvals", "deny", &only(&ledger)])
            .status
            .success()
    );
    let resumed = ledger.resume();
    assert_eq!(resumed["error"]["kind"], "denied", "{resumed}");
    assert!(ledger.effects().is_empty());
}

#[test]
fn parallel_calls_wait_together_and_one_answer_can_be_for_all() {
    let ledger = asking(json!({}));
    let script = "await Promise.all([1, 2, 3].map(n => tools.s.record({ text: `${n}` }))); await tools.s.record({ text: 'last' }); return 'done'";
    wait_for_approval(&ledger, script);
    let waiting = open(&ledger);
    assert_eq!(waiting.len(), 3);
    let first = waiting[2]["id"].as_str().unwrap();
    ledger.json(&["approvals", "allow", first, "--json"]);
    assert_eq!(ledger.resume()["error"]["kind"], "waiting");
    assert_eq!(ledger.effects().len(), 1);
    ledger.json(&["approvals", "allow", "--run", "r", "--all-calls", "--json"]);
    assert_eq!(ledger.resume()["result"], "done");
    let mut effects = ledger.effects();
    effects.sort_unstable();
    assert_eq!(effects, ["record 1", "record 2", "record 3", "record last"]);
    assert!(open(&ledger).is_empty());
}

#[test]
fn an_approval_expires() {
    let ledger = asking(json!({ "expires": "1s" }));
    wait_for_approval(&ledger, SCRIPT);
    let id = only(&ledger);
    ledger.wait("expiry", || open(&ledger).is_empty());
    let late = ledger.run(&["approvals", "allow", &id]);
    assert_eq!(late.status.code(), Some(1));
    assert!(stderr(&late).contains("has expired"), "{late:?}");
    let resumed = ledger.resume();
    assert_eq!(resumed["error"]["kind"], "denied", "{resumed}");
    assert!(ledger.effects().is_empty());
}

/// Allows a call, changes something, and expects that the answer counts no more.
fn is_void_after(change: impl Fn(&Ledger), words: &[&str]) {
    let ledger = asking(json!({}));
    wait_for_approval(&ledger, SCRIPT);
    let id = only(&ledger);
    ledger.json(&["approvals", "allow", &id, "--json"]);
    change(&ledger);
    assert_eq!(ledger.json(words)["error"]["kind"], "waiting");
    assert!(ledger.effects().is_empty(), "sent without approval");
    let renewed = only(&ledger);
    assert_ne!(renewed, id);
    let late = ledger.run(&["approvals", "allow", &id]);
    assert!(stderr(&late).contains("is void"), "{late:?}");
    ledger.json(&["approvals", "allow", &renewed, "--json"]);
    assert_eq!(ledger.json(words)["ok"], true);
    effects_of_one_mail(&ledger);
}

#[test]
fn a_changed_definition_policy_or_script_voids_an_approval() {
    let resume = ["resume", "r", "--json"];
    is_void_after(|ledger| ledger.write("changed", ""), &resume);
    is_void_after(
        |ledger| configure(ledger, json!(["s:record", "s:pay"]), json!({})),
        &resume,
    );
    is_void_after(
        |ledger| ledger.write("script.ts", &format!("// a comment\n{SCRIPT}")),
        &["resume", "r", "--json", "--force"],
    );
}

#[test]
fn a_kill_at_the_question_loses_neither_the_run_nor_the_question() {
    let ledger = asking(json!({}));
    // The other call keeps the process alive while the first one waits.
    let run = ledger.start("await Promise.all([tools.s.record({ text: 'a' }), tools.s.look({ hold: 'before' })]); return 1");
    ledger.wait_until_held();
    ledger.wait("a question", || open(&ledger).len() == 1);
    kill(run);
    ledger.let_go();
    let id = only(&ledger);
    ledger.json(&["approvals", "allow", &id, "--json"]);
    assert_eq!(ledger.resume()["result"], 1);
    assert_eq!(ledger.effects(), ["record a"]);
}

#[test]
fn an_answer_reaches_a_run_that_is_still_being_executed() {
    let ledger = asking(json!({}));
    let run = ledger.start("const all = await Promise.all([tools.s.record({ text: 'a' }), tools.s.look({ hold: 'before' })]); return all.length");
    ledger.wait_until_held();
    ledger.wait("a question", || open(&ledger).len() == 1);
    ledger.json(&["approvals", "allow", &only(&ledger), "--json"]);
    ledger.wait_for_effects(1);
    ledger.let_go();
    assert_eq!(parse(&run.wait_with_output().unwrap())["result"], 2);
}

#[test]
fn only_approvers_may_answer() {
    let ledger = asking(json!({ "approvers": { "s:rec*": ["nobody-of-this-machine"] } }));
    wait_for_approval(&ledger, SCRIPT);
    let id = only(&ledger);
    let refused = ledger.run(&["approvals", "allow", &id]);
    assert_eq!(refused.status.code(), Some(2));
    let message = stderr(&refused);
    assert!(
        message.contains("may not answer for `s:record`")
            && message.contains("nobody-of-this-machine"),
        "{message}"
    );
    assert_eq!(only(&ledger), id);
}

/// One request to the webhook of a test.
struct Delivery {
    stream: TcpStream,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Delivery {
    fn next(listener: &TcpListener) -> Self {
        let (stream, _) = listener.accept().expect("a delivery");
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            match line.trim_end().split_once(": ") {
                Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut delivery = Self {
            stream,
            headers,
            body: Vec::new(),
        };
        let length = delivery.header("content-length").unwrap().parse().unwrap();
        delivery.body = vec![0; length];
        reader.read_exact(&mut delivery.body).expect("a body");
        delivery
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The message, if its signature fits.
    fn message(&self) -> Value {
        let signed = Signed::from_headers(|name| self.header(name)).expect("a signature");
        signed
            .verify(&secret(), &self.body)
            .expect("the signature fits");
        let message: Value = serde_json::from_slice(&self.body).expect("JSON");
        assert_eq!(message["data"]["id"], signed.id.as_str());
        message
    }

    fn reply(mut self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        write!(
            self.stream,
            "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
        )
        .expect("pml reads the reply");
    }
}

fn secret() -> WebhookSecret {
    SECRET.parse().expect("a secret")
}

fn signature(id: &str, body: &str) -> String {
    let signed = Signed::new(&secret(), id, body.as_bytes());
    format!(
        "webhook-id: {}\r\nwebhook-timestamp: {}\r\nwebhook-signature: {}\r\n",
        signed.id, signed.timestamp, signed.signature
    )
}

fn with_webhook() -> (Ledger, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let ledger = asking(json!({
        "notify": { "url": url, "secret": "${PML_TEST_SECRET:-a secret of the test's webhook}" },
        "approvers": { "s:*": ["ada", "root"] },
    }));
    (ledger, listener)
}

#[test]
fn approvers_are_told_again_until_they_are_reached_and_their_signed_reply_counts() {
    let (ledger, listener) = with_webhook();
    // The other call keeps the process alive until the reply is there.
    let run = ledger.start("const all = await Promise.all([tools.s.record({ text: 'mail to ada@example.com' }), tools.s.look({ hold: 'before' })]); return all.length");
    let first = Delivery::next(&listener);
    let id = first.message()["data"]["id"].as_str().unwrap().to_owned();
    assert!(!String::from_utf8_lossy(&first.body).contains("ada@example.com"));
    first.reply("503 Service Unavailable", "", "");
    let second = Delivery::next(&listener);
    assert_eq!(second.message()["data"]["tool"], "s:record");
    let reply = r#"{"decision":"allow","by":"ada"}"#;
    second.reply("200 OK", &signature(&id, reply), reply);
    ledger.wait_for_effects(1);
    ledger.let_go();
    assert_eq!(parse(&run.wait_with_output().unwrap())["result"], 2);
    let all = ledger.json(&["approvals", "--all", "--json"]);
    assert_eq!(all["approvals"][0]["answeredBy"], "ada", "{all}");
}

#[test]
fn a_reply_that_is_not_signed_or_not_of_an_approver_changes_nothing() {
    let reply = r#"{"decision":"allow","by":"ada"}"#;
    let stranger = r#"{"decision":"allow","by":"eve"}"#;
    let forged = |id: &str, _: &str| {
        signature(id, reply).replace("webhook-signature: v1,", "webhook-signature: v1,AAAA")
    };
    let other = |_: &str, body: &str| signature("another1", body);
    type Headers<'a> = &'a dyn Fn(&str, &str) -> String;
    let cases: [(Headers, &str); 4] = [
        (&|_, _| String::new(), reply),
        (&forged, reply),
        (&other, reply),
        (&signature, stranger),
    ];
    for (headers, body) in cases {
        let (ledger, listener) = with_webhook();
        let run = ledger.start(SCRIPT);
        let delivery = Delivery::next(&listener);
        let id = delivery.header("webhook-id").unwrap().to_owned();
        delivery.reply("200 OK", &headers(&id, body), body);
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(75), "{output:?}");
        assert_eq!(only(&ledger), id);
        assert!(ledger.effects().is_empty());
    }
}

/// Waits until the only run is done, and returns its result.
fn result_of_only_run(ledger: &Ledger) -> Value {
    let mut id = String::new();
    for _ in 0..500 {
        let runs = ledger.json(&["runs", "--json"]);
        id = runs["runs"][0]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if runs["runs"][0]["state"] == "done" {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    ledger.json(&["resume", &id, "--json"])["result"].clone()
}

#[test]
fn a_server_resumes_a_run_when_somebody_has_answered() {
    let ledger = asking(json!({}));
    let mut client = Client::start(&ledger);
    client.execute(1, SCRIPT);
    let reply = client.receive(1).to_string();
    let id = only(&ledger);
    assert!(reply.contains(&format!("approval {id}")), "{reply}");
    ledger.json(&["approvals", "allow", &id, "--json"]);
    assert_eq!(
        result_of_only_run(&ledger)["text"],
        "mail to ada@example.com"
    );
    effects_of_one_mail(&ledger);
    client.kill();
}

#[test]
fn a_client_without_tasks_gets_the_result_of_a_run_that_waited() {
    let ledger = asking(json!({}));
    let mut client = Client::start(&ledger);
    client.execute(1, SCRIPT);
    let reply = client.receive(1)["result"]["content"][0]["text"].to_string();
    let run = ledger.json(&["runs", "--json"])["runs"][0]["id"].clone();
    let plain = |text: &str| text.replace(['"', '\\'], "");
    let told = plain(&format!("{{ run: {run} }}"));
    assert!(plain(&reply).contains(&told), "{told}: {reply}");
    // The client waits for the result before somebody has answered.
    client.execute_with(2, json!({ "run": run }));
    ledger.json(&["approvals", "allow", &only(&ledger), "--json"]);
    let result = client.receive(2)["result"].clone();
    assert_eq!(result["isError"], false, "{result}");
    assert!(result.to_string().contains("mail to"), "{result}");
    effects_of_one_mail(&ledger);
    // The result stays, also for the next server.
    client.kill();
    let mut client = Client::start(&ledger);
    client.execute_with(1, json!({ "run": run, "code": "" }));
    let again = client.receive(1)["result"].clone();
    assert!(again.to_string().contains("mail to"), "{again}");
    effects_of_one_mail(&ledger);
    client.kill();
}

#[test]
fn a_run_that_still_waits_is_told_and_a_wrong_id_too() {
    let ledger = asking(json!({}));
    let mut client = Client::start(&ledger);
    client.execute(1, SCRIPT);
    client.receive(1);
    let run = ledger.json(&["runs", "--json"])["runs"][0]["id"].clone();
    let approval = only(&ledger);
    for (number, arguments, told) in [
        (
            2,
            json!({ "run": run, "timeout_ms": 300 }),
            format!("pml approvals allow {approval}"),
        ),
        (
            3,
            json!({ "run": "r-0" }),
            "there is no such run".to_owned(),
        ),
        (4, json!({ "run": run, "code": "1" }), "not both".to_owned()),
        (5, json!({}), "`code` is missing".to_owned()),
    ] {
        client.execute_with(number, arguments);
        let result = client.receive(number)["result"].clone();
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.to_string().contains(&told), "{told}: {result}");
    }
    assert!(ledger.effects().is_empty());
    client.kill();
}

#[test]
fn a_server_that_was_killed_while_a_run_waits_resumes_it_after_the_answer() {
    let ledger = asking(json!({}));
    let mut client = Client::start(&ledger);
    client.execute(1, SCRIPT);
    client.receive(1);
    client.kill();
    let id = only(&ledger);
    let client = Client::start(&ledger);
    ledger.json(&["approvals", "allow", &id, "--json"]);
    assert_eq!(
        result_of_only_run(&ledger)["text"],
        "mail to ada@example.com"
    );
    effects_of_one_mail(&ledger);
    client.kill();
}

#[test]
fn the_user_at_the_client_answers_a_row_too() {
    let ledger = asking(json!({}));
    let mut client = Client::start_with(&ledger, json!({ "elicitation": {} }));
    client.execute(1, SCRIPT);
    let question = client.asked("elicitation/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": {
        "action": "accept", "content": { "decision": "Allow these" } } }));
    let reply = client.receive(1).to_string();
    assert!(reply.contains("mail to"), "{reply}");
    effects_of_one_mail(&ledger);
    let all = ledger.json(&["approvals", "--all", "--json"]);
    assert_eq!(all["approvals"][0]["state"], "allowed", "{all}");
    assert_eq!(all["approvals"][0]["answeredBy"], "local", "{all}");
    client.kill();
}

#[test]
fn an_answer_of_somebody_else_takes_the_question_at_the_client_back() {
    let ledger = asking(json!({}));
    let mut client = Client::start_with(&ledger, json!({ "elicitation": {} }));
    client.execute(1, SCRIPT);
    let question = client.asked("elicitation/create");
    ledger.json(&["approvals", "allow", &only(&ledger), "--json"]);
    let cancelled = client.asked("notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    let reply = client.receive(1).to_string();
    assert!(reply.contains("mail to"), "{reply}");
    effects_of_one_mail(&ledger);
    client.kill();
}

/// Sends a reply to `pml serve --http`, and returns the status and the body.
fn post(address: &str, id: &str, headers: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("pml serve listens");
    let length = body.len();
    write!(
        stream,
        "POST /approvals/{id} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
    .expect("pml serve reads");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    let status = reply.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status.expect("a status"), body.to_owned())
}

#[test]
fn a_signed_reply_over_http_answers_after_a_restart() {
    let (ledger, listener) = with_webhook();
    let mut client = Client::start(&ledger);
    client.execute(1, SCRIPT);
    Delivery::next(&listener).reply("204 No Content", "", "");
    client.receive(1);
    client.kill();
    let id = only(&ledger);
    let mut server = ledger
        .pml(&["serve", "--http", "127.0.0.1:0", "--no-token"])
        .spawn()
        .expect("pml serve starts");
    let mut log = BufReader::new(server.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        assert!(
            log.read_line(&mut line).expect("a line") > 0,
            "pml serve has ended"
        );
    }
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    let address = line.split("http://").nth(1).expect("an address");
    let address: String = address
        .chars()
        .take_while(|c| c.is_ascii_digit() || ".:".contains(*c))
        .collect();
    // The run is resumed, waits again, and its approvers are told again.
    let again = Delivery::next(&listener);
    assert_eq!(again.message()["data"]["id"], id.as_str());
    again.reply("204 No Content", "", "");

    let reply = r#"{"decision":"allow","by":"ada"}"#;
    assert_eq!(post(&address, &id, "", reply).0, 401);
    let forged = signature(&id, "{}");
    assert_eq!(post(&address, &id, &forged, reply).0, 401);
    assert_eq!(
        post(&address, "another1", &signature(&id, reply), reply).0,
        400
    );
    assert_eq!(
        post(&address, "missing0", &signature("missing0", reply), reply).0,
        404
    );
    let stranger = r#"{"decision":"allow","by":"eve"}"#;
    assert_eq!(
        post(&address, &id, &signature(&id, stranger), stranger).0,
        403
    );
    assert_eq!(post(&address, &id, &signature(&id, "x"), "x").0, 400);
    let taken = post(&address, &id, &signature(&id, reply), reply);
    assert_eq!(taken, (200, format!("approval {id} is allowed")));
    let late = post(&address, &id, &signature(&id, reply), reply);
    assert_eq!(late.0, 409, "{late:?}");
    assert_eq!(
        result_of_only_run(&ledger)["text"],
        "mail to ada@example.com"
    );
    effects_of_one_mail(&ledger);
    kill(server);
}

#[test]
fn answers_are_used_in_any_order_and_beside_other_calls() {
    let ledger = asking(json!({}));
    let script = "const [a, b] = await Promise.allSettled([tools.s.record({ text: 'a' }), tools.s.record({ text: 'b' }), tools.s.look({ text: 'x' })]); return [a.status, b.status]";
    wait_for_approval(&ledger, script);
    let id_of = |text: &str| {
        let open = open(&ledger);
        let is_it = |row: &&Value| {
            row["arguments"]
                .to_string()
                .contains(&format!("\\\"{text}\\\""))
        };
        let row = open.iter().find(is_it).expect("an approval");
        row["id"].as_str().expect("an id").to_owned()
    };
    ledger.json(&["approvals", "allow", &id_of("b"), "--json"]);
    assert_eq!(ledger.resume()["error"]["kind"], "waiting");
    assert_eq!(ledger.effects(), ["record b"]);
    assert_eq!(open(&ledger).len(), 1);
    ledger.json(&["approvals", "deny", &id_of("a"), "--json"]);
    assert_eq!(ledger.resume()["result"], json!(["rejected", "fulfilled"]));
    assert_eq!(ledger.effects(), ["record b"]);
    let all = ledger.json(&["approvals", "--all", "--json"]);
    assert_eq!(all["approvals"].as_array().map(Vec::len), Some(2), "{all}");
}

#[test]
fn a_server_resumes_once_for_each_answer() {
    let ledger = asking(json!({}));
    let mut client = Client::start(&ledger);
    client.execute(1, "await Promise.all(['a', 'b'].map(text => tools.s.record({ text })).concat(tools.s.look({ text: 'x' }))); return 1");
    client.receive(1);
    let waiting = open(&ledger);
    assert_eq!(waiting.len(), 2);
    ledger.json(&[
        "approvals",
        "allow",
        waiting[0]["id"].as_str().unwrap(),
        "--json",
    ]);
    ledger.wait_for_effects(1);
    std::thread::sleep(Duration::from_secs(2));
    let rows = ledger.json(&["approvals", "--all", "--json"]);
    assert_eq!(
        rows["approvals"].as_array().map(Vec::len),
        Some(2),
        "{rows}"
    );
    ledger.json(&[
        "approvals",
        "allow",
        "--run",
        waiting[0]["run"].as_str().unwrap(),
        "--json",
    ]);
    assert_eq!(result_of_only_run(&ledger), 1);
    assert_eq!(ledger.effects().len(), 2);
    client.kill();
}

#[test]
fn the_approvers_of_the_run_count_whatever_file_the_answer_is_given_with() {
    let ledger = asking(json!({ "approvers": { "s:*": ["nobody-of-this-machine"] } }));
    wait_for_approval(&ledger, SCRIPT);
    let id = only(&ledger);
    configure(&ledger, json!(["s:record"]), json!({}));
    let refused = ledger.run(&["approvals", "allow", &id]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(stderr(&refused).contains("may not answer"), "{refused:?}");
}
