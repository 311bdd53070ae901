//! Who may use a server over HTTP: tokens, principals, Unix sockets, and slow connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::driver::HttpServer;
use super::http::{initialize, place, stateless};
use crate::gateway::Place;

const HTTP: [&str; 5] = ["serve", "--http", "127.0.0.1:0", "--log-format", "json"];

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// Runs a script without a session and returns its result.
fn run(server: &HttpServer, token: &str, code: &str) -> Value {
    let params = json!({ "name": "execute_code", "arguments": { "code": code } });
    let (headers, body) = stateless("tools/call", params);
    let authorization = bearer(token);
    let mut headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    headers.push(("Authorization", &authorization));
    let (status, head, body) = server.post(&headers, &body);
    assert_eq!(status, 200, "{head}\n{body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    super::driver::envelope(&answer["result"])["result"].clone()
}

#[test]
fn another_process_of_this_machine_is_not_let_in_without_the_token() {
    let (_data, place) = place();
    let server = HttpServer::start(place.command(&HTTP));
    let token = server.token.clone().expect("the server prints its token");
    assert_eq!(token.len(), 64);
    assert_eq!(server.post(&[], &initialize()).0, 401);
    let authorization = bearer(&token);
    let status = |headers: &[(&str, &str)]| server.post(headers, &initialize()).0;
    assert_eq!(status(&[("Authorization", &authorization)]), 200);
    let wrong = bearer(&token.replace(&token[..1], if token.starts_with('0') { "1" } else { "0" }));
    assert_eq!(status(&[("Authorization", &wrong)]), 401);
    // Two tokens are one too many.
    let twice = [
        ("Authorization", &*authorization),
        ("Authorization", &*wrong),
    ];
    assert_eq!(status(&twice), 401);
}

#[test]
fn a_token_shows_no_session_of_another_token() {
    let (_data, place) = place();
    let file = place.folder().join("tokens");
    let (alice, bob) = ("token-of-alice-0123456789", "token-of-bob-9876543210");
    std::fs::write(&file, format!("# Alice\n{alice}\n# Bob\n{bob}\n")).unwrap();
    let mut command = place.command(&HTTP);
    command.arg("--token-file").arg(&file);
    let server = HttpServer::start(command);
    assert_eq!(server.token, None, "a token that was given is not printed");

    // With a session.
    let (of_alice, of_bob) = (bearer(alice), bearer(bob));
    let (status, head, _) = server.post(&[("Authorization", &of_alice)], &initialize());
    assert_eq!(status, 200);
    let session = super::http::session_in(&head);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let as_client = |authorization: &str, method: &str| {
        let headers = [
            ("Authorization", authorization),
            ("Mcp-Session-Id", session),
        ];
        server.send(method, &headers, &list).0
    };
    assert_eq!(as_client(&of_bob, "POST"), 404);
    assert_eq!(as_client(&of_bob, "GET"), 404);
    assert_eq!(as_client(&of_bob, "DELETE"), 404);
    assert_eq!(as_client(&of_alice, "POST"), 200);
    let closed = as_client(&of_alice, "DELETE");
    assert!((200..300).contains(&closed), "{closed}");

    // Without a session, and with the same name of the client.
    run(
        &server,
        alice,
        "await store('diary', 'the merger is on Friday')",
    );
    let load = "return (await load('diary')) ?? 'nothing'";
    assert_eq!(run(&server, bob, load), "nothing");
}

#[test]
fn a_client_with_large_requests_neither_fills_the_memory_nor_delays_another() {
    let (_data, place) = place();
    let file = place.folder().join("tokens");
    let (alice, bob) = ("token-of-alice-0123456789", "token-of-bob-9876543210");
    std::fs::write(&file, format!("{alice}\n{bob}\n")).unwrap();
    let mut command = place.command(&HTTP);
    command.arg("--token-file").arg(&file);
    let mut server = HttpServer::start(command);
    let of_bob = bearer(bob);
    let (_, head, _) = server.post(&[("Authorization", &of_bob)], &initialize());
    let session = super::http::session_in(&head).to_owned();
    for values in [
        "0,".repeat(3_900_000),
        "{},".repeat(2_600_000),
        " ".repeat(7_800_000),
    ] {
        let mut worst = Duration::ZERO;
        std::thread::scope(|scope| {
            let floods: Vec<_> = (0..12)
                .map(|id| {
                    let (server, values) = (&server, &values);
                    scope.spawn(move || {
                        let body = format!(
                            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"call_tool","arguments":{{"tool":"demo:x","args":[{values}0]}}}}}}"#
                        );
                        let authorization = bearer(alice);
                        server.post(&[("Authorization", authorization.as_str())], &body)
                    })
                })
                .collect();
            while !floods.iter().all(|flood| flood.is_finished()) {
                let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }).to_string();
                let sent = Instant::now();
                let headers = [
                    ("Authorization", of_bob.as_str()),
                    ("Mcp-Session-Id", session.as_str()),
                ];
                assert_eq!(server.post(&headers, &ping).0, 200);
                worst = worst.max(sent.elapsed());
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let peak = super::hostile_servers::peak_mib(server.id());
        eprintln!("peak {peak} MiB, worst ping {worst:?}");
        assert!(worst < Duration::from_secs(3), "a ping took {worst:?}");
        assert!(peak < 450, "{peak} MiB");
    }
    server.terminate();
    assert!(server.ended_within(Duration::from_secs(10)).is_some());
}

