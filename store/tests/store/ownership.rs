//! Owners, leases and fencing tokens.

use std::time::{Duration, Instant};

use pml_store::{ClaimedRun, RunState, Store, StoreError};

use crate::child::Process;
use crate::fixture::{Fixture, answered, id, intent, new_run, on_both_databases, tenant};

on_both_databases!(
    a_run_of_a_living_process_cannot_be_claimed,
    a_run_of_a_killed_process_is_claimed_at_once,
    a_stopped_owner_loses_its_run_and_its_writes_are_refused,
    leases_are_renewed_while_the_owner_lives,
    the_lease_of_a_new_run_begins_with_its_first_write,
    a_released_run_can_be_claimed_and_a_dropped_one_too,
    an_ended_run_cannot_be_claimed,
    of_two_claims_at_once_one_wins,
    a_cancelled_run_refuses_the_writes_of_its_owner,
    a_cancelled_run_stays_cancelled_and_an_ended_one_cannot_be,
);

async fn claim(store: &Store) -> Result<ClaimedRun, StoreError> {
    store.claim(&tenant(), &id("r")).await
}

async fn a_run_of_a_living_process_cannot_be_claimed(fixture: Fixture) {
    let store = fixture.open().await;
    let mut process = Process::start("hold", &fixture.options);
    assert_eq!(process.line().unwrap(), "ready");
    let pid = Some(process.id());
    let owned = StoreError::Owned { id: id("r"), pid };
    assert_eq!(claim(&store).await.err(), Some(owned.clone()));
    assert!(owned.to_string().contains(&process.id().to_string()));
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert!(run.is_owned);
    assert!(store.resumable(&tenant(), None).await.unwrap().is_empty());
    assert_eq!(process.ask("append"), "appended");
}

async fn a_run_of_a_killed_process_is_claimed_at_once(fixture: Fixture) {
    let store = fixture.open().await;
    let mut process = Process::start("hold", &fixture.options);
    assert_eq!(process.line().unwrap(), "ready");
    process.kill();
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert_eq!((run.state, run.is_owned), (RunState::Running, false));
    assert_eq!(store.resumable(&tenant(), None).await.unwrap(), [id("r")]);
    let claimed = claim(&store).await.unwrap();
    assert_eq!(claimed.entries.len(), 1);
    assert!(claimed.run.is_owned && claimed.writer.holds_lease());
    let append = claimed.writer.append_durable(answered(1, 1));
    append.await.unwrap();
}

async fn a_stopped_owner_loses_its_run_and_its_writes_are_refused(mut fixture: Fixture) {
    fixture.options.lease = Duration::from_secs(2);
    let store = fixture.open().await;
    let mut process = Process::start("hold", &fixture.options);
    assert_eq!(process.line().unwrap(), "ready");
    process.signal(libc::SIGSTOP);
    assert!(matches!(
        claim(&store).await.err(),
        Some(StoreError::Owned { .. })
    ));
    let begun = Instant::now();
    let claimed = loop {
        match claim(&store).await {
            Ok(claimed) => break claimed,
            Err(error) => assert!(matches!(error, StoreError::Owned { .. }), "{error}"),
        }
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "the lease does not end"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let finish = claimed.writer.finish(RunState::Done, None, b"result");
    finish.await.unwrap();
    process.signal(libc::SIGCONT);
    assert_eq!(process.ask("holds lease"), "false");
    let refused = process.ask("append");
    assert!(refused.contains("taken over"), "{refused}");
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Done);
    let journal = store.journal(&tenant(), &id("r")).await.unwrap();
    assert_eq!(journal[0].answer, None);
}

async fn leases_are_renewed_while_the_owner_lives(mut fixture: Fixture) {
    fixture.options.lease = Duration::from_secs(2);
    let (store, other) = (fixture.open().await, fixture.open().await);
    let began = store.begin(new_run("r"));
    began.append_durable(intent(1)).await.unwrap();
    let writer = store.begin(new_run("claimed"));
    writer.append_durable(intent(1)).await.unwrap();
    writer.release().await.unwrap();
    let claimed = other.claim(&tenant(), &id("claimed")).await.unwrap();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(began.holds_lease() && claimed.writer.holds_lease());
        assert!(matches!(
            claim(&other).await.err(),
            Some(StoreError::Owned { .. })
        ));
    }
    began.append_durable(answered(1, 1)).await.unwrap();
    claimed.writer.append_durable(intent(2)).await.unwrap();
}

