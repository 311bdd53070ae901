//! The HTTP transport: authentication, origins, sessions and shutdown.

use std::time::Duration;

use serde_json::{Value, json};

use super::driver::HttpServer;
use crate::gateway::{Place, demo};

const TOKEN: &str = "0123456789-abcdef-token";

pub fn place() -> (tempfile::TempDir, Place) {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    (data, place)
}

pub fn initialize() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } })
    .to_string()
}

/// A request of the protocol revision without sessions.
pub fn stateless(method: &str, params: Value) -> (Vec<(&'static str, String)>, String) {
    let mut params = params;
    for (key, value) in [
        ("protocolVersion", json!("2026-07-28")),
        ("clientInfo", json!({ "name": "t", "version": "1" })),
        ("clientCapabilities", json!({})),
    ] {
        params["_meta"][format!("io.modelcontextprotocol/{key}")] = value;
    }
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", method.to_owned()),
    ];
    if let Some(name) = params["name"].as_str() {
        headers.push(("Mcp-Name", name.to_owned()));
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    (headers, body.to_string())
}

fn send(
    server: &HttpServer,
    (headers, body): &(Vec<(&'static str, String)>, String),
) -> (u16, String, String) {
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    server.post(&headers, body)
}

#[test]
fn no_page_but_those_that_are_allowed_may_drive_the_server() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &["--allow-origin", "https://app.example.com:443"]);
    let status = |headers: &[(&str, &str)]| server.post(headers, &initialize()).0;
    assert_eq!(status(&[]), 200);
    for local in [
        "http://localhost:3000",
        "http://127.0.0.1",
        "http://[::1]:80",
    ] {
        assert_eq!(status(&[("Origin", local)]), 403, "{local}");
    }
    assert_eq!(status(&[("Origin", "https://app.example.com")]), 200);
    assert_eq!(status(&[("Origin", "https://evil.example.com")]), 403);
    assert_eq!(status(&[("Origin", "null")]), 403);
    assert_eq!(status(&[("Host", "evil.example.com")]), 403);
    assert_eq!(status(&[("Host", "localhost:1234")]), 200);
}

#[test]
fn a_browser_gets_cors_headers_for_allowed_origins() {
    let (_data, place) = place();
    let flags = ["serve", "--http", "127.0.0.1:0", "--log-format", "json"];
    let mut command = place.command(&flags);
    command.args(["--allow-origin", "https://app.example.com:443"]);
    command.env("PML_TOKEN", format!("{TOKEN}\n"));
    let server = HttpServer::start(command);
    let page = ("Origin", "https://app.example.com");
    let allowed = "access-control-allow-origin: https://app.example.com";
    let (status, head, _) = server.send("OPTIONS", &[page], "");
    assert_eq!(status, 204);
    assert!(head.contains(allowed), "{head}");
    assert!(head.contains("mcp-session-id"), "{head}");
    let bearer = format!("Bearer {TOKEN}");
    let (status, head, _) = server.post(&[page, ("Authorization", &bearer)], &initialize());
    assert_eq!(status, 200);
    assert!(head.contains(allowed), "{head}");
    let evil = ("Origin", "https://evil.example.com");
    let (status, head, _) = server.send("OPTIONS", &[evil], "");
    assert_eq!(status, 401);
    assert!(!head.contains("access-control"), "{head}");
}

#[test]
fn an_id_that_is_still_open_is_not_taken_again() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &[]);
    let (_, head, _) = server.post(&[], &initialize());
    let session = head
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap();
    let headers = [("Mcp-Session-Id", session)];
    server.post(
        &headers,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    );
    let run = |code: &str| {
        let params = json!({ "name": "execute_code", "arguments": { "code": code } });
        json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string()
    };
    let slow = run("await new Promise((done) => setTimeout(done, 1500)); return 'first'");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.post(&headers, &slow));
        std::thread::sleep(Duration::from_millis(500));
        let (status, _, body) = server.post(&headers, &run("return 'second'"));
        assert_eq!(status, 400);
        assert!(body.contains("still open"), "{body}");
        assert!(first.join().unwrap().2.contains("first"));
    });
    let (_, _, body) = server.post(&headers, &run("return 'third'"));
    assert!(body.contains("third"), "{body}");
}

