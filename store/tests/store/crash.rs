//! Processes that are killed while they write, and processes that share a store.

use pml_store::{EntryState, RunFilter, RunState};

use crate::child::Process;
use crate::fixture::{Fixture, id, on_both_databases, tenant};

on_both_databases!(
    every_acknowledged_entry_survives_kill_9,
    two_processes_write_to_one_store,
);

async fn every_acknowledged_entry_survives_kill_9(fixture: Fixture) {
    for round in 0..5 {
        let mut process = Process::start("append", &fixture.options);
        let mut acknowledged = 0;
        for _ in 0..(10 + 37 * round) {
            acknowledged = process.line().unwrap().parse().unwrap();
        }
        process.signal(libc::SIGKILL);
        while let Some(line) = process.line() {
            acknowledged = line.parse().unwrap();
        }
        process.kill();
        let store = fixture.open().await;
        let claimed = store.claim(&tenant(), &id("r")).await.unwrap();
        let numbers: Vec<u32> = claimed.entries.iter().map(|entry| entry.number).collect();
        // At most what was under way when the process was killed is there as well.
        let last = *numbers.last().unwrap();
        assert!(
            (acknowledged..=acknowledged + 2).contains(&last),
            "{acknowledged} {last}"
        );
        assert_eq!(numbers, Vec::from_iter(2..=last));
        for entry in claimed.entries {
            let is_answered = entry.state == EntryState::Answered;
            assert_eq!(is_answered, entry.number % 2 == 0);
        }
        let finish = claimed.writer.finish(RunState::Done, None, b"");
        finish.await.unwrap();
        assert_eq!(store.purge(&tenant(), u64::MAX).await.unwrap(), 1);
        store.close().await;
    }
}

async fn two_processes_write_to_one_store(fixture: Fixture) {
    // Both also make the store.
    let mut processes: Vec<_> = (0..3)
        .map(|_| Process::start("share", &fixture.options))
        .collect();
    for process in &mut processes {
        process.wait();
    }
    let store = fixture.open().await;
    let runs = store.runs(&tenant(), &RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 30);
    for run in runs {
        assert_eq!(run.state, RunState::Done);
        let journal = store.journal(&tenant(), &run.id).await.unwrap();
        assert_eq!(journal.len(), 20);
    }
}
