//! `pml workflow check`: mistakes of a plan, without running it.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use pml_workflow::{KnownTool, Plan, Problem, check_tools};
use serde_json::json;

use super::plan_file::{self, PlanArgs};
use crate::exit::{self, ExitCode};
use crate::{config, diagnostics, servers};

const LISTING_TIMEOUT: Duration = Duration::from_secs(30);

/// Find the mistakes of a plan without running it
///
/// Cycles, references to nothing, tools that do not exist and arguments that cannot fit, each with its
/// place and the nearest name.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml workflow check plan.yaml\n  \
    pml workflow check --offline plan.yaml     without asking the servers for their tools\n\n\
    Exit codes: 0 no mistakes, 1 mistakes, 2 wrong usage.")]
pub struct CheckArgs {
    #[command(flatten)]
    plan: PlanArgs,

    /// Do not start the servers: tools and arguments are not checked
    #[arg(long)]
    offline: bool,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn check(args: &CheckArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::load(config)?;
    let limits = settings.workflows.limits();
    let text = plan_file::read_text(&args.plan.plan, &limits)?;
    let plan = match Plan::parse(&text, &limits) {
        Ok(plan) => plan,
        Err(error) => return report(args, &error.problems(), None),
    };
    if args.offline {
        return report(args, &[], Some(&plan));
    }
    servers::with_gateway(settings.servers, async |gateway| {
        let listing = gateway.list(None, LISTING_TIMEOUT).await;
        let mut unlisted = HashSet::new();
        for (server, problem) in &listing.problems {
            diagnostics::warning(format_args!(
                "the tools of server `{server}` are not checked: {problem}"
            ));
            unlisted.insert(server.clone());
        }
        let tools: Vec<KnownTool> = listing
            .tools
            .iter()
            .map(|tool| KnownTool {
                id: tool.id.to_string(),
                schema: tool.input_schema.clone(),
            })
            .collect();
        report(args, &check_tools(&plan, &tools, &unlisted), Some(&plan))
    })
}

fn report(args: &CheckArgs, problems: &[Problem], plan: Option<&Plan>) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let printed = if args.json {
        let report = json!({
            "ok": problems.is_empty(),
            "problems": problems,
            "tasks": plan.map(|plan| plan.tasks.len()),
            "layers": plan.map(|plan| plan.graph().layers()),
        });
        writeln!(out, "{report:#}")
    } else if let (true, Some(plan)) = (problems.is_empty(), plan) {
        let (tasks, layers) = (plan.tasks.len(), plan.graph().layers());
        writeln!(out, "no mistakes: {tasks} tasks, {layers} layers")
    } else {
        let lines = problems.iter().map(|problem| format!("{problem}\n"));
        write!(out, "{}", lines.collect::<String>())
    };
    exit::check_pipe(printed)?;
    Ok(match problems.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
