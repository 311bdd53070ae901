//! Retention: hot, cold, deleted.

use std::time::Duration;

use pml_store::{Maintained, NewApproval, Retention, RunFilter, RunState, Store, StoreError};

use crate::fixture::{
    Fixture, answered, files_below, id, intent, new_run, now, on_both_databases, tenant,
};

on_both_databases!(
    a_cold_run_can_still_be_read,
    old_runs_and_approvals_are_deleted_with_their_large_values,
    runs_that_have_not_ended_are_kept,
    purge_deletes_only_ended_runs,
    a_large_value_that_two_runs_share_is_kept_for_the_second,
);

const NEVER: Duration = Duration::from_secs(1_000_000);

/// A store that treats what ended more than `hot` and `cold` ago.
async fn open(fixture: &Fixture, hot: Duration, cold: Duration) -> Store {
    let retention = Retention {
        hot,
        cold,
        approvals: cold,
    };
    let options = fixture.options.clone();
    Store::open(pml_store::StoreOptions {
        retention,
        ..options
    })
    .await
    .unwrap()
}

async fn finished_run(store: &Store, run: &str, value: &[u8]) {
    let mut new = new_run(run);
    new.spec = value.to_owned();
    let writer = store.begin(new);
    for number in 1..=100 {
        writer.append(answered(number, number));
    }
    let mut large = answered(101, 101);
    large.answer = Some(value.to_owned());
    writer.append(large);
    let done = writer.finish(RunState::Done, None, b"outcome");
    done.await.unwrap();
    // Retention compares milliseconds.
    tokio::time::sleep(Duration::from_millis(5)).await;
}

async fn maintain(store: &Store) -> Maintained {
    store.maintain().await.unwrap()
}

async fn a_cold_run_can_still_be_read(fixture: Fixture) {
    let store = open(&fixture, Duration::ZERO, NEVER).await;
    // Two packs, and a pack that is a blob.
    let value: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
    finished_run(&store, "r", &value).await;
    let hot = store.journal(&tenant(), &id("r")).await.unwrap();
    assert_eq!(hot.len(), 101);
    let done = maintain(&store).await;
    assert_eq!((done.packed, done.deleted), (1, 0));
    let cold = store.journal(&tenant(), &id("r")).await.unwrap();
    assert!(cold == hot);
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert!(run.spec == value);
    assert_eq!(run.outcome.as_deref(), Some(&b"outcome"[..]));
    assert_eq!(maintain(&store).await, Maintained::default());
}

async fn old_runs_and_approvals_are_deleted_with_their_large_values(fixture: Fixture) {
    let store = open(&fixture, Duration::ZERO, NEVER).await;
    let value = vec![7; 300_000];
    finished_run(&store, "hot", &value).await;
    maintain(&store).await;
    finished_run(&store, "r", &value).await;
    let approval = NewApproval {
        tenant: tenant(),
        run: id("r"),
        number: 1,
        tool: "mail:send".to_owned(),
        bound_to: [0; 32],
        shown: value,
        expires: now() - 1000,
    };
    let open_approval = NewApproval {
        number: 2,
        expires: now() + 60_000,
        ..approval.clone()
    };
    let approval = store.ask(approval).await.unwrap();
    let open_approval = store.ask(open_approval).await.unwrap();
    store.close().await;
    let store = open(&fixture, Duration::ZERO, Duration::ZERO).await;
    let done = maintain(&store).await;
    assert_eq!((done.packed, done.deleted, done.approvals), (0, 2, 1));
    let runs = store.runs(&tenant(), &RunFilter::default()).await;
    assert!(runs.unwrap().is_empty());
    let error = store.journal(&tenant(), &id("r")).await.unwrap_err();
    assert_eq!(error, StoreError::NotFound { id: id("r") });
    assert_eq!(store.approval(&tenant(), &approval.id).await.unwrap(), None);
    // The open approval still needs the value.
    assert_eq!(done.blobs, 0);
    let found = store.approval(&tenant(), &open_approval.id).await.unwrap();
    assert_eq!(found, Some(open_approval));
}

async fn runs_that_have_not_ended_are_kept(fixture: Fixture) {
    let store = open(&fixture, Duration::ZERO, Duration::ZERO).await;
    let running = store.begin(new_run("running"));
    running.append_durable(intent(1)).await.unwrap();
    let waiting = store.begin(new_run("waiting"));
    waiting.append(intent(1));
    waiting.set_state(RunState::Waiting, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(maintain(&store).await, Maintained::default());
    running.append_durable(answered(1, 1)).await.unwrap();
    let claimed = store.claim(&tenant(), &id("waiting")).await.unwrap();
    assert_eq!(claimed.entries.len(), 1);
}

async fn purge_deletes_only_ended_runs(fixture: Fixture) {
    let store = fixture.open().await;
    finished_run(&store, "old", b"").await;
    let between = now();
    tokio::time::sleep(Duration::from_millis(5)).await;
    finished_run(&store, "new", b"").await;
    let waiting = store.begin(new_run("waiting"));
    waiting.set_state(RunState::Waiting, None).await.unwrap();
    assert_eq!(store.purge(&tenant(), between).await.unwrap(), 1);
    let runs = store.runs(&tenant(), &RunFilter::default()).await.unwrap();
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["waiting", "new"]);
    assert_eq!(store.purge(&tenant(), u64::MAX).await.unwrap(), 1);
}

async fn a_large_value_that_two_runs_share_is_kept_for_the_second(fixture: Fixture) {
    let store = open(&fixture, NEVER, NEVER).await;
    let value = vec![7; 300_000];
    finished_run(&store, "one", &value).await;
    let between = now();
    tokio::time::sleep(Duration::from_millis(5)).await;
    finished_run(&store, "two", &value).await;
    let blobs = || {
        files_below(fixture.folder.path())
            .iter()
            .filter(|file| file.components().any(|part| part.as_os_str() == "blobs"))
            .count()
    };
    let expected = |count| if fixture.is_sqlite() { count } else { 0 };
    assert_eq!(blobs(), expected(1));
    assert_eq!(store.purge(&tenant(), between).await.unwrap(), 1);
    assert_eq!(maintain(&store).await.blobs, 0);
    let run = store.run(&tenant(), &id("two")).await.unwrap().unwrap();
    assert!(run.spec == value);
    assert_eq!(store.purge(&tenant(), u64::MAX).await.unwrap(), 1);
    assert_eq!(maintain(&store).await.blobs, 1);
    assert_eq!(blobs(), 0);
}
