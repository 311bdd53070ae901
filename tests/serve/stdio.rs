//! The stdio transport.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::driver::{StdioClient, envelope, text};
use crate::gateway::{Place, demo};

fn place() -> (tempfile::TempDir, Place) {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("a.json"), r#"{ "version": "1.2.3" }"#).unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    (data, place)
}

#[test]
fn three_tools_are_shown_with_titles_and_annotations() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["execute_code", "search_tools", "call_tool"]);
    assert!(tools.iter().all(|tool| tool["title"].is_string()));
    let beyond = client.ask("tools/list", json!({ "cursor": "more" }));
    assert_eq!(beyond["error"]["code"], -32602, "{beyond}");
    let hints = |index: usize| {
        let hints = &tools[index]["annotations"];
        (
            hints["readOnlyHint"].clone(),
            hints["destructiveHint"].clone(),
            hints["openWorldHint"].clone(),
        )
    };
    assert_eq!(hints(0), (json!(false), json!(true), json!(true)));
    assert_eq!(hints(1), (json!(true), json!(false), json!(false)));
    assert_eq!(hints(2), (json!(false), json!(true), json!(true)));
    let description = tools[0]["description"].as_str().unwrap();
    assert!(description.contains(": demo 1"), "{description}");
    // The example calls a tool that exists, with the parameter that it has.
    assert!(
        description.contains("map((path) => tools.demo.read_"),
        "{description}"
    );
}

#[test]
fn a_script_answers_with_its_result_first() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let result = client.call(
        "execute_code",
        json!({ "code": "console.warn('careful'); return await tools.demo.read_json({ path: 'a.json' })" }),
    );
    assert!(
        text(&result).starts_with(r#"{"result":{"version":"1.2.3"},"ok":true"#),
        "{result}"
    );
    assert_eq!(result["isError"], false);
    assert!(
        result.get("structuredContent").is_none(),
        "the same data twice: {result}"
    );
    let envelope = envelope(&result);
    assert_eq!(
        envelope["logs"],
        json!([{ "level": "warn", "text": "careful" }])
    );
    assert_eq!(envelope["calls"][0]["tool"], "demo:read_json");
    assert!(
        result["_meta"]["pml/stats"]["wall_ms"].is_number(),
        "{result}"
    );
}

#[test]
fn a_script_that_fails_says_where_and_is_an_error() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let result = client.call(
        "execute_code",
        json!({ "code": "const a = 1;\nnothing.here()" }),
    );
    assert_eq!(result["isError"], true);
    let envelope = envelope(&result);
    assert_eq!(envelope["ok"], false);
    assert_eq!(envelope["error"]["kind"], "runtime");
    assert_eq!(envelope["error"]["line"], 2);
}

#[test]
fn a_client_can_lower_a_limit() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let began = Instant::now();
    let result = client.call(
        "execute_code",
        json!({ "code": "for (;;) {}", "cpu_ms": 100 }),
    );
    assert_eq!(envelope(&result)["error"]["kind"], "cpu");
    assert!(began.elapsed() < Duration::from_secs(4));
    assert_eq!(client.run("return 1")["result"], 1);
}

#[test]
fn search_gives_signatures_and_no_schema_unless_all_is_wanted() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let result = client.call(
        "search_tools",
        json!({ "query": "read a JSON file", "limit": 2 }),
    );
    let found = text(&result);
    assert!(found.contains("tools.demo.read_json("), "{found}");
    assert!(!found.contains("\"properties\""), "{found}");
    let result = client.call(
        "search_tools",
        json!({ "query": "read_json", "limit": 1, "detail": "full" }),
    );
    assert!(text(&result).contains("\"properties\""), "{result}");
    let result = client.call(
        "search_tools",
        json!({ "query": "read_json", "server": "nowhere" }),
    );
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains(": demo 1"), "{result}");
}

#[test]
fn a_single_call_needs_no_script() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let result = client.call(
        "call_tool",
        json!({ "tool": "demo:read_json", "args": { "path": "a.json" } }),
    );
    assert_eq!(text(&result), r#"{"version":"1.2.3"}"#);
    let result = client.call("call_tool", json!({ "tool": "demo:read_jsn" }));
    assert_eq!(result["isError"], true);
    assert!(
        text(&result).contains("demo:read_json"),
        "the nearest is named: {result}"
    );
}

