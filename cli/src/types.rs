//! `pml types`: TypeScript for the tools of the configuration.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use pml_catalog::{Catalog, Shapes};
use pml_typegen::ToolTypes;
use serde_json::Value;

use crate::exit::ExitCode;
use crate::tool_cache::ToolCache;
use crate::tools::LISTING_TIMEOUT;
use crate::{diagnostics, config, exit, servers};

/// What every script has, whatever the configuration.
pub const API: &str = include_str!("../../typings/pml.d.ts");
/// What a file of tests has besides.
pub const TEST_API: &str = include_str!("../../typings/test.d.ts");

/// Write TypeScript types for every tool of the configuration
///
/// An editor and `tsc` then know each tool, its arguments and its result. Results come from the
/// output schema of a tool; where its server gives none, from what earlier runs saw.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml types -o pml-tools.d.ts              beside your scripts\n  \
    pml types --standalone -o pml.d.ts       with everything else a script can use\n  \
    pml types | grep read_file\n\n\
    Exit codes: 0 ok, 1 a server could not be asked, 2 wrong usage or configuration.")]
pub struct TypesArgs {
    /// Write into this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Begin with the types of `callTool` and all else that a script has
    #[arg(long)]
    standalone: bool,
}

pub fn run(args: &TypesArgs, config: Option<&Path>) -> ExitCode {
    write(args, config).unwrap_or_else(exit::usage_error)
}

fn write(args: &TypesArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let cache = ToolCache::for_config(&settings.servers);
    servers::with_gateway(settings.servers, async |gateway| {
        let listing = gateway.list(None, LISTING_TIMEOUT).await;
        let catalog = cache.save_tools(&listing.tools, &listing.problems);
        let mut text = declarations(&catalog, &cache.shapes());
        if args.standalone {
            text = format!("{API}\n{text}");
        }
        match &args.output {
            Some(file) => replace(file, &text)?,
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

/// The types of all tools that are known.
pub fn declarations(catalog: &Catalog, shapes: &Shapes) -> String {
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
    let tools: Vec<ToolTypes<'_>> = tools
        .iter()
        .filter_map(|(tool, observed)| {
            let (server, name) = tool.id.split_once(':')?;
            Some(ToolTypes {
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

/// A file that says the same already stays as it is: whoever watches it need not look again.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    if fs::read(file).is_ok_and(|known| known == text.as_bytes()) {
        return Ok(());
    }
    fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
