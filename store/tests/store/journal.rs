//! Journals: order, replacement, checkpoints, large values, lists.

use pml_protocol::TenantId;
use pml_store::{Checkpoint, Durability, NewRun, RunFilter, RunState, StoreError};

use crate::fixture::{Fixture, answered, id, intent, new_run, on_both_databases, tenant};

on_both_databases!(
    a_writer_that_is_never_used_writes_nothing,
    entries_are_read_as_they_were_written_in_their_order,
    an_entry_replaces_one_with_the_same_number,
    writes_of_many_runs_at_once_are_all_there,
    the_second_run_with_an_id_is_refused,
    a_run_is_read_as_it_was_written,
    large_values_are_kept,
    entries_are_written_with_power_durability_too,
    checkpoints_are_kept_for_the_next_owner,
    lists_have_the_newest_first_and_can_be_filtered,
    the_tasks_of_a_principal_are_listed_in_pages,
    a_tenant_sees_nothing_of_another,
    a_closed_store_refuses_everything,
    writes_after_the_run_was_given_up_are_refused,
);

async fn a_writer_that_is_never_used_writes_nothing(fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    assert!(!writer.has_begun());
    assert!(writer.holds_lease());
    writer.flush().await.unwrap();
    writer.release().await.unwrap();
    drop(writer);
    assert!(store.run(&tenant(), &id("r")).await.unwrap().is_none());
    let error = store.journal(&tenant(), &id("r")).await.unwrap_err();
    assert_eq!(error, StoreError::NotFound { id: id("r") });
}

async fn entries_are_read_as_they_were_written_in_their_order(fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    let entries = vec![answered(1, 3), intent(2), answered(3, 1), answered(20, 2)];
    for at in [2, 0, 3, 1] {
        writer.append(entries[at].clone());
    }
    assert!(writer.has_begun());
    writer.flush().await.unwrap();
    let journal = store.journal(&tenant(), &id("r")).await.unwrap();
    assert_eq!(journal, entries);
}

async fn an_entry_replaces_one_with_the_same_number(fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    let mut last = intent(1);
    for round in 1..=50 {
        writer.append(intent(1));
        last = answered(1, round);
        match round % 3 {
            0 => writer.append_durable(last.clone()).await.unwrap(),
            _ => writer.append(last.clone()),
        }
    }
    writer.flush().await.unwrap();
    let journal = store.journal(&tenant(), &id("r")).await.unwrap();
    assert_eq!(journal, [last]);
}

async fn writes_of_many_runs_at_once_are_all_there(fixture: Fixture) {
    let store = fixture.open().await;
    let writers: Vec<_> = (0..20)
        .map(|run| store.begin(new_run(&format!("r{run}"))))
        .collect();
    let mut durable = Vec::new();
    for number in 1..=30 {
        for writer in &writers {
            match number % 10 {
                0 => durable.push(writer.append_durable(intent(number))),
                _ => writer.append(intent(number)),
            }
        }
    }
    for append in durable {
        append.await.unwrap();
    }
    for writer in &writers {
        let journal = store.journal(&tenant(), writer.id()).await.unwrap();
        let numbers: Vec<u32> = journal.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, Vec::from_iter(1..=30));
    }
}

async fn the_second_run_with_an_id_is_refused(fixture: Fixture) {
    let store = fixture.open().await;
    let first = store.begin(new_run("r"));
    first.append_durable(intent(1)).await.unwrap();
    let other_process = fixture.open().await;
    for store in [&store, &other_process] {
        let second = store.begin(new_run("r"));
        second.append(intent(2));
        let error = second.append_durable(intent(3)).await.unwrap_err();
        assert_eq!(error, StoreError::Exists { id: id("r") });
        assert_eq!(second.flush().await.unwrap_err(), error);
    }
    let done = first.finish(RunState::Done, None, b"").await;
    done.unwrap();
    let journal = store.journal(&tenant(), &id("r")).await.unwrap();
    assert_eq!(journal.len(), 1);
    let third = store.begin(new_run("r"));
    let error = third.append_durable(intent(1)).await.unwrap_err();
    assert_eq!(error, StoreError::Exists { id: id("r") });
}

