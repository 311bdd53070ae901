//! Effect classes of tools through the binary, and the servers that `pml init` and `pml add` write.

use std::fs;
use std::io::{Read, Write};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::support::repository;
use crate::trust::terminal;

/// Configuration of a server that writes down the calls that arrive, in `journal` of the working
/// folder, and ends without an answer to the first ones.
fn watched(vanish: usize) -> Value {
    let script = repository().join("gateway/tests/servers/effects.py");
    let vanish = vanish.to_string();
    json!({ "command": "python3", "args": ["-u", script, "journal", "--vanish", vanish] })
}

fn trusted(mut server: Value) -> Value {
    server["trust"] = json!("annotations");
    server
}

fn arrived(place: &Place) -> usize {
    let journal = fs::read_to_string(place.folder().join("journal"));
    journal.unwrap_or_default().lines().count()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn configuration(place: &Place) -> Value {
    serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap()
}

#[test]
fn the_class_of_every_tool_is_shown_with_its_source() {
    let place = Place::with(&json!({
        "mcpServers": { "a": trusted(watched(0)), "b": watched(0) },
        "pml": {
            "effects": {
                "*:pay": { "keyed": "key" },
                "b:wipe": { "class": "guarded", "reconcile": { "tool": "a:look" } },
            },
            "policy": { "retry": { "idempotent": ["b:put"] } },
        },
    }));
    let output = place.run(&["tools", "--effects"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = stdout(&output);
    for line in [
        "  a:act   guarded     default",
        "  a:look  read        annotations",
        "  a:pay   keyed       rule `*:pay`",
        "  a:put   idempotent  annotations",
        "  a:wipe  guarded     annotations",
        "  b:look  guarded     default",
        "  b:put   idempotent  alias `retry.idempotent: b:put`",
        "  b:wipe  guarded     rule `b:wipe`",
    ] {
        assert!(
            printed.lines().any(|shown| shown == line),
            "{line}\n{printed}"
        );
    }
    let note = stderr(&output);
    assert!(
        note.contains("the annotations of b.") && note.contains("\"trust\": \"annotations\""),
        "{note}"
    );

    let output = place.run(&["tools", "--effects", "--json"]);
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let tool = |id: &str| {
        let tools = printed["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["id"] == id).unwrap().clone()
    };
    assert_eq!(tool("a:look")["effect"], "read");
    assert_eq!(tool("a:look")["effectSource"], "annotations");
    assert_eq!(tool("b:pay")["effectPattern"], "*:pay");
    assert_eq!(tool("b:pay")["keyArgument"], "key");
    assert_eq!(tool("b:wipe")["reconcileTool"], "a:look");
    assert_eq!(tool("b:put")["effectSource"], "alias");
    assert!(tool("b:put")["inputSchema"].is_object());

    let plain: Value = serde_json::from_str(&stdout(&place.run(&["tools", "--json"]))).unwrap();
    assert_eq!(plain["tools"][0].get("effect"), None);
}

#[test]
fn a_script_learns_the_class_of_a_tool() {
    let place = Place::with(&json!({
        "mcpServers": { "s": watched(0) },
        "pml": { "effects": { "s:look": "read" } },
    }));
    let classes = place.result(
        "return Promise.all(['s:look', 's:act'].map(async (id) => (await describeTool(id)).effect))",
    );
    assert_eq!(classes, json!(["read", "guarded"]));
}

#[test]
fn a_guarded_call_whose_answer_is_lost_is_sent_once_and_a_read_twice() {
    for (server, sent) in [(watched(1), 1), (trusted(watched(1)), 2)] {
        let place = Place::with_servers(json!({ "s": server }));
        let outcome = place.script("return (await callTool('s:look', {})).success");
        assert_eq!(outcome["result"], json!(sent == 2), "{outcome:#}");
        assert_eq!(arrived(&place), sent);
    }
}

#[test]
fn a_mistake_in_the_effects_is_reported_with_its_line() {
    for (effects, expected) in [
        (
            "{ \"s:*\": \"raed\" }",
            ".mcp.json:2: `pml.effects.s:*`: unknown effect class `raed`: did you mean `read`?",
        ),
        (
            "{ \"t:*\": \"read\" }",
            ".mcp.json:2: `pml.effects.t:*`: there is no server `t`:",
        ),
        (
            "{ \"s:*\": \"read\",\n\"*:pay\": \"guarded\" }",
            "neither is more specific: add a rule for `s:pay`",
        ),
    ] {
        let place = Place::with_text(&format!(
            "{{ \"mcpServers\": {{ \"s\": {{ \"command\": \"x\" }} }},\n\"pml\": {{ \"effects\": {effects} }} }}"
        ));
        let output = place.run(&["tools"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn init_trusts_annotations_only_if_it_is_told_to() {
    for (flags, trust) in [
        (&[][..], Value::Null),
        (&["--no-trust-annotations"], Value::Null),
        (&["--trust-annotations"], json!("annotations")),
    ] {
        let place = Place::empty();
        let servers = json!({ "mcpServers": { "s": watched(0) } });
        let clients_file = place.folder().join("../.claude.json");
        fs::write(clients_file, servers.to_string()).unwrap();
        let output = place.run(&[&["init"], flags].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let written = configuration(&place);
        assert_eq!(written["mcpServers"]["s"]["trust"], trust, "{flags:?}");
    }
}

#[test]
fn init_asks_once_on_a_terminal_whether_annotations_are_trusted() {
    for (answer, trust) in [("\n", Value::Null), ("y\n", json!("annotations"))] {
        let place = Place::empty();
        let servers = json!({ "mcpServers": { "s": watched(0), "t": watched(1) } });
        let clients_file = place.folder().join("../.claude.json");
        fs::write(clients_file, servers.to_string()).unwrap();
        let (mut terminal, [stdin, stderr]) = terminal();
        let mut command = place.command(&["init"]);
        command.stdin(stdin).stderr(stderr).stdout(Stdio::null());
        terminal.write_all(answer.as_bytes()).unwrap();
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut shown = Vec::new();
        // The other end is closed when the program has ended.
        let _ = terminal.read_to_end(&mut shown);
        assert!(child.wait().unwrap().success());
        let shown = String::from_utf8_lossy(&shown);
        assert_eq!(shown.matches("[y/N]").count(), 1, "{shown}");
        let written = configuration(&place);
        for server in ["s", "t"] {
            assert_eq!(written["mcpServers"][server]["trust"], trust, "{shown}");
        }
    }
}

#[test]
fn an_added_server_is_usable_and_a_name_is_used_once() {
    let place = Place::empty();
    let server = watched(0);
    let words = server["args"].as_array().unwrap();
    let words = words.iter().map(|word| word.as_str().unwrap());
    let command: Vec<&str> = ["add", "s", "--trust-annotations", "--", "python3"]
        .into_iter()
        .chain(words)
        .collect();
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command.env_remove("PML_TRUST").stdin(Stdio::null());
        command.output().unwrap()
    };
    let output = run(&command);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("Added `s` to .mcp.json"),
        "{}",
        stdout(&output)
    );
    assert_eq!(
        configuration(&place)["mcpServers"]["s"]["args"],
        server["args"]
    );
    let listed = stdout(&run(&["tools", "--effects"]));
    assert!(
        listed.contains("s:look  read"),
        "the new file is trusted: {listed}"
    );

    let output = run(&["add", "api", "--url", "https://api.test/mcp"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let written = configuration(&place);
    assert_eq!(
        written["mcpServers"]["api"],
        json!({ "url": "https://api.test/mcp" })
    );
    let listed = stdout(&run(&["tools", "s"]));
    assert!(
        listed.contains("s:look"),
        "the edited file is still trusted: {listed}"
    );

    let output = run(&["add", "s", "--url", "https://api.test/mcp"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("already has a server `s`"),
        "{}",
        stderr(&output)
    );
    let output = run(&["add", "other"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(configuration(&place), written);
}

#[test]
fn adding_a_server_does_not_trust_the_others_of_a_cloned_project() {
    let mark = json!({ "command": "sh", "args": ["-c", "touch owned"] });
    let place = Place::with_servers(json!({ "evil": mark }));
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command.env_remove("PML_TRUST").stdin(Stdio::null());
        command.output().unwrap()
    };
    let output = run(&["add", "api", "--url", "https://api.test/mcp"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = run(&["tools", "evil"]);
    assert!(stderr(&output).contains("pml trust"), "{}", stderr(&output));
    assert!(!place.folder().join("owned").exists());
}
