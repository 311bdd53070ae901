//! `pml policy`: one decision function for every way to a tool.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::serve::driver::{HttpServer, envelope};
use crate::serve::http::stateless;
use crate::support::repository;

const POLICY: &str = r#"@id("readers")
permit(principal, action in Action::"call", resource) when { resource.effect == "read" };

@id("writes-below-tmp")
permit(principal, action == Action::"s:write_file", resource) when { context.args.path like "/tmp/*" };

@id("no-dotfiles") @message("dot files are private")
forbid(principal, action in Action::"call", resource)
when { context.args has path && context.args.path like "*/.*" };

@id("mail-with-approval") @approve("true")
permit(principal, action == Action::"s:send_mail", resource);
"#;

fn tool(name: &str, read_only: bool) -> Value {
    json!({
        "name": name, "description": format!("{name} of a file or a mail"),
        "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] },
        "annotations": { "readOnlyHint": read_only, "destructiveHint": false },
    })
}

/// A folder with a server `s` of four tools, and a policy file.
fn place(policy: &str) -> Place {
    let place = Place::empty();
    let script = repository().join("tests/lock/changing.py");
    let tools = [
        tool("read_file", true),
        tool("write_file", false),
        tool("send_mail", false),
        tool("drop_table", false),
    ];
    let server =
        json!({ "command": "python3", "args": [script, "server.json"], "trust": "annotations" });
    let config = json!({
        "mcpServers": { "s": server },
        "pml": { "policy": { "file": "policy.cedar" } }
    });
    fs::write(place.file(), format!("{config:#}")).unwrap();
    fs::write(
        place.folder().join("server.json"),
        json!({ "tools": tools }).to_string(),
    )
    .unwrap();
    fs::write(place.folder().join("policy.cedar"), policy).unwrap();
    place
}

/// The calls that have reached the server.
fn calls(place: &Place) -> String {
    fs::read_to_string(place.folder().join("server.json.calls")).unwrap_or_default()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn error(place: &Place, script: &str) -> Value {
    place.script(script)["error"].clone()
}

#[test]
fn a_principal_sees_what_it_may_call_and_nothing_else() {
    let place = place(POLICY);
    let listed = text(&place.run(&["tools"]));
    let types = text(&place.run(&["types"]));
    let found = place
        .result("return (await searchTools('of a file or a mail')).map(hit => hit.name).sort()");
    assert_eq!(found, json!(["read_file", "send_mail", "write_file"]));
    for (name, is_seen) in [
        ("read_file", true),
        ("write_file", true),
        ("send_mail", true),
        ("drop_table", false),
    ] {
        assert_eq!(listed.contains(name), is_seen, "{name}: {listed}");
        assert_eq!(types.contains(name), is_seen, "{name}: {types}");
    }
    let script = "await callTool('s:drop_table', { path: 'a' })";
    fs::write(place.folder().join("drop.ts"), script).unwrap();
    let checked = place.run(&["check", "drop.ts"]);
    assert!(text(&checked).contains("drop_table"), "{}", text(&checked));
    assert_eq!(checked.status.code(), Some(1));
    let described = error(&place, "return await describeTool('s:drop_table')");
    assert_eq!(described["kind"], "denied", "{described}");
}

#[test]
fn a_denied_call_names_the_policy_and_does_not_reach_the_server() {
    let place = place(POLICY);
    for (script, words) in [
        (
            "return await tools.s.drop_table({ path: 'a' })",
            "no policy permits it to `local`",
        ),
        (
            "return await tools.s.write_file({ path: '/etc/a' })",
            "no policy permits it",
        ),
        (
            "return await tools.s.write_file({ path: '/tmp/.env' })",
            "the policy `no-dotfiles` (policy.cedar:7) forbids it: dot files are private",
        ),
        ("return await tools.s.send_mail({ path: 'a' })", "approv"),
    ] {
        for flags in [&[][..], &["--dry-run"]] {
            let envelope = place.script_with(flags, script);
            let error = &envelope["error"];
            assert_eq!(error["kind"], "denied", "{flags:?} {script}: {envelope:#}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(words), "{flags:?} {script}: {message}");
        }
    }
    assert_eq!(calls(&place), "");
    let written = place.result("return await tools.s.write_file({ path: '/tmp/a' })");
    assert_eq!(written, json!({ "path": "/tmp/a" }));
    assert_eq!(
        calls(&place),
        "write_file: write_file of a file or a mail\n"
    );
}

#[test]
fn globs_narrow_what_a_policy_file_permits() {
    let place = place(POLICY);
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    config["pml"]["policy"]["deny"] = json!(["*:read_*"]);
    config["pml"]["policy"]["allow"] = json!(["s:*_file", "s:drop_table"]);
    fs::write(place.file(), config.to_string()).unwrap();
    let refused = error(&place, "return await tools.s.read_file({ path: 'a' })");
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("denies `*:read_*`"),
        "{refused}"
    );
    let refused = error(&place, "return await tools.s.drop_table({ path: 'a' })");
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("no policy permits"),
        "{refused}"
    );
    let refused = error(&place, "return await tools.s.send_mail({ path: 'a' })");
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("not among the tools"),
        "{refused}"
    );
}

