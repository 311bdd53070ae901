//! `pml audit replay`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;
use pml_gateway::printable;
use pml_hosts::journal::{DurableSpec, journaled_recording};
use pml_hosts::{Replay, RunEnd};
use pml_protocol::{Outcome, RunId, TenantId};
use pml_runtime::{Pool, PoolOptions, RunOptions, Script};
use pml_store::{Store, StoreError};
use serde::Serialize;
use serde_json::{Value, json};

use super::print;
use crate::audit_setup::{AuditSetup, CommandAudit};
use crate::config;
use crate::exit::ExitCode;
use crate::run::run_tools::{RunTools, RunToolsOptions};
use crate::run::tool_source::{LiveMode, ToolSource};
use crate::runs::with_store;
use crate::store_setup::StoreArgs;
use crate::{search_setup, suspensions};

/// Execute a durable run again, and report what differs
///
/// The script gets the answers of its journal, the same time and the same randomness: no server is
/// started. With --live it calls the servers instead, with all effects that this has.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml audit replay nightly-1\n  \
    pml audit replay nightly-1 --live --set since=2026-02-01   another value behind --since\n  \
    pml audit replay nightly-1 --live --set 0=other.json       another first argument\n\n\
    Exit codes: 0 the same, 1 something differs, 2 wrong usage or configuration.")]
pub struct ReplayArgs {
    /// The id of the run
    #[arg(value_name = "RUN")]
    run: RunId,

    /// Call the servers
    #[arg(long)]
    live: bool,

    /// Change an argument of the script: its position from 0, or the name of its flag (repeatable)
    #[arg(long, value_name = "ARG=VALUE", requires = "live", value_parser = parse_set)]
    set: Vec<(String, String)>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    store: StoreArgs,
}