#[test]
fn a_token_is_asked_for_where_one_is_set() {
    let (_data, place) = place();
    let mut command = place.command(&["serve", "--http", "127.0.0.1:0", "--log-format", "json"]);
    command.env("PML_TOKEN", TOKEN);
    let server = HttpServer::start(command);
    assert_eq!(server.post(&[], &initialize()).0, 401);
    assert_eq!(
        server
            .post(&[("Authorization", "Bearer wrong")], &initialize())
            .0,
        401
    );
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(
        server.post(&[("Authorization", &bearer)], &initialize()).0,
        200
    );
    assert_eq!(server.send("GET", &[], "").0, 401);
    assert_eq!(server.send("DELETE", &[], "").0, 401);
}

#[test]
fn an_address_of_others_needs_a_token() {
    let (_data, place) = place();
    let output = place.run(&["serve", "--http", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("PML_TOKEN"), "{printed}");
}

#[test]
fn what_is_too_large_or_no_message_is_refused_properly() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &[]);
    let (status, _, _) = server.post(&[], &"x".repeat(9 * 1024 * 1024));
    assert!(status == 413 || status == 0, "{status}");
    // A session keeps the name of its client, and an open request its id.
    let long = "x".repeat(100_000);
    let named = initialize().replace(r#""name":"t""#, &format!(r#""name":"{long}""#));
    let numbered = format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"ping"}}"#);
    for (body, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("{}", -32600),
        (&named, -32600),
        (&numbered, -32600),
    ] {
        let (status, _, answer) = server.post(&[], body);
        assert_eq!(status, 400, "{}", &body[..body.len().min(100)]);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    assert_eq!(server.post(&[], &initialize()).0, 200);
}

#[test]
fn a_client_that_accepts_any_type_is_answered() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &[]);
    let status = |accept| server.post(&[("Accept", accept)], &initialize()).0;
    for accept in ["*/*", "text/html, */*;q=0.5", "application/*, text/*"] {
        assert_eq!(status(accept), 200, "{accept}");
    }
    for accept in ["text/html", "application/json", "*/*;q=0"] {
        assert_eq!(status(accept), 406, "{accept}");
    }
}

#[test]
fn a_session_that_is_gone_is_not_closed_again() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &[]);
    let (_, head, _) = server.post(&[], &initialize());
    let session = session_in(&head);
    let close = || server.send("DELETE", &[("Mcp-Session-Id", session)], "").0;
    let first = close();
    assert!((200..300).contains(&first), "{first}");
    assert_eq!(close(), 404);
}

