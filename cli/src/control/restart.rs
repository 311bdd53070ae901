//! `pml restart`: starts a server of a running `pml serve` anew.

use std::io::{self, Write};

use clap::Args;
use serde_json::{Value, json};

use super::client::{Answered, ask_all};
use super::{Answer, Request};
use crate::exit::ExitCode;
use crate::{diagnostics, exit};

/// Start a server of a running `pml serve` anew
///
/// Calls under way are answered by the old process, which then ends; new calls go to the new one. If that
/// does not start, the old one goes on. Every AI client starts a `pml serve` of its own; the server is
/// restarted in each.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml restart fs\n  \
    pml restart fs --json\n\n\
    Exit codes: 0 restarted, 1 it did not start, or no running `pml serve` has it.")]
pub struct RestartArgs {
    /// The name of the server in the configuration
    server: String,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &RestartArgs) -> ExitCode {
    exit::success_or_failure(restart(args))
}

fn restart(args: &RestartArgs) -> anyhow::Result<()> {
    let server = args.server.clone();
    let answered = ask_all(&Request::Restart { server })?;
    let printed = match args.json {
        true => print_json(&answered),
        false => print_text(&args.server, &answered),
    };
    exit::check_pipe(printed)?;
    let failures = answered.iter().filter(|one| failure(one).is_some()).count();
    anyhow::ensure!(
        failures == 0,
        "`{}` was not restarted; where it was running, it goes on as it was",
        args.server
    );
    Ok(())
}

fn failure(one: &Answered) -> Option<&str> {
    match &one.answer {
        Answer::Failed(reason) => Some(reason),
        _ => None,
    }
}

fn print_json(answered: &[Answered]) -> io::Result<()> {
    let listed: Vec<Value> = answered
        .iter()
        .map(|one| match &one.answer {
            Answer::Restarted { ms } => json!({ "pid": one.pid, "ok": true, "ms": ms }),
            _ => json!({ "pid": one.pid, "ok": false, "problem": failure(one) }),
        })
        .collect();
    writeln!(io::stdout().lock(), "{}", json!(listed))
}

fn print_text(server: &str, answered: &[Answered]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for Answered { pid, answer } in answered {
        match answer {
            Answer::Restarted { ms } => {
                writeln!(out, "restarted `{server}` of process {pid} in {ms} ms")?;
            }
            Answer::Failed(reason) => {
                let reason = pml_gateway::printable(reason);
                diagnostics::error(format_args!("process {pid}: {reason}"));
            }
            _ => {}
        }
    }
    out.flush()
}
