//! `pml suggest`: a plan for an intent, from past runs and from what the tools say about themselves.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use pml_learn::{Filled, Plan, Task};
use serde_json::json;

use crate::exit::ExitCode;
use crate::learn::learned;
use crate::style::Style;
use crate::tool_cache::ToolCache;
use crate::{config, diagnostics, exit, servers};

/// Suggest a plan: the calls that an intent will probably need
///
/// The plan comes from past runs with similar intents. Before there are any, it comes from the descriptions
/// and schemas of the tools. Nothing is called.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml suggest list the files of a folder and read each\n  \
    pml suggest --json 'who changed this line' | jq .confidence\n  \
    pml suggest --workflow 'read config.json' > plan.json && pml workflow check plan.json\n\n\
    Tiers: act (its reads are so sure that they may run ahead), propose (a plan to look at),\n\
    list (tools that may help). Confidence is a probability; `pml learn stats` shows how good it is.\n\n\
    Exit codes: 0 a plan, 1 there are no tools, 2 wrong usage or configuration.")]
pub struct SuggestArgs {
    /// What you want to do
    #[arg(required = true, value_name = "INTENT")]
    intent: Vec<String>,

    /// Print the result as JSON on standard output
    #[arg(long, conflicts_with = "workflow")]
    json: bool,

    /// Print the plan for `pml workflow run`
    #[arg(long)]
    workflow: bool,
}

pub fn run(args: &SuggestArgs, config: Option<&Path>) -> ExitCode {
    suggest(args, config).unwrap_or_else(exit::usage_error)
}

fn suggest(args: &SuggestArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let cache = ToolCache::for_settings(&settings);
    let traces = learned::parse(&cache.traces()?);
    servers::with_gateway(settings.servers, async |gateway| {
        let listing = gateway.list(None, crate::tools::LISTING_TIMEOUT).await;
        for (server, problem) in &listing.problems {
            diagnostics::warning(format_args!("no tools of server `{server}`: {problem}"));
        }
        cache.save_tools(&listing.tools, &listing.problems);
        let tools = learned::tools(gateway, &listing.tools, &cache.shapes());
        if tools.is_empty() {
            diagnostics::warning("there are no tools; add a server with `pml add`");
            return Ok(ExitCode::FAILURE);
        }
        let episodes = learned::of_local_user(&traces);
        let model = learned::model(&tools, &learned::of_known_tools(episodes, &tools));
        let Some(plan) = model.suggest(&args.intent.join(" ")) else {
            diagnostics::warning("there are no tools; add a server with `pml add`");
            return Ok(ExitCode::FAILURE);
        };
        exit::check_pipe(print(args, &plan))?;
        Ok(ExitCode::SUCCESS)
    })
}

fn print(args: &SuggestArgs, plan: &Plan) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    if args.json {
        let printed = json!({
            "tier": plan.tier,
            "confidence": plan.confidence,
            "tasks": plan.tasks,
            "edges": plan.edges,
            "workflow": plan.workflow(),
        });
        writeln!(out, "{printed:#}")?;
        return out.flush();
    }
    if args.workflow {
        writeln!(out, "{:#}", plan.workflow())?;
        return out.flush();
    }
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    writeln!(
        out,
        "{}: exactly these calls with a probability of {}",
        plan.tier.name(),
        percent(plan.confidence)
    )?;
    for (at, task) in plan.tasks.iter().enumerate() {
        let kind = match (task.read, task.ahead && task.is_complete()) {
            (true, true) => "read, may run ahead",
            (true, false) => "read",
            (false, _) => "may have an effect",
        };
        writeln!(
            out,
            "  {}. {}({})  {}, {kind}",
            at + 1,
            task.tool,
            arguments(task),
            percent(task.confidence)
        )?;
    }
    out.flush()
}

fn arguments(task: &Task) -> String {
    let shown = task.arguments.iter().map(|argument| {
        let value = match &argument.value {
            Filled::Value(value) => value.to_string(),
            Filled::Missing => "?".to_owned(),
            Filled::Result { task, path } if path.is_empty() => format!("result {}", task + 1),
            Filled::Result { task, path } => format!("{path} of {}", task + 1),
        };
        format!("{}: {value}", argument.path)
    });
    shown.collect::<Vec<_>>().join(", ")
}
