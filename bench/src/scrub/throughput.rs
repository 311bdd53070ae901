//! Throughput on text without private data, on one core.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubber};

use crate::corpus::Corpus;
use crate::peers::PeerResult;

/// The throughput on one corpus.
pub struct Speed {
    pub name: &'static str,
    pub mb_per_second: f64,
    pub findings: Vec<String>,
}

const RUNS: usize = 9;

/// The lowest CPU time of several runs: other processes on the machine do not count.
fn best(mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let before = cpu_time();
        run()?;
        best = best.min(cpu_time().saturating_sub(before));
    }
    Ok(best)
}

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid `timespec` for the call to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Measures pml-scrub on each corpus.
pub fn ours(corpora: &[Corpus]) -> Result<Vec<Speed>> {
    let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default())?);
    let mut speeds = Vec::new();
    for corpus in corpora {
        let mut findings = Vec::new();
        let time = best(|| {
            let mut session = PlaceholderMap::new(scrubber.clone());
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
    // Clones and drops happen outside of the measurement.
    let mut values = vec![value; RUNS];
    let mut outcomes = Vec::new();
    let time = best(|| {
        let value = values.pop().unwrap_or_default();
        outcomes.push(PlaceholderMap::new(scrubber.clone()).scrub_json(value, None)?);
        Ok(())
    })?;
    println!("a JSON result of 1 MB: {:.1} ms", time.as_secs_f64() * 1e3);
    let text = records.replace("T0", " person@example.com T0");
    let text = &text[..1 << 20];
    let time = best(|| {
        PlaceholderMap::new(scrubber.clone()).scrub_text(text, None)?;
        Ok(())
    })?;
    let addresses = text.matches('@').count();
    println!(
        "a text of 1 MB with {addresses} e-mail addresses: {:.1} ms\n",
        time.as_secs_f64() * 1e3
    );
    Ok(speeds)
}

pub fn print(ours: &[Speed], peers: &[PeerResult]) {
    println!("## throughput in MB/s of CPU time, one core, harmless text");
    for (index, speed) in ours.iter().enumerate() {
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
            if let Some(theirs) = peer.mb_per_second.get(index) {
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
