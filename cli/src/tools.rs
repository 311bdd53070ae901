//! `pml tools`: lists the tools of the servers, and shows the rules of one.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, Subcommand};
use pml_gateway::policy::globs::ToolGlob;
use pml_gateway::{Effect, EffectSource, Gateway, Listing, RefusedTool, Tool};
use pml_protocol::EffectClass;
use pml_provider_formats::{DefinitionFormat, ToolDefinition, ToolNames, definitions};
use serde::Serialize;

use crate::exit::ExitCode;
use crate::style::Style;
use crate::tool_cache::ToolCache;
use crate::{config, diagnostics, exit, servers, tool_rules};

/// How long each server has to start and to list its tools.
pub const LISTING_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum tools that are named as refused.
const MAX_REFUSED: usize = 20;
/// Maximum characters of a description on its line.
const SUMMARY_CHARS: usize = 72;

/// List the tools of all servers, or of one
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    pml tools                 all tools, by server\n  \
    pml tools fs              the tools of the server `fs`\n  \
    pml tools --effects       which calls change something, and how pml knows\n  \
    pml tools --labels        what tools return and accept, by pml.labels and what servers say\n  \
    pml tools show fs:write_file      every rule in force for one tool\n  \
    pml tools --json | jq -r '.tools[].id'\n  \
    pml tools --format openai                    for the `tools` of a request\n\n\
    Exit codes: 0 ok, 1 a server could not be listed, 2 wrong usage or configuration.")]
pub struct ToolsArgs {
    #[command(subcommand)]
    verb: Option<ToolsVerb>,

    /// The name of a configured server
    server: Option<String>,

    /// Show the effect class of each tool, and where it comes from
    ///
    /// Calls of the classes `read`, `idempotent` and `keyed` are sent again if an answer is lost.
    /// Classes are set with `pml.effects`; see docs/gateway.md.
    #[arg(long)]
    effects: bool,

    /// Show the labels of what each tool returns, and what it accepts
    ///
    /// Rules are set with `pml.labels`; see docs/labels.md.
    #[arg(long, conflicts_with_all = ["json", "effects", "format"])]
    labels: bool,

    /// Print the result as JSON on standard output
    ///
    /// Tools are printed with their schemas.
    #[arg(long)]
    json: bool,

    /// Print the tools in the form in which a model is offered them: openai, anthropic, gemini or mcp
    ///
    /// The name of `fs:read_file` is `fs__read_file`; `pml call --batch` executes calls of these names.
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "effects"])]
    format: Option<DefinitionFormat>,
}

#[derive(Subcommand)]
enum ToolsVerb {
    Show(tool_rules::ShowArgs),
}

pub fn run(args: &ToolsArgs, config: Option<&Path>) -> ExitCode {
    if let Some(ToolsVerb::Show(args)) = &args.verb {
        return tool_rules::run(args, config);
    }
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
        let effects = args.effects.then(|| {
            let effects = listing.tools.iter().map(|tool| gateway.effect(tool));
            effects.collect::<Vec<_>>()
        });
        let printed = if args.labels {
            print_labels(gateway, &listing)
        } else if let Some(format) = args.format {
            print_definitions(&listing, format)
        } else if args.json {
            print_json(&listing, effects.as_deref())
        } else {
            print(&listing, effects.as_deref())
        };
        exit::check_pipe(printed)?;
        if let Some(effects) = &effects {
            note_ignored_annotations(&listing.tools, effects);
        }
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

/// Says which servers describe effects of their tools without being believed.
fn note_ignored_annotations(tools: &[Arc<Tool>], effects: &[Effect]) {
    let mut servers: Vec<&str> = tools
        .iter()
        .zip(effects)
        .filter(|(tool, effect)| {
            let annotations = tool.annotations.as_ref();
            let claims = |hint| annotations.is_some_and(|hints| hints[hint] == true);
            effect.source == EffectSource::Default
                && (claims("readOnlyHint") || claims("idempotentHint"))
        })
        .map(|(tool, _)| tool.id.server())
        .collect();
    servers.dedup();
    if !servers.is_empty() {
        diagnostics::line(format_args!(
            "Not trusted, so `guarded`: the annotations of {}. To trust those of a server, add \"trust\": \"annotations\" to its entry.",
            servers.join(", ")
        ));
    }
}

/// Prints the tools with their descriptions, or with their effects, which are in the same order.
fn print(listing: &Listing, effects: Option<&[Effect]>) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    let mut server = None;
    let ids = listing.tools.iter().map(|tool| tool.id.as_str().len());
    let width = ids.max().unwrap_or_default();
    for (n, tool) in listing.tools.iter().enumerate() {
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
        match effects.map(|effects| &effects[n]) {
            Some(Effect { class, source, .. }) => writeln!(
                out,
                "  {:width$}  {:10}  {source}",
                tool.id.as_str(),
                class.as_str()
            )?,
            None => writeln!(out, "  {}  {}", tool.id, summary(&tool.description))?,
        }
    }
    out.flush()
}

