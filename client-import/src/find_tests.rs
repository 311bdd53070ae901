use super::*;
use pml_files::Platform;
use serde_json::json;
use tempfile::TempDir;

struct Machine {
    folder: TempDir,
    platform: Platform,
}

impl Machine {
    fn new(platform: Platform) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            platform,
        }
    }

    fn with(self, path: &str, text: &str) -> Self {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn find(&self) -> Found {
        let dirs = ClientDirs::at(self.platform, self.folder.path().join("home"));
        find(&dirs, Some(&self.project()))
    }
}

fn names(found: &Found) -> Vec<(&str, Client, Scope)> {
    found
        .servers
        .iter()
        .map(|server| {
            (
                server.name.as_str(),
                server.source.client,
                server.source.scope,
            )
        })
        .collect()
}

#[test]
fn a_machine_without_clients_has_no_servers_and_no_problems() {
    assert_eq!(Machine::new(Platform::Linux).find(), Found::default());
}

#[test]
fn servers_of_every_client_are_found() {
    let entry = r#"{"command": "x"}"#;
    let machine = Machine::new(Platform::Linux)
        .with(
            "home/.config/Claude/claude_desktop_config.json",
            &format!(r#"{{"mcpServers": {{"desktop": {entry}}}}}"#),
        )
        .with(
            "home/.claude.json",
            &format!(r#"{{"numStartups": 3, "mcpServers": {{"code": {entry}}}}}"#),
        )
        .with(
            "project/.mcp.json",
            &format!(r#"{{"mcpServers": {{"code-project": {entry}}}}}"#),
        )
        .with(
            "home/.cursor/mcp.json",
            &format!(r#"{{"mcpServers": {{"cursor": {entry}}}}}"#),
        )
        .with(
            "project/.cursor/mcp.json",
            &format!(r#"{{"mcpServers": {{"cursor-project": {entry}}}}}"#),
        )
        .with(
            "home/.config/Code/User/mcp.json",
            &format!(r#"{{"servers": {{"vscode": {entry}}}}}"#),
        )
        .with(
            "home/.config/Code/User/settings.json",
            &format!(r#"{{"mcp": {{"servers": {{"vscode-old": {entry}}}}}}}"#),
        )
        .with(
            "project/.vscode/mcp.json",
            &format!(r#"{{"servers": {{"vscode-project": {entry}}}}}"#),
        )
        .with(
            "home/.codex/config.toml",
            "[mcp_servers.codex]\ncommand = \"x\"\n",
        )
        .with(
            "project/.codex/config.toml",
            "[mcp_servers.codex-project]\ncommand = \"x\"\n",
        );
    let found = machine.find();
    assert_eq!(found.problems, []);
    assert_eq!(
        names(&found),
        [
            ("desktop", Client::ClaudeDesktop, Scope::User),
            ("code-project", Client::ClaudeCode, Scope::Project),
            ("code", Client::ClaudeCode, Scope::User),
            ("cursor-project", Client::Cursor, Scope::Project),
            ("cursor", Client::Cursor, Scope::User),
            ("vscode-project", Client::VsCode, Scope::Project),
            ("vscode", Client::VsCode, Scope::User),
            ("vscode-old", Client::VsCode, Scope::User),
            ("codex-project", Client::Codex, Scope::Project),
            ("codex", Client::Codex, Scope::User),
        ]
    );
}

#[test]
fn the_folders_of_macos_and_windows_are_looked_at() {
    for (platform, folder) in [
        (Platform::MacOs, "home/Library/Application Support"),
        (Platform::Windows, "home/AppData/Roaming"),
    ] {
        let machine = Machine::new(platform)
            .with(
                &format!("{folder}/Claude/claude_desktop_config.json"),
                r#"{"mcpServers": {"a": {"command": "x"}}}"#,
            )
            .with(
                &format!("{folder}/Code/User/mcp.json"),
                r#"{"servers": {"b": {"url": "http://x"}}}"#,
            );
        assert_eq!(machine.find().servers.len(), 2, "{platform:?}");
    }
}

#[test]
fn comments_trailing_commas_and_a_byte_order_mark_do_not_matter() {
    let machine = Machine::new(Platform::Linux).with(
        "project/.vscode/mcp.json",
        "\u{feff}{\n  // ours\n  \"servers\": { \"a\": { \"command\": \"x\", /* none */ \"args\": [], }, },\n}\n",
    );
    let found = machine.find();
    assert_eq!(found.problems, []);
    assert_eq!(found.servers[0].name, "a");
}

#[test]
fn only_the_servers_of_this_project_are_taken_from_claude_code() {
    let machine = Machine::new(Platform::Linux);
    let project = machine.project().to_string_lossy().into_owned();
    let file = json!({"projects": {
        project: {"mcpServers": {"here": {"command": "x"}}},
        "/somewhere/else": {"mcpServers": {"there": {"command": "x"}}},
    }});
    let found = machine.with("home/.claude.json", &file.to_string()).find();
    assert_eq!(
        names(&found),
        [("here", Client::ClaudeCode, Scope::Project)]
    );
}

#[test]
fn one_broken_file_does_not_hide_the_others() {
    let machine = Machine::new(Platform::Linux)
        .with("home/.cursor/mcp.json", r#"{"mcpServers": {"#)
        .with("home/.codex/config.toml", "[mcp_servers.codex")
        .with("home/.config/Code/User/mcp.json", r#"{"servers": []}"#)
        .with(
            "home/.claude.json",
            r#"{"mcpServers": {"good": {"command": "x"}, "bad": {"port": 1}}}"#,
        );
    let found = machine.find();
    assert_eq!(names(&found), [("good", Client::ClaudeCode, Scope::User)]);
    let problems: Vec<_> = found
        .problems
        .iter()
        .map(|problem| (problem.source.client, problem.message.as_str()))
        .collect();
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert_eq!(
        problems[0],
        (
            Client::ClaudeCode,
            "`bad` has neither a `command` nor a `url`"
        )
    );
    assert!(problems[1].1.starts_with("not valid JSON"), "{problems:?}");
    assert_eq!(problems[2], (Client::VsCode, "`servers` is not an object"));
    assert_eq!(problems[3].0, Client::Codex);
}

#[test]
fn an_empty_file_has_no_servers() {
    let found = Machine::new(Platform::Linux)
        .with("home/.cursor/mcp.json", "")
        .find();
    assert_eq!(found, Found::default());
}

#[test]
fn pml_itself_is_not_a_server_behind_pml() {
    let machine = Machine::new(Platform::Linux).with(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"pml": {"command": "/usr/bin/pml", "args": ["serve"]}, "a": {"command": "pml-like", "args": ["serve"]}}}"#,
    );
    assert_eq!(names(&machine.find()), [("a", Client::Cursor, Scope::User)]);
}

#[test]
fn steps_that_the_user_has_to_do_are_noted() {
    let machine = Machine::new(Platform::Linux).with(
        "project/.vscode/mcp.json",
        r#"{"inputs": [{"id": "key"}], "servers": {"a": {"command": "x", "env": {"KEY": "${input:key}"}, "envFile": ".env"}}}"#,
    );
    let found = machine.find();
    let server = &found.servers[0];
    assert_eq!(server.entry["env"]["KEY"], "${KEY}");
    assert!(!server.entry.contains_key("envFile"));
    assert_eq!(server.notes.len(), 2, "{:?}", server.notes);
}

#[test]
fn two_spellings_of_one_server_are_one() {
    let machine = Machine::new(Platform::Linux)
        .with(
            "home/.claude.json",
            r#"{"mcpServers": {"fs": {"type": "stdio", "command": "x", "args": [], "env": {}}}}"#,
        )
        .with(
            "home/.codex/config.toml",
            "[mcp_servers.fs]\ncommand = \"x\"\n",
        );
    let merged = crate::merge(machine.find());
    assert_eq!(merged.len(), 1, "{merged:?}");
}
