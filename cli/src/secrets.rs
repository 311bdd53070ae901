//! `pml secrets`: the references to secrets in a configuration, and whether they can be read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use pml_credentials::Reference;
use serde_json::json;

use crate::exit::ExitCode;
use crate::{config, exit};

/// Check the secrets that the configuration names
///
/// Lists every reference such as ${secret:file//run/secrets/token}, the servers that use it, and whether
/// its source has a value. Values are never printed.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml secrets           which secrets are used, and whether they can be read\n  \
    pml secrets --json    the same, for programs\n\n\
    In .mcp.json:\n  \
    \"env\": { \"GITHUB_TOKEN\": \"${secret:op://Private/GitHub/token}\" }\n\n\
    Sources: env/NAME, file/PATH, keyring/SERVICE/ACCOUNT, op://VAULT/ITEM/FIELD,\n\
    vault/PATH#FIELD, exec/PROGRAM ARGUMENTS.\n\
    Exit codes: 0 all can be read, 1 one cannot, 2 wrong usage or configuration.")]
pub struct SecretsArgs {
    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// One reference, as it is printed.
struct Checked {
    reference: Reference,
    servers: BTreeSet<String>,
    problem: Option<String>,
}

pub fn run(args: &SecretsArgs, config: Option<&Path>) -> ExitCode {
    check(args, config).unwrap_or_else(exit::usage_error)
}

fn check(args: &SecretsArgs, named: Option<&Path>) -> anyhow::Result<ExitCode> {
    let servers = config::require(named)?.servers;
    let mut used: BTreeMap<Reference, BTreeSet<String>> = BTreeMap::new();
    // What is not trusted, or is off, is not read.
    let usable = servers.servers.values();
    for server in usable.filter(|server| server.endpoint.is_ok() && !server.disabled) {
        for reference in &server.references {
            let users = used.entry(reference.clone()).or_default();
            users.insert(server.name.clone());
        }
    }
    let credentials = servers.credentials()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let checked: Vec<Checked> = runtime.block_on(async {
        let mut checked = Vec::new();
        for (reference, servers_with) in used {
            let problem = credentials.get(&reference).await.err().map(|error| {
                let text = error.to_string();
                servers.secrets().hide_for_people(text).into_owned()
            });
            checked.push(Checked {
                reference,
                servers: servers_with,
                problem,
            });
        }
        checked
    });
    exit::check_pipe(match args.json {
        true => print_json(&checked),
        false => print_text(&checked),
    })?;
    Ok(
        match checked.iter().all(|secret| secret.problem.is_none()) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        },
    )
}

fn print_json(checked: &[Checked]) -> io::Result<()> {
    let listed: Vec<_> = checked
        .iter()
        .map(|secret| {
            json!({
                "reference": secret.reference.to_string(),
                "servers": secret.servers,
                "ok": secret.problem.is_none(),
                "problem": secret.problem,
            })
        })
        .collect();
    writeln!(io::stdout().lock(), "{}", json!(listed))
}

fn print_text(checked: &[Checked]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if checked.is_empty() {
        return writeln!(
            out,
            "no server names a secret; write for example \"env\": {{ \"TOKEN\": \"${{secret:env/TOKEN}}\" }}"
        );
    }
    for secret in checked {
        let servers: Vec<&str> = secret.servers.iter().map(String::as_str).collect();
        let state = secret.problem.as_deref().unwrap_or("ok");
        writeln!(
            out,
            "{}  ({}): {state}",
            secret.reference,
            servers.join(", ")
        )?;
    }
    out.flush()
}
