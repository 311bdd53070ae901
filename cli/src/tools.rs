//! `pml tools`: lists the tools of the servers.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use pml_gateway::{Gateway, Listing, RefusedTool, Tool};
use serde::Serialize;

use crate::exit::ExitCode;
use crate::style::Style;
use crate::tool_cache::ToolCache;
use crate::{config, diagnostics, exit, servers};

/// How long each server has to start and to list its tools.
pub const LISTING_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum tools that are named as refused.
const MAX_REFUSED: usize = 20;
/// Maximum characters of a description on its line.
const SUMMARY_CHARS: usize = 72;

/// List the tools of all servers, or of one
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml tools                 all tools, by server\n  \
    pml tools fs              the tools of the server `fs`\n  \
    pml tools --json | jq -r '.tools[].id'\n\n\
    Exit codes: 0 ok, 1 a server could not be listed, 2 wrong usage or configuration.")]
pub struct ToolsArgs {
    /// The name of a configured server
    server: Option<String>,

    /// Print the result as JSON on standard output
    ///
    /// Tools are printed with their schemas.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &ToolsArgs, config: Option<&Path>) -> ExitCode {
    list(args, config).unwrap_or_else(exit::usage_error)
}

fn list(args: &ToolsArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let cache = ToolCache::for_settings(&settings);
    servers::with_gateway(settings.servers, async |gateway| {
        if let Some(server) = &args.server {
            check_name(gateway, server)?;
        }
        let listing = gateway.list(args.server.as_deref(), LISTING_TIMEOUT).await;
        if args.server.is_none() {
            cache.save_tools(&listing.tools, &listing.problems);
        }
        let printed = if args.json {
            print_json(&listing)
        } else {
            print(&listing)
        };
        exit::check_pipe(printed)?;
        if gateway.servers().next().is_none() {
            diagnostics::warning("the configuration has no servers; add one below `mcpServers`");
        }
        for (server, problem) in &listing.problems {
            diagnostics::warning(format_args!("server `{server}`: {problem}"));
        }
        for RefusedTool { tool, reason } in listing.refused.iter().take(MAX_REFUSED) {
            diagnostics::warning(format_args!("the tool `{tool}` cannot be used: {reason}"));
        }
        if listing.refused.len() > MAX_REFUSED {
            let more = listing.refused.len() - MAX_REFUSED;
            diagnostics::warning(format_args!("{more} more tools cannot be used"));
        }
        Ok(match listing.problems.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    })
}

/// Fails for a server that is not configured: it must not look like a server without tools.
pub fn check_name(gateway: &Gateway, name: &str) -> anyhow::Result<()> {
    if gateway.servers().any(|server| server == name) {
        return Ok(());
    }
    let known: Vec<&str> = gateway.servers().collect();
    if known.is_empty() {
        bail!("there is no server `{name}`: the configuration has no servers");
    }
    bail!(
        "there is no server `{name}`; the servers are {}",
        known.join(", ")
    )
}

fn print(listing: &Listing) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    let mut server = None;
    for tool in &listing.tools {
        if server != Some(tool.id.server()) {
            let count = listing
                .tools
                .iter()
                .filter(|other| other.id.server() == tool.id.server())
                .count();
            let gap = if server.is_some() { "\n" } else { "" };
            let tools = if count == 1 { "tool" } else { "tools" };
            writeln!(out, "{gap}{} ({count} {tools})", tool.id.server())?;
            server = Some(tool.id.server());
        }
        writeln!(out, "  {}  {}", tool.id, summary(&tool.description))?;
    }
    out.flush()
}

/// The first line of a description, cut between words.
fn summary(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default().trim();
    if line.chars().count() <= SUMMARY_CHARS {
        return line.to_owned();
    }
    let cut: String = line.chars().take(SUMMARY_CHARS).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head);
    format!("{cut} …")
}

#[derive(Serialize)]
struct Printed<'a> {
    tools: &'a [Arc<Tool>],
    problems: Vec<PrintedProblem<'a>>,
    refused: &'a [RefusedTool],
}

#[derive(Serialize)]
struct PrintedProblem<'a> {
    server: &'a str,
    message: String,
}

fn print_json(listing: &Listing) -> io::Result<()> {
    let printed = Printed {
        tools: &listing.tools,
        problems: listing
            .problems
            .iter()
            .map(|(server, problem)| PrintedProblem {
                server,
                message: problem.to_string(),
            })
            .collect(),
        refused: &listing.refused,
    };
    let mut out = Style::escaped_stdout();
    serde_json::to_writer_pretty(&mut out, &printed)?;
    writeln!(out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_becomes_one_short_line() {
        assert_eq!(summary("  Reads a file.\nThen more."), "Reads a file.");
        let long = summary(&"word ".repeat(40));
        assert!(
            long.ends_with("word …") && long.chars().count() <= SUMMARY_CHARS + 2,
            "{long}"
        );
    }
}
