//! Startup, execution and tool calls of scripts, against Deno in the same run.
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
    // As in a server: on the runtime's worker threads, not on the thread that blocks on it.
    runtime.block_on(async {
        tokio::spawn(async move {
            pool::measure(&pml).await?;
            roundtrip::measure(&pml).await?;
            idle::measure(&pml).await?;
            concurrent::measure(&pml).await
        })
        .await?
    })
}
