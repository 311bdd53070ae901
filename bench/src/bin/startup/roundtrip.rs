//! Round trip of a tool call: from the script to the broker and back.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use pml_bench::Sample;
use pml_hosts::StaticHost;
use pml_protocol::Limits;
use pml_runtime::{Pool, PoolOptions, Script};

use crate::pool::options;

/// Calls are timed in groups: the script's clock is too coarse for a single one.
const SCRIPT: &str = "
const groups = [];
for (let group = 0; group < 200; group++) {
  const started = performance.now();
  for (let i = 0; i < 50; i++) await callTool('demo:echo', { i });
  groups.push((performance.now() - started) / 50);
}
return groups;
";

pub async fn measure(pml: &Path) -> Result<()> {
    let limits = Limits {
        calls: 20_000,
        ..Limits::default()
    };
    let pool = Pool::new(PoolOptions {
        limits,
        ..options(pml)?
    });
    let host =
        StaticHost::empty().with("demo:echo", "returns its input", |args| async { Ok(args) });
    let script = Script {
        name: "roundtrip.ts".to_owned(),
        source: SCRIPT.to_owned(),
        args: Vec::new(),
    };
    let outcome = pool.run(script, limits, Arc::new(host), &mut |_| {}).await;
    ensure!(outcome.ok, "{:?}", outcome.error);
    let result = outcome.result.context("the script returned no times")?;
    let groups: Vec<f64> = serde_json::from_str(result.get())?;
    let sample: Sample = groups
        .into_iter()
        .map(|ms| Duration::from_secs_f64(ms / 1000.0))
        .collect();
    println!(
        "| tool call, script to broker and back, p50 | {:.0} µs |  | target 60 µs |",
        sample.median().as_secs_f64() * 1e6
    );
    Ok(())
}
