//! Settling requests whose outcome is unknown.

use pml_store::{EntryState, RunState, Settlement, Store, StoreError};

use crate::fixture::{Fixture, answered, id, intent, new_run, on_both_databases, tenant};

on_both_databases!(
    an_unknown_request_is_settled_in_each_way,
    only_unknown_requests_can_be_settled,
    a_run_that_is_executed_or_ended_cannot_be_settled,
);

/// A run whose process gave it up with three open requests.
async fn unknown_run(store: &Store) {
    let writer = store.begin(new_run("r"));
    writer.append(answered(1, 1));
    for number in 2..=4 {
        writer.append(intent(number));
    }
    let unknown = writer.set_state(RunState::Unknown, Some("outcome unknown"));
    unknown.await.unwrap();
}

async fn settle(store: &Store, number: u32, how: Settlement) -> Result<(), StoreError> {
    store.settle(&tenant(), &id("r"), number, how).await
}

async fn an_unknown_request_is_settled_in_each_way(fixture: Fixture) {
    let store = fixture.open().await;
    unknown_run(&store).await;
    let happened = Settlement::Happened(b"sent".to_vec());
    settle(&store, 2, happened).await.unwrap();
    settle(&store, 3, Settlement::Send).await.unwrap();
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Unknown);
    let failed = Settlement::GiveUp(b"failed".to_vec());
    settle(&store, 4, failed).await.unwrap();
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Waiting);

    let entries = store.claim(&tenant(), &id("r")).await.unwrap().entries;
    let found: Vec<_> = entries
        .iter()
        .map(|entry| (entry.state, entry.answer.as_deref(), entry.answer_order))
        .collect();
    assert_eq!(
        found,
        [
            (EntryState::Answered, Some(&b"answer 1"[..]), Some(1)),
            (EntryState::Answered, Some(b"sent"), Some(2)),
            (EntryState::Resend, None, None),
            (EntryState::Answered, Some(b"failed"), Some(3)),
        ]
    );
    assert_eq!(entries[1].request, b"request 2");
}

async fn only_unknown_requests_can_be_settled(fixture: Fixture) {
    let store = fixture.open().await;
    let error = settle(&store, 1, Settlement::Send).await.unwrap_err();
    assert_eq!(error, StoreError::NotFound { id: id("r") });
    unknown_run(&store).await;
    let id = id("r");
    let error = settle(&store, 1, Settlement::Send).await.unwrap_err();
    let number = 1;
    assert_eq!(
        error,
        StoreError::AlreadyAnswered {
            id: id.clone(),
            number
        }
    );
    let error = settle(&store, 9, Settlement::Send).await.unwrap_err();
    let number = 9;
    assert_eq!(
        error,
        StoreError::NoSuchEntry {
            id: id.clone(),
            number
        }
    );
    settle(&store, 2, Settlement::Send).await.unwrap();
    let error = settle(&store, 2, Settlement::Happened(Vec::new())).await;
    let number = 2;
    assert_eq!(error, Err(StoreError::AlreadySettled { id, number }));
}

async fn a_run_that_is_executed_or_ended_cannot_be_settled(fixture: Fixture) {
    let store = fixture.open().await;
    unknown_run(&store).await;
    let claimed = store.claim(&tenant(), &id("r")).await.unwrap();
    let error = settle(&store, 2, Settlement::Send).await.unwrap_err();
    assert!(matches!(error, StoreError::Owned { .. }), "{error}");
    let finish = claimed.writer.finish(RunState::Failed, None, b"");
    finish.await.unwrap();
    let error = settle(&store, 2, Settlement::Send).await.unwrap_err();
    assert!(matches!(error, StoreError::Ended { .. }), "{error}");
}