async fn a_run_is_read_as_it_was_written(fixture: Fixture) {
    let store = fixture.open().await;
    let new = new_run("r");
    let writer = store.begin(new.clone());
    writer.append_durable(intent(1)).await.unwrap();
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert_eq!((run.tenant, run.id), (new.tenant, new.id));
    assert_eq!((run.principal, run.origin), (new.principal, new.origin));
    assert_eq!(
        (run.script, run.script_digest),
        (new.script, new.script_digest)
    );
    assert_eq!((run.spec, run.outcome), (new.spec, None));
    assert_eq!(
        (run.state, run.is_owned, run.ended),
        (RunState::Running, true, None)
    );

    let finish = writer.finish(RunState::Failed, Some("timeout"), b"outcome");
    finish.await.unwrap();
    assert!(!writer.holds_lease());
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert_eq!(run.outcome.as_deref(), Some(&b"outcome"[..]));
    assert_eq!(run.reason.as_deref(), Some("timeout"));
    assert_eq!((run.state, run.is_owned), (RunState::Failed, false));
    assert!(run.ended.unwrap() >= run.created);
}

async fn large_values_are_kept(fixture: Fixture) {
    let store = fixture.open().await;
    let large: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
    let mut run = new_run("r");
    run.spec = large.clone();
    let writer = store.begin(run);
    let mut entry = answered(1, 1);
    entry.request = large.clone();
    entry.answer = Some(large.iter().rev().copied().collect());
    writer.append_durable(entry.clone()).await.unwrap();
    let done = writer.finish(RunState::Done, None, &large);
    done.await.unwrap();
    let run = store.run(&tenant(), &id("r")).await.unwrap().unwrap();
    assert!(run.spec == large && run.outcome.as_deref() == Some(&large[..]));
    let journal = store.journal(&tenant(), &id("r")).await.unwrap();
    assert!(journal == [entry]);
}

async fn entries_are_written_with_power_durability_too(mut fixture: Fixture) {
    fixture.options.durability = Durability::Power;
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    let mut large = intent(3);
    large.request = vec![7; 300_000];
    writer.append(intent(1));
    let (one, two) = (
        writer.append_durable(intent(2)),
        writer.append_durable(large),
    );
    writer.append(intent(4));
    one.await.unwrap();
    two.await.unwrap();
    let finish = writer.finish(RunState::Done, None, b"");
    finish.await.unwrap();
    let journal = store.journal(&tenant(), &id("r")).await.unwrap();
    assert_eq!(journal.len(), 4);
}

async fn checkpoints_are_kept_for_the_next_owner(fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    let checkpoint = |key: &str, value: &[u8]| Checkpoint {
        key: key.to_owned(),
        value: value.to_owned(),
    };
    for value in [&b"1"[..], b"2", b"3"] {
        writer.checkpoint(checkpoint("page", value));
    }
    writer.checkpoint(checkpoint("", b"{}"));
    writer.release().await.unwrap();
    let claimed = store.claim(&tenant(), &id("r")).await.unwrap();
    let expected = [checkpoint("", b"{}"), checkpoint("page", b"3")];
    assert_eq!(claimed.checkpoints, expected);
    assert_eq!(claimed.entries, []);
    assert_eq!(claimed.run.spec, b"spec");
}

