//! A script file that has changed since its run began.

use std::fmt::Write;
use std::sync::Arc;

use pml_hosts::journal::{DurableScript, DurableSpec, journaled_recording};
use pml_hosts::{Replay, stack};
use pml_protocol::{Limits, TimerMode};
use pml_runtime::{Pool, PoolOptions, RunOptions, Script};
use pml_store::ClaimedRun;

use super::line_diff::line_diff;
use crate::run::script::{self, Origin};

/// Calls that a refusal names.
const MAX_CALLS: usize = 20;

/// The script as it is on disk now, if it is not the one that the run began with. A file that is gone
/// does not matter: the run has its own copy.
pub fn read(began_with: &DurableScript) -> anyhow::Result<Option<DurableScript>> {
    let Some(file) = began_with.file.as_deref().filter(|file| file.exists()) else {
        return Ok(None);
    };
    let limit = Limits::default().source_bytes;
    let now = script::read(&Origin::File(file), limit, began_with.args.clone())?;
    Ok((now.source != began_with.source).then(|| DurableScript {
        source: now.source,
        ..began_with.clone()
    }))
}

/// Why the run is not continued with the changed script, and how it can be.
pub async fn explain(
    claimed: &ClaimedRun,
    spec: &DurableSpec,
    changed: &DurableScript,
) -> anyhow::Result<String> {
    let id = &claimed.run.id;
    let file = changed
        .file
        .as_deref()
        .map_or_else(|| changed.name.clone(), |file| file.display().to_string());
    let mut text = format!("{file} has changed since run {id} began, so its journal may not fit\n");
    text.push_str(&line_diff(&spec.script.source, &changed.source));
    let unmatched = unmatched(claimed, spec, changed).await?;
    if unmatched.is_empty() {
        text.push_str("the changed script makes all requests of the journal\n");
    } else {
        text.push_str("of its journal, the changed script does not make:\n");
        for request in unmatched.iter().take(MAX_CALLS) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {request}");
        }
        if unmatched.len() > MAX_CALLS {
            let _ = writeln!(text, "  … and {} more", unmatched.len() - MAX_CALLS);
        }
    }
    let _ = write!(
        text,
        "`pml resume {id} --force` continues with the changed script where it still matches; to continue with the script that the run began with, undo the change or remove the file"
    );
    Ok(text)
}

/// The requests of the journal that the changed script does not make, found by replaying it: nothing is
/// sent.
async fn unmatched(
    claimed: &ClaimedRun,
    spec: &DurableSpec,
    changed: &DurableScript,
) -> anyhow::Result<Vec<String>> {
    let recording = journaled_recording(spec, &claimed.entries);
    let replay = Arc::new(Replay::new(recording));
    let pool = Pool::new(PoolOptions {
        warm: 0,
        limits: spec.limits,
        ..PoolOptions::new()?
    });
    let script = Script {
        name: changed.name.clone(),
        source: changed.source.clone(),
        args: changed.args.clone(),
    };
    let options = RunOptions {
        clock: Some(spec.clock),
        timers: TimerMode::Skipped,
        ..RunOptions::default()
    };
    let host = stack::limited(replay.clone(), &spec.limits);
    // How it ends does not matter: only what it asked for.
    pool.run_with(script, options, spec.limits, host, &mut |_| {})
        .await;
    Ok(replay.unused())
}
