//! `pml index`: the search index on disk.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use pml_search::{IndexStats, Search, SearchState, ToolFinder};

use crate::exit::ExitCode;
use crate::{config, diagnostics, exit, search_setup, servers};

/// Index the tools of all servers, for search
///
/// A search indexes what is missing by itself. This command does it ahead of time.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml index                  index tools that are new or have changed\n  \
    pml index --rebuild        delete the index and build it again\n  \
    pml index --stats --json   show what is on disk; starts no server\n\n\
    Exit codes: 0 ok, 1 the index cannot be built, 2 wrong usage or configuration.")]
pub struct IndexArgs {
    /// Delete the index first
    #[arg(long, conflicts_with = "stats")]
    rebuild: bool,

    /// Show the size of the index, and change nothing
    #[arg(long)]
    stats: bool,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &IndexArgs, config: Option<&Path>) -> ExitCode {
    index(args, config).unwrap_or_else(exit::usage_error)
}

fn index(args: &IndexArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let search = search_setup::open(settings.servers.file.as_deref())?;
    servers::with_gateway(settings.servers, async |gateway| {
        if args.stats {
            return show(args, &search).await;
        }
        if args.rebuild {
            search.clear().await?;
        }
        let finder = ToolFinder::new(gateway.clone(), search);
        let search = finder.prepare().await;
        let began = Instant::now();
        let state = wait_until_built(search).await;
        for (server, problem) in finder.problems() {
            diagnostics::warning(format_args!("no tools of server `{server}`: {problem}"));
        }
        if let SearchState::WordsOnly(reason) = state {
            diagnostics::error(format_args!("the index cannot be built: {reason}"));
            return Ok(ExitCode::FAILURE);
        }
        diagnostics::line(format_args!(
            "indexed in {:.1} s",
            began.elapsed().as_secs_f64()
        ));
        show(args, search).await
    })
}

/// Waits for the index and reports progress, one line for each 10 %.
pub async fn wait_until_built(search: &Search) -> SearchState {
    let mut state = search.state();
    let mut shown = 0;
    while let SearchState::Building(progress) = state {
        let tenth = progress.done * 10 / progress.of.max(1);
        if tenth > shown {
            diagnostics::line(format_args!(
                "indexed {} of {} tools",
                progress.done, progress.of
            ));
            shown = tenth;
        }
        state = search.wait_for_change(&state).await;
    }
    state
}

async fn show(args: &IndexArgs, search: &Search) -> anyhow::Result<ExitCode> {
    let stats = search
        .stats()
        .await
        .context("there is no home folder for the index: set HOME or XDG_DATA_HOME")??;
    exit::check_pipe(print(args, &stats))?;
    Ok(ExitCode::SUCCESS)
}

fn print(args: &IndexArgs, stats: &IndexStats) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, stats)?;
        writeln!(out)?;
    } else {
        let folder = search_setup::with_tilde(&stats.folder);
        let kib = stats.bytes.div_ceil(1024);
        writeln!(out, "{} tools, {kib} KiB in {folder}", stats.tools)?;
        writeln!(out, "versions kept: {}", stats.versions)?;
    }
    out.flush()
}