#[test]
fn a_session_that_is_closed_ends_its_scripts() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &["--warm", "0"]);
    let (_, head, _) = server.post(&[], &initialize());
    let session = session_in(&head);
    let code = "await new Promise((done) => setTimeout(done, 25000))";
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "execute_code", "arguments": { "code": code },
    } });
    std::thread::scope(|scope| {
        scope.spawn(|| server.post(&[("Mcp-Session-Id", session)], &call.to_string()));
        let workers = || super::endurance::workers_of(server.id()).len();
        let wait_for = |count: usize| {
            let began = std::time::Instant::now();
            while workers() != count {
                assert!(
                    began.elapsed() < Duration::from_secs(5),
                    "{} workers",
                    workers()
                );
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        wait_for(1);
        let closed = server.send("DELETE", &[("Mcp-Session-Id", session)], "");
        assert!((200..300).contains(&closed.0), "{closed:?}");
        wait_for(0);
    });
}

pub fn session_in(head: &str) -> &str {
    head.lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .expect("there is a session")
}

/// Runs a script without a session; returns its result and the handle in the answer.
fn run_stateless(server: &HttpServer, handle: Option<&str>, code: &str) -> (Value, String) {
    let meta = handle.map_or(json!({}), |handle| json!({ "pml/session": handle }));
    let request = stateless(
        "tools/call",
        json!({ "name": "execute_code", "arguments": { "code": code }, "_meta": meta }),
    );
    let (status, head, body) = send(server, &request);
    assert_eq!(status, 200, "{head}\n{body}");
    assert!(!head.to_lowercase().contains("mcp-session-id"), "{head}");
    let answer: Value =
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
    let handle = answer["result"]["_meta"]["pml/session"].as_str();
    let handle = handle.unwrap_or_else(|| panic!("no handle: {body}"));
    let result = super::driver::envelope(&answer["result"])["result"].clone();
    (result, handle.to_owned())
}

#[test]
fn clients_of_one_name_share_nothing_without_the_handle() {
    let (data, place) = place();
    std::fs::write(
        data.path().join("mail.txt"),
        "write to jane.roe@example.org",
    )
    .unwrap();
    let server = HttpServer::open(&place, &[]);
    let run = |handle: Option<&str>, code: &str| run_stateless(&server, handle, code);
    assert_eq!(run(None, "return 6 * 7").0, 42);
    let (_, alice) = run(None, "await store('diary', 'the merger is on Friday')");
    assert_eq!(alice.len(), 32, "{alice}");
    let load = "return (await load('diary')) ?? 'nothing'";
    let (result, same) = run(Some(&alice), load);
    assert_eq!(result, "the merger is on Friday");
    assert_eq!(same, alice);
    // The same name, no handle, a guessed one, a chosen one, a very long one.
    let long = "x".repeat(1_000_000);
    for bob in [
        None,
        Some("00000000000000000000000000000000"),
        Some("claude-ai"),
        Some(&*long),
    ] {
        let (result, handle) = run(bob, load);
        assert_eq!(result, "nothing");
        assert!(handle != alice && handle.len() == 32, "{handle}");
    }
    // A chosen handle is not a session: the next request with it is alone, too.
    run(Some("claude-ai"), "await store('diary', 'x')");
    assert_eq!(run(Some("claude-ai"), load).0, "nothing");
    // Neither are placeholders shared.
    let read = "return (await tools.demo.read_file({ path: 'mail.txt' })).slice(9)";
    let (email, _) = run(Some(&alice), read);
    let count = format!(
        "return (await tools.demo.count_text({{ text: '{}' }})).characters",
        email.as_str().unwrap()
    );
    assert_eq!(run(Some(&alice), &count).0, "jane.roe@example.org".len());
    let placeholder = email.as_str().unwrap().len();
    assert_eq!(run(None, &count).0, placeholder);
}

#[test]
fn many_clients_without_a_handle_do_not_push_out_one_with_it() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &[]);
    let (_, alice) = run_stateless(&server, None, "await store('k', 1)");
    run_stateless(&server, Some(&alice), "return 1");
    for _ in 0..70 {
        run_stateless(&server, None, "return 1");
    }
    let (kept, _) = run_stateless(&server, Some(&alice), "return await load('k')");
    assert_eq!(kept, 1);
}

#[test]
fn a_client_that_hangs_up_ends_its_script() {
    let (_data, place) = place();
    let server = HttpServer::open(&place, &["--warm", "0"]);
    let (headers, body) = stateless(
        "tools/call",
        json!({ "name": "execute_code", "arguments": { "code": "await new Promise((done) => setTimeout(done, 25000))" } }),
    );
    let mut stream = std::net::TcpStream::connect(server.authority()).unwrap();
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        server.authority(),
        body.len()
    );
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    std::io::Write::write_all(&mut stream, format!("{request}\r\n{body}").as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(800));
    assert_eq!(super::endurance::workers_of(server.id()).len(), 1);
    drop(stream);
    let began = std::time::Instant::now();
    while !super::endurance::workers_of(server.id()).is_empty() {
        assert!(
            began.elapsed() < Duration::from_secs(3),
            "the worker is still there"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn running_calls_are_answered_before_the_door_closes() {
    let (_data, place) = place();
    let mut server = HttpServer::open(&place, &[]);
    let request = stateless(
        "tools/call",
        json!({ "name": "execute_code", "arguments": { "code": "await new Promise((done) => setTimeout(done, 3000)); return 'done'" } }),
    );
    std::thread::scope(|scope| {
        let running = scope.spawn(|| send(&server, &request));
        std::thread::sleep(Duration::from_millis(1500));
        server.terminate();
        let (status, _, body) = running.join().unwrap();
        assert_eq!(status, 200);
        assert!(body.contains("done"), "{body}");
    });
    assert!(server.ended_within(Duration::from_secs(8)).is_some());
}
