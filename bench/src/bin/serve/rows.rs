//! The rows of the comparison.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use pml_bench::{Sample, millis};
use tokio::time::timeout;

use crate::peers::{self, Peer};

const TRIVIAL_RUNS: usize = 100;
/// A model thinks between two calls, for seconds; this is enough for any server to be ready again.
const PAUSE: Duration = Duration::from_millis(50);
const FAN_OUT_RUNS: usize = 5;
const AT_ONCE: usize = 32;
const AT_ONCE_RUNS: usize = 5;
/// The same for many scripts.
const LONG_PAUSE: Duration = Duration::from_millis(500);
/// What does not end by then does not end.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was found out about one server.
struct Column {
    name: String,
    trivial: Option<Duration>,
    back_to_back: Option<Duration>,
    fan_out: Option<Duration>,
    at_once: Option<Duration>,
    at_once_again: Option<Duration>,
    endless: End,
    heap_bomb: End,
}

/// How a hostile script ended, and whether the server lived on.
enum End {
    Answered { after: Duration, lives: bool },
    Died { after: Duration },
    Never,
}

pub async fn measure(pml: &Path, alone: bool) -> Result<()> {
    let mut columns = Vec::new();
    for which in 0..if alone { 1 } else { 3 } {
        columns.push(column(pml, which).await?);
    }
    print(&columns);
    Ok(())
}

async fn peer(pml: &Path, which: usize) -> Result<Peer> {
    match which {
        0 => peers::pml(pml).await,
        1 => peers::executor().await,
        _ => peers::fastmcp().await,
    }
}

async fn column(pml: &Path, which: usize) -> Result<Column> {
    let peer_ = peer(pml, which).await?;
    eprintln!("measuring {} ...", peer_.name);
    let paused = trivial(&peer_, PAUSE).await.ok();
    let back_to_back = trivial(&peer_, Duration::ZERO).await.ok();
    let fan_out = fan_out(&peer_)
        .await
        .inspect_err(|error| eprintln!("{error:#}"))
        .ok();
    let paused_at_once = at_once(&peer_, LONG_PAUSE)
        .await
        .inspect_err(|error| eprintln!("{error:#}"))
        .ok();
    let at_once_again = at_once(&peer_, Duration::ZERO).await.ok();
    let name = peer_.name.clone();
    peer_.end().await;
    Ok(Column {
        name,
        trivial: paused,
        back_to_back,
        fan_out,
        at_once: paused_at_once,
        at_once_again,
        endless: hostile(peer(pml, which).await?, |peer| peer.endless).await,
        heap_bomb: hostile(peer(pml, which).await?, |peer| peer.heap_bomb).await,
    })
}

async fn trivial(peer: &Peer, pause: Duration) -> Result<Duration> {
    let mut sample = Sample::default();
    for run in 0..TRIVIAL_RUNS + 5 {
        tokio::time::sleep(pause).await;
        let began = Instant::now();
        let answer = timeout(PATIENCE, peer.run(peer.trivial)).await??;
        // The first few warm up whatever there is to warm up.
        if run >= 5 {
            sample.push(began.elapsed());
        }
        ensure!(answer.contains("42"), "{answer}");
    }
    Ok(sample.median())
}

async fn fan_out(peer: &Peer) -> Result<Duration> {
    let mut sample = Sample::default();
    for _ in 0..=FAN_OUT_RUNS {
        let began = Instant::now();
        let answer = timeout(PATIENCE, peer.run(&peer.fan_out)).await??;
        sample.push(began.elapsed());
        ensure!(answer.contains("40"), "{}: {answer}", peer.name);
    }
    Ok(sample.median())
}

async fn at_once(peer: &Peer, pause: Duration) -> Result<Duration> {
    let mut sample = Sample::default();
    for _ in 0..AT_ONCE_RUNS {
        tokio::time::sleep(pause).await;
        let began = Instant::now();
        let answers = try_join_all((0..AT_ONCE).map(|_| peer.run(peer.trivial)));
        let answers = timeout(PATIENCE, answers).await??;
        sample.push(began.elapsed());
        ensure!(
            answers.iter().all(|answer| answer.contains("42")),
            "{}: {answers:?}",
            peer.name
        );
    }
    Ok(sample.median())
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

fn print(columns: &[Column]) {
    println!("## Side by side\n");
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    println!("| what | {} | next best against pml |", names.join(" | "));
    println!("|---|{}---|", "---|".repeat(names.len()));
    row(
        columns,
        &format!(
            "trivial script, round trip, {} ms between them, median of {TRIVIAL_RUNS}",
            PAUSE.as_millis()
        ),
        |column| column.trivial,
    );
    row(
        columns,
        &format!("the same without a pause, median of {TRIVIAL_RUNS}"),
        |column| column.back_to_back,
    );
    row(
        columns,
        "40 calls at once to a tool that takes 100 ms",
        |column| column.fan_out,
    );
    row(
        columns,
        &format!(
            "{AT_ONCE} trivial scripts at once, until the last answer, {} ms between, median of {AT_ONCE_RUNS}",
            LONG_PAUSE.as_millis()
        ),
        |column| column.at_once,
    );
    row(
        columns,
        &format!("the same without a pause, median of {AT_ONCE_RUNS}"),
        |column| column.at_once_again,
    );
    ends(columns, "endless loop", |column| &column.endless);
    ends(columns, "heap bomb", |column| &column.heap_bomb);
    println!();
}

fn row(columns: &[Column], what: &str, time: impl Fn(&Column) -> Option<Duration>) {
    let times: Vec<Option<Duration>> = columns.iter().map(time).collect();
    let shown: Vec<String> = times
        .iter()
        .map(|time| time.map_or_else(|| "fails".to_owned(), millis))
        .collect();
    let best = times.iter().skip(1).flatten().min();
    let ratio = match (times.first().copied().flatten(), best) {
        (Some(ours), Some(best)) => format!("{:.1} times", best.as_secs_f64() / ours.as_secs_f64()),
        _ => String::new(),
    };
    println!("| {what} | {} | {ratio} |", shown.join(" | "));
}

fn ends(columns: &[Column], what: &str, end: impl Fn(&Column) -> &End) {
    let shown: Vec<String> = columns
        .iter()
        .map(|column| match end(column) {
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
