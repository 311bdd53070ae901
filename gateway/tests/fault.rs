//! Twenty servers that are killed, stopped and made to print garbage, under fifty scripts.
//!
//! Ten seconds in an ordinary run; `PML_FAULT_SECONDS=60` for the full test.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pml_gateway::{Gateway, RunLimits};
use serde_json::json;

use crate::support::{eventually, gateway, odd, processes_with, zombies};

const SERVERS: usize = 20;
const SCRIPTS: usize = 50;

#[derive(Default)]
struct Tally {
    answered: Mutex<Vec<String>>,
    never_sent: Mutex<Vec<String>>,
    unsure: AtomicUsize,
}

/// In a process of its own, since it counts descriptors, memory and zombies.
#[test]
fn no_call_is_lost_or_doubled_and_nothing_leaks_under_faults() {
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fault::faults", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    println!("{said}");
    assert!(
        run.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the test above"]
async fn faults() {
    let seconds = std::env::var("PML_FAULT_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(10);
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal").display().to_string();
    let gateway = gateway((0..SERVERS).map(|n| odd(&format!("s{n:02}"), &["--journal", &journal])));
    gateway.warm().await;
    let (descriptors, memory) = (descriptors(), resident());

    let tally = Arc::new(Tally::default());
    let stop = Arc::new(AtomicBool::new(false));
    let scripts: Vec<_> = (0..SCRIPTS)
        .map(|script| {
            tokio::spawn(run_script(
                gateway.clone(),
                script,
                tally.clone(),
                stop.clone(),
            ))
        })
        .collect();
    let faults = cause_faults(&gateway, &journal, Duration::from_secs(seconds)).await;
    stop.store(true, Ordering::Relaxed);
    for script in scripts {
        script.await.unwrap();
    }
    let grown = resident().saturating_sub(memory);

    let mut noted: HashMap<String, usize> = HashMap::new();
    for key in std::fs::read_to_string(&journal).unwrap().lines() {
        *noted.entry(key.to_owned()).or_default() += 1;
    }
    let answered = std::mem::take(&mut *tally.answered.lock().unwrap());
    let lost: Vec<_> = answered
        .iter()
        .filter(|key| !noted.contains_key(*key))
        .collect();
    let doubled: Vec<_> = noted.iter().filter(|(_, count)| **count > 1).collect();
    let never_sent = std::mem::take(&mut *tally.never_sent.lock().unwrap());
    let ghosts: Vec<_> = never_sent
        .iter()
        .filter(|key| noted.contains_key(*key))
        .collect();
    println!(
        "{seconds} s, {faults} faults: {} calls answered, {} refused unsent, {} unsure; memory grew by {} KiB",
        answered.len(),
        never_sent.len(),
        tally.unsure.load(Ordering::Relaxed),
        grown / 1024
    );
    assert!(answered.len() > 100, "too few calls went through");
    assert!(lost.is_empty(), "answered and not done: {lost:?}");
    assert!(doubled.is_empty(), "done twice: {doubled:?}");
    assert!(ghosts.is_empty(), "called unsent and done: {ghosts:?}");
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes more than before");

    gateway.shutdown().await;
    assert!(
        eventually(async || processes_with(&journal).is_empty()).await,
        "{:?}",
        processes_with(&journal)
    );
    assert!(
        eventually(async || zombies() == 0).await,
        "{} zombies",
        zombies()
    );
    drop(gateway);
    assert!(
        eventually(async || self::descriptors() <= descriptors).await,
        "{} descriptors, {descriptors} before",
        self::descriptors()
    );
}

async fn run_script(gateway: Gateway, script: usize, tally: Arc<Tally>, stop: Arc<AtomicBool>) {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        let limits = RunLimits {
            tool_timeout: Some(Duration::from_secs(3)),
            ..RunLimits::default()
        };
        let scope = gateway.run(limits);
        for _ in 0..20 {
            number += 1;
            let key = format!("{script}-{number}");
            let id = format!("s{:02}:note", fastrand::usize(..SERVERS));
            match gateway.call(&scope, &id, json!({ "key": key })).await {
                Ok(answer) => {
                    assert_eq!(
                        answer
                            .value
                            .as_str()
                            .map(str::to_owned)
                            .unwrap_or(answer.value.to_string()),
                        key
                    );
                    tally.answered.lock().unwrap().push(key);
                }
                Err(error)
                    if error.message.contains("before the call was sent")
                        || error.message.contains("is not usable") =>
                {
                    tally.never_sent.lock().unwrap().push(key);
                }
                Err(_) => {
                    tally.unsure.fetch_add(1, Ordering::Relaxed);
                }
            }
            tokio::time::sleep(Duration::from_millis(fastrand::u64(5..25))).await;
        }
    }
}

async fn cause_faults(gateway: &Gateway, journal: &str, time: Duration) -> usize {
    let end = Instant::now() + time;
    let mut faults = 0;
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(150)).await;
        faults += 1;
        let servers = processes_with(journal);
        let Some(id) = fastrand::choice(servers) else {
            continue;
        };
        match fastrand::u8(..4) {
            0 | 1 => signal(id, libc::SIGKILL),
            2 => {
                signal(id, libc::SIGSTOP);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(fastrand::u64(100..6000))).await;
                    signal(id, libc::SIGCONT);
                });
            }
            _ => {
                let tool =
                    fastrand::choice(["shout", "twice", "other_id", "wrong", "never"]).unwrap();
                let id = format!("s{:02}:{tool}", fastrand::usize(..SERVERS));
                let gateway = gateway.clone();
                tokio::spawn(async move {
                    let limits = RunLimits {
                        tool_timeout: Some(Duration::from_secs(1)),
                        ..RunLimits::default()
                    };
                    let _ = gateway.call(&gateway.run(limits), &id, json!({})).await;
                });
            }
        }
    }
    faults
}

fn signal(process: u32, signal: i32) {
    // SAFETY: kill has no memory effects; the process is a server of this test.
    unsafe {
        libc::kill(process.cast_signed(), signal);
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        * 4096
}
