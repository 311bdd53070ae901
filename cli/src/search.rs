//! `pml search`: finds tools by what they do.

use std::io::{self, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use pml_gateway::{Gateway, Tool};
use pml_search::{DEFAULT_HITS, Filter, FoundTool, Query, ToolFinder};
use serde_json::{Value, json};

use crate::exit::ExitCode;
use crate::style::Style;
use crate::{config, diagnostics, exit, index, search_setup, servers};

/// Find tools by what they do
///
/// Each hit has a score from 0 to 1. Scores are comparable between queries.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml search read a file and parse JSON\n  \
    pml search --server 'git*' --limit 3 who changed this line\n  \
    pml search --explain send a message      show the parts of each score\n  \
    pml search --json --detail full weather | jq '.tools[0].inputSchema'\n\n\
    Exit codes: 0 found, 1 no tool matches, 2 wrong usage or configuration.")]
pub struct SearchArgs {
    /// What the tool should do
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,

    /// Maximum number of tools, from 1 to 50
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HITS)]
    limit: u32,

    /// Minimum score of a hit, from 0 to 1 [default: 0.1]
    #[arg(long, value_name = "SCORE")]
    threshold: Option<f64>,

    /// Only servers with this name; * matches any characters (repeatable)
    #[arg(long, value_name = "PATTERN")]
    server: Vec<String>,

    /// Only tools that their servers declare read-only
    #[arg(long)]
    read_only: bool,

    /// Leave out tools that may be destructive
    #[arg(long)]
    not_destructive: bool,

    /// What to print of each tool
    #[arg(long, value_enum, default_value_t = Detail::Signatures)]
    detail: Detail,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,

    /// Show the parts of each score
    #[arg(long)]
    explain: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Detail {
    /// The ids
    Names,
    /// One line of TypeScript each
    Signatures,
    /// Descriptions and schemas
    Full,
}

pub fn run(args: &SearchArgs, config: Option<&Path>) -> ExitCode {
    search(args, config).unwrap_or_else(exit::usage_error)
}

fn search(args: &SearchArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let query = Query::new(&args.words.join(" "), args.limit, args.threshold)?;
    let query = query.with_filter(Filter {
        servers: args.server.clone(),
        read_only: args.read_only,
        not_destructive: args.not_destructive,
        ..Filter::default()
    });
    let settings = config::require(config)?;
    let search = search_setup::open(settings.servers.file.as_deref())?;
    servers::with_gateway(settings.servers, async |gateway| {
        let finder = ToolFinder::new(gateway.clone(), search);
        index::wait_until_built(finder.prepare().await).await;
        let found = finder.find(&query).await;
        if let Some(notice) = finder.notice() {
            diagnostics::warning(format_args!("searched by words alone: {notice}"));
        }
        for (server, problem) in finder.problems() {
            diagnostics::warning(format_args!("no tools of server `{server}`: {problem}"));
        }
        exit::check_pipe(print(args, &found))?;
        if !found.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        diagnostics::warning(nothing_found(args, gateway));
        Ok(ExitCode::FAILURE)
    })
}

/// Why there are no hits: an unknown server, or a query that matches nothing.
fn nothing_found(args: &SearchArgs, gateway: &Gateway) -> String {
    let servers: Vec<&str> = gateway.servers().collect();
    // A pattern may match no server.
    let is_unknown = |name: &&String| !name.contains('*') && !servers.contains(&name.as_str());
    match args.server.iter().find(is_unknown) {
        Some(name) => format!(
            "there is no server `{name}`; the servers are {}",
            servers.join(", ")
        ),
        None => "no tool matches; try other words, or a lower --threshold".to_owned(),
    }
}

fn print(args: &SearchArgs, found: &[FoundTool]) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    if args.json {
        let tools: Vec<Value> = found.iter().map(|found| to_json(args, found)).collect();
        serde_json::to_writer_pretty(&mut out, &json!({ "tools": tools }))?;
        writeln!(out)?;
        return out.flush();
    }
    for found in found {
        let tool = &found.tool;
        match args.detail {
            Detail::Names => writeln!(out, "{:.2}  {}", found.score, tool.id)?,
            Detail::Signatures => {
                writeln!(out, "{:.2}  {}", found.score, tool.id)?;
                writeln!(out, "      {}", signature(tool))?;
            }
            Detail::Full => {
                writeln!(out, "{:.2}  {}", found.score, tool.id)?;
                for line in tool.description.trim().lines() {
                    writeln!(out, "      {line}")?;
                }
                writeln!(out, "      {}", tool.input_schema)?;
            }
        }
        if args.explain {
            writeln!(out, "      {}", explanation(found))?;
        }
    }
    out.flush()
}

fn to_json(args: &SearchArgs, found: &FoundTool) -> Value {
    let tool = &found.tool;
    let mut value = json!({ "id": tool.id, "score": found.score });
    match args.detail {
        Detail::Names => {}
        Detail::Signatures => value["signature"] = signature(tool).into(),
        Detail::Full => {
            value["description"] = tool.description.as_str().into();
            value["inputSchema"] = tool.input_schema.clone();
            value["outputSchema"] = tool.output_schema.clone().unwrap_or_default();
        }
    }
    if args.explain {
        let parts = &found.hit.parts;
        value["parts"] = json!({
            "words": parts.words,
            "whole": parts.whole,
            "sentence": parts.sentence,
            "server": parts.server,
            "exact": parts.exact,
            "matched": found.hit.matched,
        });
    }
    value
}

fn signature(tool: &Tool) -> String {
    pml_typegen::signature(&pml_typegen::ToolSchemas {
        server: tool.id.server(),
        name: tool.id.tool(),
        description: &tool.description,
        input: &tool.input_schema,
        output: tool.output_schema.as_ref(),
        observed: None,
    })
}

fn explanation(found: &FoundTool) -> String {
    let parts = &found.hit.parts;
    if parts.exact {
        return "the query is the name of the tool".to_owned();
    }
    let mut text = format!("words {:.2} ({})", parts.words, found.hit.matched.join(" "));
    if let (Some(whole), Some(sentence)) = (parts.whole, parts.sentence) {
        text.push_str(&format!(", cosine {whole:.2}, best sentence {sentence:.2}"));
    }
    text.push_str(&format!(", server {:+.2}", parts.server));
    text
}
