//! `pml lock`: pins the definitions of tools, and compares them with the servers.

mod report;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use pml_gateway::Config;
use pml_policy::lock::{Change, ChangeKind, LockFile, ObservedServer};
use serde_json::json;

use self::report::Comparison;
use crate::annotation_trust::AnnotationTrustArgs;
use crate::audit_setup::CommandAudit;
use crate::confirm::{can_ask, confirm};
use crate::exit::ExitCode;
use crate::tools::LISTING_TIMEOUT;
use crate::{config, diagnostics, exit, servers, trust};

/// Pin the definitions of all tools in pml.lock
///
/// pml.lock lies beside the configuration and belongs in the repository. It holds what every server
/// says about itself and its tools. While the file is there, a tool that has changed since, or that is
/// not in it, is found and not called, until `pml lock accept`.
///
/// Without a command, servers that are not in the file are pinned.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    pml lock                          pin all servers and their tools\n  \
    pml lock diff                     what has changed since, and what it breaks\n  \
    pml lock accept fs:read_file      pin a tool as it is now\n  \
    pml lock check --format sarif     for CI: fails if anything has changed\n\n\
    Exit codes: 0 pinned, 1 something else has changed or a server cannot be listed,\n\
    2 wrong usage, configuration or lock file."
)]
pub struct LockArgs {
    #[command(subcommand)]
    command: Option<LockCommand>,

    #[command(flatten)]
    annotations: AnnotationTrustArgs,
}

