//! `pml types`: TypeScript declarations for the tools of the configuration.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use pml_catalog::{Catalog, ResultShapes};
use pml_typegen::ToolSchemas;
use serde_json::Value;

use crate::exit::ExitCode;
use crate::tool_cache::ToolCache;
use crate::tools::LISTING_TIMEOUT;
use crate::{config, diagnostics, exit, servers};

/// The declarations of the script API, which does not depend on the configuration.
pub const API: &str = include_str!("../../typings/pml.d.ts");
/// The declarations of the test API.
pub const TEST_API: &str = include_str!("../../typings/test.d.ts");

/// Write TypeScript declarations for the tools of all servers
///
/// With them an editor and `tsc` know each tool, its arguments and its result. The type of a result
/// comes from the output schema of the tool, else from results that earlier runs observed.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml types -o pml-tools.d.ts              beside your scripts\n  \
    pml types --standalone -o pml.d.ts       with the script API\n  \
    pml types | grep read_file\n\n\
    Exit codes: 0 ok, 1 a server could not be listed, 2 wrong usage or configuration.")]
pub struct TypesArgs {
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Include the script API, for example `callTool`
    #[arg(long)]
    standalone: bool,
}

pub fn run(args: &TypesArgs, config: Option<&Path>) -> ExitCode {
    write(args, config).unwrap_or_else(exit::usage_error)
}

fn write(args: &TypesArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let cache = ToolCache::for_settings(&settings);
    servers::with_gateway(settings.servers, async |gateway| {
        let listing = gateway.list(None, LISTING_TIMEOUT).await;
        let catalog = cache.save_tools(&listing.tools, &listing.problems);
        let mut text = declarations(&catalog, &cache.shapes());
        if args.standalone {
            text = format!("{API}\n{text}");
        }
        match &args.output {
            Some(file) => write_if_changed(file, &text)?,
            None => exit::check_pipe(print(&text))?,
        }
        for (server, problem) in &listing.problems {
            diagnostics::warning(format_args!("no types of server `{server}`: {problem}"));
        }
        Ok(match listing.problems.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    })
}

/// The declarations of all tools of the catalog.
pub fn declarations(catalog: &Catalog, shapes: &ResultShapes) -> String {
    let tools: Vec<(_, Option<Value>)> = catalog
        .tools()
        .map(|tool| {
            let observed = match tool.output_schema {
                Some(_) => None,
                None => shapes.schema(&tool.id),
            };
            (tool, observed)
        })
        .collect();
    let tools: Vec<ToolSchemas<'_>> = tools
        .iter()
        .filter_map(|(tool, observed)| {
            let (server, name) = tool.id.split_once(':')?;
            Some(ToolSchemas {
                server,
                name,
                description: &tool.description,
                input: &tool.input_schema,
                output: tool.output_schema.as_ref(),
                observed: observed.as_ref(),
            })
        })
        .collect();
    pml_typegen::declarations(&tools)
}

/// Writes the file unless it has this content already, so that file watchers see no change.
fn write_if_changed(file: &Path, text: &str) -> anyhow::Result<()> {
    if fs::read(file).is_ok_and(|content| content == text.as_bytes()) {
        return Ok(());
    }
    fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
