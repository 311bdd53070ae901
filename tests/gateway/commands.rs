//! The commands for servers: `tools`, `call`, `doctor`, `init`, `login` and `logout`.

use std::fs;

use serde_json::{Value, json};

use super::{Place, odd, text, time};

#[test]
fn tools_are_listed_by_server() {
    let place = Place::with_servers(json!({ "odd": odd(&[]), "time": time() }));
    let output = place.run(&["tools"]);
    let listed = text(&output.stdout);
    assert!(output.status.success());
    assert!(
        listed.contains("time (2 tools)\n  time:convert_time"),
        "{listed}"
    );
    assert!(listed.contains("  odd:echo  odd echo"), "{listed}");
    let listed = text(&place.run(&["tools", "time"]).stdout);
    assert!(!listed.contains("odd:"), "{listed}");
    let listed: Value = serde_json::from_slice(&place.run(&["tools", "--json"]).stdout).unwrap();
    assert!(listed["tools"][0]["inputSchema"].is_object(), "{listed:#}");
    let output = place.run(&["tools", "tyme"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("the servers are odd, time"));
}

#[test]
fn one_tool_is_called_without_a_script() {
    let place = Place::with_servers(json!({ "odd": odd(&[]) }));
    let output = place.run(&["call", "odd:echo", r#"{ "text": "hello" }"#]);
    assert_eq!(text(&output.stdout), "hello\n", "{}", text(&output.stderr));
    fs::write(
        place.folder().join("a.json"),
        r#"{ "text": "from a file" }"#,
    )
    .unwrap();
    let output = place.run(&["call", "odd:echo", "@a.json"]);
    assert_eq!(text(&output.stdout), "from a file\n");
    let output = place.run(&["call", "odd:fails"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "error: the disk is full [tool]\n");
    let output = place.run(&["call", "--json", "odd:ecko"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["kind"], "unknown", "{answer:#}");
    let output = place.run(&["call", "odd:echo", "{ text"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn calls_that_a_model_emitted_are_answered_in_its_form() {
    let place = Place::with_servers(json!({ "odd": odd(&[]) }));
    let batch = |file: &str, more: &[&str]| {
        let output = place.run(&[&["call", "--batch", file], more].concat());
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let message = json!({ "role": "assistant", "content": [
        { "type": "text", "text": "I call two tools." },
        { "type": "tool_use", "id": "t1", "name": "odd__echo", "input": { "text": "hello" } },
        { "type": "tool_use", "id": "t2", "name": "mcp__odd__fails", "input": {} } ] });
    fs::write(place.folder().join("message.json"), message.to_string()).unwrap();
    let (code, printed, errors) = batch("message.json", &[]);
    assert_eq!(code, Some(1), "{errors}");
    let answer: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        answer,
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "content": "hello" },
            { "type": "tool_result", "tool_use_id": "t2", "content": "the disk is full [tool]", "is_error": true } ] })
    );

    let (_, printed, _) = batch("message.json", &["--to", "openai"]);
    let answer: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(answer[1]["content"], "Error: the disk is full [tool]");

    let xml = "Now:\n<invoke name=\"echo\"><parameter name=\"text\">12</parameter></invoke>";
    fs::write(place.folder().join("xml.txt"), xml).unwrap();
    let (code, printed, errors) = batch("xml.txt", &[]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(printed.contains("<output>12</output>"), "{printed}");

    fs::write(
        place.folder().join("other.json"),
        r#"{ "tool": "odd:ecko" }"#,
    )
    .unwrap();
    let (code, printed, _) = batch("other.json", &[]);
    assert_eq!(code, Some(1));
    assert!(printed.contains("did you mean `odd:echo`?"), "{printed}");

    for (file, more, reason) in [
        ("none.json", &[][..], "cannot be read"),
        ("xml.txt", &["--from", "gemini"], "neither JSON"),
        ("xml.txt", &["--from", "cohere"], "the formats are"),
    ] {
        let (code, _, errors) = batch(file, more);
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains(reason), "{errors}");
    }
}

#[test]
fn calls_that_a_model_emitted_meet_the_policy_and_can_be_scrubbed() {
    let place = Place::with_servers(json!({ "odd": odd(&[]) }));
    let file = place.folder().join(".mcp.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    config["pml"]["policy"]["ask"] = json!(["odd:fails"]);
    fs::write(&file, config.to_string()).unwrap();
    let calls = json!([
        { "tool": "odd:echo", "args": { "text": "write to jo.doe@acme-mail.com" } },
        { "tool": "odd:fails", "args": {} },
    ]);
    fs::write(place.folder().join("calls.json"), calls.to_string()).unwrap();
    let output = place.run(&["call", "--batch", "calls.json", "--scrub"]);
    let answers: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers[0]["result"], "write to [EMAIL_1]", "{answers:#}");
    let refused = answers[1]["error"].as_str().unwrap();
    assert!(refused.contains("[denied]"), "{refused}");
}

#[test]
fn tools_are_printed_as_a_model_is_offered_them() {
    let place = Place::with_servers(json!({ "odd": odd(&[]) }));
    let printed = |format: &str| -> Value {
        let output = place.run(&["tools", "--format", format]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let has = |tools: &Value, name: &str| {
        let tools = tools.as_array().unwrap();
        tools
            .iter()
            .any(|tool| tool[name] == "odd__echo" || tool["function"][name] == "odd__echo")
    };
    assert!(has(&printed("openai"), "name"));
    assert!(has(&printed("anthropic"), "name"));
    assert!(has(&printed("gemini")[0]["functionDeclarations"], "name"));
    assert!(has(&printed("mcp")["tools"], "name"));
}

#[test]
fn the_doctor_tells_good_from_broken() {
    let place = Place::with_servers(json!({
        "good": time(),
        "broken": odd(&["--crash-at-start"]),
        "missing": { "command": "no-such-program-here" },
    }));
    let output = place.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stdout);
    assert!(
        printed.contains("good     ready     stdio, 20"),
        "{printed}"
    );
    assert!(printed.contains("2 tools"), "{printed}");
    assert!(printed.contains("cannot open the cellar door"), "{printed}");
    assert!(
        printed.contains("`no-such-program-here` was not found: install it"),
        "{printed}"
    );
    let output = place.run(&["doctor", "--json"]);
    let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
    let states: Vec<&Value> = reports["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| &report["state"])
        .collect();
    assert_eq!(states, ["failed", "ready", "failed"]);

    let nothing = Place::empty().run(&["doctor"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(text(&nothing.stderr).contains("run `pml init`"));
}

#[test]
fn init_in_an_empty_home_says_where_it_looked() {
    let place = Place::empty();
    let output = place.run(&["init"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stderr);
    assert!(
        printed.contains(".claude.json") && printed.contains("config.toml"),
        "{printed}"
    );
    assert!(!place.file().exists());
}

#[test]
fn init_takes_over_the_servers_of_claude_code() {
    let place = Place::empty();
    let servers = json!({ "mcpServers": { "odd": odd(&[]) } });
    fs::write(place.home.path().join(".claude.json"), servers.to_string()).unwrap();
    let printed: Value = serde_json::from_slice(&place.run(&["init", "--print"]).stdout).unwrap();
    assert_eq!(printed["mcpServers"]["odd"]["command"], "python3");
    assert!(!place.file().exists());

    let output = place.run(&["init"]);
    let summary = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(summary.contains("odd  (Claude Code)"), "{summary}");
    let file = place.file().display().to_string();
    let command = summary
        .lines()
        .find(|line| line.contains("claude mcp add"))
        .unwrap();
    assert!(
        command.ends_with(&format!("serve --config {file}")),
        "{command}"
    );
    assert_eq!(
        place.result("return await tools.odd.echo({ text: 'taken over' })"),
        "taken over"
    );

    let again = place.run(&["init"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--force"));
    let own = fs::read(place.file()).unwrap();
    assert!(place.run(&["init", "--force"]).status.success());
    assert_eq!(fs::read(place.folder().join(".mcp.json.old")).unwrap(), own);
}

#[test]
fn a_login_is_for_servers_over_http() {
    let place = Place::with_servers(json!({
        "odd": odd(&[]), "api": { "url": "http://127.0.0.1:9/mcp" },
    }));
    let output = place.run(&["login", "odd"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("has no login"));
    let output = place.run(&["logout", "api"]);
    assert_eq!(text(&output.stdout), "there was no login to api\n");
    let output = place.run(&["logout", "apy"]);
    assert!(text(&output.stderr).contains("the servers are api, odd"));
}
