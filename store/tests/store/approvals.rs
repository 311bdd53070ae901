//! Approvals: asked once, answered once.

use std::time::Duration;

use pml_protocol::TenantId;
use pml_store::{
    AnswerOutcome, ApprovalFilter, ApprovalState, NewApproval, Store, StoreError, StoredApproval,
};

use crate::fixture::{Fixture, id, intent, new_run, now, on_both_databases, tenant};

on_both_databases!(
    the_same_question_is_asked_once,
    a_question_with_another_digest_voids_the_former_one,
    an_answer_is_recorded_once_and_a_second_one_is_late,
    an_expired_or_void_approval_takes_no_answer,
    approvals_are_listed_by_state_and_run,
    cancelling_a_run_voids_its_open_approvals,
    a_tenant_sees_no_approval_of_another,
);

fn question(run: &str, number: u32, digest: u8) -> NewApproval {
    NewApproval {
        tenant: tenant(),
        run: id(run),
        number,
        tool: "mail:send".to_owned(),
        bound_to: [digest; 32],
        shown: b"send to [EMAIL_1]?".to_vec(),
        expires: now() + 60_000,
    }
}

async fn state(store: &Store, approval: &StoredApproval) -> ApprovalState {
    let found = store.approval(&tenant(), &approval.id).await.unwrap();
    found.unwrap().state
}

async fn the_same_question_is_asked_once(fixture: Fixture) {
    let (store, other) = (fixture.open().await, fixture.open().await);
    let asked = question("r", 1, 1);
    let (one, two) = tokio::join!(store.ask(asked.clone()), other.ask(asked.clone()));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one, two);
    assert_eq!((one.state, &one.asked), (ApprovalState::Open, &asked));
    assert_eq!(one.id.len(), 8);
    let later = NewApproval {
        expires: now() + 1,
        ..asked
    };
    assert_eq!(store.ask(later).await.unwrap(), one);
    store.answer(&tenant(), &one.id, true, "ada").await.unwrap();
    let again = store.ask(question("r", 1, 1)).await.unwrap();
    assert_eq!((again.id, again.state), (one.id, ApprovalState::Allowed));
}

async fn a_question_with_another_digest_voids_the_former_one(fixture: Fixture) {
    let store = fixture.open().await;
    let open = store.ask(question("r", 1, 1)).await.unwrap();
    let unrelated = store.ask(question("r", 2, 1)).await.unwrap();
    let other_run = store.ask(question("s", 1, 1)).await.unwrap();
    let changed = store.ask(question("r", 1, 2)).await.unwrap();
    assert_ne!(changed.id, open.id);
    assert_eq!(state(&store, &open).await, ApprovalState::Void);
    for approval in [&unrelated, &other_run, &changed] {
        assert_eq!(state(&store, approval).await, ApprovalState::Open);
    }
    // An answer that was not used yet is void too, and what has changed back is asked anew.
    store
        .answer(&tenant(), &changed.id, true, "ada")
        .await
        .unwrap();
    let back = store.ask(question("r", 1, 1)).await.unwrap();
    assert_eq!(back.state, ApprovalState::Open);
    assert_ne!(
        back.id, open.id,
        "who was told of the former one answers nothing"
    );
    assert_eq!((back.answered, back.answered_by), (None, None));
    assert_eq!(state(&store, &changed).await, ApprovalState::Void);
}

async fn an_answer_is_recorded_once_and_a_second_one_is_late(fixture: Fixture) {
    let store = fixture.open().await;
    for (number, allow) in [(1, true), (2, false)] {
        let asked = store.ask(question("r", number, 1)).await.unwrap();
        let outcome = store
            .answer(&tenant(), &asked.id, allow, "ada")
            .await
            .unwrap();
        let AnswerOutcome::Recorded(recorded) = outcome else {
            panic!("{outcome:?}");
        };
        let expected = match allow {
            true => ApprovalState::Allowed,
            false => ApprovalState::Denied,
        };
        assert_eq!(recorded.state, expected);
        assert_eq!(recorded.answered_by.as_deref(), Some("ada"));
        assert!(recorded.answered.unwrap() >= recorded.created);
        let late = store
            .answer(&tenant(), &asked.id, !allow, "bob")
            .await
            .unwrap();
        assert_eq!(late, AnswerOutcome::Late(recorded));
    }
    let error = store
        .answer(&tenant(), "missing", true, "ada")
        .await
        .unwrap_err();
    let id = "missing".to_owned();
    assert_eq!(error, StoreError::NoSuchApproval { id });
}

