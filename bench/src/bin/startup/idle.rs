//! Memory of an idle warm worker.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use pml_runtime::{Pool, PoolOptions};

use crate::pool::options;

pub async fn measure(pml: &Path) -> Result<()> {
    let pool = Pool::new(PoolOptions {
        warm: 4,
        ..options(pml)?
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let sizes: Vec<u64> = children()?.into_iter().filter_map(private_kib).collect();
    drop(pool);
    let mean = sizes.iter().sum::<u64>() / (sizes.len() as u64).max(1);
    println!(
        "| private memory of an idle warm worker, mean of {} | {:.1} MB |  | target 12 MB |",
        sizes.len(),
        mean as f64 * 1024.0 / 1e6
    );
    Ok(())
}

/// The pids of this process's children.
fn children() -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for thread in fs::read_dir("/proc/self/task")? {
        let list = thread?.path().join("children");
        let list = fs::read_to_string(list).context("this kernel does not list children")?;
        found.extend(
            list.split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    Ok(found)
}

/// Private memory of a process. A worker is not dumpable, so only root may read it.
fn private_kib(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let total = rollup
        .lines()
        .filter(|line| line.starts_with("Private_"))
        .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .sum();
    Some(total)
}
