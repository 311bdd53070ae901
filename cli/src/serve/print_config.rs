//! The configuration by which each client starts `pml serve`, or connects to it over HTTP.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use pml_gateway::Config;
use pml_gateway::config::{ConfigFile, ConfigOrigin};
use pml_server::ListenAddress;
use serde_json::{Value, json};

use crate::exit::ExitCode;
use crate::{diagnostics, exit};

/// The clients whose configuration we know.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClientName {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Codex,
}

pub fn print(
    client: ClientName,
    config: Option<&Path>,
    http: Option<&ListenAddress>,
) -> anyhow::Result<ExitCode> {
    let text = match http {
        Some(address) => http_snippet(client, address)?,
        None => stdio_snippet(client, config)?,
    };
    let mut out = std::io::stdout().lock();
    exit::check_pipe(writeln!(out, "{text}").and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}

fn stdio_snippet(client: ClientName, config: Option<&Path>) -> anyhow::Result<String> {
    let program = std::env::current_exe()?;
    let mut args = vec!["serve".to_owned()];
    match Config::locate(config, Path::new("")) {
        // It is found from every folder.
        Ok(ConfigFile {
            origin: ConfigOrigin::User,
            ..
        }) => {}
        Ok(ConfigFile { path, .. }) => {
            // The client starts us in a folder of its own choice.
            let path = std::path::absolute(path)?;
            args.extend(["--config".to_owned(), path.display().to_string()]);
        }
        Err(missing) => diagnostics::warning(format_args!(
            "this entry starts pml without a server: {missing}"
        )),
    }
    Ok(snippet(client, &program.display().to_string(), &args))
}

/// The entry for a server over HTTP. The token itself stays out of it: clients expand the variable.
fn http_snippet(client: ClientName, address: &ListenAddress) -> anyhow::Result<String> {
    let ListenAddress::Tcp(_) = address else {
        anyhow::bail!(
            "no client connects to a Unix socket by itself: name ADDRESS:PORT, or start pml over stdio"
        );
    };
    let url = address.to_string();
    let entry = |token: &str| {
        json!({
            "type": "http", "url": url,
            "headers": { "Authorization": format!("Bearer {token}") },
        })
    };
    Ok(match client {
        ClientName::ClaudeDesktop | ClientName::ClaudeCode => {
            pretty(&json!({ "mcpServers": { "pml": entry("${PML_TOKEN}") } }))
        }
        ClientName::Cursor => {
            pretty(&json!({ "mcpServers": { "pml": entry("${env:PML_TOKEN}") } }))
        }
        ClientName::Vscode => pretty(&json!({
            "inputs": [{
                "type": "promptString", "id": "pml-token", "password": true,
                "description": "The token of pml serve",
            }],
            "servers": { "pml": entry("${input:pml-token}") },
        })),
        ClientName::Codex => format!(
            "[mcp_servers.pml]\nurl = {}\nbearer_token_env_var = \"PML_TOKEN\"",
            json!(url)
        ),
    })
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
    fn a_client_over_http_gets_the_header_and_not_the_token() {
        let address: ListenAddress = "127.0.0.1:8080".parse().unwrap();
        for client in ClientName::value_variants() {
            let text = http_snippet(*client, &address).unwrap();
            assert!(text.contains("http://127.0.0.1:8080/mcp"), "{text}");
            assert!(
                text.contains("PML_TOKEN") || text.contains("${input:pml-token}"),
                "{text}"
            );
        }
        let socket: ListenAddress = "unix:/tmp/pml.sock".parse().unwrap();
        assert!(http_snippet(ClientName::Cursor, &socket).is_err());
    }

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
