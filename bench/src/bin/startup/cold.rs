//! Cold start: a whole process that runs one line.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use pml_bench::{Sample, cache_folder, millis, timed};

const ROUNDS: usize = 40;

pub fn measure(pml: &Path, deno: &Path) -> Result<()> {
    let script = cache_folder()?.join("hello.ts");
    fs::write(&script, "console.log(\"hello\");\n")?;
    let (mut ours, mut theirs) = (Sample::default(), Sample::default());
    // The two alternate, so that noise on the machine affects both.
    for round in 0..=ROUNDS {
        let (done, time) = timed(|| run(Command::new(pml).arg("run").arg(&script)));
        done?;
        let (done, other) = timed(|| run(Command::new(deno).arg("run").arg(&script)));
        done?;
        // The first round fills the file cache.
        if round > 0 {
            ours.push(time);
            theirs.push(other);
        }
    }
    println!(
        "| cold `run hello.ts`, median of {ROUNDS} | {} | {} | {:.2} (target 0.5) |",
        millis(ours.median()),
        millis(theirs.median()),
        ours.median().as_secs_f64() / theirs.median().as_secs_f64(),
    );
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("{command:?} could not be started"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