#[test]
fn wrong_arguments_are_reported_to_the_model() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    for (tool, args) in [
        ("execute_code", json!({})),
        ("execute_code", json!({ "code": 7 })),
        ("execute_code", json!({ "code": "1", "timeout": 5 })),
        (
            "search_tools",
            json!({ "query": "x", "detail": "everything" }),
        ),
        ("call_tool", json!({ "args": {} })),
    ] {
        let result = client.call(tool, args.clone());
        assert_eq!(result["isError"], true, "{tool} {args}: {result}");
        assert!(
            text(&result).starts_with("the arguments do not fit"),
            "{result}"
        );
    }
    let answer = client.ask("tools/call", json!({ "name": "nothing", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn images_leave_as_content_and_text_in_disguise_does_not() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let result = client.call(
        "execute_code",
        json!({ "code": format!("return {{ shot: {{ type: 'image', data: '{pixel}', mimeType: 'image/png' }}, n: 1 }}") }),
    );
    assert_eq!(
        result["content"][1],
        json!({ "type": "image", "data": pixel, "mimeType": "image/png" })
    );
    assert_eq!(
        envelope(&result)["result"],
        json!({ "shot": "(image 1)", "n": 1 })
    );
    let result = client.call(
        "execute_code",
        json!({ "code": "return { type: 'image', data: btoa('jane.roe@example.org'), mimeType: 'image/png' }" }),
    );
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
}

#[test]
fn nothing_but_the_protocol_is_on_standard_output() {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with_servers(json!({
        "noisy": { "command": "pml", "args": ["demo-server", data.path(), "--noise"] },
    }));
    let mut client = StdioClient::open(&place, &[]);
    let envelope = client.run(
        "console.log('one'); console.error('two'); return (await tools.noisy.list_files()).files",
    );
    assert_eq!(envelope["ok"], true, "{envelope}");
    let (code, rest, _logged) = client.close();
    assert_eq!(code, Some(0));
    for line in rest.lines() {
        serde_json::from_str::<serde_json::Value>(line)
            .unwrap_or_else(|error| panic!("{error}: {line}"));
    }
}

#[test]
fn progress_is_reported_when_it_is_asked_for() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    client.ask("logging/setLevel", json!({ "level": "warning" }));
    let answer = client.ask(
        "tools/call",
        json!({
            "name": "execute_code",
            "arguments": { "code": "console.log('quiet'); console.warn('loud'); await tools.demo.list_files(); return 1" },
            "_meta": { "progressToken": "p1" },
        }),
    );
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let progress: Vec<_> = client
        .notices
        .iter()
        .filter(|notice| notice["method"] == "notifications/progress")
        .collect();
    assert!(!progress.is_empty(), "{:?}", client.notices);
    assert!(
        progress
            .iter()
            .all(|notice| notice["params"]["progressToken"] == "p1")
    );
    let logs: Vec<_> = client
        .notices
        .iter()
        .filter(|notice| notice["method"] == "notifications/message")
        .map(|notice| {
            (
                notice["params"]["level"].clone(),
                notice["params"]["data"].clone(),
            )
        })
        .collect();
    assert_eq!(logs, [(json!("warning"), json!("loud"))]);
}

#[test]
fn a_cancelled_script_ends() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &["--warm", "0"]);
    let id = client.request("tools/call", json!({ "name": "execute_code", "arguments": { "code": "await new Promise((done) => setTimeout(done, 25000))" } }));
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(super::endurance::workers_of(client.id()).len(), 1);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    let began = Instant::now();
    while !super::endurance::workers_of(client.id()).is_empty() {
        assert!(
            began.elapsed() < Duration::from_secs(3),
            "the worker is still there"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(client.run("return 2")["result"], 2);
}

#[test]
fn running_calls_end_before_the_server_does() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let id = client.request("tools/call", json!({ "name": "execute_code", "arguments": { "code": "await new Promise((done) => setTimeout(done, 1000)); return 'done'" } }));
    std::thread::sleep(Duration::from_millis(300));
    client.terminate();
    std::thread::sleep(Duration::from_millis(200));
    let late = client.request(
        "tools/call",
        json!({ "name": "execute_code", "arguments": { "code": "1" } }),
    );
    let refused = client.answer(late);
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("shutting down"),
        "{refused}"
    );
    let answer = client.answer(id);
    assert_eq!(envelope(&answer["result"])["result"], "done");
    let (code, _, _) = client.close();
    assert_eq!(code, Some(0));
}

