//! Servers and scripts that want `pml serve` to hang or to fill its memory.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::driver::StdioClient;
use crate::gateway::{Place, demo};
use crate::support::repository;

/// The most memory that the broker may ever have had, in MiB.
const PEAK_MIB: u64 = 450;
/// The same with the answers that wait to be journaled, 128 MiB at most.
const JOURNAL_PEAK_MIB: u64 = PEAK_MIB + 128;
/// The longest time of a ping on a machine that runs other tests, in a program that is not optimized.
const PING: Duration = Duration::from_secs(5);

fn hostile(options: &[&str]) -> Value {
    let script = repository().join("gateway/tests/servers/hostile.py");
    let mut args = vec![json!("-u"), json!(script)];
    args.extend(options.iter().map(|option| json!(option)));
    json!({ "command": "python3", "args": args })
}

pub fn peak_mib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib: u64 = line
        .and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap();
    kib / 1024
}

/// Waits for the responses with these ids, and pings meanwhile. Returns them and the worst ping.
fn answers(
    client: &mut StdioClient,
    messages: &Receiver<Value>,
    ids: &[u64],
    limit: Duration,
) -> (Vec<Value>, Duration) {
    let began = Instant::now();
    let (mut found, mut worst) = (Vec::new(), Duration::ZERO);
    while found.len() < ids.len() {
        assert!(began.elapsed() < limit, "{} of {}", found.len(), ids.len());
        let sent = Instant::now();
        let ping = client.request("ping", json!({}));
        loop {
            let left = limit.saturating_sub(began.elapsed());
            let message = messages.recv_timeout(left).expect("the ping is answered");
            if message["id"] == ping {
                worst = worst.max(sent.elapsed());
                break;
            }
            if ids.iter().any(|id| message["id"] == *id) && message.get("method").is_none() {
                found.push(message);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    (found, worst)
}

#[test]
fn no_server_can_make_pml_miss_a_ping_another_call_or_sigterm() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("a.json"), r#"{ "version": 1 }"#).unwrap();
    let place =
        Place::with_servers(json!({ "evil": hostile(&["--schemas"]), "demo": demo(data.path()) }));
    let mut client = StdioClient::open(&place, &[]);
    client.run("return await searchTools('read')");
    let messages = client.listen();
    let mut ids = Vec::new();
    // Twice as many as there are threads of the event loop, at least.
    for tool in [
        "anyOf_60",
        "allOf_60",
        "anyOf_20",
        "anyOf_14",
        "twice",
        "items_twice",
        "states",
        "backtracking",
        "repeated",
        "dynamic",
    ] {
        let deep = "let v = {}; for (let i = 0; i < 60; i++) v = { a: v, b: {}, word: 'ab'.repeat(20000) };";
        let code = format!(
            "{deep} await callTool('evil:{tool}', v); await callTool('evil:{tool}', {{ word: 'a'.repeat(53) }}); return 1"
        );
        ids.push(client.request(
            "tools/call",
            json!({ "name": "execute_code", "arguments": { "code": code } }),
        ));
    }
    ids.push(client.request(
        "tools/call",
        json!({ "name": "call_tool", "arguments": { "tool": "demo:read_json", "args": { "path": "a.json" } } }),
    ));
    let other = *ids.last().unwrap();
    let (found, worst) = answers(&mut client, &messages, &ids, Duration::from_secs(120));
    assert!(worst < PING, "a ping took {worst:?}");
    let other = found.iter().find(|message| message["id"] == other).unwrap();
    assert_eq!(other["result"]["isError"], false, "{other}");
    let deep = "let v = {}; for (let i = 0; i < 100; i++) v = { a: v };";
    let code = format!("{deep} return await callTool('evil:twice', v)");
    for _ in 0..4 {
        client.request(
            "tools/call",
            json!({ "name": "execute_code", "arguments": { "code": code } }),
        );
    }
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    client.terminate();
    client.close();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "SIGTERM took {took:?}");
}

#[test]
fn a_server_cannot_fill_the_memory_of_pml_with_listings() {
    for options in [
        ["--pages", "60"].as_slice(),
        &["--pages", "20", "--objects"],
    ] {
        let place = Place::with_servers(json!({ "evil": hostile(options) }));
        let mut client = StdioClient::open(&place, &[]);
        let found = client.run("return (await callTool('evil:echo', {})).error.message");
        let message = found["result"].as_str().unwrap_or_default();
        assert!(message.contains("could not be listed"), "{found}");
        let peak = peak_mib(client.id());
        assert!(peak < PEAK_MIB, "{options:?}: {peak} MiB");
    }
}

#[test]
fn a_script_cannot_fill_the_memory_of_pml_with_arguments_or_results() {
    let place = Place::with_servers(json!({ "evil": hostile(&[]) }));
    let mut client = StdioClient::open(&place, &[]);
    client.run("return await callTool('evil:echo', {})");
    let messages = client.listen();
    let codes = [
        "const n = new Array(3300000).fill(null); return (await Promise.all([1, 2, 3].map(() => callTool('evil:sink', { n })))).map((r) => r.success)",
        "const n = new Array(700000).fill(null); return (await Promise.all(Array.from({ length: 20 }, () => callTool('evil:sink', { n })))).map((r) => r.success)",
        "return (await Promise.all(Array.from({ length: 40 }, () => callTool('evil:zeros', { mib: 15 })))).map((r) => r.success)",
        "return (await Promise.all(Array.from({ length: 40 }, () => callTool('evil:zeros', { mib: 15, structured: true })))).map((r) => r.success)",
        "return (await Promise.all(Array.from({ length: 40 }, () => callTool('evil:text', { mib: 15 })))).length",
    ];
    for code in codes {
        let arguments = json!({ "code": code });
        let id = client.request(
            "tools/call",
            json!({ "name": "execute_code", "arguments": arguments }),
        );
        let (found, worst) = answers(&mut client, &messages, &[id], Duration::from_secs(120));
        let peak = peak_mib(client.id());
        eprintln!(
            "peak {peak} MiB, worst ping {worst:?}: {code}\n{}",
            found[0]
        );
        assert!(peak < JOURNAL_PEAK_MIB, "{peak} MiB: {code}");
        assert!(worst < PING, "a ping took {worst:?}: {code}");
    }
}

/// A server over HTTP, until this is dropped.
struct HttpServer(Child);

impl HttpServer {
    fn start() -> (Self, Value) {
        let script = repository().join("gateway/tests/servers/hostile_http.py");
        let mut child = Command::new("python3")
            .arg(script)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut port).unwrap();
        let url = format!("http://127.0.0.1:{}/whole", port.trim());
        (Self(child), json!({ "type": "http", "url": url }))
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_over_http_cannot_fill_the_memory_of_pml_or_delay_another() {
    let (_evil, evil) = HttpServer::start();
    let (_other, other) = HttpServer::start();
    let place = Place::with_servers(json!({ "evil": evil, "other": other }));
    let mut client = StdioClient::open(&place, &[]);
    client.run("await callTool('evil:go', {}); return await callTool('other:go', {})");
    let messages = client.listen();
    for (count, args) in [
        (24, "{ mib: 15 }"),
        (24, "{ mib: 15, events: true }"),
        (12, "{ mib: 2, zeros: true }"),
        (12, "{ mib: 2, zeros: true, events: true }"),
    ] {
        let code = format!(
            "const calls = Array.from({{ length: {count} }}, async () => {{ const {{ success }} = await callTool('evil:go', {args}); return success; }}); return (await Promise.all(calls)).length"
        );
        let began = Instant::now();
        let arguments = json!({ "code": code, "memory_mb": 64 });
        let evil = client.request(
            "tools/call",
            json!({ "name": "execute_code", "arguments": arguments }),
        );
        let mut slowest = Duration::ZERO;
        for _ in 0..5 {
            let sent = Instant::now();
            let arguments = json!({ "tool": "other:go", "args": { "mib": 0.3 } });
            let other = client.request(
                "tools/call",
                json!({ "name": "call_tool", "arguments": arguments }),
            );
            let (found, worst) = answers(&mut client, &messages, &[other], Duration::from_secs(60));
            assert_eq!(found[0]["result"]["isError"], false, "{}", found[0]);
            assert!(worst < PING, "a ping took {worst:?}: {args}");
            slowest = slowest.max(sent.elapsed());
        }
        assert!(slowest < Duration::from_secs(10), "{slowest:?}: {args}");
        answers(&mut client, &messages, &[evil], Duration::from_secs(120));
        let peak = peak_mib(client.id());
        eprintln!(
            "peak {peak} MiB, slowest {slowest:?} of {:?}: {args}",
            began.elapsed()
        );
        assert!(peak < JOURNAL_PEAK_MIB, "{peak} MiB: {args}");
    }
}

#[test]
fn a_server_that_changes_its_tools_all_the_time_sends_few_notices() {
    let place = Place::with_servers(json!({ "evil": hostile(&["--changes", "500"]) }));
    let mut client = StdioClient::open(&place, &[]);
    client.run("return await callTool('evil:echo', {})");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(8) {
        client.ask("ping", json!({}));
        std::thread::sleep(Duration::from_millis(50));
    }
    let notices = client
        .notices
        .iter()
        .filter(|notice| notice["method"] == "notifications/tools/list_changed")
        .count();
    assert!(notices < 10, "{notices} notices");
    let (_, _, logged) = client.close();
    assert!(logged.len() < 100_000, "{} bytes of log", logged.len());
}
