//! The rows of the comparison.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use pml_bench::{Sample, millis};
use tokio::time::timeout;

use crate::peers::{self, Peer};

/// The servers take turns, so that whatever else the machine does meets them all.
const TURNS: usize = 5;
/// What does not end by then does not end.
const PATIENCE: Duration = Duration::from_secs(60);
const AT_ONCE: usize = 32;

/// What is timed.
#[derive(Clone, Copy)]
enum Work {
    /// One trivial script.
    Trivial,
    /// Many calls at once, of a tool that takes its time.
    FanOut,
    /// Many trivial scripts at once.
    AtOnce,
}

struct Row {
    what: &'static str,
    work: Work,
    /// How often in a turn.
    runs: usize,
    /// A model thinks between two calls, for seconds; this is enough for any server to be ready
    /// again.
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

/// How a hostile script ended, and whether the server lived on.
enum End {
    Answered { after: Duration, lives: bool },
    Died { after: Duration },
    Never,
}

pub async fn measure(pml: &Path, alone: bool) -> Result<()> {
    let count = if alone { 1 } else { 3 };
    let mut peers = Vec::new();
    for which in 0..count {
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
        peer.end().await;
    }
    print_ends(
        "endless loop",
        &ends(pml, count, |peer| peer.endless).await?,
    );
    print_ends("heap bomb", &ends(pml, count, |peer| peer.heap_bomb).await?);
    println!();
    Ok(())
}

async fn open(pml: &Path, which: usize) -> Result<Peer> {
    match which {
        0 => peers::pml(pml).await,
        1 => peers::executor().await,
        _ => peers::fastmcp().await,
    }
}

/// The median for each server; none for one that fails.
async fn time(row: &Row, peers: &[Peer]) -> Vec<Option<Duration>> {
    let mut samples = vec![Some(Sample::default()); peers.len()];
    for _ in 0..TURNS {
        for (peer, sample) in peers.iter().zip(&mut samples) {
            if let Some(times) = sample
                && let Err(error) = turn(row, peer, times).await
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

/// One more run than counts: the first of a turn warms up whatever there is to warm up.
async fn turn(row: &Row, peer: &Peer, times: &mut Sample) -> Result<()> {
    for run in 0..=row.runs {
        tokio::time::sleep(row.pause).await;
        let began = Instant::now();
        timeout(PATIENCE, once(row.work, peer)).await??;
        if run > 0 {
            times.push(began.elapsed());
        }
    }
    Ok(())
}

async fn once(work: Work, peer: &Peer) -> Result<()> {
    let (answers, expected) = match work {
        Work::Trivial => (vec![peer.run(peer.trivial).await?], "42"),
        Work::FanOut => (vec![peer.run(&peer.fan_out).await?], "40"),
        Work::AtOnce => {
            let scripts = (0..AT_ONCE).map(|_| peer.run(peer.trivial));
            (try_join_all(scripts).await?, "42")
        }
    };
    let is_right = answers.iter().all(|answer| answer.contains(expected));
    ensure!(is_right, "{answers:?}");
    Ok(())
}

async fn ends(
    pml: &Path,
    count: usize,
    script: impl Fn(&Peer) -> &'static str,
) -> Result<Vec<End>> {
    let mut ends = Vec::new();
    for which in 0..count {
        ends.push(hostile(open(pml, which).await?, &script).await);
    }
    Ok(ends)
}

/// A server of its own for each, since not every one lives on.
async fn hostile(peer: Peer, script: impl Fn(&Peer) -> &'static str) -> End {
    let began = Instant::now();
    let end = match timeout(PATIENCE, peer.run(script(&peer))).await {
        Err(_) => End::Never,
        Ok(Err(_)) => End::Died {
            after: began.elapsed(),
        },
        Ok(Ok(_)) => {
            let after = began.elapsed();
            let next = timeout(PATIENCE, peer.run(peer.trivial)).await;
            let lives = matches!(next, Ok(Ok(answer)) if answer.contains("42"));
            End::Answered { after, lives }
        }
    };
    peer.end().await;
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
        TURNS * row.runs,
        shown.join(" | ")
    );
}

fn print_ends(what: &str, ends: &[End]) {
    let shown: Vec<String> = ends
        .iter()
        .map(|end| match end {
            End::Answered { after, lives: true } => {
                format!("ended after {}, next script runs", millis(*after))
            }
            End::Answered {
                after,
                lives: false,
            } => format!("ended after {}, next script fails", millis(*after)),
            End::Died { after } => format!("the server died after {}", millis(*after)),
            End::Never => format!("no answer in {} s", PATIENCE.as_secs()),
        })
        .collect();
    println!("| {what} | {} |  |", shown.join(" | "));
}
