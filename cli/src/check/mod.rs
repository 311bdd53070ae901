//! `pml check`: mistakes in scripts, found without running them.

mod text;
mod tsc;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use pml_catalog::{Catalog, ServerState};
use pml_check::report::{self, CheckedFile};
use pml_runtime::Limits;

use crate::config::{self, Settings};
use crate::exit::ExitCode;
use crate::tool_cache::{self, ToolCache};
use crate::run::script::{self, Origin};
use crate::tools::LISTING_TIMEOUT;
use crate::{diagnostics, exit, servers};

/// Seconds after which servers are asked again, even for the same configuration: they change too.
const STALE: u64 = 7 * 24 * 60 * 60;

/// Find mistakes in scripts without running them
///
/// Syntax, tools that do not exist, arguments that do not fit, imports and globals that a script
/// does not have, tool calls that nobody awaits. The tools are those that were listed last for the
/// same configuration; where there are none, its servers are asked.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml check scripts/*.ts\n  \
    pml check --format sarif scripts/*.ts > pml.sarif\n  \
    pml check --tsc audit.ts               with the TypeScript compiler as well\n  \
    pml check --offline audit.ts           never start a server\n\n\
    Exit codes: 0 nothing found, 1 findings, 2 wrong usage or configuration.")]
pub struct CheckArgs {
    /// Scripts, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,

    /// Run the TypeScript compiler as well
    #[arg(long)]
    tsc: bool,

    /// Start no server: without a list of their tools, say nothing about them
    #[arg(long, conflicts_with = "refresh")]
    offline: bool,

    /// Ask the servers for their tools now
    #[arg(long)]
    refresh: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    /// For people, with the lines around each mistake
    Text,
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

pub fn run(args: &CheckArgs, config: Option<&Path>) -> ExitCode {
    check(args, config).unwrap_or_else(exit::usage_error)
}

fn check(args: &CheckArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::load(config)?;
    let limit = Limits::default().source_bytes;
    let mut sources = Vec::new();
    for file in &args.files {
        let origin = match file.as_os_str() == "-" {
            true => Origin::Stdin,
            false => Origin::File(file),
        };
        let name = match origin {
            Origin::File(path) => path.to_string_lossy().into_owned(),
            _ => origin.name().into_owned(),
        };
        sources.push((name, script::read(&origin, limit, Vec::new())?.source));
    }
    let has_config = settings.servers.file.is_some();
    let cache = ToolCache::for_config(&settings.servers);
    let catalog = match has_config {
        true => catalog(args, settings, &cache)?.map(Arc::new),
        false => None,
    };
    let mut checked: Vec<CheckedFile> = sources
        .iter()
        .map(|(name, source)| CheckedFile {
            file: name.clone(),
            findings: pml_check::check(name, source, catalog.as_ref()),
        })
        .collect();
    if args.tsc {
        let types = catalog
            .as_ref()
            .map(|catalog| crate::types::declarations(catalog, &cache.shapes()));
        tsc::check(types.as_deref(), &sources, &mut checked)?;
    }
    exit::check_pipe(print(args.format, &sources, &checked))?;
    if args.format == Format::Text {
        explain_silence(catalog.as_deref(), has_config);
    }
    Ok(match checked.iter().all(|one| one.findings.is_empty()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// What the servers said last, or what they say now.
fn catalog(
    args: &CheckArgs,
    settings: Settings,
    cache: &ToolCache,
) -> anyhow::Result<Option<Catalog>> {
    let known = cache.catalog();
    let is_fresh = |catalog: &Catalog| {
        let is_recent = tool_cache::unix_seconds().saturating_sub(catalog.listed_at()) < MAX_CATALOG_AGE;
        is_recent
            && catalog
                .servers()
                .all(|(_, state)| state != ServerState::Silent)
    };
    if args.offline || (!args.refresh && known.as_ref().is_some_and(is_fresh)) {
        return Ok(known);
    }
    let mut asked = None;
    servers::with_gateway(settings.servers, async |gateway| {
        let listing = gateway.list(None, LISTING_TIMEOUT).await;
        for (server, problem) in &listing.problems {
            diagnostics::warning(format_args!("no tools of server `{server}`: {problem}"));
        }
        asked = Some(cache.save_tools(&listing.tools, &listing.problems));
        Ok(ExitCode::SUCCESS)
    })?;
    Ok(asked)
}

/// A check that could not look at tools must not look like one that found nothing wrong.
fn explain_silence(catalog: Option<&Catalog>, has_config: bool) {
    if catalog.is_none() {
        diagnostics::warning(match has_config {
            true => {
                "tools were not checked: they were not listed yet; leave out --offline, or run `pml tools`"
            }
            false => "tools were not checked: there is no configuration; name one with --config",
        });
    }
}

fn print(format: Format, sources: &[(String, String)], checked: &[CheckedFile]) -> io::Result<()> {
    let text = match format {
        Format::Text => text::render(sources, checked),
        Format::Json => format!("{}\n", report::json(checked)),
        Format::Sarif => format!("{}\n", report::sarif(checked, env!("CARGO_PKG_VERSION"))),
        Format::Github => report::github(checked),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
