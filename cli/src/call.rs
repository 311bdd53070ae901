//! `pml call`: calls one tool, or those that a model emitted, without a script.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use pml_gateway::{CallOptions, Gateway, RunLimits};
use pml_hosts::stack::LiveRun;
use pml_hosts::{AnsweredBy, AuditTrail, CallCosts, FunctionRuns, StaticHost};
use pml_policy::suspensions::Suspensions;
use pml_protocol::{GuardVerdict, Limits, RunContext, split_version};
use serde_json::{Value, json};

use crate::amounts::parse_time;
use crate::audit_setup::AuditSetup;
use crate::call_batch::{self, BatchArgs};
use crate::exit::ExitCode;
use crate::style::Style;
use crate::{config, diagnostics, exit, progress, servers, suspensions};

/// Call one tool
///
/// Prints the result: text as it is, every other value as JSON.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml call time:get_current_time '{ \"timezone\": \"Etc/UTC\" }'\n  \
    pml call fs:write_file @arguments.json\n  \
    jq '{ path: .file }' entry.json | pml call fs:read_text_file -\n  \
    pml call --batch message.json               what a model emitted, in its provider's form\n\n\
    Exit codes: 0 ok, 1 a call failed, 2 wrong usage or configuration.")]
pub struct CallArgs {
    /// The id of the tool, server:tool
    #[arg(required_unless_present = "batch")]
    tool: Option<String>,

    /// The arguments as a JSON object, @FILE to read them from a file, or - for standard input
    #[arg(default_value = "{}", hide_default_value = true)]
    arguments: String,

    /// Print the result as JSON on standard output
    ///
    /// An error is printed as JSON too, with its kind.
    #[arg(long)]
    json: bool,

    /// Time limit of the call [default: the server's, else 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<u64>,

    #[command(flatten)]
    batch: BatchArgs,
}

pub fn run(args: &CallArgs, config: Option<&Path>) -> ExitCode {
    call(args, config).unwrap_or_else(exit::usage_error)
}

fn call(args: &CallArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let timeout = args.timeout.map(Duration::from_millis);
    if let Some(file) = &args.batch.batch {
        return call_batch::run(file, &args.batch, timeout, settings);
    }
    let id = args.tool.as_deref().unwrap_or_default();
    let arguments = read_arguments(&args.arguments)?;
    let limits = RunLimits {
        tool_timeout: timeout.or_else(|| settings.limits.tool_timeout()),
        ..RunLimits::default()
    };
    let mut audit = AuditSetup::open_for_command(&settings)?;
    let function_options = FunctionOptions {
        limits: settings.limits.limits(),
        tool_timeout: limits.tool_timeout,
        suspensions: suspensions::open(&settings)?,
        costs: settings.workflows.call_costs(),
    };
    servers::with_gateway(settings.servers, async move |gateway| {
        let (live, style) = (!args.json, Style::for_stderr());
        let scope = gateway.run_with_progress(limits, move |progress| {
            if live {
                progress::print(&progress, style);
            }
        });
        let (tool, version) = split_version(id);
        let run = RunContext::local();
        let trail = audit.trail(gateway);
        let functions = functions_of(gateway, &function_options, trail.clone());
        let options = CallOptions {
            version,
            request: Some(&run),
            children: Some(&functions),
            ..CallOptions::default()
        };
        let recorded = match &trail {
            Some(trail) => Some(
                trail
                    .begin_call(&run, tool, &arguments.to_string())
                    .map_err(|failure| anyhow::anyhow!(failure.message))?,
            ),
            None => None,
        };
        let scope = scope.for_request(&run);
        let result = gateway.call_with(&scope, tool, arguments, options).await;
        for note in run.notes().guards() {
            // What blocks the call is its error.
            if note.verdict != GuardVerdict::Block {
                diagnostics::warning(note);
            }
        }
        if let Some(recorded) = recorded {
            match &result {
                Ok(answer) => recorded.end(Ok(&answer.value.to_string()), AnsweredBy::Server),
                Err(error) => recorded.end(Err(error.kind.as_str()), AnsweredBy::Server),
            }
        }
        audit.close().await;
        let code = match &result {
            Ok(_) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
        let printed = match result {
            Ok(result) if args.json => print(&json!({ "success": true, "result": result.value })),
            Ok(result) => print(&result.value),
            Err(error) if args.json => print(&json!({ "success": false, "error": error })),
            Err(error) => {
                diagnostics::error(format_args!("{error} [{}]", error.kind.as_str()));
                Ok(())
            }
        };
        exit::check_pipe(printed)?;
        Ok(code)
    })
}

/// What the functions that a call reaches may use.
struct FunctionOptions {
    limits: Limits,
    tool_timeout: Option<Duration>,
    suspensions: Suspensions,
    costs: CallCosts,
}

/// The pipelines of functions. The person at the terminal made the call, so nobody else is asked about
/// what it does, and what needs approval is refused.
fn functions_of(
    gateway: &Gateway,
    options: &FunctionOptions,
    audit: Option<AuditTrail>,
) -> FunctionRuns {
    FunctionRuns::of(&LiveRun {
        gateway: gateway.clone(),
        search: Arc::new(StaticHost::empty()),
        storage: Arc::default(),
        placeholders: None,
        person: None,
        script_observer: None,
        observers: Vec::new(),
        limits: options.limits,
        tool_timeout: options.tool_timeout,
        journal: None,
        approvals: None,
        telemetry: None,
        costs: options.costs.clone(),
        suspensions: options.suspensions.clone(),
        speculated: None,
        audit,
        progress: Arc::new(|_| {}),
    })
}

fn read_arguments(arguments: &str) -> anyhow::Result<Value> {
    let (text, origin) = match (arguments, arguments.strip_prefix('@')) {
        ("-", _) => {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            read.context("standard input cannot be read")?;
            (text, "standard input")
        }
        (_, Some(file)) => {
            let read = std::fs::read_to_string(file);
            (
                read.with_context(|| format!("{file} cannot be read"))?,
                file,
            )
        }
        (json, None) => (json.to_owned(), "the arguments"),
    };
    serde_json::from_str(&text).with_context(|| {
        format!(
            "{origin}: not valid JSON; write a JSON object, such as '{{ \"path\": \"a.txt\" }}'"
        )
    })
}

fn print(value: &Value) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    match value {
        Value::String(text) => writeln!(out, "{text}")?,
        other => writeln!(out, "{other:#}")?,
    }
    out.flush()
}
