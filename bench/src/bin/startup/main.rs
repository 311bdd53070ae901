//! How fast a script starts, runs and calls, against Deno in the same run.
//!
//! `cargo run --release -p pml-bench --bin startup`

mod cold;
mod compute;
mod concurrent;
mod idle;
mod pool;
mod roundtrip;

use anyhow::Result;
use pml_bench::{build_pml, describe_machine, install_npm};

/// The version whose V8 is closest to ours.
const DENO: &str = "2.9.6";

fn main() -> Result<()> {
    // This program is also the worker that its pools start.
    pml_runtime::worker::run_if_requested();

    let pml = build_pml()?;
    let deno = install_npm("deno", DENO)?.join("deno");
    println!("# Startup\n");
    println!("{}; peer: Deno {DENO}\n", describe_machine());
    println!("| what | pml | Deno | ratio or target |");
    println!("|---|---|---|---|");

    cold::measure(&pml, &deno)?;
    compute::measure(&pml, &deno)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    // As in a server: on the threads of the runtime, not on the one that waits for it.
    runtime.block_on(async {
        tokio::spawn(async {
            pool::measure().await?;
            roundtrip::measure().await?;
            idle::measure().await?;
            concurrent::measure().await
        })
        .await?
    })
}
