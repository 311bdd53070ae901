//! `pml workflow`: plans of tool calls and code.

mod check;
mod estimate;
mod event_lines;
mod from_run;
mod hooks;
mod plan_file;
mod printed;
mod run;
mod show;
mod task_question;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::exit::{self, ExitCode};
pub use hooks::{CliHooks, TaskApprovals};
pub use printed::print_ended;
pub use run::resume;

/// Run, check and show plans: graphs of tool calls and code
///
/// A plan is JSON or YAML. A task starts as soon as the tasks it refers to have ended.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml workflow run plan.yaml --input dir=config      run a plan\n  \
    pml workflow check plan.json                       find its mistakes without running it\n  \
    pml workflow show plan.json --format mermaid       its graph\n  \
    pml workflow dry-run plan.json                     check every call and send none\n  \
    pml workflow from-run audit.json                   a plan from a recording or a durable run\n\n\
    A plan: {\"tasks\": [{\"id\": \"a\", \"tool\": \"fs:read_file\", \"args\": {\"path\": \"$INPUT.path\"}},\n\
    {\"id\": \"b\", \"code\": \"return $OUTPUT[a].length\"}]}")]
pub struct WorkflowArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Run(run::RunArgs),
    Check(check::CheckArgs),
    Show(show::ShowArgs),
    DryRun(run::DryRunArgs),
    FromRun(from_run::FromRunArgs),
}

pub fn run(args: &WorkflowArgs, config: Option<&Path>) -> ExitCode {
    let done = match &args.verb {
        Verb::Run(args) => run::run(args, config),
        Verb::DryRun(args) => run::dry_run(args, config),
        Verb::Check(args) => check::check(args, config),
        Verb::Show(args) => show::show(args, config),
        Verb::FromRun(args) => from_run::from_run(args, config),
    };
    done.unwrap_or_else(exit::usage_error)
}
