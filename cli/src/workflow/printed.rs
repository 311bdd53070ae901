//! A report as it is printed: what leaves the program passes the same scrubber as the result of
//! `pml run`.

use std::io::{self, Write};

use pml_hosts::journal::DurableSpec;
use pml_protocol::{Limits, Outcome};
use pml_workflow::estimate::Estimate;
use pml_workflow::{Plan, PlanLimits, WorkflowReport, show};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::exit::{self, ExitCode};
use crate::run::run_tools::{DryRunPlan, RunTools};
use crate::style::Style;

/// The exit code of a run: that of its outcome.
pub fn exit_code(outcome: &Outcome, is_interrupted: bool) -> ExitCode {
    match is_interrupted {
        true => exit::interrupted(),
        false => exit::of(outcome),
    }
}

/// The report as it is printed: scrubbed with `--scrub`.
pub fn printed_report(tools: &RunTools, report: &WorkflowReport, limits: &Limits) -> Value {
    let outcome = Outcome {
        ok: true,
        result: to_raw_value(report).ok(),
        ..Outcome::default()
    };
    // The report of thousands of tasks is longer than what a model would read.
    let limits = Limits {
        output_chars: u64::MAX,
        ..*limits
    };
    let printed = tools.printed(outcome, &limits);
    let json = printed.result.as_deref().map(RawValue::get);
    json.and_then(|json| serde_json::from_str(json).ok())
        .unwrap_or_default()
}

/// Prints how a stored workflow ended.
pub fn print_ended(
    spec: &DurableSpec,
    outcome: &Outcome,
    run: &str,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let limits = PlanLimits {
        // It was within the limits of its time.
        tasks: usize::MAX,
        depth: usize::MAX,
        ..PlanLimits::default()
    };
    let plan = Plan::parse(&spec.script.source, &limits)?;
    let json = outcome.result.as_deref().map(RawValue::get);
    let report: Value = json
        .and_then(|json| serde_json::from_str(json).ok())
        .unwrap_or_default();
    let said = Said {
        run: Some(run),
        ..Said::default()
    };
    exit::check_pipe(print(&plan, &report, &said, as_json))?;
    Ok(exit::of(outcome))
}

/// What is printed besides the report.
#[derive(Default)]
pub struct Said<'a> {
    /// The id of a durable run.
    pub run: Option<&'a str>,
    /// The calls of a dry run.
    pub dry_run: Option<&'a DryRunPlan>,
    /// What a dry run expects.
    pub estimate: Option<&'a Estimate>,
    /// Whether the report is the last line of a stream.
    pub is_streamed: bool,
}

/// What is printed on standard output.
pub fn print(plan: &Plan, report: &Value, said: &Said<'_>, as_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if said.is_streamed {
        let mut line = serde_json::json!({ "event": "report", "report": report });
        if let Some(run) = said.run {
            line["run"] = Value::from(run);
        }
        return writeln!(out, "{line}");
    }
    if as_json {
        let mut report = report.clone();
        if let Some(run) = said.run {
            report["run"] = Value::from(run);
        }
        if let Some(dry_run) = said.dry_run {
            report["dryRun"] = serde_json::to_value(dry_run).unwrap_or_default();
        }
        if let Some(estimate) = said.estimate {
            report["estimate"] = serde_json::to_value(estimate).unwrap_or_default();
        }
        serde_json::to_writer_pretty(&mut out, &report)?;
        return writeln!(out);
    }
    // A scrubbed report has the form of a report.
    if let Ok(parsed) = serde_json::from_value::<WorkflowReport>(report.clone()) {
        let text = show::text(plan, Some(&parsed));
        let style = Style::for_stderr();
        write!(io::stderr().lock(), "{}", style.escape_controls(&text))?;
    }
    match &report["output"] {
        Value::String(text) => writeln!(out, "{}", Style::for_stdout().escape_controls(text)),
        output => {
            serde_json::to_writer_pretty(&mut out, output)?;
            writeln!(out)
        }
    }
}
