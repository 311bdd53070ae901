//! Kills at random times.

use std::collections::BTreeSet;
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::{Value, json};

use super::ledger::{Ledger, kill, parse};

/// Calls of every class, one after the other and in parallel. The result tells them all.
const SCRIPT: &str = r#"
const results = [];
for (let i = 0; i < 12; i++) {
  results.push((await tools.s.record({ text: `one-${i}`, ms: 4 })).text);
  await tools.s.look({ text: `look-${i}` });
  await tools.s.pay({ amount: i, ms: 2 });
}
const many = await Promise.all(
  Array.from({ length: 12 }, (_, i) => tools.s.record({ text: `many-${i}`, ms: 10 + i % 5 })),
);
return [...results, ...many.map((done) => done.text)];
"#;

fn expected() -> BTreeSet<String> {
    let one = (0..12).map(|i| format!("record one-{i}"));
    let many = (0..12).map(|i| format!("record many-{i}"));
    one.chain(many).collect()
}

fn kills() -> usize {
    let kills = std::env::var("PML_FAULT_KILLS").ok();
    kills.and_then(|kills| kills.parse().ok()).unwrap_or(100)
}

/// A small generator, so that a failure can be repeated: the seed is printed.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % below
    }
}

/// Settles every unknown call as the ledger has it.
fn settle(ledger: &Ledger) {
    let shown = ledger.show();
    let done = ledger.effects();
    for call in shown["unknown"].as_array().expect("a list") {
        let number = call["call"].to_string();
        let text = call["args"]["text"].as_str().expect("a record");
        let result = json!({ "text": text }).to_string();
        let how: &[&str] = match done.contains(&format!("record {text}")) {
            true => &["--happened", &result],
            false => &["--send"],
        };
        ledger.json(&[&["runs", "settle", "r", &number, "--json"], how].concat());
    }
}

#[test]
fn no_effect_happens_twice_and_none_is_lost_whenever_the_process_is_killed() {
    let seed = std::process::id().into();
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut left = kills();
    let mut unknown = 0;
    while left > 0 {
        let ledger = Ledger::new();
        let mut run = ledger.start(SCRIPT);
        // A run is killed until it ends by itself, and a few times at most.
        for _ in 0..12 {
            std::thread::sleep(Duration::from_millis(40 + random.next(400)));
            if run.try_wait().expect("a child").is_some() {
                break;
            }
            // A process without a worker has not begun, or is about to end.
            let worker = workers_of(run.id()).into_iter().next();
            match worker.filter(|_| random.next(4) == 0) {
                Some(worker) => {
                    kill_pid(worker);
                    let _ = run.wait();
                }
                None => kill(run),
            }
            left = left.saturating_sub(1);
            if ledger.file("store/pml.db").exists() && !ledger.effects().is_empty() {
                unknown += ledger.show()["unknown"].as_array().map_or(0, Vec::len);
                settle(&ledger);
                run = resume(&ledger);
            } else if ledger.run(&["runs", "show", "r"]).status.success() {
                run = resume(&ledger);
            } else {
                // Killed before its first call: nothing is stored, and nothing was done.
                assert_eq!(ledger.effects(), Vec::<String>::new());
                run = ledger.start(SCRIPT);
            }
        }
        let _ = run.wait();
        finish(&ledger);
    }
    println!("{unknown} calls were unknown");
}