#[derive(Subcommand)]
enum LockCommand {
    /// Pin everything of one server as it is now
    #[command(after_help = "Examples:\n  \
        pml lock update fs\n\n\
        Exit codes: 0 pinned, 1 not, 2 wrong usage.")]
    Update {
        /// The name of a configured server
        server: String,
    },
    /// Pin changes: of a tool, of a server with its tools, or all
    #[command(after_help = "Examples:\n  \
        pml lock accept fs:read_file\n  \
        pml lock accept fs github\n  \
        pml lock accept --all\n\n\
        On a terminal you are shown the changes and asked. Exit codes: 0 pinned, 1 not, 2 wrong usage.")]
    Accept {
        /// Tools (server:tool) and servers
        #[arg(required_unless_present = "all", value_name = "NAME")]
        names: Vec<String>,

        /// Everything that has changed
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
    /// Fail if anything is not as it is pinned
    #[command(after_help = "Examples:\n  \
        pml lock check\n  \
        pml lock check --format github\n  \
        pml lock check --format sarif > lock.sarif\n\n\
        Exit codes: 0 all is as it is pinned, 1 it is not, 2 wrong usage.")]
    Check {
        /// The output format
        #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
        format: Format,

        /// Print the result as JSON on standard output
        #[arg(long, conflicts_with = "format")]
        json: bool,
    },
    /// Show what has changed, and whether it breaks callers
    #[command(after_help = "Examples:\n  \
        pml lock diff\n  \
        pml lock diff fs:read_file\n  \
        pml lock diff --json\n\n\
        Exit codes: 0 ok, also with changes, 1 a server cannot be listed, 2 wrong usage.")]
    Diff {
        /// A tool (server:tool) or a server
        name: Option<String>,

        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
}

/// How the result of a check is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

pub fn run(args: &LockArgs, config: Option<&Path>) -> ExitCode {
    lock(args, config).unwrap_or_else(exit::usage_error)
}

fn lock(args: &LockArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require_unlocked(config)?;
    let mut place = Place::open(&settings.servers)?;
    let needs_file = !matches!(&args.command, None | Some(LockCommand::Update { .. }));
    if needs_file && !place.exists {
        bail!("there is no {}: run `pml lock` first", place.file.display());
    }
    let audit = CommandAudit::of(&settings);
    let (file, before) = (place.file.clone(), digest_of(&place.file));
    let code = servers::with_gateway(settings.servers, async |gateway| {
        let observed = gateway.observe(LISTING_TIMEOUT).await;
        let mut now = BTreeMap::new();
        let mut silent = Vec::new();
        for (name, server) in observed {
            match server {
                Ok(server) => {
                    now.insert(name, server);
                }
                Err(problem) => silent.push((name, problem.to_string())),
            }
        }
        for (name, problem) in &silent {
            diagnostics::warning(format_args!("server `{name}` cannot be listed: {problem}"));
        }
        let configured = gateway.servers().map(str::to_owned).collect();
        let state = State {
            configured,
            now,
            silent,
        };
        match &args.command {
            None => pin_new(&mut place, &state, &args.annotations),
            Some(LockCommand::Update { server }) => {
                if server.contains(':') {
                    bail!("`{server}` is a tool: `pml lock accept {server}` pins it");
                }
                let names = std::slice::from_ref(server);
                accept(&mut place, &state, Some(names), false)
            }
            Some(LockCommand::Accept { names, all }) => {
                let names = (!all).then_some(names.as_slice());
                accept(&mut place, &state, names, true)
            }
            Some(LockCommand::Check { format, json }) => {
                let format = if *json { Format::Json } else { *format };
                let comparison = state.compare(&place.lock);
                exit::check_pipe(report::print(format, &comparison, &place.file))?;
                Ok(exit_code(comparison.is_clean()))
            }
            Some(LockCommand::Diff { name, json }) => {
                let mut comparison = state.compare(&place.lock);
                if let Some(name) = name {
                    state.check_name(&place.lock, name)?;
                    comparison.keep(std::slice::from_ref(name));
                }
                let is_compared = comparison.silent.is_empty();
                let format = if *json { Format::Json } else { Format::Text };
                exit::check_pipe(report::print(format, &comparison, &place.file))?;
                Ok(exit_code(is_compared))
            }
        }
    });
    let after = digest_of(&file);
    if before != after {
        let data = json!({ "before": before, "after": after });
        audit.record("pml.lock.changed", &file.display().to_string(), &data);
    }
    code
}

/// The digest of the lock file; `None` if there is none.
fn digest_of(file: &Path) -> Option<String> {
    let bytes = std::fs::read(file).ok()?;
    Some(pml_audit::digest(&bytes))
}

fn exit_code(is_good: bool) -> ExitCode {
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The lock file and the configuration beside it.
struct Place {
    file: PathBuf,
    config: PathBuf,
    exists: bool,
    lock: LockFile,
}

impl Place {
    fn open(config: &Config) -> anyhow::Result<Self> {
        let file = config::lock_file(config).context("the configuration has no file")?;
        let lock = LockFile::read(&file)?;
        Ok(Self {
            exists: lock.is_some(),
            config: config.file.clone().unwrap_or_default(),
            lock: lock.unwrap_or_default(),
            file,
        })
    }
}

/// The configured servers as they are now.
struct State {
    configured: BTreeSet<String>,
    now: BTreeMap<String, ObservedServer>,
    /// Those that cannot be listed, and why.
    silent: Vec<(String, String)>,
}

impl State {
    fn compare(&self, lock: &LockFile) -> Comparison {
        let changes = self.now.iter();
        let removed = lock
            .servers
            .keys()
            .filter(|name| !self.configured.contains(*name));
        Comparison {
            changes: changes
                .flat_map(|(name, now)| lock.changes(name, now))
                .collect(),
            unconfigured: removed.cloned().collect(),
            silent: self.silent.clone(),
        }
    }

    fn is_silent(&self, server: &str) -> bool {
        self.silent.iter().any(|(silent, _)| silent == server)
    }

    /// Fails for a name that neither the servers nor the lock file have.
    fn check_name(&self, lock: &LockFile, name: &str) -> anyhow::Result<()> {
        let (server, tool) = match name.split_once(':') {
            Some((server, tool)) => (server, Some(tool)),
            None => (name, None),
        };
        if !self.configured.contains(server) && !lock.servers.contains_key(server) {
            let known: Vec<&str> = self.configured.iter().map(String::as_str).collect();
            bail!(
                "there is no server `{server}`; the servers are {}",
                known.join(", ")
            );
        }
        let has = |tool: &str| {
            if self.is_silent(server) {
                return true;
            }
            let now = self.now.get(server);
            now.is_some_and(|now| now.tools.contains_key(tool)) || lock.tool(server, tool).is_some()
        };
        match tool {
            Some(tool) if !has(tool) => {
                bail!("server `{server}` has no tool `{tool}`: see `pml tools {server}`")
            }
            _ => Ok(()),
        }
    }
}

/// Pins servers that are not in the file.
fn pin_new(
    place: &mut Place,
    state: &State,
    annotations: &AnnotationTrustArgs,
) -> anyhow::Result<ExitCode> {
    let comparison = state.compare(&place.lock);
    let is_new = |server: &str| !place.lock.servers.contains_key(server);
    let (new, other): (Vec<&Change>, Vec<&Change>) = comparison
        .changes
        .iter()
        .partition(|change| is_new(&change.server));
    for (name, _) in state.silent.iter().filter(|(name, _)| is_new(name)) {
        diagnostics::line(format_args!(
            "`{name}` is not pinned: as long as there is a lock file, it is not used until `pml lock` can list it."
        ));
    }
    let servers: BTreeSet<&str> = new.iter().map(|change| change.server.as_str()).collect();
    if servers.is_empty() && !place.exists && !state.silent.is_empty() {
        diagnostics::error("nothing is pinned: no server could be listed");
        return Ok(ExitCode::FAILURE);
    }
    for change in &new {
        place.lock.accept(change, &state.now[&change.server]);
    }
    if !place.exists || !new.is_empty() {
        place.lock.write(&place.file)?;
    }
    let shown = place.file.display();
    match (servers.is_empty(), place.exists) {
        (true, true) => {}
        (true, false) => println!("Wrote {shown}, without a server."),
        (false, _) => {
            let tools = new.iter().filter(|change| change.tool.is_some()).count();
            let servers: Vec<&str> = servers.iter().copied().collect();
            let noun = if tools == 1 { "tool" } else { "tools" };
            println!("Pinned {} ({tools} {noun}) in {shown}.", servers.join(", "));
        }
    }
    note_unversioned(&servers, state);
    trust_new(place, &servers, state, annotations)?;
    if !other.is_empty() {
        let noun = if other.len() == 1 {
            "change is"
        } else {
            "changes are"
        };
        diagnostics::warning(format_args!(
            "{} {noun} not pinned: look at `pml lock diff`, then run `pml lock accept` with the names or --all",
            other.len()
        ));
    } else if servers.is_empty() && place.exists && state.silent.is_empty() {
        println!("{shown} is up to date.");
    }
    for name in &comparison.unconfigured {
        diagnostics::line(format_args!(
            "`{name}` is pinned and not configured; `pml lock accept {name}` removes it."
        ));
    }
    Ok(exit_code(other.is_empty() && state.silent.is_empty()))
}

/// Says which servers run whatever version of their package is the newest.
fn note_unversioned(servers: &BTreeSet<&str>, state: &State) {
    for server in servers {
        if let Some(package) = text::unversioned_package(&state.now[*server].identity) {
            diagnostics::line(format_args!(
                "`{server}` runs any version of {package}: name one in its entry, for example {package}@1.2.3, so that it does not change by itself."
            ));
        }
    }
}

/// Asks once whether the annotations of servers that have just been pinned are trusted.
fn trust_new(
    place: &Place,
    servers: &BTreeSet<&str>,
    state: &State,
    annotations: &AnnotationTrustArgs,
) -> anyhow::Result<()> {
    let entries = Config::load(&place.config)?.servers;
    for server in servers {
        let claims = text::claims_effects(&state.now[*server]);
        let entry = entries.get(*server);
        let is_asked =
            entry.is_some_and(|entry| entry.trust == pml_gateway::config::ServerTrust::None);
        if !claims || !is_asked {
            continue;
        }
        let question = format!("Trust the annotations of `{server}`, as they are pinned?");
        if annotations.decide(&question) {
            let is_trusted = trust::is_trusted(&place.config);
            let is_written = pml_client_import::trust_annotations(&place.config, server)?;
            if is_written && is_trusted {
                trust::trust_own(&place.config);
            }
            let (shown, state) = (place.config.display(), if is_written { "" } else { "not " });
            println!("The annotations of `{server}` are {state}trusted: see its entry in {shown}.");
        }
    }
    Ok(())
}

/// Pins the changes of tools and servers with these names, or all of them.
fn accept(
    place: &mut Place,
    state: &State,
    names: Option<&[String]>,
    ask: bool,
) -> anyhow::Result<ExitCode> {
    for name in names.unwrap_or_default() {
        state.check_name(&place.lock, name)?;
    }
    let mut comparison = state.compare(&place.lock);
    if let Some(names) = names {
        comparison.keep(names);
    }
    let is_listed = comparison.silent.is_empty();
    if comparison.changes.is_empty() && comparison.unconfigured.is_empty() {
        if is_listed {
            println!("Nothing has changed.");
        }
        return Ok(exit_code(is_listed));
    }
    exit::check_pipe(report::print(Format::Text, &comparison, &place.file))?;
    if ask && can_ask() && !confirm("", "Pin this?") {
        diagnostics::line("Nothing is pinned.");
        return Ok(ExitCode::FAILURE);
    }
    for change in &comparison.changes {
        place.lock.accept(change, &state.now[&change.server]);
    }
    for name in &comparison.unconfigured {
        place.lock.servers.remove(name);
    }
    place.lock.write(&place.file)?;
    let gone = comparison
        .changes
        .iter()
        .filter(|change| change.kind == ChangeKind::Removed);
    let gone = gone.count() + comparison.unconfigured.len();
    let pinned = comparison.changes.len() + comparison.unconfigured.len() - gone;
    println!(
        "Pinned {pinned} and removed {gone} in {}.",
        place.file.display()
    );
    Ok(exit_code(is_listed))
}
