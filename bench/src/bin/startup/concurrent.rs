//! Throughput with 1 to 64 concurrent runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use pml_runtime::{Pool, PoolOptions};

use crate::pool::{options, throughput};

const TIME: Duration = Duration::from_secs(3);

pub async fn measure(pml: &Path) -> Result<()> {
    let pool = Arc::new(Pool::new(PoolOptions {
        running: 64,
        ..options(pml)?
    }));
    for lanes in [1, 2, 4, 8, 16, 32, 64] {
        let (runs, time) = throughput(&pool, lanes, TIME).await?;
        println!(
            "| {lanes} runs at once, no failure | {:.0} per second |  |  |",
            runs as f64 / time.as_secs_f64()
        );
    }
    Ok(())
}