fn parse_set(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("expected ARG=VALUE, for example since=2026-02-01")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Something that the two executions do not have in common.
#[derive(Debug, PartialEq, Serialize)]
struct Difference {
    what: &'static str,
    recorded: Value,
    replayed: Value,
}

pub fn replay(args: &ReplayArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    with_store(&args.store, config, async |store, settings| {
        let (spec, recorded, source) = load(store, args).await?;
        let audit = CommandAudit::of(&settings);
        let mut script = Script {
            name: spec.script.name.clone(),
            source: spec.script.source.clone(),
            args: spec.script.args.clone(),
        };
        for (name, value) in &args.set {
            set(&mut script.args, name, value)?;
        }
        let replayed = execute(&spec, script, source, config).await?;
        let differences = differences(&recorded, &replayed);
        let is_same = differences.is_empty();
        let data = json!({ "live": args.live, "same": is_same });
        audit.record("pml.run.replayed", args.run.as_str(), &data);
        print(&match args.json {
            true => format!(
                "{}\n",
                json!({ "same": is_same, "run": args.run, "live": args.live, "differences": differences })
            ),
            false => report(args, &differences, &replayed),
        })?;
        Ok(match is_same {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    })
}

/// The run, how it ended, and where the answers of its script come from.
async fn load(
    store: &Store,
    args: &ReplayArgs,
) -> anyhow::Result<(DurableSpec, Outcome, ToolSource)> {
    let (tenant, id) = (TenantId::local(), &args.run);
    let run = store.run(&tenant, id).await?;
    let run = run.ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
    let Some(outcome) = run.outcome.as_deref() else {
        bail!(
            "run {id} has not ended, so there is nothing to compare: `pml resume {id}` continues it"
        );
    };
    let recorded = serde_json::from_slice(outcome)
        .with_context(|| format!("the stored result of run {id} cannot be read"))?;
    let spec = DurableSpec::from_bytes(&run.spec).map_err(anyhow::Error::msg)?;
    ensure!(
        !spec.script.is_workflow,
        "run {id} is a workflow, and a replay is of a script; `pml runs show {id}` has its tasks"
    );
    let source = match args.live {
        true => ToolSource::Servers(LiveMode::Send),
        false => {
            let entries = store.journal(&tenant, id).await?;
            ToolSource::Replay(Replay::new(journaled_recording(&spec, &entries)))
        }
    };
    Ok((spec, recorded, source))
}

/// Replaces an argument: at a position, or behind `--name`.
fn set(args: &mut [String], name: &str, value: &str) -> anyhow::Result<()> {
    if let Ok(position) = name.parse::<usize>() {
        let count = args.len();
        let Some(found) = args.get_mut(position) else {
            bail!("--set {name}: the script had {count} arguments, which are counted from 0");
        };
        value.clone_into(found);
        return Ok(());
    }
    let flag = format!("--{name}");
    let with_value = format!("{flag}=");
    for position in 0..args.len() {
        if args[position].starts_with(&with_value) {
            args[position] = format!("{with_value}{value}");
            return Ok(());
        }
        if args[position] == flag && position + 1 < args.len() {
            value.clone_into(&mut args[position + 1]);
            return Ok(());
        }
    }
    bail!(
        "--set {name}: the script had no argument {flag}; it had: {}",
        args.join(" ")
    )
}

async fn execute(
    spec: &DurableSpec,
    script: Script,
    source: ToolSource,
    config: Option<&Path>,
) -> anyhow::Result<Outcome> {
    let is_live = matches!(source, ToolSource::Servers(_));
    let file = config.or(spec.config.as_deref());
    let settings = match is_live {
        true => config::load(file)?,
        // No server is started.
        false => config::load_settings(file)?,
    };
    let pool = Pool::new(PoolOptions {
        warm: 0,
        limits: spec.limits,
        ..PoolOptions::new()?
    });
    let audit = match is_live {
        true => Some(AuditSetup::open_for_command(&settings)?),
        false => None,
    };
    let costs = settings.workflows.call_costs();
    let suspensions = suspensions::open(&settings)?;
    let text = script.source.clone();
    let tools = RunTools::open(RunToolsOptions {
        source,
        tool_timeout: spec.tool_ms.map(Duration::from_millis),
        search: search_setup::open(settings.servers.file.as_deref())?,
        config: settings.servers,
        scrubber: None,
        limits: spec.limits,
        durable: None,
        audit,
        telemetry: None,
        costs,
        suspensions,
        // The calls of the script alone are compared.
        learns: false,
        speculate: false,
        sandboxes: pool.options_for_children(),
        progress: Arc::new(|_| {}),
    })?;
    let options = match is_live {
        true => tools.options(),
        false => RunOptions {
            entropy: Some(spec.entropy),
            ..tools.options()
        },
    };
    let outcome = pool
        .run_with(script, options, spec.limits, tools.host(), &mut |_| {})
        .await;
    tools.record_end(&text, RunEnd::new(&outcome));
    tools.close().await;
    Ok(outcome)
}

/// What differs between two executions of a script.
fn differences(recorded: &Outcome, replayed: &Outcome) -> Vec<Difference> {
    let result = |outcome: &Outcome| -> Value {
        let json = outcome.result.as_ref();
        json.and_then(|json| serde_json::from_str(json.get()).ok())
            .unwrap_or_default()
    };
    let error = |outcome: &Outcome| match &outcome.error {
        Some(error) => json!({ "kind": error.kind.to_string(), "message": error.message }),
        None => Value::Null,
    };
    let calls = |outcome: &Outcome| -> Value {
        let calls = outcome.calls.iter();
        calls
            .map(|call| format!("{} {}", call.tool, if call.ok { "ok" } else { "failed" }))
            .collect()
    };
    let logs = |outcome: &Outcome| json!(outcome.logs);
    let all: [(&'static str, Value, Value); 4] = [
        ("result", result(recorded), result(replayed)),
        ("error", error(recorded), error(replayed)),
        ("calls", calls(recorded), calls(replayed)),
        ("console", logs(recorded), logs(replayed)),
    ];
    let differs = all.into_iter().filter(|(_, one, other)| one != other);
    differs
        .map(|(what, recorded, replayed)| Difference {
            what,
            recorded,
            replayed,
        })
        .collect()
}

fn report(args: &ReplayArgs, differences: &[Difference], replayed: &Outcome) -> String {
    let how = match args.live {
        true => "against the servers",
        false => "against its journal",
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    for Difference {
        what,
        recorded,
        replayed,
    } in differences
    {
        let _ = writeln!(text, "{what} DIFFERS");
        let _ = writeln!(text, "  recorded: {}", printable(&recorded.to_string()));
        let _ = writeln!(text, "  replayed: {}", printable(&replayed.to_string()));
    }
    let state = match differences.is_empty() {
        true => "the same".to_owned(),
        false => format!("{} differences", differences.len()),
    };
    let _ = writeln!(
        text,
        "run {} again {how}: {state}, {} calls",
        args.run,
        replayed.calls.len()
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_named_by_its_position_or_its_flag() {
        let changed = |name: &str, value: &str| {
            let mut args: Vec<String> = ["in.json", "--since", "2026", "--n=1"]
                .map(str::to_owned)
                .into();
            set(&mut args, name, value).map(|()| args.join(" "))
        };
        assert_eq!(changed("0", "x").unwrap(), "x --since 2026 --n=1");
        assert_eq!(changed("since", "x").unwrap(), "in.json --since x --n=1");
        assert_eq!(changed("n", "x").unwrap(), "in.json --since 2026 --n=x");
        let error = changed("until", "x").unwrap_err().to_string();
        assert!(error.contains("no argument --until"), "{error}");
        let error = changed("4", "x").unwrap_err().to_string();
        assert!(error.contains("had 4 arguments"), "{error}");
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let outcome = |json: &str| Outcome {
            ok: true,
            result: serde_json::value::RawValue::from_string(json.to_owned()).ok(),
            ..Outcome::default()
        };
        // Spaces are not a difference.
        assert_eq!(differences(&outcome("[1, 2]"), &outcome("[1,2]")), []);
        let found = differences(&outcome("1"), &outcome("2"));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].what, &found[0].recorded, &found[0].replayed),
            ("result", &json!(1), &json!(2))
        );
    }
}