#[test]
fn a_token_has_the_rights_of_its_name() {
    let (alice, bob) = ("token-of-alice-0123456789", "token-of-bob-9876543210");
    // The first bytes of the SHA-256 of the token: `printf %s TOKEN | sha256sum | cut -c1-12`.
    let name_of = |token: &str| {
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("printf %s {token} | sha256sum | cut -c1-12")])
            .output()
            .unwrap();
        format!("token-{}", String::from_utf8(output.stdout).unwrap().trim())
    };
    let policy = format!(
        "permit(principal == Principal::\"{}\", action in Action::\"call\", resource in Server::\"s\");",
        name_of(alice)
    );
    let place = place(&policy);
    let file = place.folder().join("tokens");
    fs::write(&file, format!("{alice}\n{bob}\n")).unwrap();
    let mut command = place.command(&["serve", "--http", "127.0.0.1:0", "--log-format", "json"]);
    command.arg("--token-file").arg(&file);
    let server = HttpServer::start(command);
    let ask = |token: &str, method: &str, params: Value| {
        let (headers, body) = stateless(method, params);
        let authorization = format!("Bearer {token}");
        let mut headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        headers.push(("Authorization", &authorization));
        let (status, head, body) = server.post(&headers, &body);
        assert_eq!(status, 200, "{head}\n{body}");
        serde_json::from_str::<Value>(&body).unwrap()["result"].clone()
    };
    let run = |token: &str, code: &str| {
        let params = json!({ "name": "execute_code", "arguments": { "code": code } });
        envelope(&ask(token, "tools/call", params))
    };
    let code = "return await tools.s.read_file({ path: 'a' })";
    assert_eq!(run(alice, code)["result"], json!({ "path": "a" }));
    assert_eq!(run(bob, code)["error"]["kind"], "denied");
    let search = "return (await searchTools('of a file or a mail')).length";
    assert_eq!(run(alice, search)["result"], 4);
    assert_eq!(run(bob, search)["result"], 0);
    let roster = |token| ask(token, "tools/list", json!({}))["tools"][0]["description"].to_string();
    assert!(roster(alice).contains("s 4"), "{}", roster(alice));
    assert!(!roster(bob).contains("s 4"), "{}", roster(bob));
}

