//! A CPU-bound script: JSON, sorting and regular expressions over 5 MB.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use pml_bench::{Sample, cache_folder, millis};

const ROUNDS: usize = 15;

/// The script times itself, so that process startup is excluded. It prints with `console.log`, the one
/// output that both runtimes have.
const SCRIPT: &str = r#"
const rows = [];
let seed = 42;
const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
while (rows.length < 50000) {
  rows.push({
    id: rows.length,
    name: `user-${Math.floor(random() * 1e9).toString(36)}@example.org`,
    score: random(),
    tags: ["a", "b", String(Math.floor(random() * 100))],
  });
}
const text = JSON.stringify(rows);
const started = performance.now();
let check = 0;
for (let round = 0; round < 4; round++) {
  const parsed = JSON.parse(text);
  parsed.sort((a, b) => a.score - b.score || a.id - b.id);
  for (const match of text.matchAll(/"name":"user-([a-z0-9]+)@example\.org"/g)) {
    check += match[1].length;
  }
  check += JSON.stringify(parsed.filter((row) => row.tags.includes("7"))).length;
}
console.log(`${text.length} ${check} ${performance.now() - started}`);
"#;

pub fn measure(pml: &Path, deno: &Path) -> Result<()> {
    let script = cache_folder()?.join("compute.ts");
    fs::write(&script, SCRIPT)?;
    let (mut ours, mut theirs) = (Sample::default(), Sample::default());
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let mut command = Command::new(pml);
        command
            .args(["run", "--cpu", "60s", "--memory", "1g"])
            .arg(&script);
        let (size, time) = run(&mut command)?;
        ours.push(time);
        bytes = size;
        theirs.push(run(Command::new(deno).arg("run").arg(&script))?.1);
    }
    println!(
        "| JSON, sort, regex over {:.1} MB, median of {ROUNDS} | {} | {} | {:.2} (target 1.05) |",
        bytes as f64 / 1e6,
        millis(ours.median()),
        millis(theirs.median()),
        ours.median().as_secs_f64() / theirs.median().as_secs_f64(),
    );
    Ok(())
}

/// Runs the script; returns the size of its data and the time that it measured.
fn run(command: &mut Command) -> Result<(u64, Duration)> {
    let output = command
        .output()
        .context("the runtime could not be started")?;
    // Deno logs to standard output, pml to standard error.
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let mut words = text.split_whitespace();
    let size = words.next().context("the script printed nothing")?.parse();
    let time = words
        .nth(1)
        .context("the script printed no time")?
        .parse::<f64>();
    Ok((
        size.with_context(|| format!("{command:?} printed {text}"))?,
        Duration::from_secs_f64(time? / 1000.0),
    ))
}