#[test]
fn a_server_that_is_killed_repeats_no_effect() {
    let seed = std::process::id().into();
    println!("seed {seed}");
    let mut random = Random(seed);
    for _ in 0..kills().div_ceil(10) {
        let ledger = Ledger::new();
        let mut run = ledger.start(SCRIPT);
        while run.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(60 + random.next(300)));
            let pid = std::fs::read_to_string(ledger.file("pid")).unwrap_or_default();
            if let Ok(pid) = pid.parse() {
                kill_pid(pid);
            }
        }
        let mut outcome: Value = parse(&run.wait_with_output().expect("pml ends"));
        // A record without an answer waits for a person. Another call may fail while it is sent again.
        for _ in 0..24 {
            if outcome["error"]["kind"] != "unknown" {
                break;
            }
            settle(&ledger);
            outcome = ledger.resume();
        }
        let effects = ledger.effects();
        let distinct: BTreeSet<&String> = effects.iter().collect();
        assert_eq!(distinct.len(), effects.len(), "{effects:?}");
        if outcome["ok"] == true {
            finish(&ledger);
            continue;
        }
        // The script got the error of a call that was not sent, or changes nothing; what had an answer has happened.
        let answered = ledger.show()["calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for call in answered.iter().filter(|call| call["tool"] == "s:record") {
            let record = format!(
                "record {}",
                call["args"]["text"].as_str().unwrap_or_default()
            );
            assert!(distinct.len() <= answered.len(), "{effects:?}");
            assert!(
                effects.iter().filter(|line| **line == record).count() <= 1,
                "{record}"
            );
        }
        assert_eq!(outcome["error"]["kind"], "tool", "{outcome}");
    }
}

fn resume(ledger: &Ledger) -> Child {
    let mut command: Command = ledger.pml(&["resume", "r", "--json"]);
    command.spawn().expect("pml starts")
}

/// Resumes the run to its end, and counts its effects.
fn finish(ledger: &Ledger) {
    settle(ledger);
    let outcome = ledger.resume();
    assert_eq!(outcome["ok"], true, "{outcome}\n{}", ledger.show());
    let texts: Vec<Value> = outcome["result"].as_array().expect("texts").clone();
    assert_eq!(texts.len(), 24, "{outcome}");
    let effects = ledger.effects();
    let records: Vec<&String> = effects
        .iter()
        .filter(|line| line.starts_with("record "))
        .collect();
    assert_eq!(records.len(), 24, "{effects:?}");
    let distinct: BTreeSet<String> = records.into_iter().cloned().collect();
    assert_eq!(distinct, expected());
    let payments: Vec<&String> = effects
        .iter()
        .filter(|line| line.starts_with("pay "))
        .collect();
    let amounts: BTreeSet<&str> = payments
        .iter()
        .filter_map(|line| line.rsplit(' ').next())
        .collect();
    assert_eq!((payments.len(), amounts.len()), (12, 12), "{effects:?}");
}

#[test]
fn forty_parallel_calls_killed_in_the_middle_resume_without_repeating_one() {
    let ledger = Ledger::new();
    let script = "const done = await Promise.all(Array.from({ length: 40 }, (_, i) => tools.s.look({ text: `t${i}`, ms: i * 25 })));\nreturn done.map(d => d.text).join()";
    let run = ledger.start(script);
    while ledger.reads().len() < 15 {
        std::thread::sleep(Duration::from_millis(2));
    }
    kill(run);
    let shown = ledger.show();
    let calls = shown["calls"].as_array().expect("calls").clone();
    let answered = |text: &str| {
        calls
            .iter()
            .any(|call| call["state"] == "answered" && call["args"]["text"] == text)
    };
    let before = ledger.reads();
    let outcome = ledger.resume();
    let expected: Vec<String> = (0..40).map(|i| format!("t{i}")).collect();
    assert_eq!(outcome["result"], expected.join(","), "{outcome}");
    for text in &ledger.reads()[before.len()..] {
        assert!(!answered(text), "{text} was answered and is repeated");
    }
}

/// The workers of a process: its children that run scripts.
pub fn workers_of(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let mut children: Vec<u32> = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let file = task.path().join("children");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        children.extend(
            text.split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    assert!(std::path::Path::new(&path).exists());
    children.retain(|child| {
        let program = std::fs::read_link(format!("/proc/{child}/exe")).unwrap_or_default();
        program == crate::support::binary().canonicalize().unwrap_or_default()
    });
    children
}

pub fn kill_pid(pid: u32) {
    let status = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(status.is_ok());
}