#[test]
fn a_policy_file_with_a_mistake_refuses_the_start_in_one_sentence() {
    for (policy, words) in [
        ("permit(principal, action, resource", "policy.cedar:1:"),
        (
            "permit(principal, action == Action::\"call\", resource);",
            "write `action in Action::\"call\"`",
        ),
        (
            "permit(principal, action in Action::\"call\", resource) when { resource.efect == \"read\" };",
            "efect",
        ),
    ] {
        let place = place(policy);
        for args in [
            &["run", "-e", "return 1"][..],
            &["serve"],
            &["tools"],
            &["call", "s:read_file"],
        ] {
            let output = place.run(args);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
            assert!(said.contains(words), "{args:?}: {said}");
            assert_eq!(said.trim().lines().count(), 1, "{args:?}: {said}");
        }
        assert_eq!(calls(&place), "");
    }
    let place = place(POLICY);
    fs::remove_file(place.folder().join("policy.cedar")).unwrap();
    let output = place.run(&["run", "-e", "return 1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("`pml.policy.file`"),
        "{}",
        text(&output)
    );
}

#[test]
fn check_finds_arguments_that_no_tool_has() {
    let place = place(POLICY);
    let output = place.run(&["policy", "check"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(
        text(&output).contains("4 policies, no mistake"),
        "{}",
        text(&output)
    );
    let wrong = "permit(principal, action == Action::\"s:write_file\", resource)\nwhen { context.args.pth == \"a\" };";
    fs::write(place.folder().join("policy.cedar"), wrong).unwrap();
    let output = place.run(&["policy", "check", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["mistakes"][0]["line"], 2, "{report}");
    assert!(
        report["mistakes"][0]["message"]
            .as_str()
            .unwrap()
            .contains("pth"),
        "{report}"
    );
}

#[test]
fn explain_shows_the_policy_and_the_line_that_decided() {
    let place = place(POLICY);
    let explain = |args: &[&str]| place.run(&[&["policy", "explain"][..], args].concat());
    let output = explain(&["local", "s:write_file", r#"{"path":"/tmp/.env"}"#]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output);
    assert!(
        shown.contains("deny  s:write_file (guarded) for local"),
        "{shown}"
    );
    assert!(
        shown.contains("by `no-dotfiles` (policy.cedar:7)"),
        "{shown}"
    );
    assert!(shown.contains("dot files are private"), "{shown}");
    let output = explain(&["local", "s:read_file", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let decision: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(decision["verdict"], "permit");
    assert_eq!(decision["by"][0]["id"], "readers", "{decision}");
    assert_eq!(decision["by"][0]["origin"]["file"]["line"], 1, "{decision}");
    let output = explain(&["ci", "s:send_mail", "{}"]);
    assert!(
        text(&output).starts_with("ask  s:send_mail"),
        "{}",
        text(&output)
    );
    assert_eq!(explain(&["ci", "s:send_mail", "[]"]).status.code(), Some(2));
}

#[test]
fn the_example_of_the_documentation_holds() {
    let example = repository().join("examples/policy");
    let place = Place::empty();
    for entry in fs::read_dir(&example).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, place.folder().join(file.file_name().unwrap())).unwrap();
    }
    let tested = place.run(&[
        "--config",
        "servers.json",
        "policy",
        "test",
        "policy.tests.json",
    ]);
    assert_eq!(tested.status.code(), Some(0), "{}", text(&tested));
    assert!(
        text(&tested).contains("decisions as expected"),
        "{}",
        text(&tested)
    );
    let expected = place.folder().join("policy.tests.json");
    let changed = fs::read_to_string(&expected)
        .unwrap()
        .replace("\"deny\"", "\"permit\"");
    fs::write(&expected, changed).unwrap();
    let tested = place.run(&[
        "--config",
        "servers.json",
        "policy",
        "test",
        "policy.tests.json",
        "--json",
    ]);
    assert_eq!(tested.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&tested.stdout).unwrap();
    assert!(
        !report["differences"].as_array().unwrap().is_empty(),
        "{report}"
    );
    let page = fs::read_to_string(repository().join("docs/policy.md")).unwrap();
    let policy = fs::read_to_string(example.join("policy.cedar")).unwrap();
    for part in policy.split("\n\n").filter(|part| part.contains("@id")) {
        assert!(page.contains(part.trim()), "docs/policy.md lacks:\n{part}");
    }
}

#[test]
fn the_schema_describes_the_arguments_of_every_tool() {
    let place = place(POLICY);
    let output = place.run(&["policy", "schema"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let schema = text(&output);
    assert!(
        schema.contains("action \"s:write_file\" in [call]"),
        "{schema}"
    );
    assert!(schema.contains("args: { \"path\": String }"), "{schema}");
}
