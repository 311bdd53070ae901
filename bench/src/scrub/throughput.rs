//! How many megabytes of harmless text a second, on one core.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use pml_scrub::{ScrubConfig, Scrubber, Session};

use crate::corpus::Corpus;
use crate::peers::Peer;

pub struct Speed {
    pub name: &'static str,
    pub mb_per_second: f64,
    pub findings: Vec<String>,
}

/// The best of several runs, in time on the processor where the system tells it: other work on
/// the machine then does not count.
fn best(mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let (start, on_cpu) = (Instant::now(), time_on_cpu());
        run()?;
        let taken = match (on_cpu, time_on_cpu()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => start.elapsed(),
        };
        best = best.min(taken);
    }
    Ok(best)
}

/// How long this thread has run, from Linux' accounting.
fn time_on_cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ')
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

pub fn ours(corpora: &[Corpus]) -> Result<Vec<Speed>> {
    let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default())?);
    let mut speeds = Vec::new();
    for corpus in corpora {
        let mut findings = Vec::new();
        let time = best(|| {
            let mut session = Session::new(scrubber.clone());
            let scrubbed = session.scrub_text(&corpus.text, None)?;
            let counts = scrubbed.report().counts();
            findings = counts
                .iter()
                .map(|(kind, n)| format!("{n} {kind}"))
                .collect();
            Ok(())
        })?;
        let mb_per_second = corpus.text.len() as f64 / 1e6 / time.as_secs_f64();
        speeds.push(Speed {
            name: corpus.name,
            mb_per_second,
            findings,
        });
    }
    let records = &corpora[1].text[..1 << 20];
    let whole = records.rfind(",\n").map_or(records, |end| &records[..end]);
    let value: serde_json::Value = serde_json::from_str(&format!("{whole}]"))?;
    let time = best(|| {
        let value = value.clone();
        Session::new(scrubber.clone()).scrub_json(value, None)?;
        Ok(())
    })?;
    println!("a JSON result of 1 MB: {:.1} ms", time.as_secs_f64() * 1e3);
    let text = records.replace("T0", " nobody@example.com T0");
    let text = &text[..1 << 20];
    let time = best(|| {
        Session::new(scrubber.clone()).scrub_text(text, None)?;
        Ok(())
    })?;
    let addresses = text.matches('@').count();
    println!(
        "a text of 1 MB with {addresses} e-mail addresses: {:.1} ms\n",
        time.as_secs_f64() * 1e3
    );
    Ok(speeds)
}

pub fn print(ours: &[Speed], peers: &[Peer]) {
    println!("## throughput in MB/s of processor time, one core, harmless text");
    for (place, speed) in ours.iter().enumerate() {
        print!(
            "{:16} pml-scrub {:.1} (findings: {})",
            speed.name,
            speed.mb_per_second,
            if speed.findings.is_empty() {
                "none".to_owned()
            } else {
                speed.findings.join(", ")
            }
        );
        for peer in peers {
            if let Some(theirs) = peer.mb_per_second.get(place) {
                print!(
                    "; {} {theirs:.3} ({:.0} times slower)",
                    peer.name,
                    speed.mb_per_second / theirs
                );
            }
        }
        println!();
    }
}