/// Prints what tools return and accept.
fn print_labels(gateway: &Gateway, listing: &Listing) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    let ids = listing.tools.iter().map(|tool| tool.id.as_str().len());
    let width = ids.max().unwrap_or_default();
    for tool in &listing.tools {
        let returned = gateway.source_label(tool).to_string();
        let accepted = gateway.sink(tool).words();
        let id = tool.id.as_str();
        writeln!(
            out,
            "{id:width$}  returns {returned:28}  accepts {accepted}"
        )?;
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
    tools: Vec<PrintedTool<'a>>,
    problems: Vec<PrintedProblem<'a>>,
    refused: &'a [RefusedTool],
}

#[derive(Serialize)]
struct PrintedTool<'a> {
    #[serde(flatten)]
    tool: &'a Tool,
    #[serde(flatten)]
    effect: Option<PrintedEffect<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrintedEffect<'a> {
    effect: EffectClass,
    effect_source: &'static str,
    /// The pattern of the rule or alias that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect_pattern: Option<&'a ToolGlob>,
    /// The argument that takes the idempotency key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_argument: Option<&'a str>,
    /// The tool that tells whether a call happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    reconcile_tool: Option<&'a str>,
}

impl<'a> From<&'a Effect> for PrintedEffect<'a> {
    fn from(effect: &'a Effect) -> Self {
        Self {
            effect: effect.class,
            effect_source: effect.source.as_str(),
            effect_pattern: effect.source.pattern(),
            key_argument: effect.key_argument.as_deref(),
            reconcile_tool: effect
                .reconcile
                .as_ref()
                .map(|reconcile| reconcile.tool().as_str()),
        }
    }
}

#[derive(Serialize)]
struct PrintedProblem<'a> {
    server: &'a str,
    message: String,
}

fn print_json(listing: &Listing, effects: Option<&[Effect]>) -> io::Result<()> {
    let tools = listing.tools.iter().enumerate();
    let tools = tools.map(|(n, tool)| PrintedTool {
        tool,
        effect: effects.map(|effects| PrintedEffect::from(&effects[n])),
    });
    let printed = Printed {
        tools: tools.collect(),
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

fn print_definitions(listing: &Listing, format: DefinitionFormat) -> io::Result<()> {
    let ids = || listing.tools.iter().map(|tool| tool.id.as_str());
    let names = ToolNames::new(ids());
    let names: Vec<String> = ids().map(|id| names.of(id)).collect();
    let tools = listing.tools.iter().zip(&names);
    let tools: Vec<_> = tools
        .map(|(tool, name)| ToolDefinition {
            name,
            description: &tool.description,
            input_schema: &tool.input_schema,
        })
        .collect();
    let mut out = Style::escaped_stdout();
    serde_json::to_writer_pretty(&mut out, &definitions(format, &tools))?;
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
