//! `pml suspensions`: tools and principals that are withdrawn until a person has looked at them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::{Args, Subcommand};
use pml_policy::suspensions::{Suspended, Suspension, Suspensions};
use serde::Serialize;
use serde_json::json;

use crate::audit_setup::CommandAudit;
use crate::config::{self, Settings};
use crate::diagnostics;
use crate::exit::{self, ExitCode};
use crate::runs::{ago, print_json};
use crate::style::Style;

/// List and lift suspensions of tools and principals
///
/// With `"action": "suspend"` in `pml.telemetry.anomalies`, a sudden change withdraws a tool, or the
/// principal behind it: all calls are refused until a person lifts the suspension here. Running servers
/// follow within a second.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    pml suspensions                        what is withdrawn, since when and why\n  \
    pml suspensions lift fs:write_file     the tool can be called again\n  \
    pml suspensions lift --principal ci    the principal can call tools again\n  \
    pml call fs:write_file '{ … }'         a call of your own is not refused, so that you can look")]
pub struct SuspensionsArgs {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Subcommand)]
enum Verb {
    List(ListArgs),
    Lift(LiftArgs),
}

/// List what is withdrawn, since when and why
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml suspensions list\n  \
    pml suspensions list --json | jq -r '.suspensions[].name'")]
struct ListArgs {
    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// End suspensions
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml suspensions lift fs:write_file\n  \
    pml suspensions lift --principal ci\n  \
    pml suspensions lift --all\n\n\
    Exit codes: 0 lifted, 1 something that is named is not suspended, 2 wrong usage or configuration.")]
struct LiftArgs {
    /// Tools, as server:tool
    #[arg(value_name = "TOOL", required_unless_present_any = ["principal", "all"])]
    tools: Vec<String>,

    /// Principals, as `pml suspensions` names them
    #[arg(long, value_name = "NAME")]
    principal: Vec<String>,

    /// Everything
    #[arg(long, conflicts_with_all = ["tools", "principal"])]
    all: bool,
}

pub fn run(args: &SuspensionsArgs, config: Option<&Path>) -> ExitCode {
    let settings = config::load_settings(config).map_err(anyhow::Error::from);
    let done = settings.and_then(|settings| {
        let suspensions = open(&settings)?;
        match &args.verb {
            None => list(&suspensions, &args.list),
            Some(Verb::List(args)) => list(&suspensions, args),
            Some(Verb::Lift(args)) => lift(&suspensions, args, &CommandAudit::of(&settings)),
        }
    });
    done.unwrap_or_else(exit::usage_error)
}

/// The suspensions of a configuration. Without a home folder they end with the process.
///
/// # Errors
///
/// Their file cannot be read: what was withdrawn is not known then, and is not called.
pub fn open(settings: &Settings) -> anyhow::Result<Suspensions> {
    Ok(match path(settings) {
        Some(path) => Suspensions::open(path)?,
        None => Suspensions::in_memory(),
    })
}

/// Servers have their names from a configuration file, so each file has suspensions of its own.
fn path(settings: &Settings) -> Option<PathBuf> {
    let folder = pml_files::data_dir()?.join("suspensions");
    let name = match settings.servers.file.as_deref() {
        Some(file) => {
            let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
            let file = file.canonicalize().unwrap_or(file);
            let digest = pml_audit::leaf_hash(file.as_os_str().as_encoded_bytes()).to_string();
            digest.get(..16).unwrap_or_default().to_owned()
        }
        None => "none".to_owned(),
    };
    Some(folder.join(name).with_extension("json"))
}

fn list(suspensions: &Suspensions, args: &ListArgs) -> anyhow::Result<ExitCode> {
    #[derive(Serialize)]
    struct Listed {
        suspensions: Vec<Suspension>,
    }
    let suspensions = suspensions.all()?;
    if args.json {
        return print_json(&Listed { suspensions });
    }
    exit::check_pipe(print(&suspensions))?;
    Ok(ExitCode::SUCCESS)
}

fn print(suspensions: &[Suspension]) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    for Suspension {
        suspended,
        since,
        why,
    } in suspensions
    {
        writeln!(out, "{suspended}  withdrawn {} ago: {why}", ago(*since))?;
    }
    match suspensions.is_empty() {
        true => writeln!(out, "nothing is withdrawn")?,
        false => writeln!(out, "\n`pml suspensions lift` ends a suspension")?,
    }
    out.flush()
}

fn lift(
    suspensions: &Suspensions,
    args: &LiftArgs,
    audit: &CommandAudit,
) -> anyhow::Result<ExitCode> {
    for tool in &args.tools {
        ensure!(
            tool.contains(':'),
            "`{tool}` is not the id of a tool: expected server:tool, such as fs:write_file; a principal is named with --principal"
        );
    }
    let all: Vec<Suspended> = match args.all {
        true => suspensions
            .all()?
            .into_iter()
            .map(|one| one.suspended)
            .collect(),
        false => {
            let tools = args.tools.iter().cloned().map(Suspended::Tool);
            let principals = args.principal.iter().cloned().map(Suspended::Principal);
            tools.chain(principals).collect()
        }
    };
    let mut code = ExitCode::SUCCESS;
    for suspended in &all {
        let Some(lifted) = suspensions.lift(suspended)? else {
            diagnostics::error(format_args!(
                "the {suspended} is not withdrawn: `pml suspensions` lists what is"
            ));
            code = ExitCode::FAILURE;
            continue;
        };
        let (what, name) = match suspended {
            Suspended::Tool(name) => ("tool", name),
            Suspended::Principal(name) => ("principal", name),
        };
        let data = json!({ "what": what, "why": lifted.why, "since": lifted.since });
        audit.record("pml.suspension.lifted", name, &data);
        let mut out = Style::escaped_stdout();
        let printed =
            writeln!(out, "{suspended} is not withdrawn any more").and_then(|()| out.flush());
        exit::check_pipe(printed)?;
    }
    Ok(code)
}
