//! `pml logs`: what a server of a running `pml serve` wrote to standard error.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;

use super::client::{Answered, ask_all};
use super::{Answer, Request};
use crate::exit;
use crate::exit::ExitCode;

/// Show what a server of a running `pml serve` wrote to standard error
///
/// `pml serve` keeps the last 256 lines of each server, without the secrets of the configuration. Every
/// AI client starts a `pml serve` of its own; the lines of each are shown.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml logs fs            the last 50 lines of the server `fs`\n  \
    pml logs fs -n 5\n  \
    pml logs fs --json     the same, for programs\n\n\
    Exit codes: 0 shown, 1 no running `pml serve` has the server.")]
pub struct LogsArgs {
    /// The name of the server in the configuration
    server: String,

    /// How many lines, from the end
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    lines: usize,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &LogsArgs) -> ExitCode {
    let request = Request::Logs {
        server: args.server.clone(),
        lines: args.lines,
    };
    let printed = ask_all(&request).and_then(|answered| {
        let printed = match args.json {
            true => print_json(&answered),
            false => print_text(&args.server, &answered),
        };
        Ok(exit::check_pipe(printed)?)
    });
    exit::success_or_failure(printed)
}

fn print_json(answered: &[Answered]) -> io::Result<()> {
    let listed: Vec<_> = answered
        .iter()
        .map(|one| json!({ "pid": one.pid, "lines": lines(&one.answer) }))
        .collect();
    writeln!(io::stdout().lock(), "{}", json!(listed))
}

fn print_text(server: &str, answered: &[Answered]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for Answered { pid, answer } in answered {
        if answered.len() > 1 {
            writeln!(out, "# pml serve, process {pid}")?;
        }
        if lines(answer).is_empty() {
            writeln!(out, "`{server}` wrote nothing to standard error")?;
        }
        for line in lines(answer) {
            writeln!(out, "{}", pml_gateway::printable(line))?;
        }
    }
    out.flush()
}

fn lines(answer: &Answer) -> &[String] {
    match answer {
        Answer::Logs(lines) => lines,
        _ => &[],
    }
}