#[test]
fn slow_connections_take_no_descriptor_from_clients_workers_and_servers() {
    let (_data, place) = place();
    let plain = place.command(&HTTP);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "ulimit -n 256 && exec \"$@\"", "sh"])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(place.folder());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let server = HttpServer::start(command);
    let token = server.token.clone().unwrap();
    assert_eq!(run(&server, &token, "return 1"), 1);

    let began = Instant::now();
    let slow: Vec<TcpStream> = (0..400)
        .filter_map(|_| {
            let address = server.authority().parse().unwrap();
            let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5)).ok()?;
            let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
            Some(stream)
        })
        .collect();
    assert!(slow.len() > 300, "{} connections", slow.len());
    // A client with the token is served meanwhile, with a worker and a server behind it.
    for _ in 0..3 {
        let asked = Instant::now();
        let code = "return (await tools.demo.list_files()).files.length";
        assert_eq!(run(&server, &token, code), 0);
        assert!(
            asked.elapsed() < Duration::from_secs(5),
            "{:?}",
            asked.elapsed()
        );
    }
    let open = std::fs::read_dir(format!("/proc/{}/fd", server.id()))
        .unwrap()
        .count();
    assert!(open < 220, "{open} descriptors");
    // After the time for a first request, none of them is left.
    let limit = Duration::from_secs(14).saturating_sub(began.elapsed());
    std::thread::sleep(limit);
    let left = slow
        .iter()
        .filter(|stream| {
            stream.set_nonblocking(true).unwrap();
            let read = (&mut &**stream).read(&mut [0; 16]);
            matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
        })
        .count();
    assert_eq!(left, 0, "slow connections are still open");
}

#[test]
fn keys_of_one_clients_results_are_not_shown_to_another() {
    let data = tempfile::tempdir().unwrap();
    let tally = r#"{ "JohannaQuistorp": 3, "ProjectNightfall": { "layoffs_berlin": 2 } }"#;
    std::fs::write(data.path().join("votes.json"), tally).unwrap();
    let place = Place::with_servers(json!({ "demo": crate::gateway::demo(data.path()) }));
    let server = HttpServer::open(&place, &[]);
    let session = || {
        let (status, head, _) = server.post(&[], &initialize());
        assert_eq!(status, 200);
        super::http::session_in(&head).to_owned()
    };
    let call = |session: &str, id: u32, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        server
            .post(&[("Mcp-Session-Id", session)], &body.to_string())
            .2
    };
    let (one, other) = (session(), session());
    let search = json!({ "query": "read a JSON file", "server": "demo" });
    let read = json!({ "tool": "demo:read_json", "args": { "path": "votes.json" } });
    let result = call(&one, 2, "call_tool", read);
    assert!(result.contains("JohannaQuistorp"), "{result}");
    // The shape is recorded in the background.
    std::thread::sleep(Duration::from_millis(500));
    let own = call(&one, 3, "search_tools", search.clone());
    assert!(own.contains("JohannaQuistorp"), "its own results: {own}");
    let shown = call(&other, 2, "search_tools", search);
    assert!(shown.contains("read_json"), "{shown}");
    for key in ["Johanna", "Nightfall", "layoffs"] {
        assert!(!shown.contains(key), "{shown}");
    }
}

/// Sends a request over a Unix socket and returns the response.
fn over_socket(path: &std::path::Path, body: &str) -> String {
    let mut stream = UnixStream::connect(path).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: */*\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_unix_socket_is_for_processes_of_its_user() {
    let (_data, place) = place();
    let path = place.folder().join("pml.sock");
    let address = format!("unix:{}", path.display());
    let mut server =
        HttpServer::start(place.command(&["serve", "--http", &address, "--log-format", "json"]));
    assert_eq!(server.token, None, "the kernel says who connects");
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let response = over_socket(&path, &initialize());
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert_closed_to_others(&place, &path);
    server.terminate();
    assert!(server.ended_within(Duration::from_secs(8)).is_some());
    assert!(!path.exists(), "the socket is removed");
}

/// Connects as another user, which only root can: even where the file's mode allows it, the
/// connection is closed.
fn assert_closed_to_others(place: &Place, path: &std::path::Path) {
    const NOBODY: u32 = 65534;
    // SAFETY: takes no argument and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let everyone = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    everyone(place.folder().parent().unwrap(), 0o755);
    everyone(&place.folder(), 0o755);
    everyone(path, 0o666);
    let code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(5); \
                s.connect(sys.argv[1]); s.sendall(b'GET /mcp HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'); \
                sys.stdout.buffer.write(s.recv(100))";
    let output = Command::new("python3")
        .args(["-I", "-c", code])
        .arg(path)
        .uid(NOBODY)
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!said.contains("HTTP"), "{said}");
}
