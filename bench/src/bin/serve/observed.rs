//! What audit and telemetry cost: `pml serve` without both, as it is by default, and with everything sent
//! to a collector.
//!
//! The servers take turns run by run, in another order each time, so that each run has its comparison next
//! to it in time. The server without both is there twice: what the second one seems to cost is the noise.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::peers::{self, CodeModeServer};
use pml_bench::millis;

/// Runs that do not count, at the beginning.
const WARM_UP: usize = 5;

/// What is measured, how often, and the reply.
struct Row {
    what: &'static str,
    rounds: usize,
    /// Pause before each run.
    pause: Duration,
    script: fn(&CodeModeServer) -> &str,
    reply: &'static str,
}

const ROWS: [Row; 2] = [
    Row {
        what: "trivial script, round trip",
        rounds: 300,
        pause: Duration::from_millis(10),
        script: |server| server.trivial,
        reply: "42",
    },
    Row {
        what: "40 calls at once to a tool that takes 100 ms",
        rounds: 100,
        pause: Duration::from_millis(10),
        script: |server| server.fan_out.as_str(),
        reply: "40",
    },
];

/// Prints what each of them costs.
pub async fn measure(pml: &Path) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let collector = format!("http://{}", listener.local_addr()?);
    tokio::spawn(collect(listener));
    let off = json!({ "telemetry": { "enabled": false }, "audit": { "enabled": false } });
    let audit = json!({ "path": "audit" });
    let default = json!({ "audit": audit });
    let all = json!({ "telemetry": { "endpoint": collector }, "audit": audit });
    let variants: [(&str, Value); 4] = [
        ("neither", off.clone()),
        ("neither, again", off),
        ("audit, metrics (the default)", default),
        ("audit, metrics, traces and logs sent", all),
    ];
    let mut servers = Vec::new();
    for (name, section) in variants {
        servers.push(peers::pml_with(pml, name, section).await?);
    }
    println!("## Observed\n");
    for row in &ROWS {
        eprintln!("measuring: {} ...", row.what);
        print(row, &servers, &times(row, &servers).await?);
    }
    for server in servers {
        server.kill().await;
    }
    Ok(())
}

/// The times of each server, by round.
async fn times(row: &Row, servers: &[CodeModeServer]) -> Result<Vec<Vec<Duration>>> {
    let mut times = vec![Vec::with_capacity(row.rounds); servers.len()];
    for round in 0..WARM_UP + row.rounds {
        for turn in 0..servers.len() {
            // Every server follows every other one equally often.
            let which = match round % 2 {
                0 => (round / 2 + turn) % servers.len(),
                _ => (round / 2 + servers.len() - turn) % servers.len(),
            };
            let Some((server, times)) = servers.get(which).zip(times.get_mut(which)) else {
                continue;
            };
            tokio::time::sleep(row.pause).await;
            let began = Instant::now();
            let reply = server.run((row.script)(server)).await?;
            let took = began.elapsed();
            ensure!(reply.contains(row.reply), "{}: {reply}", server.name);
            if round >= WARM_UP {
                times.push(took);
            }
        }
    }
    Ok(times)
}

fn print(row: &Row, servers: &[CodeModeServer], times: &[Vec<Duration>]) {
    println!("{}, {} rounds:\n", row.what, row.rounds);
    println!("| server | median | more than without (median of the rounds) | middle half |");
    println!("|---|---|---|---|");
    let Some(without) = times.first() else {
        return;
    };
    for (server, own) in servers.iter().zip(times) {
        let seconds = |time: &Duration| time.as_secs_f64();
        let median = quantile(own.iter().map(seconds).collect(), 0.5);
        let more = || -> Vec<f64> {
            let pairs = own.iter().zip(without);
            pairs
                .map(|(own, without)| (seconds(own) / seconds(without) - 1.0) * 100.0)
                .collect()
        };
        println!(
            "| {} | {} | {:+.1} % | {:+.1} % to {:+.1} % |",
            server.name,
            millis(Duration::from_secs_f64(median)),
            quantile(more(), 0.5),
            quantile(more(), 0.25),
            quantile(more(), 0.75),
        );
    }
    println!();
}

/// The value below which this share of the values is.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let at = (last as f64 * share).round() as usize;
    values.get(at).copied().unwrap_or_default()
}

/// A collector that takes everything.
async fn collect(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            // The connection has ended.
            let _ = take(stream).await;
        });
    }
}

async fn take(stream: TcpStream) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if read.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        read.read_exact(&mut vec![0; length]).await?;
        write
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            .await?;
    }
}
