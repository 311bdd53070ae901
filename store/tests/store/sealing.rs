//! Values at rest, and keys.

use pml_store::{Checkpoint, NewApproval, RunState, Store, StoreError, StoreKey};

use crate::fixture::{
    Fixture, answered, any_file_contains, id, intent, new_run, now, on_both_databases, tenant,
};

on_both_databases!(
    a_store_opens_with_its_key_only,
    a_given_key_needs_no_file,
    a_missing_key_file_is_not_made_anew,
);

async fn a_store_opens_with_its_key_only(mut fixture: Fixture) {
    let store = fixture.open().await;
    let writer = store.begin(new_run("r"));
    writer.append_durable(intent(1)).await.unwrap();
    store.close().await;
    fixture.options.key = Some(StoreKey::random().unwrap());
    let error = Store::open(fixture.options.clone()).await.err().unwrap();
    assert!(matches!(error, StoreError::WrongKey { .. }), "{error}");
    assert!(error.to_string().contains("key does not fit"), "{error}");
    fixture.options.key = None;
    let store = fixture.open().await;
    let journal = store.journal(&tenant(), &id("r")).await.unwrap();
    assert_eq!(journal.len(), 1);
}

async fn a_given_key_needs_no_file(mut fixture: Fixture) {
    fixture.options.key = Some(StoreKey::random().unwrap());
    for _ in 0..2 {
        let store = fixture.open().await;
        store.close().await;
    }
    assert!(!fixture.folder.path().join("store.key").exists());
}

async fn a_missing_key_file_is_not_made_anew(fixture: Fixture) {
    let store = fixture.open().await;
    store.close().await;
    let file = fixture.folder.path().join("store.key");
    std::fs::remove_file(&file).unwrap();
    let error = Store::open(fixture.options.clone()).await.err().unwrap();
    assert!(matches!(error, StoreError::KeyMissing { .. }), "{error}");
    assert!(!file.exists());
}

#[test]
fn no_private_value_is_readable_on_disk() {
    crate::fixture::on_sqlite(async |fixture| {
        let secret = "The quick brown fox 4111 1111";
        let store = fixture.open().await;
        let mut run = new_run("r");
        run.spec = secret.into();
        let writer = store.begin(run);
        let mut entry = answered(1, 1);
        entry.request = secret.into();
        entry.answer = Some(secret.into());
        writer.append(entry.clone());
        // In a blob.
        entry.number = 2;
        entry.answer = Some(secret.repeat(20_000).into());
        writer.append(entry);
        let (key, value) = ("page".to_owned(), secret.into());
        writer.checkpoint(Checkpoint { key, value });
        let finish = writer.finish(RunState::Done, None, secret.as_bytes());
        finish.await.unwrap();
        let approval = NewApproval {
            tenant: tenant(),
            run: id("r"),
            number: 1,
            tool: "mail:send".to_owned(),
            bound_to: [0; 32],
            shown: secret.into(),
            expires: now() + 1000,
        };
        store.ask(approval).await.unwrap();
        let folder = fixture.folder.path();
        assert!(!any_file_contains(folder, secret.as_bytes()));
        // The search finds what is in the clear, so it looks at the right files.
        assert!(any_file_contains(folder, b"nightly.ts"));
        store.close().await;
        assert!(!any_file_contains(folder, secret.as_bytes()));
    });
}
