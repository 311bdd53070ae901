//! Finds regressions: runs the benchmarks that compare with peers, three times interleaved, and
//! compares the ratios with those in `bench/RESULTS.md`.
//!
//! `cargo run --release -p pml-bench --bin gate`
//!
//! Fails if a ratio is worse than the recorded one by more than `--noise`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use pml_bench::{build_pml, compare, describe_machine, ratios};

/// The programs, and the arguments that leave out what has no ratio.
const BENCHES: [(&str, &[&str]); 5] = [
    ("startup", &[]),
    ("gateway", &[]),
    ("serve", &["--times-only"]),
    ("check", &[]),
    ("testing", &[]),
];

#[derive(Parser)]
struct Options {
    /// The fraction by which a ratio may be worse than the recorded one
    #[arg(long, default_value_t = 0.25)]
    noise: f64,

    /// How often each benchmark runs
    #[arg(long, default_value_t = 3)]
    repetitions: usize,

    /// Only these benchmarks
    #[arg(value_name = "BENCH")]
    only: Vec<String>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
    let recorded = std::fs::read_to_string(&results)
        .with_context(|| format!("{} cannot be read", results.display()))?;
    let recorded = ratios(&recorded);
    // Once, so that the benches find it built.
    build_pml()?;
    let mut repetitions = Vec::new();
    for repetition in 1..=options.repetitions {
        let mut rows = Vec::new();
        for (name, arguments) in BENCHES {
            if options.only.is_empty() || options.only.iter().any(|only| only == name) {
                eprintln!("{name}, {repetition} of {} ...", options.repetitions);
                rows.extend(ratios(&run(name, arguments)?));
            }
        }
        repetitions.push(rows);
    }
    let compared = compare(&recorded, &repetitions);
    ensure!(!compared.is_empty(), "no benchmark printed a ratio");
    println!("{}\n", describe_machine());
    println!("| what | recorded | now | |\n|---|---|---|---|");
    for row in &compared {
        let before = row
            .recorded
            .map_or_else(|| "new".to_owned(), |value| format!("{value:.3}"));
        let verdict = match row.is_regression(options.noise) {
            true => "worse",
            false => "",
        };
        println!(
            "| {} | {before} | {:.3} | {verdict} |",
            row.what, row.measured
        );
    }
    let worse = compared
        .iter()
        .filter(|row| row.is_regression(options.noise))
        .count();
    ensure!(
        worse == 0,
        "{worse} of {} ratios are worse than recorded by more than {:.0} %",
        compared.len(),
        options.noise * 100.0
    );
    Ok(())
}

/// The output of the benchmark beside this program.
fn run(name: &str, arguments: &[&str]) -> Result<String> {
    let this = std::env::current_exe()?;
    let program = this.with_file_name(name);
    let done = Command::new(&program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| {
            format!(
                "{} is not built; run `cargo build --release -p pml-bench`",
                program.display()
            )
        })?;
    ensure!(done.status.success(), "{name} failed: {}", done.status);
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
