//! `preconditions` stops calls before the calls that they need.

use pml_guards::GuardName;
use serde_json::json;

use crate::support::Session;

fn session() -> Session {
    Session::only(
        "preconditions",
        json!({ "verdict": "block", "after": { "db:drop_*": ["db:backup", "*:check_*"], "db:drop_all": ["hr:approve"] } }),
    )
}

#[test]
fn a_call_passes_when_all_that_it_needs_has_answered() {
    let session = session();
    let drop_table = || session.call("db:drop_table", json!({}));
    assert!(drop_table().is_blocked_by(GuardName::Preconditions));
    session.answer("db:backup", &json!({}), json!("ok"));
    assert!(drop_table().text().contains("`*:check_*` has not answered"));
    session.answer("x:check_space", &json!({}), json!("ok"));
    assert!(drop_table().notes.is_empty());
    assert!(
        session
            .call("db:drop_all", json!({}))
            .is_blocked_by(GuardName::Preconditions)
    );
    assert!(session.call("db:read", json!({})).notes.is_empty());
}

#[test]
fn what_did_not_answer_does_not_count() {
    let session = session();
    // Bypasses: a call that was only made, another tool with a similar name, the tool itself.
    session.call("db:backup", json!({}));
    session.answer("db:backup2", &json!({}), json!("ok"));
    session.answer("evil:backup", &json!({}), json!("ok"));
    session.answer("db:drop_table", &json!({}), json!("ok"));
    session.answer("DB:backup", &json!({}), json!("ok"));
    assert!(
        session
            .call("db:drop_table", json!({}))
            .is_blocked_by(GuardName::Preconditions)
    );
    // A dry run does not fulfil it for the session.
    let forecast = session.history.forked();
    forecast.succeeded("db:backup");
    forecast.succeeded("x:check_a");
    assert!(
        session
            .call("db:drop_table", json!({}))
            .is_blocked_by(GuardName::Preconditions)
    );
}
