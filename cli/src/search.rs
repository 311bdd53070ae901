//! `pml search`: which tool does what.

use std::io::{self, Write};
use std::path::Path;

use clap::{Args, ValueEnum};
use pml_gateway::{Gateway, Tool};
use pml_search::{DEFAULT_HITS, Filter, Query};
use pml_session::{Found, Session, SessionOptions};
use serde_json::{Value, json};

use crate::exit::ExitCode;
use crate::paint::Paint;
use crate::{complain, config, exit, index, searching, servers};

/// Find tools by what they do
///
/// Each hit has a score from 0 to 1: how well the tool fits, on one scale for every query.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml search read a file and parse JSON\n  \
    pml search --server 'git*' --limit 3 who changed this line\n  \
    pml search --explain send a message      what each score is made of\n  \
    pml search --json --detail full weather | jq '.tools[0].inputSchema'\n\n\
    Exit codes: 0 found, 1 nothing fits, 2 wrong usage or configuration.")]
pub struct SearchArgs {
    /// What the tool should do
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,

    /// How many tools, from 1 to 50
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HITS)]
    limit: u32,

    /// The least score of a hit, from 0 to 1 [default: 0.1]
    #[arg(long, value_name = "SCORE")]
    threshold: Option<f64>,

    /// Only servers of this name; * stands for any characters
    #[arg(long, value_name = "PATTERN")]
    server: Vec<String>,

    /// Only tools whose servers say that they change nothing
    #[arg(long)]
    read_only: bool,

    /// No tools that may destroy anything
    #[arg(long)]
    not_destructive: bool,

    /// How much of each tool
    #[arg(long, value_enum, default_value_t = Detail::Signatures)]
    detail: Detail,

    /// Print JSON on standard output
    #[arg(long)]
    json: bool,

    /// Show what each score is made of
    #[arg(long)]
    explain: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Detail {
    /// The ids
    Names,
    /// A line of TypeScript for each
    Signatures,
    /// Descriptions and schemas
    Full,
}

pub fn run(args: &SearchArgs, config: Option<&Path>) -> ExitCode {
    search(args, config).unwrap_or_else(exit::mistake)
}

fn search(args: &SearchArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let query = Query::new(&args.words.join(" "), args.limit, args.threshold)?;
    let query = query.with_filter(Filter {
        servers: args.server.clone(),
        read_only: args.read_only,
        not_destructive: args.not_destructive,
    });
    let settings = config::require(config)?;
    let search = searching::open(settings.servers.file.as_deref())?;
    servers::with(settings.servers, async |gateway| {
        let session = Session::new(SessionOptions {
            gateway: gateway.clone(),
            search,
            scrubber: None,
            tool_timeout: None,
        });
        index::finish(session.prepare_search().await).await;
        let found = session.find(&query).await;
        if let Some(notice) = session.search_notice() {
            complain::warning(format_args!("searched by words alone: {notice}"));
        }
        for (server, problem) in session.problems() {
            complain::warning(format_args!("no tools of server `{server}`: {problem}"));
        }
        exit::check_pipe(print(args, &found))?;
        if !found.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        complain::warning(nothing_found(args, gateway));
        Ok(ExitCode::FAILURE)
    })
}

/// Why there may be nothing: a server that is none, or the words.
fn nothing_found(args: &SearchArgs, gateway: &Gateway) -> String {
    let servers: Vec<&str> = gateway.servers().collect();
    // A pattern may fit no server and is no mistake.
    let is_unknown = |name: &&String| !name.contains('*') && !servers.contains(&name.as_str());
    match args.server.iter().find(is_unknown) {
        Some(name) => format!(
            "there is no server `{name}`; there are: {}",
            servers.join(", ")
        ),
        None => "no tool fits; try other words, or a lower --threshold".to_owned(),
    }
}

fn print(args: &SearchArgs, found: &[Found]) -> io::Result<()> {
    let mut out = Paint::guarded_stdout();
    if args.json {
        let tools: Vec<Value> = found.iter().map(|found| in_json(args, found)).collect();
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
            writeln!(out, "      {}", explained(found))?;
        }
    }
    out.flush()
}

fn in_json(args: &SearchArgs, found: &Found) -> Value {
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
    pml_typegen::signature(&pml_typegen::ToolTypes {
        server: tool.id.server(),
        name: tool.id.tool(),
        description: &tool.description,
        input: &tool.input_schema,
        output: tool.output_schema.as_ref(),
        observed: None,
    })
}

fn explained(found: &Found) -> String {
    let parts = &found.hit.parts;
    if parts.exact {
        return "the query is its name".to_owned();
    }
    let mut told = format!("words {:.2} ({})", parts.words, found.hit.matched.join(" "));
    if let (Some(whole), Some(sentence)) = (parts.whole, parts.sentence) {
        told.push_str(&format!(", cosine {whole:.2}, best sentence {sentence:.2}"));
    }
    told.push_str(&format!(", server {:+.2}", parts.server));
    told
}
