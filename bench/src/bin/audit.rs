//! The audit log: what an append costs, with one writer and with several, and how long a million events
//! take to be verified.
//!
//! `cargo run --release -p pml-bench --bin audit`

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;
use pml_audit::{Actor, AuditLog, Event, LogOptions, verify_folder};
use pml_bench::{Sample, describe_machine, timed};
use serde_json::{Value, json};

/// Appends that are measured one by one.
const MEASURED: usize = 20_000;
/// Threads that append at once.
const WRITERS: usize = 8;

#[derive(Parser)]
struct Options {
    /// Events of the log that is verified
    #[arg(long, default_value_t = 1_000_000)]
    events: usize,

    /// The folder below which logs are written, on the disk that matters [default: the temporary one]
    #[arg(long, value_name = "FOLDER")]
    below: Option<std::path::PathBuf>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let folder = match &options.below {
        Some(below) => tempfile::tempdir_in(below)?,
        None => tempfile::tempdir()?,
    };
    println!("# Audit\n\n{}\n", describe_machine());
    println!("| what | median | p99 | target |");
    println!("|---|---|---|---|");
    let one = append(&folder.path().join("one"), 1)?;
    print("one event, one writer", &one, "30 µs");
    let many = append(&folder.path().join("many"), WRITERS)?;
    print(&format!("one event, {WRITERS} writers at once"), &many, "");
    let log = folder.path().join("large");
    let written = fill(&log, options.events)?;
    let (verified, time) = timed(|| verify_folder(&log, &[]));
    let verified = verified?;
    ensure!(verified.is_whole(), "{:?}", verified.damage);
    println!(
        "\n{} events: written in {:.1} s, verified in {:.2} s (target 10 s).",
        options.events,
        written.as_secs_f64(),
        time.as_secs_f64(),
    );
    Ok(())
}

/// The intent of a call, as `pml serve` records it.
fn data(number: usize) -> Value {
    json!({
        "intent": number,
        "arguments": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    })
}

fn actor() -> Actor {
    let digest = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
    Actor {
        tenant: "local".to_owned(),
        principal: "local".to_owned(),
        session: "f6b052652fc4139b1950a8df82ad7b16".to_owned(),
        run: "57c0b8cfc71cdc5ec3a71b1447198082".to_owned(),
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned(),
        policy: digest.to_owned(),
        lock: digest.to_owned(),
    }
}

/// The times of appends by `writers` threads.
fn append(folder: &Path, writers: usize) -> Result<Sample> {
    let log = AuditLog::open(folder, LogOptions::default())?;
    let actor = actor();
    let samples = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|_| {
                scope.spawn(|| {
                    (0..MEASURED / writers)
                        .map(|number| {
                            let data = data(number);
                            let event = Event::new("pml.call.intent", &data)
                                .about("fs:read_file")
                                .by(&actor);
                            let (appended, time) = timed(|| log.append(&event));
                            appended.map(|_| time)
                        })
                        .collect::<Result<Vec<Duration>, _>>()
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.collect::<Vec<_>>()
    });
    let mut all = Sample::default();
    for times in samples {
        let times = times.map_err(|_| anyhow::anyhow!("a writer panicked"))?;
        times?.into_iter().for_each(|time| all.push(time));
    }
    Ok(all)
}

/// Writes a log, and returns how long that took.
fn fill(folder: &Path, events: usize) -> Result<Duration> {
    let log = AuditLog::open(folder, LogOptions::default())?;
    let actor = actor();
    let (filled, time) = timed(|| {
        for number in 0..events {
            let data = data(number);
            let event = Event::new("pml.call.intent", &data);
            log.append(&event.about("fs:read_file").by(&actor))?;
        }
        log.close();
        anyhow::Ok(())
    });
    filled?;
    Ok(time)
}

fn print(what: &str, sample: &Sample, target: &str) {
    let micros = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
    println!(
        "| {what}, {} events | {} | {} | {target} |",
        sample.len(),
        micros(sample.median()),
        micros(sample.quantile(0.99)),
    );
}
