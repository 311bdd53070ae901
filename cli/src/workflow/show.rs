//! `pml workflow show`: the graph of a plan, or of a durable run with its times.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use pml_hosts::journal::DurableSpec;
use pml_protocol::{Outcome, RunId, TenantId};
use pml_workflow::{Plan, PlanLimits, WorkflowReport, show as shown};

use super::plan_file;
use crate::config;
use crate::exit::{self, ExitCode};
use crate::runs::with_store;
use crate::store_setup::StoreArgs;

/// Show the graph of a plan, or of a durable run with its times
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml workflow show plan.yaml\n  \
    pml workflow show plan.yaml --format svg > plan.svg\n  \
    pml workflow show nightly --format mermaid     a run of `pml workflow run --durable --run-id nightly`")]
pub struct ShowArgs {
    /// A plan, or the id of a durable run
    #[arg(value_name = "PLAN|RUN")]
    what: String,

    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    #[command(flatten)]
    store: StoreArgs,
}

/// The form of a graph
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Mermaid,
    Dot,
    Json,
    Svg,
}

pub fn show(args: &ShowArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let path = Path::new(&args.what);
    if args.what == "-" || path.exists() {
        let limits = config::load_settings(config)?.workflows.limits();
        let text = plan_file::read_text(path, &limits)?;
        let plan = plan_file::parse(&text, &args.what, &limits)?;
        return print(args.format, &plan, None);
    }
    let Ok(id) = args.what.parse::<RunId>() else {
        bail!("there is no file {}; check the path", args.what);
    };
    with_store(&args.store, config, async |store, settings| {
        let Some(run) = store.run(&TenantId::local(), &id).await? else {
            bail!("there is neither a file nor a durable run {id}");
        };
        let spec = DurableSpec::from_bytes(&run.spec).map_err(anyhow::Error::msg)?;
        if !spec.script.is_workflow {
            bail!("run {id} is a script; `pml runs show {id}` shows it");
        }
        let limits: PlanLimits = settings.workflows.limits();
        let plan = plan_file::parse(&spec.script.source, &spec.script.name, &limits)?;
        let report = run.outcome.as_deref().map(report_of).transpose()?;
        print(args.format, &plan, report.as_ref())
    })
}

fn report_of(outcome: &[u8]) -> anyhow::Result<WorkflowReport> {
    let outcome: Outcome = serde_json::from_slice(outcome)?;
    let json = outcome.result.context("the run has no report")?;
    Ok(serde_json::from_str(json.get())?)
}

fn print(format: Format, plan: &Plan, report: Option<&WorkflowReport>) -> anyhow::Result<ExitCode> {
    let text = match format {
        Format::Text => shown::text(plan, report),
        Format::Mermaid => shown::mermaid(plan, report),
        Format::Dot => shown::dot(plan, report),
        Format::Svg => shown::svg(plan, report),
        Format::Json => format!("{:#}\n", shown::json(plan, report)),
    };
    let mut out = std::io::stdout().lock();
    exit::check_pipe(out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}
