//! `pml learn`: what past runs taught, and how good predictions are.

pub mod first_comment;
pub mod learned;
mod serving;
mod shown;
pub mod traces;

use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};
use pml_learn::Trace;

use crate::exit::ExitCode;
use crate::tool_cache::ToolCache;
use crate::{config, diagnostics, exit};

pub use serving::ServedPlans;

/// Show, explain and forget what past runs taught
///
/// Every run that calls a tool leaves a trace in your data folder: what was searched for, the calls, and
/// which value came from where. Private values are not in it. `"pml": { "learn": false }` turns it off.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml learn stats                        how many runs, and how good predictions are\n  \
    pml learn explain fs:read_file         what follows the tool, and what feeds it\n  \
    pml learn graph --format svg > graph.svg\n  \
    pml learn forget                       delete all traces of this configuration")]
pub struct LearnArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Show how many runs there are, and how good predictions of held-out runs were
    #[command(after_help = "Examples:\n  pml learn stats\n  pml learn stats --json | jq .runs")]
    Stats {
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Explain one tool: what follows it, what feeds it, where its arguments come from
    #[command(after_help = "Examples:\n  pml learn explain fs:read_file")]
    Explain {
        /// `server:tool`
        tool: String,
    },
    /// Print the graph of tool use
    #[command(after_help = "Examples:\n  \
        pml learn graph | dot -Tpng > graph.png\n  \
        pml learn graph --format svg > graph.svg")]
    Graph {
        /// Graphviz, a picture, or JSON
        #[arg(long, value_enum, default_value_t = Format::Dot)]
        format: Format,
    },
    /// Delete the traces of this configuration
    #[command(after_help = "Examples:\n  \
        pml learn forget\n  \
        pml learn forget --tool mail:send")]
    Forget {
        /// Only traces of this principal of `pml serve --http`
        #[arg(long, value_name = "NAME")]
        principal: Option<String>,

        /// Only traces in which this tool was called
        #[arg(long, value_name = "TOOL")]
        tool: Option<String>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Dot,
    Svg,
    Json,
}

pub fn run(args: &LearnArgs, config: Option<&Path>) -> ExitCode {
    learn(args, config).unwrap_or_else(exit::usage_error)
}

fn learn(args: &LearnArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let cache = ToolCache::for_settings(&settings);
    if let Verb::Forget { principal, tool } = &args.verb {
        let deleted = cache.forget_traces(|trace| {
            let of_principal = principal
                .as_ref()
                .is_none_or(|name| *name == trace.principal);
            let calls = |tool: &String| trace.calls.iter().any(|call| call.tool == *tool);
            of_principal && tool.as_ref().is_none_or(calls)
        })?;
        diagnostics::line(format_args!("deleted {deleted} traces"));
        return Ok(ExitCode::SUCCESS);
    }
    let traces = learned::parse(&cache.traces()?);
    if traces.is_empty() && !matches!(args.verb, Verb::Stats { json: true }) {
        let why = match settings.learn.0 {
            true => "there are no traces yet: run a script that calls a tool, then ask again",
            false => "there are no traces, and `pml.learn` is false: no run leaves one",
        };
        diagnostics::warning(why);
        return Ok(ExitCode::FAILURE);
    }
    let printed = match &args.verb {
        Verb::Stats { json } => shown::stats(&cache, &traces, *json),
        Verb::Explain { tool } => {
            if !is_known(&traces, tool) {
                anyhow::bail!(
                    "no past run called `{tool}`; `pml learn graph --format json` lists the tools"
                );
            }
            shown::explain(&traces, tool)
        }
        Verb::Graph { format } => shown::graph(&traces, *format),
        Verb::Forget { .. } => Ok(()),
    };
    exit::check_pipe(printed)?;
    Ok(ExitCode::SUCCESS)
}

fn is_known(traces: &[Trace], tool: &str) -> bool {
    traces
        .iter()
        .flat_map(|trace| &trace.calls)
        .any(|call| call.tool == tool)
}
