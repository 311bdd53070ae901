//! Commands that reach a running `pml serve`: `pml logs` and `pml restart`.

use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::driver::{StdioClient, text};
use crate::gateway::Place;

/// A server that says its process on standard error at its start and in its answers, of which `slow` takes a
/// second.
const SERVER: &str = r#"
import json, os, sys, threading, time
print(f"process {os.getpid()} of the server", file=sys.stderr, flush=True)
def reply(id, result):
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
def call(id, name):
    time.sleep(1 if name == "slow" else 0)
    reply(id, {"content": [{"type": "text", "text": str(os.getpid())}]})
tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("process", "slow")]
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if id is None or method is None:
        continue
    if method == "initialize":
        reply(id, {"protocolVersion": message["params"]["protocolVersion"],
                   "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
    elif method == "tools/list":
        reply(id, {"tools": tools})
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, message["params"]["name"])).start()
    else:
        reply(id, {})
"#;

fn place() -> Place {
    let place = Place::with_servers(json!({
        "own": { "command": "python3", "args": ["-u", "server.py"], "startTimeout": 20_000 },
        "other": { "command": "python3", "args": ["-u", "server.py"] },
    }));
    fs::write(place.folder().join("server.py"), SERVER).unwrap();
    place
}

fn process(client: &mut StdioClient) -> String {
    let result = client.call("call_tool", json!({ "tool": "own:process", "args": {} }));
    text(&result).trim_matches('"').to_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn ends(process: &str) -> bool {
    let began = Instant::now();
    while fs::metadata(format!("/proc/{process}")).is_ok() {
        if began.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

#[test]
fn a_restarted_server_has_a_new_process_and_no_call_is_lost() {
    let place = place();
    let mut client = StdioClient::open(&place, &[]);
    let old = process(&mut client);
    let params = json!({ "name": "call_tool", "arguments": { "tool": "own:slow", "args": {} } });
    let slow = client.request("tools/call", params);
    std::thread::sleep(Duration::from_millis(300));
    let restarted = place.run(&["restart", "own", "--json"]);
    assert!(restarted.status.success(), "{}", printed(&restarted));
    let report: Value = serde_json::from_slice(&restarted.stdout).unwrap();
    assert_eq!(report[0]["ok"], true, "{report}");
    assert_eq!(report[0]["pid"], client.id(), "{report}");
    let new = process(&mut client);
    assert_ne!(new, old);
    let answered = client.answer(slow);
    assert!(text(&answered["result"]).contains(&old), "{answered}");
    assert!(ends(&old), "the old process {old} goes on");
    let logs = printed(&place.run(&["logs", "own"]));
    assert_eq!(logs, format!("process {new} of the server\n"));
}

#[test]
fn a_server_that_does_not_start_again_goes_on_as_it_was() {
    let place = place();
    let mut client = StdioClient::open(&place, &[]);
    let old = process(&mut client);
    fs::write(
        place.folder().join("server.py"),
        "raise SystemExit('no licence')",
    )
    .unwrap();
    let restarted = place.run(&["restart", "own"]);
    assert_eq!(restarted.status.code(), Some(1), "{}", printed(&restarted));
    let reason = printed(&restarted);
    assert!(reason.contains("no licence"), "{reason}");
    assert!(reason.contains("goes on as it was"), "{reason}");
    assert_eq!(process(&mut client), old);
}

#[test]
fn unknown_names_and_servers_that_ended_get_a_sentence() {
    let place = place();
    let nothing = printed(&place.run(&["logs", "own"]));
    assert!(
        nothing.contains("no `pml serve` with servers runs"),
        "{nothing}"
    );
    let client = StdioClient::open(&place, &[]);
    let unknown = place.run(&["restart", "onw"]);
    assert_eq!(unknown.status.code(), Some(1));
    let message = printed(&unknown);
    assert!(message.contains("did you mean `own`?"), "{message}");
    let folder = place.folder().join("../.local/share/pml/serve");
    let sockets = || fs::read_dir(&folder).unwrap().count();
    assert_eq!(sockets(), 1);
    // Killed, it leaves its socket behind; the next command removes it.
    drop(client);
    assert_eq!(sockets(), 1);
    assert_eq!(place.run(&["logs", "own"]).status.code(), Some(1));
    assert_eq!(sockets(), 0);
    let client = StdioClient::open(&place, &[]);
    assert_eq!(sockets(), 1);
    let (code, _, logged) = client.close();
    assert_eq!(code, Some(0), "{logged}");
    assert_eq!(sockets(), 0);
}

#[test]
fn a_removed_server_is_gone_and_the_file_stays_trusted() {
    let place = place();
    let mut command = place.command(&["trust"]);
    assert!(
        command
            .env_remove("PML_TRUST")
            .output()
            .unwrap()
            .status
            .success()
    );
    let mut command = place.command(&["remove", "other"]);
    let removed = command.env_remove("PML_TRUST").output().unwrap();
    assert_eq!(printed(&removed), "Removed `other` from .mcp.json.\n");
    let mut command = place.command(&["tools"]);
    let tools = command.env_remove("PML_TRUST").output().unwrap();
    let listed = printed(&tools);
    assert!(
        listed.contains("own:process") && !listed.contains("other"),
        "{listed}"
    );
    let again = place.run(&["remove", "other"]);
    assert_eq!(again.status.code(), Some(2));
    let message = printed(&again);
    assert!(
        message.contains("has no server `other`; it has `own`"),
        "{message}"
    );
}
