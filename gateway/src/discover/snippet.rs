//! What a person puts into a client so that it talks to `pml serve`.

use std::path::PathBuf;

use serde_json::json;

use super::client::Client;
use super::home::Home;

/// The words for one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub client: Client,
    /// The file it belongs into.
    pub path: PathBuf,
    /// What to put there.
    pub text: String,
    /// A command of the client that does the same, where it has one.
    pub command: Option<String>,
}

impl Snippet {
    /// `program` and `args` start the gateway, as in `pml serve --config …`.
    ///
    /// A client starts programs in a folder of its own, so `args` had better name the
    /// configuration by its whole path.
    pub fn new(client: Client, home: &Home, program: &str, args: &[String]) -> Self {
        let entry = json!({ "command": program, "args": args });
        let (text, command) = match client {
            Client::ClaudeDesktop | Client::Cursor => {
                (pretty(&json!({ "mcpServers": { "pml": entry } })), None)
            }
            Client::ClaudeCode => (
                pretty(&json!({ "mcpServers": { "pml": entry } })),
                Some(format!(
                    "claude mcp add --scope user pml -- {}",
                    shell_line(program, args)
                )),
            ),
            Client::VsCode => {
                let entry = json!({ "type": "stdio", "command": program, "args": args });
                (pretty(&json!({ "servers": { "pml": entry } })), None)
            }
            Client::Codex => (
                toml_table(program, args),
                Some(format!(
                    "codex mcp add pml -- {}",
                    shell_line(program, args)
                )),
            ),
        };
        let places = client.places(home, None);
        let path = places.into_iter().next().map(|place| place.path);
        Self {
            client,
            path: path.unwrap_or_default(),
            text,
            command,
        }
    }
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}")
}

/// Basic strings of TOML escape as those of JSON do.
fn toml_table(program: &str, args: &[String]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
    format!(
        "[mcp_servers.pml]\ncommand = {}\nargs = [{}]",
        quoted(program),
        args.join(", ")
    )
}

fn shell_line(program: &str, args: &[String]) -> String {
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    words.map(shell_word).collect::<Vec<_>>().join(" ")
}

fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::{Platform, find};
    use std::fs;

    #[test]
    fn every_client_can_read_its_snippet() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(Platform::Linux, folder.path());
        // Not `pml serve`, which is left out on purpose when servers are looked for.
        let args = ["serve-it".to_owned(), "a \"b\" c:\\d".to_owned()];
        for client in Client::ALL {
            let snippet = Snippet::new(client, &home, "/opt/my pml", &args);
            fs::create_dir_all(snippet.path.parent().unwrap()).unwrap();
            fs::write(&snippet.path, &snippet.text).unwrap();
        }
        let found = find(&home, None);
        assert_eq!(found.problems, []);
        let clients: Vec<_> = found
            .servers
            .iter()
            .map(|server| server.source.client)
            .collect();
        assert_eq!(clients, Client::ALL);
        for server in &found.servers {
            assert_eq!(server.name, "pml");
            assert_eq!(server.entry["command"], "/opt/my pml");
            assert_eq!(server.entry["args"], json!(args));
        }
    }

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let home = Home::at(Platform::Linux, "/h");
        let args = [
            "serve".to_owned(),
            "--config".to_owned(),
            "/a b/it's.json".to_owned(),
        ];
        let snippet = Snippet::new(Client::ClaudeCode, &home, "pml", &args);
        assert_eq!(
            snippet.command.unwrap(),
            r"claude mcp add --scope user pml -- pml serve --config '/a b/it'\''s.json'"
        );
    }
}
