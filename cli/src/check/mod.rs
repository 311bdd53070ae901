//! `pml check`: finds mistakes in scripts without running them.

mod flows;
mod text;
mod tsc;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use pml_catalog::{Catalog, ListingStatus};
use pml_check::report::{self, CheckedFile};
use pml_policy::labels::LabelRules;
use pml_protocol::Limits;

use crate::config::{self, Settings};
use crate::exit::ExitCode;
use crate::run::script::{self, Origin};
use crate::tool_cache::{self, ToolCache};
use crate::tools::LISTING_TIMEOUT;
use crate::{diagnostics, exit, servers};

/// Seconds after which servers are listed again although the configuration is the same: their tools
/// change too.
const MAX_CATALOG_AGE: u64 = 7 * 24 * 60 * 60;

/// Find mistakes in scripts without running them
///
/// Finds syntax errors, unknown tools, arguments that do not match the tool's schema, imports and
/// globals that scripts do not have, and tool calls without `await`. The tools are those that were
/// listed last for the same configuration; if there are none, the servers are started and listed.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml check scripts/*.ts\n  \
    pml check --format sarif scripts/*.ts > pml.sarif\n  \
    pml check --tsc audit.ts               run the TypeScript compiler too\n  \
    pml check --offline audit.ts           start no server\n\n\
    Exit codes: 0 nothing found, 1 findings, 2 wrong usage or configuration.")]
pub struct CheckArgs {
    /// The scripts, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,

    /// Print the result as JSON on standard output
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Run the TypeScript compiler too
    #[arg(long)]
    tsc: bool,

    /// Start no server; tools that were never listed are not checked
    #[arg(long, conflicts_with = "refresh")]
    offline: bool,

    /// List the tools of the servers again
    #[arg(long)]
    refresh: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    /// For people, with the lines around each mistake
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

impl CheckArgs {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

pub fn run(args: &CheckArgs, config: Option<&Path>) -> ExitCode {
    check(args, config).unwrap_or_else(exit::usage_error)
}

fn check(args: &CheckArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::load(config)?;
    let limit = Limits::default().source_bytes;
    let mut sources = Vec::new();
    // A file that cannot be read does not keep the others from being checked.
    let mut unreadable = Vec::new();
    for file in &args.files {
        let origin = match file.as_os_str() == "-" {
            true => Origin::Stdin,
            false => Origin::File(file),
        };
        let name = match origin {
            Origin::File(path) => path.to_string_lossy().into_owned(),
            _ => origin.name().into_owned(),
        };
        match script::read(&origin, limit, Vec::new()) {
            Ok(script) => sources.push((name, script.source)),
            Err(error) => unreadable.push(error),
        }
    }
    if sources.is_empty()
        && let Some(error) = unreadable.pop()
    {
        for other in unreadable {
            exit::usage_error(other);
        }
        return Err(error);
    }
    let has_config = settings.servers.file.is_some();
    let cache = ToolCache::for_settings(&settings);
    let rules = LabelRules::new(settings.servers.section("labels")?);
    let catalog = match has_config {
        true => catalog(args, settings, &cache)?.map(Arc::new),
        false => None,
    };
    let flows = flows::rules(rules, catalog.clone());
    let mut checked: Vec<CheckedFile> = sources
        .iter()
        .map(|(name, source)| CheckedFile {
            file: name.clone(),
            findings: pml_check::check_flows(name, source, catalog.as_ref(), flows.as_ref()),
        })
        .collect();
    if args.tsc {
        let types = catalog
            .as_ref()
            .map(|catalog| crate::types::declarations(catalog, &cache.shapes()));
        tsc::check(types.as_deref(), &sources, &mut checked)?;
    }
    exit::check_pipe(print(args.format(), &sources, &checked))?;
    if args.format() == Format::Text {
        warn_without_catalog(catalog.as_deref(), has_config);
    }
    if let Some(error) = unreadable.pop() {
        for other in unreadable {
            exit::usage_error(other);
        }
        return Err(error);
    }
    Ok(match checked.iter().all(|one| one.findings.is_empty()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The cached catalog while it is fresh, else a new listing.
fn catalog(
    args: &CheckArgs,
    settings: Settings,
    cache: &ToolCache,
) -> anyhow::Result<Option<Catalog>> {
    let cached = cache.catalog();
    let is_fresh = |catalog: &Catalog| {
        let is_recent =
            tool_cache::unix_seconds().saturating_sub(catalog.listed_at()) < MAX_CATALOG_AGE;
        is_recent
            && catalog
                .servers()
                .all(|(_, status)| status != ListingStatus::Silent)
    };
    if args.offline || (!args.refresh && cached.as_ref().is_some_and(is_fresh)) {
        return Ok(cached);
    }
    let mut listed = None;
    servers::with_gateway(settings.servers, async |gateway| {
        let listing = gateway.list(None, LISTING_TIMEOUT).await;
        for (server, problem) in &listing.problems {
            diagnostics::warning(format_args!("no tools of server `{server}`: {problem}"));
        }
        listed = Some(cache.save_tools(&listing.tools, &listing.problems));
        Ok(ExitCode::SUCCESS)
    })?;
    Ok(listed)
}

/// Without a catalog the tools are not checked. The report must not look as if they were.
fn warn_without_catalog(catalog: Option<&Catalog>, has_config: bool) {
    if catalog.is_none() {
        diagnostics::warning(match has_config {
            true => {
                "tools were not checked: they were never listed; leave out --offline, or run `pml tools`"
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
