//! `pml serve` against other code-mode servers, and against direct calls, in the same run.
//!
//! `cargo run --release -p pml-bench --bin serve -- --tools tools.jsonl`
//!
//! `--tools` names a file with one tool per line (`server`, `name`, `description`, `inputSchema`, …), as
//! `tools/list` returns it; without it the table of schemas is left out.

mod client;
mod observed;
mod peers;
mod rows;
mod schemas;
mod task;
mod tokens;
mod tool_server;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use pml_bench::{build_pml, describe_machine};

#[derive(Parser)]
struct Options {
    /// Tools of real servers, one per line
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,

    /// Use this binary instead of building one in release
    #[arg(long, value_name = "FILE")]
    pml: Option<PathBuf>,

    /// Measure pml only; installs no peer
    #[arg(long)]
    alone: bool,

    /// Only what audit and telemetry cost
    #[arg(long)]
    observed: bool,

    /// Only the times side by side: no hostile scripts, no tokens
    #[arg(long)]
    times_only: bool,
}

fn main() -> Result<()> {
    // This program is also the tool server behind the servers under test.
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(tool_server::ARGUMENT) {
        return tool_server::run(&arguments.collect::<Vec<_>>());
    }
    let options = Options::parse();
    let pml = match &options.pml {
        Some(pml) => pml.clone(),
        None => build_pml()?,
    };
    println!("# Serve\n");
    println!("{}\n", describe_machine());
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(async {
            if options.observed {
                return observed::measure(&pml).await;
            }
            rows::measure(&pml, options.alone).await?;
            if options.times_only {
                return Ok(());
            }
            rows::measure_hostile(&pml, options.alone).await?;
            task::measure(&pml).await?;
            if let Some(tools) = &options.tools {
                schemas::measure(&pml, tools).await?;
            }
            Ok(())
        })
}