async fn the_lease_of_a_new_run_begins_with_its_first_write(mut fixture: Fixture) {
    fixture.options.lease = Duration::from_secs(1);
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert!(writer.holds_lease());
    writer.append_durable(intent(1)).await.unwrap();
    assert!(writer.holds_lease());
    let other = fixture.open().await;
    assert!(claim(&other).await.is_err());
}

async fn a_released_run_can_be_claimed_and_a_dropped_one_too(fixture: Fixture) {
    let (store, other) = (fixture.open().await, fixture.open().await);
    let writer = store.begin(new_run("r"));
    writer.append(intent(1));
    writer.release().await.unwrap();
    let claimed = claim(&other).await.unwrap();
    assert_eq!(claimed.run.state, RunState::Running);
    let clone = claimed.writer.clone();
    drop(claimed);
    clone.append_durable(intent(2)).await.unwrap();
    assert!(claim(&store).await.is_err());
    drop(clone);
    let begun = Instant::now();
    while let Err(error) = claim(&store).await {
        assert!(begun.elapsed() < Duration::from_secs(5), "{error}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn an_ended_run_cannot_be_claimed(fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    writer.finish(RunState::Done, None, b"").await.unwrap();
    let state = RunState::Done;
    let ended = StoreError::Ended { id: id("r"), state };
    assert_eq!(claim(&store).await.err(), Some(ended));
    assert!(store.resumable(&tenant(), None).await.unwrap().is_empty());
}

async fn of_two_claims_at_once_one_wins(fixture: Fixture) {
    let (store, other) = (fixture.open().await, fixture.open().await);
    let writer = store.begin(new_run("r"));
    writer.append(intent(1));
    writer
        .set_state(RunState::Waiting, Some("approval"))
        .await
        .unwrap();
    for _ in 0..10 {
        let (one, two) = tokio::join!(claim(&store), claim(&other));
        let (winner, loser) = match (one, two) {
            (Ok(winner), Err(loser)) | (Err(loser), Ok(winner)) => (winner, loser),
            (one, two) => panic!("{} {}", one.is_ok(), two.is_ok()),
        };
        assert!(matches!(loser, StoreError::Owned { .. }), "{loser}");
        winner.writer.append_durable(intent(2)).await.unwrap();
        winner.writer.release().await.unwrap();
    }
}

async fn a_cancelled_run_refuses_the_writes_of_its_owner(fixture: Fixture) {
    let (store, other) = (fixture.open().await, fixture.open().await);
    let writer = store.begin(new_run("r"));
    writer.append_durable(intent(1)).await.unwrap();
    let run = other.cancel(&tenant(), &id("r")).await.unwrap();
    assert_eq!((run.state, run.is_owned), (RunState::Cancelled, false));
    assert!(run.ended.is_some());
    writer.append(answered(1, 1));
    let lost = StoreError::LostOwnership { id: id("r") };
    assert_eq!(writer.flush().await, Err(lost.clone()));
    assert!(!writer.holds_lease());
    let finish = writer.finish(RunState::Done, None, b"").await;
    assert_eq!(finish, Err(lost));
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Cancelled);
}

async fn a_cancelled_run_stays_cancelled_and_an_ended_one_cannot_be(fixture: Fixture) {
    let store = fixture.open().await;
    let missing = store.cancel(&tenant(), &id("r")).await.unwrap_err();
    assert_eq!(missing, StoreError::NotFound { id: id("r") });
    let writer = store.begin(new_run("r"));
    writer.append_durable(intent(1)).await.unwrap();
    let first = store.cancel(&tenant(), &id("r")).await.unwrap();
    assert!(!writer.holds_lease());
    let second = store.cancel(&tenant(), &id("r")).await.unwrap();
    assert_eq!(first.ended, second.ended);
    let done = store.begin(new_run("done"));
    done.finish(RunState::Done, None, b"").await.unwrap();
    let error = store.cancel(&tenant(), &id("done")).await.unwrap_err();
    assert!(matches!(error, StoreError::Ended { .. }), "{error}");
}
