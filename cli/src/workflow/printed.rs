//! A report as an outcome, and back: what leaves the program passes the same scrubber as the result of
//! `pml run`.

use std::io::{self, Write};

use pml_hosts::journal::DurableSpec;
use pml_protocol::{ErrorKind, Limits, Outcome, RunError, Stats};
use pml_workflow::{Plan, PlanLimits, TaskState, WorkflowReport, show};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::exit::{self, ExitCode};
use crate::run::run_tools::{DryRunPlan, RunTools};
use crate::style::Style;

/// The outcome of a run of a plan: the report is its result.
pub fn outcome_of(report: &WorkflowReport, stopped: Option<RunError>) -> Outcome {
    let failed = report.count(TaskState::Failed) + report.count(TaskState::Unknown);
    let error = stopped.or_else(|| {
        let message = format!("{failed} of {} tasks failed", report.tasks.len());
        (!report.ok).then(|| RunError::new(ErrorKind::Runtime, message))
    });
    Outcome {
        ok: error.is_none(),
        // A report has only names for keys.
        result: to_raw_value(report).ok(),
        stats: Stats {
            wall_ms: report.times.wall_ms,
            ..Stats::default()
        },
        error,
        ..Outcome::default()
    }
}

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
    exit::check_pipe(print(&plan, &report, Some(run), None, as_json))?;
    Ok(exit::of(outcome))
}

/// What is printed on standard output.
pub fn print(
    plan: &Plan,
    report: &Value,
    run: Option<&str>,
    dry_run: Option<&DryRunPlan>,
    as_json: bool,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if as_json {
        let mut report = report.clone();
        if let Some(run) = run {
            report["run"] = Value::from(run);
        }
        if let Some(dry_run) = dry_run {
            report["dryRun"] = serde_json::to_value(dry_run).unwrap_or_default();
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
