//! The configuration by which each client starts `pml serve`.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::exit;
use crate::exit::ExitCode;

/// The clients whose configuration we know.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClientName {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Codex,
}

pub fn print(client: ClientName, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe()?;
    let mut args = vec!["serve".to_owned()];
    if let Some(config) = config {
        // The client starts us in a folder of its own choice.
        let config = std::path::absolute(config)?;
        args.extend(["--config".to_owned(), config.display().to_string()]);
    }
    let text = snippet(client, &program.display().to_string(), &args);
    let mut out = std::io::stdout().lock();
    exit::check_pipe(writeln!(out, "{text}").and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}

fn snippet(client: ClientName, program: &str, args: &[String]) -> String {
    let entry = json!({ "command": program, "args": args });
    match client {
        ClientName::ClaudeDesktop | ClientName::ClaudeCode | ClientName::Cursor => {
            pretty(&json!({ "mcpServers": { "pml": entry } }))
        }
        ClientName::Vscode => {
            let entry = json!({ "type": "stdio", "command": program, "args": args });
            pretty(&json!({ "servers": { "pml": entry } }))
        }
        ClientName::Codex => {
            // Strings of JSON are strings of TOML.
            let args: Vec<String> = args.iter().map(|arg| json!(arg).to_string()).collect();
            format!(
                "[mcp_servers.pml]\ncommand = {}\nargs = [{}]",
                json!(program),
                args.join(", ")
            )
        }
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_gets_the_form_it_reads() {
        let args = [
            "serve".to_owned(),
            "--config".to_owned(),
            "/a \"b\".json".to_owned(),
        ];
        for client in ClientName::value_variants() {
            let text = snippet(*client, "/usr/bin/pml", &args);
            let entry = match client {
                ClientName::Codex => {
                    assert!(text.starts_with("[mcp_servers.pml]\ncommand = \"/usr/bin/pml\"\n"));
                    assert!(
                        text.contains(r#"args = ["serve", "--config", "/a \"b\".json"]"#),
                        "{text}"
                    );
                    continue;
                }
                ClientName::Vscode => {
                    serde_json::from_str::<Value>(&text).unwrap()["servers"]["pml"].clone()
                }
                _ => serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["pml"].clone(),
            };
            assert_eq!(entry["command"], "/usr/bin/pml");
            assert_eq!(entry["args"], json!(args));
        }
    }
}
