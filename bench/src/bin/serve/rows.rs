//! The comparison: latency, concurrency, and hostile scripts.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use pml_bench::{Sample, millis};
use tokio::time::timeout;

use crate::peers::{self, CodeModeServer};

/// Rounds in which the servers alternate, so that noise on the machine affects all of them.
const ROUNDS: usize = 5;
/// A script that takes longer counts as endless.
const TIMEOUT: Duration = Duration::from_secs(60);
const CONCURRENT: usize = 32;

/// The work of one measurement.
#[derive(Clone, Copy)]
enum Work {
    /// One trivial script.
    Trivial,
    /// 40 concurrent calls of a slow tool in one script.
    FanOut,
    /// Concurrent trivial scripts.
    AtOnce,
}

struct Row {
    what: &'static str,
    work: Work,
    /// Measurements per round.
    runs: usize,
    /// Pause before each run. A model pauses for seconds between two calls; this is enough for any
    /// server to be ready again.
    pause: Duration,
}

const ROWS: [Row; 5] = [
    Row {
        what: "trivial script, round trip, 50 ms between them",
        work: Work::Trivial,
        runs: 20,
        pause: Duration::from_millis(50),
    },
    Row {
        what: "the same without a pause",
        work: Work::Trivial,
        runs: 20,
        pause: Duration::ZERO,
    },
    Row {
        what: "40 calls at once to a tool that takes 100 ms",
        work: Work::FanOut,
        runs: 1,
        pause: Duration::ZERO,
    },
    Row {
        what: "32 trivial scripts at once, until the last answer, 500 ms between",
        work: Work::AtOnce,
        runs: 2,
        pause: Duration::from_millis(500),
    },
    Row {
        what: "the same without a pause",
        work: Work::AtOnce,
        runs: 5,
        pause: Duration::ZERO,
    },
];

/// The outcome of a hostile script, and whether the server survived it.
enum End {
    Replied { after: Duration, survived: bool },
    Died { after: Duration },
    Never,
}

fn servers(alone: bool) -> usize {
    if alone { 1 } else { 3 }
}

/// The times side by side.
pub async fn measure(pml: &Path, alone: bool) -> Result<()> {
    let mut peers = Vec::new();
    for which in 0..servers(alone) {
        peers.push(open(pml, which).await?);
    }
    println!("## Side by side\n");
    let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
    println!("| what | {} | next best against pml |", names.join(" | "));
    println!("|---|{}---|", "---|".repeat(names.len()));
    for row in &ROWS {
        eprintln!("measuring: {} ...", row.what);
        print(row, &time(row, &peers).await);
    }
    for peer in peers {
        peer.kill().await;
    }
    Ok(())
}

/// What hostile scripts do to the servers, as further rows of the same table.
pub async fn measure_hostile(pml: &Path, alone: bool) -> Result<()> {
    let count = servers(alone);
    print_ends(
        "endless loop",
        &ends(pml, count, |peer| peer.endless).await?,
    );
    print_ends("heap bomb", &ends(pml, count, |peer| peer.heap_bomb).await?);
    println!();
    Ok(())
}

async fn open(pml: &Path, which: usize) -> Result<CodeModeServer> {
    match which {
        0 => peers::pml(pml).await,
        1 => peers::executor().await,
        _ => peers::fastmcp().await,
    }
}

/// The median for each server; `None` if it fails.
async fn time(row: &Row, peers: &[CodeModeServer]) -> Vec<Option<Duration>> {
    let mut samples = vec![Some(Sample::default()); peers.len()];
    for _ in 0..ROUNDS {
        for (peer, sample) in peers.iter().zip(&mut samples) {
            if let Some(times) = sample
                && let Err(error) = round(row, peer, times).await
            {
                eprintln!("{}: {error:#}", peer.name);
                *sample = None;
            }
        }
    }
    let medians = samples.into_iter();
    medians
        .map(|sample| sample.map(|sample| sample.median()))
        .collect()
}

/// Runs a row once more than it counts: the first run warms up.
async fn round(row: &Row, peer: &CodeModeServer, times: &mut Sample) -> Result<()> {
    for run in 0..=row.runs {
        tokio::time::sleep(row.pause).await;
        let began = Instant::now();
        timeout(TIMEOUT, once(row.work, peer)).await??;
        if run > 0 {
            times.push(began.elapsed());
        }
    }
    Ok(())
}

async fn once(work: Work, peer: &CodeModeServer) -> Result<()> {
    let (replies, expected) = match work {
        Work::Trivial => (vec![peer.run(peer.trivial).await?], "42"),
        Work::FanOut => (vec![peer.run(&peer.fan_out).await?], "40"),
        Work::AtOnce => {
            let scripts = (0..CONCURRENT).map(|_| peer.run(peer.trivial));
            (try_join_all(scripts).await?, "42")
        }
    };
    let is_right = replies.iter().all(|reply| reply.contains(expected));
    ensure!(is_right, "{replies:?}");
    Ok(())
}

async fn ends(
    pml: &Path,
    count: usize,
    script: impl Fn(&CodeModeServer) -> &'static str,
) -> Result<Vec<End>> {
    let mut ends = Vec::new();
    for which in 0..count {
        ends.push(hostile(open(pml, which).await?, &script).await);
    }
    Ok(ends)
}

/// Runs a hostile script in a server of its own, which may not survive it.
async fn hostile(peer: CodeModeServer, script: impl Fn(&CodeModeServer) -> &'static str) -> End {
    let began = Instant::now();
    let end = match timeout(TIMEOUT, peer.run(script(&peer))).await {
        Err(_) => End::Never,
        Ok(Err(_)) => End::Died {
            after: began.elapsed(),
        },
        Ok(Ok(_)) => {
            let after = began.elapsed();
            let next = timeout(TIMEOUT, peer.run(peer.trivial)).await;
            let survived = matches!(next, Ok(Ok(reply)) if reply.contains("42"));
            End::Replied { after, survived }
        }
    };
    peer.kill().await;
    end
}

fn print(row: &Row, times: &[Option<Duration>]) {
    let shown: Vec<String> = times
        .iter()
        .map(|time| time.map_or_else(|| "fails".to_owned(), millis))
        .collect();
    let best = times.iter().skip(1).flatten().min();
    let ratio = match (times.first().copied().flatten(), best) {
        (Some(ours), Some(best)) => format!("{:.1} times", best.as_secs_f64() / ours.as_secs_f64()),
        _ => String::new(),
    };
    println!(
        "| {}, median of {} | {} | {ratio} |",
        row.what,
        ROUNDS * row.runs,
        shown.join(" | ")
    );
}

fn print_ends(what: &str, ends: &[End]) {
    let shown: Vec<String> = ends
        .iter()
        .map(|end| match end {
            End::Replied {
                after,
                survived: true,
            } => {
                format!("ended after {}, next script runs", millis(*after))
            }
            End::Replied {
                after,
                survived: false,
            } => format!("ended after {}, next script fails", millis(*after)),
            End::Died { after } => format!("the server died after {}", millis(*after)),
            End::Never => format!("no answer in {} s", TIMEOUT.as_secs()),
        })
        .collect();
    println!("| {what} | {} |  |", shown.join(" | "));
}
