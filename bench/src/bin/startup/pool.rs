//! Warm workers: latency and throughput of a trivial script.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use pml_bench::{Sample, millis};
use pml_hosts::StaticHost;
use pml_protocol::Outcome;
use pml_runtime::{Pool, PoolOptions, Script};

const RUNS: usize = 300;
/// Pause between two runs, in which the pool replaces the used worker: the latency is that of a warm
/// pool, the throughput that of an exhausted one.
const PAUSE: Duration = Duration::from_millis(25);
const THROUGHPUT_TIME: Duration = Duration::from_secs(5);
const LANES: usize = 4;

pub async fn measure(pml: &Path) -> Result<()> {
    let pool = Arc::new(Pool::new(options(pml)?));
    let mut sample = Sample::default();
    for _ in 0..RUNS {
        tokio::time::sleep(PAUSE).await;
        let started = Instant::now();
        let outcome = trivial(&pool).await;
        sample.push(started.elapsed());
        ensure!(outcome.ok, "{:?}", outcome.error);
    }
    println!(
        "| warm run of a trivial script, p50 | {} |  | target 1 ms |",
        millis(sample.median())
    );
    println!(
        "| the same, p99 | {} |  |  |",
        millis(sample.quantile(0.99))
    );

    let (runs, time) = throughput(&pool, LANES, THROUGHPUT_TIME).await?;
    println!(
        "| runs per second, {LANES} at a time | {:.0} |  | target 300 |",
        runs as f64 / time.as_secs_f64()
    );
    Ok(())
}

/// Options of a pool whose workers are the binary under test.
pub fn options(pml: &Path) -> Result<PoolOptions> {
    Ok(PoolOptions {
        program: pml.to_owned(),
        ..PoolOptions::new()?
    })
}

/// Runs the trivial script.
pub async fn trivial(pool: &Pool) -> Outcome {
    let script = Script {
        name: "trivial.ts".to_owned(),
        source: "return 6 * 7;".to_owned(),
        args: Vec::new(),
    };
    let host = Arc::new(StaticHost::empty());
    pool.run(script, *pool.limits(), host, &mut |_| {}).await
}

/// Runs scripts back to back in `lanes` concurrent tasks for `time`; returns their number and the time.
pub async fn throughput(pool: &Arc<Pool>, lanes: usize, time: Duration) -> Result<(u64, Duration)> {
    let started = Instant::now();
    let lanes: Vec<_> = (0..lanes)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let mut runs = 0;
                while started.elapsed() < time {
                    let outcome = trivial(&pool).await;
                    ensure!(outcome.ok, "{:?}", outcome.error);
                    runs += 1;
                }
                Ok(runs)
            })
        })
        .collect();
    let mut runs = 0;
    for lane in lanes {
        runs += lane.await??;
    }
    Ok((runs, started.elapsed()))
}
