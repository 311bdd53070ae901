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