async fn lists_have_the_newest_first_and_can_be_filtered(fixture: Fixture) {
    let store = fixture.open().await;
    for (run, origin) in [("a", "run"), ("b", "serve x"), ("c", "run")] {
        let mut new = new_run(run);
        new.origin = origin.to_owned();
        let writer = store.begin(new);
        writer.append_durable(intent(1)).await.unwrap();
        match run {
            "a" => writer.finish(RunState::Done, None, b"o").await.unwrap(),
            _ => writer
                .set_state(RunState::Waiting, Some("approval"))
                .await
                .unwrap(),
        }
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    }
    let list = async |states: &[RunState], origin: Option<&str>, limit| {
        let filter = RunFilter {
            states: states.to_vec(),
            origin: origin.map(str::to_owned),
            limit,
            ..RunFilter::default()
        };
        let runs = store.runs(&tenant(), &filter).await.unwrap();
        runs.iter()
            .map(|run| run.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(list(&[], None, 0).await, ["c", "b", "a"]);
    assert_eq!(list(&[], None, 2).await, ["c", "b"]);
    assert_eq!(list(&[], Some("run"), 0).await, ["c", "a"]);
    assert_eq!(list(&[RunState::Waiting], Some("run"), 9).await, ["c"]);
    assert_eq!(
        list(&[RunState::Done, RunState::Failed], None, 0).await,
        ["a"]
    );
    let resumable = store.resumable(&tenant(), None).await.unwrap();
    assert_eq!(resumable, [id("b"), id("c")]);
    let resumable = store.resumable(&tenant(), Some("serve x")).await.unwrap();
    assert_eq!(resumable, [id("b")]);
}

async fn the_tasks_of_a_principal_are_listed_in_pages(fixture: Fixture) {
    let store = fixture.open().await;
    for (run, principal, task_ttl) in [
        ("a", "ada", Some(7)),
        ("b", "ada", None),
        ("c", "bob", Some(7)),
        ("d", "ada", Some(8)),
    ] {
        let writer = store.begin(NewRun {
            principal: principal.to_owned(),
            task_ttl,
            ..new_run(run)
        });
        // A task is there before it has done anything.
        writer.persist().await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    }
    let mut filter = RunFilter {
        tasks_of: Some("ada".to_owned()),
        limit: 1,
        ..RunFilter::default()
    };
    let mut seen = Vec::new();
    while let Some(run) = store.runs(&tenant(), &filter).await.unwrap().pop() {
        seen.push((run.id.to_string(), run.task_ttl));
        filter.after = Some((run.created, run.id));
    }
    assert_eq!(seen, [("d".to_owned(), Some(8)), ("a".to_owned(), Some(7))]);
}

async fn a_tenant_sees_nothing_of_another(fixture: Fixture) {
    let store = fixture.open().await;
    let other = TenantId::named("other");
    let mut theirs = new_run("r");
    theirs.tenant = other.clone();
    theirs.spec = b"theirs".to_vec();
    let writer = store.begin(theirs);
    writer.append_durable(intent(1)).await.unwrap();
    writer.release().await.unwrap();

    let missing = StoreError::NotFound { id: id("r") };
    assert!(store.run(&tenant(), &id("r")).await.unwrap().is_none());
    assert_eq!(
        store.journal(&tenant(), &id("r")).await.unwrap_err(),
        missing
    );
    assert_eq!(
        store.claim(&tenant(), &id("r")).await.err(),
        Some(missing.clone())
    );
    assert_eq!(
        store.cancel(&tenant(), &id("r")).await.unwrap_err(),
        missing
    );
    assert!(
        store
            .runs(&tenant(), &RunFilter::default())
            .await
            .unwrap()
            .is_empty()
    );
    assert!(store.resumable(&tenant(), None).await.unwrap().is_empty());
    assert_eq!(store.purge(&tenant(), u64::MAX).await.unwrap(), 0);

    let ours = store.begin(new_run("r"));
    ours.append_durable(answered(1, 1)).await.unwrap();
    let run = store.run(&other, &id("r")).await.unwrap().unwrap();
    assert_eq!(run.spec, b"theirs");
    assert_eq!(
        store.journal(&other, &id("r")).await.unwrap()[0].answer,
        None
    );
}

async fn a_closed_store_refuses_everything(fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    writer.append(intent(1));
    store.close().await;
    writer.append(intent(2));
    assert_eq!(writer.flush().await, Err(StoreError::Closed));
    let read = store.run(&tenant(), &id("r")).await;
    assert_eq!(read.err(), Some(StoreError::Closed));
    let cancelled = store.cancel(&tenant(), &id("r")).await;
    assert_eq!(cancelled.err(), Some(StoreError::Closed));
    let again = fixture.open().await;
    let journal = again.journal(&tenant(), &id("r")).await.unwrap();
    assert_eq!(journal.len(), 1);
}

async fn writes_after_the_run_was_given_up_are_refused(fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    writer.append(intent(1));
    writer.set_state(RunState::Unknown, None).await.unwrap();
    let error = writer.append_durable(intent(2)).await.unwrap_err();
    assert_eq!(error, StoreError::Released { id: id("r") });
    writer.append(intent(3));
    writer.release().await.unwrap();
    assert!(!writer.holds_lease());
    let claimed = store.claim(&tenant(), &id("r")).await.unwrap();
    assert_eq!(claimed.entries.len(), 1);
}
