//! Configuration of a client that makes it use `pml serve`.

use std::path::PathBuf;

use serde_json::json;

use crate::client::Client;
use crate::client_dirs::ClientDirs;

/// The configuration of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The client.
    pub client: Client,
    /// The file that the text belongs in.
    pub path: PathBuf,
    /// The text: JSON, or TOML for Codex.
    pub text: String,
    /// The client's own command for it, if it has one.
    pub command: Option<String>,
}

impl Snippet {
    /// `program` and `args` start the gateway, for example `pml serve --config …`.
    ///
    /// A client starts programs in a working directory of its choice, so `args` should name the
    /// configuration by its absolute path.
    pub fn new(client: Client, dirs: &ClientDirs, program: &str, args: &[String]) -> Self {
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
        let places = client.config_files(dirs, None);
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

/// TOML basic strings have the same escapes as JSON strings.
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
    use crate::find;
    use pml_files::Platform;
    use std::fs;

    #[test]
    fn every_client_can_read_its_snippet() {
        let folder = tempfile::tempdir().unwrap();
        let dirs = ClientDirs::at(Platform::Linux, folder.path());
        // Not `pml serve`, which `find` leaves out.
        let args = ["serve-it".to_owned(), "a \"b\" c:\\d".to_owned()];
        for client in Client::ALL {
            let snippet = Snippet::new(client, &dirs, "/opt/my pml", &args);
            fs::create_dir_all(snippet.path.parent().unwrap()).unwrap();
            fs::write(&snippet.path, &snippet.text).unwrap();
        }
        let found = find(&dirs, None);
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
        let dirs = ClientDirs::at(Platform::Linux, "/h");
        let args = [
            "serve".to_owned(),
            "--config".to_owned(),
            "/a b/it's.json".to_owned(),
        ];
        let snippet = Snippet::new(Client::ClaudeCode, &dirs, "pml", &args);
        assert_eq!(
            snippet.command.unwrap(),
            r"claude mcp add --scope user pml -- pml serve --config '/a b/it'\''s.json'"
        );
    }
}
