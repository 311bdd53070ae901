//! Fuzzing: ten thousand malformed and hostile requests are all answered, and do no harm.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::driver::StdioClient;
use crate::gateway::{Place, demo};

const REQUESTS: usize = 10_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// A small random number generator with a fixed seed: failures are reproducible.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

const METHODS: [&str; 22] = [
    "ping",
    "tools/list",
    "tools/call",
    "tools/call",
    "tools/call",
    "initialize",
    "prompts/get",
    "prompts/list",
    "resources/read",
    "resources/list",
    "resources/subscribe",
    "completion/complete",
    "logging/setLevel",
    "sampling/createMessage",
    "elicitation/create",
    "tasks/get",
    "server/discover",
    "subscriptions/listen",
    "",
    "no/such/method",
    "tools/call\u{0}",
    "__proto__",
];

const TOOLS: [&str; 6] = [
    "execute_code",
    "search_tools",
    "call_tool",
    "",
    "constructor",
    "execute_code ",
];

fn any_value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 3 { 7 } else { 9 }) {
        0 => Value::Null,
        1 => json!(random.next() as i64),
        2 => json!(-0.5e300),
        3 => json!(true),
        4 => json!("\u{202e}\u{0}\u{feff}💥 ${x} '\"; DROP"),
        5 => json!("x".repeat(random.below(3_000))),
        6 => json!(""),
        7 => Value::Array(
            (0..random.below(5))
                .map(|_| any_value(random, depth + 1))
                .collect(),
        ),
        _ => Value::Object(
            (0..random.below(5))
                .map(|_| {
                    let key = *random.pick(&[
                        "name",
                        "arguments",
                        "code",
                        "query",
                        "tool",
                        "args",
                        "_meta",
                        "__proto__",
                        "level",
                        "requestState",
                        "timeout_ms",
                        "progressToken",
                    ]);
                    (key.to_owned(), any_value(random, depth + 1))
                })
                .collect(),
        ),
    }
}

/// A request with a unique id and arbitrary parameters.
fn request(random: &mut Random, id: usize) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": random.pick(&METHODS) });
    match random.below(4) {
        0 => {}
        1 => message["params"] = any_value(random, 0),
        2 => {
            message["params"] =
                json!({ "name": random.pick(&TOOLS), "arguments": any_value(random, 0) })
        }
        _ => {
            let mut arguments = json!({ "query": "x", "tool": "demo:list_files" });
            arguments[*random.pick(&["query", "tool", "args", "limit", "detail"])] =
                any_value(random, 1);
            message["params"] = json!({ "name": random.pick(&["search_tools", "call_tool"]), "arguments": arguments, "_meta": any_value(random, 2) });
        }
    }
    if random.below(20) == 0 {
        message["jsonrpc"] = any_value(random, 3);
    }
    message
}

/// A line that is not a request.
fn garbage(random: &mut Random) -> Vec<u8> {
    match random.below(6) {
        0 => (0..random.below(200))
            .map(|_| (random.next() as u8).max(b' '))
            .collect(),
        1 => format!("{}1", "[".repeat(random.below(50_000))).into_bytes(),
        2 => format!("{}\"a\":", "{\"a\":".repeat(random.below(20_000))).into_bytes(),
        3 => b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}".to_vec(),
        4 => {
            let mut bytes = request(random, 0).to_string().into_bytes();
            let at = random.below(bytes.len());
            bytes.truncate(at.max(1));
            bytes
        }
        _ => b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]".to_vec(),
    }
}

#[test]
fn ten_thousand_hostile_requests_are_each_answered() {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    let mut client = StdioClient::open(&place, &[]);
    let heard = client.listen();
    let mut random = Random(0x5eed_1234_5678_9abc);
    let (mut sent, mut unnumbered) = (0, 0);
    while sent < REQUESTS {
        let mut waiting: HashMap<u64, Value> = HashMap::new();
        let mut nameless = 0;
        for _ in 0..50 {
            sent += 1;
            if random.below(5) == 0 {
                let mut line = garbage(&mut random);
                line.retain(|byte| *byte != b'\n' && *byte != b'\r');
                if !line.trim_ascii().is_empty() {
                    nameless += 1;
                    line.push(b'\n');
                    client.send_bytes(&line);
                }
            } else {
                let id = 1_000_000 + sent;
                let message = request(&mut random, id);
                // A subscription never ends, so it has no response.
                if message["method"] == "subscriptions/listen" {
                    continue;
                }
                client.send(&message);
                waiting.insert(id as u64, message);
            }
        }
        while !waiting.is_empty() || nameless > 0 {
            let answer = heard.recv_timeout(PATIENCE).unwrap_or_else(|_| {
                panic!("{nameless} lines and these requests went unanswered: {waiting:?}")
            });
            assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
            if answer.get("method").is_some() {
                continue;
            }
            match answer["id"].as_u64() {
                Some(id) => {
                    assert!(
                        answer.get("result").is_some() != answer.get("error").is_some(),
                        "{answer}"
                    );
                    assert!(waiting.remove(&id).is_some(), "answered twice: {answer}");
                }
                None => {
                    assert!(answer["error"]["code"].is_i64(), "{answer}");
                    nameless -= 1;
                    unnumbered += 1;
                }
            }
        }
    }
    assert!(unnumbered > 1_000);
    client.request("ping", json!({}));
    assert!(
        heard
            .recv_timeout(PATIENCE)
            .is_ok_and(|answer| answer["result"] == json!({}))
    );
}

#[test]
fn a_connection_that_begins_with_nonsense_can_still_begin() {
    let place = Place::empty();
    let mut client = StdioClient::without_handshake(&place, &[]);
    client.send_bytes(b"hello\n\n{}\n");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    client.send(&json!({ "jsonrpc": "2.0", "id": "early", "method": "tools/list" }));
    assert_eq!(client.receive()["error"]["code"], -32700);
    assert_eq!(client.receive()["error"]["code"], -32600);
    assert_eq!(client.receive()["id"], "early");
    let hello = client.ask("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }));
    assert_eq!(hello["result"]["serverInfo"]["name"], "pml", "{hello}");
}

#[test]
fn an_endless_line_is_refused_and_forgotten() {
    let place = Place::empty();
    let mut client = StdioClient::open(&place, &[]);
    for _ in 0..20 {
        client.send_bytes(&vec![b'x'; 1024 * 1024]);
    }
    client.send_bytes(b"\n");
    assert_eq!(client.receive()["error"]["code"], -32600);
    assert_eq!(client.run("return 1")["result"], 1);
}
