//! `pml-scrub` against Presidio and detect-secrets: accuracy on labelled sentences, false positives on
//! source code, and throughput, in one run.

#[path = "../scrub/accuracy.rs"]
mod accuracy;
#[path = "../scrub/code.rs"]
mod code;
#[path = "../scrub/corpus.rs"]
mod corpus;
#[path = "../scrub/kinds.rs"]
mod kinds;
#[path = "../scrub/peers.rs"]
mod peers;
#[path = "../scrub/rows.rs"]
mod rows;
#[path = "../scrub/throughput.rs"]
mod throughput;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

/// Measure accuracy, false positives and throughput of scrubbing, beside Presidio and detect-secrets.
///
/// FOLDER holds `*.jsonl` files with one labelled text a line: `text` and `spans` with `type`,
/// `start` and `end` in characters; or, for the cases of one recognizer, `recognizer`, `entities`
/// and `expected_count`. A case of one recognizer is scrubbed as the value of a JSON key of that
/// name, as Presidio's own tests run that one recognizer only.
///
/// Example: cargo run --release -p pml-bench --bin scrub -- data/pii --code node_modules
#[derive(Parser)]
struct Args {
    /// The folder with the labelled texts.
    folder: PathBuf,
    /// Write one line {"index","kind","start","end"} for each finding: the index counts lines from
    /// 0 over all files in the order of their names, kinds are those of the data, offsets are in
    /// characters.
    #[arg(long)]
    findings: Option<PathBuf>,
    /// Write the findings of the run without the recognizer's name as key.
    #[arg(long)]
    bare: bool,
    /// Count findings in the source code below this folder; may be given several times.
    #[arg(long)]
    code: Vec<PathBuf>,
    /// List each finding in source code with its file, line and kind.
    #[arg(long)]
    list: bool,
    /// Skip the peers, which need Python and a package index.
    #[arg(long)]
    no_peers: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let rows = rows::read(&args.folder)?;
    let keyed = accuracy::findings(&rows, true)?;
    let bare = accuracy::findings(&rows, false)?;
    if let Some(path) = &args.findings {
        accuracy::write(path, &rows, if args.bare { &bare } else { &keyed })?;
    }
    accuracy::print("pml-scrub", &rows, &keyed);
    accuracy::print(
        "pml-scrub, without the recognizer's name as key",
        &rows,
        &bare,
    );
    for folder in &args.code {
        code::measure(folder, args.list)?;
    }
    let corpora = corpus::all();
    let speed = throughput::ours(&corpora)?;
    if args.no_peers {
        throughput::print(&speed, &[]);
        return Ok(());
    }
    let peers = peers::run(&rows, &corpora)?;
    for peer in &peers {
        if let Some(found) = &peer.findings {
            accuracy::print(&peer.name, &rows, found);
        }
    }
    throughput::print(&speed, &peers);
    for peer in &peers {
        println!("{}: {}", peer.name, peer.note);
    }
    Ok(())
}
