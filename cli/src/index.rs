//! `pml index`: the index that search keeps on disk.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use pml_search::{IndexStats, Search, State};
use pml_session::{Session, SessionOptions};

use crate::exit::ExitCode;
use crate::{complain, config, exit, searching, servers};

/// Index the tools of all servers, for search
///
/// A search does this by itself when it has to; here it can be done ahead of time.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml index                  index what is new or has changed\n  \
    pml index --rebuild        throw the index away and make it anew\n  \
    pml index --stats --json   what is on disk; starts no server\n\n\
    Exit codes: 0 ok, 1 there is no index, 2 wrong usage or configuration.")]
pub struct IndexArgs {
    /// Begin with an empty index
    #[arg(long, conflicts_with = "stats")]
    rebuild: bool,

    /// Only show what the index has
    #[arg(long)]
    stats: bool,

    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &IndexArgs, config: Option<&Path>) -> ExitCode {
    work(args, config).unwrap_or_else(exit::mistake)
}

fn work(args: &IndexArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let search = searching::open(settings.servers.file.as_deref())?;
    servers::with(settings.servers, async |gateway| {
        if args.stats {
            return show(args, &search).await;
        }
        if args.rebuild {
            search.clear().await?;
        }
        let session = Session::new(SessionOptions {
            gateway: gateway.clone(),
            search,
            scrubber: None,
            tool_timeout: None,
        });
        let search = session.prepare_search().await;
        let began = Instant::now();
        let state = finish(search).await;
        for (server, problem) in session.problems() {
            complain::warning(format_args!("no tools of server `{server}`: {problem}"));
        }
        if let State::WordsOnly(reason) = state {
            complain::error(format_args!("there is no index: {reason}"));
            return Ok(ExitCode::FAILURE);
        }
        complain::line(format_args!(
            "indexed in {:.1} s",
            began.elapsed().as_secs_f64()
        ));
        show(args, search).await
    })
}

/// Waits for the index and shows how far it is.
pub async fn finish(search: &Search) -> State {
    let mut state = search.state();
    let mut shown = 0;
    while let State::Building(progress) = state {
        // A line for every tenth part.
        let tenth = progress.done * 10 / progress.of.max(1);
        if tenth > shown {
            complain::line(format_args!(
                "indexed {} of {} tools",
                progress.done, progress.of
            ));
            shown = tenth;
        }
        state = search.changed(&state).await;
    }
    state
}

async fn show(args: &IndexArgs, search: &Search) -> anyhow::Result<ExitCode> {
    let stats = search
        .stats()
        .await
        .context("there is no home folder to keep an index in: set HOME or XDG_DATA_HOME")??;
    exit::check_pipe(print(args, &stats))?;
    Ok(ExitCode::SUCCESS)
}

fn print(args: &IndexArgs, stats: &IndexStats) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, stats)?;
        writeln!(out)?;
    } else {
        let folder = searching::shown(&stats.folder);
        let kib = stats.bytes.div_ceil(1024);
        writeln!(out, "{} tools, {kib} KiB in {folder}", stats.tools)?;
        writeln!(out, "versions kept: {}", stats.versions)?;
    }
    out.flush()
}
