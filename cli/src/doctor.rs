//! `pml doctor`: the status of every server, and how to fix it.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use pml_gateway::{ServerReport, ServerStatus};
use serde::Serialize;

use crate::exit::ExitCode;
use crate::style::Style;
use crate::{config, exit, servers};

/// Start every server and report its status
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml doctor\n  \
    pml doctor --wait 60s                 for servers that start slowly\n  \
    pml doctor --json | jq '.servers[] | select(.state == \"failed\")'\n\n\
    Exit codes: 0 every enabled server works, 1 a server does not work,\n\
    2 wrong usage or configuration.")]
pub struct DoctorArgs {
    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,

    /// How long to wait for each server to start
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = crate::amounts::parse_time)]
    wait: u64,
}

#[derive(Serialize)]
struct Printed<'a> {
    file: Option<&'a Path>,
    servers: &'a [ServerReport],
}

pub fn run(args: &DoctorArgs, config: Option<&Path>) -> ExitCode {
    examine(args, config).unwrap_or_else(exit::usage_error)
}

fn examine(args: &DoctorArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let file = settings.servers.file.clone();
    servers::with_gateway(settings.servers, async |gateway| {
        let servers = gateway.doctor(Duration::from_millis(args.wait)).await;
        let printed = Printed {
            file: file.as_deref(),
            servers: &servers,
        };
        exit::check_pipe(if args.json {
            print_json(&printed)
        } else {
            print(&printed, Style::for_stdout())
        })?;
        let broken = servers
            .iter()
            .any(|report| report.state == ServerStatus::Failed);
        Ok(match broken {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        })
    })
}

fn print_json(printed: &Printed<'_>) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    serde_json::to_writer_pretty(&mut out, printed)?;
    writeln!(out)?;
    out.flush()
}

fn print(printed: &Printed<'_>, style: Style) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    if let Some(file) = printed.file {
        writeln!(out, "{}", style.dim(&file.display().to_string()))?;
    }
    if printed.servers.is_empty() {
        writeln!(
            out,
            "no servers: add one below `mcpServers`, or run `pml init --force`"
        )?;
    }
    let width = printed
        .servers
        .iter()
        .map(|report| report.server.chars().count())
        .max()
        .unwrap_or(0);
    for report in printed.servers {
        let state = match report.state {
            ServerStatus::Ready => style.green("ready   "),
            ServerStatus::Disabled => style.dim("disabled"),
            ServerStatus::Failed => style.red("failed  "),
        };
        let facts = facts(report);
        let line = format!("{:width$}  {state}  {facts}", report.server);
        writeln!(out, "{}", line.trim_end())?;
        let indent = " ".repeat(width);
        if let Some(problem) = &report.problem {
            writeln!(out, "{indent}  {problem}")?;
        }
        for remark in &report.remarks {
            writeln!(out, "{indent}  {}", style.dim(&format!("note: {remark}")))?;
        }
    }
    out.flush()
}

/// The transport, version, tools and times of a server, on one line.
fn facts(report: &ServerReport) -> String {
    let mut facts = vec![report.transport.to_owned()];
    facts.extend(report.address.clone());
    facts.extend(report.protocol.clone());
    facts.extend(report.implementation.clone());
    facts.extend(report.tools.map(|count| match count {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    }));
    facts.extend(report.start_ms.map(|ms| format!("started in {ms} ms")));
    facts.extend(report.ping_ms.map(|ms| format!("ping {ms} ms")));
    facts.join(", ")
}