#[test]
fn a_script_that_does_not_end_is_cut_off_when_the_time_to_end_is_up() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &["--drain", "300ms"]);
    client.request("tools/call", json!({ "name": "execute_code", "arguments": { "code": "await new Promise(() => setTimeout(() => {}, 25000))" } }));
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    client.terminate();
    client.close();
    assert!(
        began.elapsed() < Duration::from_secs(6),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn tools_that_change_are_announced() {
    let late = json!({ "command": "sh", "args": ["-c", "sleep 4; exec \"$0\" demo-server .", crate::support::binary()] });
    let place = Place::with_servers(json!({ "slow": late }));
    let mut client = StdioClient::open(&place, &[]);
    let listed = client.ask("tools/list", json!({}));
    let description = listed["result"]["tools"][0]["description"]
        .as_str()
        .unwrap();
    assert!(description.contains("slow"), "{description}");
    loop {
        let message = client.receive();
        if message["method"] == "notifications/tools/list_changed" {
            break;
        }
    }
    let listed = client.ask("tools/list", json!({}));
    let description = listed["result"]["tools"][0]["description"]
        .as_str()
        .unwrap();
    assert!(description.contains(": slow 1"), "{description}");
}

#[test]
fn a_script_that_runs_when_the_input_ends_is_answered() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let code = "await new Promise((done) => setTimeout(done, 5500)); return 'late'";
    client.request(
        "tools/call",
        json!({ "name": "execute_code", "arguments": { "code": code } }),
    );
    let (status, rest, logged) = client.close();
    assert_eq!(status, Some(0), "{logged}");
    assert!(rest.contains("late"), "{rest}\n{logged}");
}

#[test]
fn a_gateway_among_its_own_servers_is_left_out() {
    let data = tempfile::tempdir().unwrap();
    let itself = json!({ "command": "pml", "args": ["serve"] });
    let place = Place::with_servers(json!({ "demo": demo(data.path()), "pml": itself }));
    let mut client = StdioClient::open(&place, &[]);
    let result =
        client.run("return (await callTool('pml:execute_code', { code: '1' })).error.message");
    let message = result["result"].as_str().unwrap();
    assert!(message.ends_with("the servers are: demo"), "{message}");
    // A server that reaches itself indirectly exits by itself.
    let mut deep = place.command(&["serve"]);
    let refused = deep.env("PML_DEPTH", "3").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let printed = String::from_utf8(refused.stderr).unwrap();
    assert!(printed.contains("remove that server"), "{printed}");
}

#[test]
fn what_models_fill_in_for_nothing_is_nothing() {
    let (_data, place) = place();
    let mut client = StdioClient::open(&place, &[]);
    let result = client.call(
        "execute_code",
        json!({ "code": "return 5", "timeout_ms": 0, "cpu_ms": null, "max_output_chars": 0 }),
    );
    assert_eq!(envelope(&result)["result"], 5, "{result}");
    let result = client.call(
        "search_tools",
        json!({ "query": "read a JSON file", "server": "", "detail": null, "limit": null }),
    );
    assert!(text(&result).contains("tools.demo."), "{result}");
    let result = client.call(
        "call_tool",
        json!({ "tool": "demo:list_files", "args": "" }),
    );
    assert_eq!(result["isError"], false, "{result}");
}

#[test]
fn the_entry_of_a_client_names_the_file_of_this_folder() {
    let place = Place::with_servers(json!({}));
    let entry = |flags: &[&str]| {
        let output = place.run(&[flags, &["serve", "--print-config", "claude-desktop"]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let entry: Value = serde_json::from_str(&text).unwrap();
        let warned = String::from_utf8(output.stderr).unwrap();
        (entry["mcpServers"]["pml"]["args"].clone(), warned)
    };
    let file = place.folder().canonicalize().unwrap().join(".mcp.json");
    assert_eq!(entry(&[]).0, json!(["serve", "--config", file]));
    let (args, warned) = entry(&["--config", "other.json"]);
    assert!(args[2].as_str().unwrap().ends_with("/other.json"), "{args}");
    assert_eq!(warned, "");
    std::fs::remove_file(place.file()).unwrap();
    let (args, warned) = entry(&[]);
    assert_eq!(args, json!(["serve"]));
    assert!(
        warned.contains("no configuration found (looked at"),
        "{warned}"
    );
}

#[test]
fn a_server_without_a_configuration_says_so_to_the_user_and_the_client() {
    let place = Place::empty();
    let mut client = StdioClient::without_handshake(&place, &[]);
    let hello = client.ask(
        "initialize",
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
    );
    let told = hello["result"]["instructions"].as_str().unwrap();
    assert!(
        told.contains("no MCP server is configured") && told.contains("--config"),
        "{told}"
    );
    let (_, _, logged) = client.close();
    assert!(
        logged.contains("no configuration found (looked at"),
        "{logged}"
    );
}