async fn an_expired_or_void_approval_takes_no_answer(fixture: Fixture) {
    let store = fixture.open().await;
    let soon = NewApproval {
        expires: now() + 50,
        ..question("r", 1, 1)
    };
    let expiring = store.ask(soon).await.unwrap();
    let voided = store.ask(question("r", 2, 1)).await.unwrap();
    store.void_approval(&tenant(), &voided.id).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    for (approval, expected) in [
        (expiring, ApprovalState::Expired),
        (voided, ApprovalState::Void),
    ] {
        assert_eq!(state(&store, &approval).await, expected);
        let outcome = store
            .answer(&tenant(), &approval.id, true, "ada")
            .await
            .unwrap();
        let AnswerOutcome::Late(late) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!((late.state, late.answered), (expected, None));
    }
    let error = store.void_approval(&tenant(), "missing").await.unwrap_err();
    assert!(
        matches!(error, StoreError::NoSuchApproval { .. }),
        "{error}"
    );
}

async fn approvals_are_listed_by_state_and_run(fixture: Fixture) {
    let store = fixture.open().await;
    let open = store.ask(question("r", 1, 1)).await.unwrap();
    let expired = NewApproval {
        expires: now() - 1,
        ..question("r", 2, 1)
    };
    let expired = store.ask(expired).await.unwrap();
    let other = store.ask(question("s", 1, 1)).await.unwrap();
    let list = async |states: &[ApprovalState], run: Option<&str>, limit| {
        let filter = ApprovalFilter {
            states: states.to_vec(),
            run: run.map(id),
            limit,
            ..ApprovalFilter::default()
        };
        let approvals = store.approvals(&tenant(), &filter).await.unwrap();
        let mut ids: Vec<String> = approvals.into_iter().map(|approval| approval.id).collect();
        ids.sort();
        ids
    };
    let sorted = |approvals: &[&StoredApproval]| {
        let mut ids: Vec<String> = approvals
            .iter()
            .map(|approval| approval.id.clone())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(list(&[], None, 0).await, sorted(&[&open, &expired, &other]));
    assert_eq!(
        list(&[ApprovalState::Open], None, 0).await,
        sorted(&[&open, &other])
    );
    assert_eq!(
        list(&[ApprovalState::Open], Some("r"), 5).await,
        sorted(&[&open])
    );
    assert_eq!(
        list(&[ApprovalState::Expired], None, 0).await,
        sorted(&[&expired])
    );
    assert_eq!(list(&[ApprovalState::Denied], None, 0).await, sorted(&[]));
    assert_eq!(list(&[], None, 1).await.len(), 1);
}

async fn cancelling_a_run_voids_its_open_approvals(fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    writer.append_durable(intent(1)).await.unwrap();
    let open = store.ask(question("r", 1, 1)).await.unwrap();
    let denied = store.ask(question("r", 2, 1)).await.unwrap();
    store
        .answer(&tenant(), &denied.id, false, "ada")
        .await
        .unwrap();
    store.cancel(&tenant(), &id("r")).await.unwrap();
    assert_eq!(state(&store, &open).await, ApprovalState::Void);
    assert_eq!(state(&store, &denied).await, ApprovalState::Denied);
}

async fn a_tenant_sees_no_approval_of_another(fixture: Fixture) {
    let store = fixture.open().await;
    let other = TenantId::named("other");
    let theirs = NewApproval {
        tenant: other.clone(),
        ..question("r", 1, 1)
    };
    let theirs = store.ask(theirs).await.unwrap();
    assert_eq!(store.approval(&tenant(), &theirs.id).await.unwrap(), None);
    let answer = store.answer(&tenant(), &theirs.id, true, "ada").await;
    assert!(matches!(answer, Err(StoreError::NoSuchApproval { .. })));
    let void = store.void_approval(&tenant(), &theirs.id).await;
    assert!(matches!(void, Err(StoreError::NoSuchApproval { .. })));
    let list = store.approvals(&tenant(), &ApprovalFilter::default()).await;
    assert!(list.unwrap().is_empty());
    let ours = store.ask(question("r", 1, 1)).await.unwrap();
    assert_ne!(ours.id, theirs.id);
    assert_eq!(
        store.approval(&other, &theirs.id).await.unwrap(),
        Some(theirs)
    );
}
