//! Suggestions and next-tool predictions on sets of (intent, plan) samples.
//!
//! 70 % of each set, by a hash of the intent, are what a model learns from; the rest is measured.

use std::path::PathBuf;

use clap::Parser;
use pml_bench::describe_machine;
use pml_learn::evaluate::{PriorChoice, prior_as_code, read_sets, report};

/// Measure suggestions on a folder of sets, each with tools.jsonl and samples.jsonl
///
/// Example: cargo run -p pml-bench --bin learn -- workflows/
#[derive(Parser)]
struct Args {
    /// A set, or a folder of sets
    folder: PathBuf,

    /// Start each set from a prior that is fitted to the other sets alone
    #[arg(long)]
    leave_one_out: bool,

    /// Print the prior that the sets justify, as Rust
    #[arg(long)]
    fit_prior: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let sets = read_sets(&args.folder)?;
    if args.fit_prior {
        print!("{}", prior_as_code(&sets));
        return Ok(());
    }
    println!("{}\n", describe_machine());
    let prior = match args.leave_one_out {
        true => PriorChoice::OtherSets,
        false => PriorChoice::BuiltIn,
    };
    report(&sets, prior, &mut |line| println!("{line}"));
    Ok(())
}
