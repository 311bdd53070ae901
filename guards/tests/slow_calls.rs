//! `time` stops calls that take long. That the hard time ends a call is tested with the gateway.

use std::time::Duration;

use pml_protocol::GuardVerdict;
use serde_json::json;

use crate::support::Session;

#[test]
fn the_soft_time_warns_and_the_hard_time_is_a_limit_of_the_call() {
    let mut session = Session::only(
        "time",
        json!({ "soft": "1s", "hard": "5s", "tools": { "s:slow": { "hard": "1m" } } }),
    );
    assert_eq!(
        session.guards.time_limit("s:t"),
        Some(Duration::from_secs(5))
    );
    assert_eq!(
        session.guards.time_limit("s:slow"),
        Some(Duration::from_secs(60))
    );
    assert!(session.answer("s:t", &json!({}), json!(1)).notes.is_empty());
    session.took = Duration::from_secs(2);
    assert_eq!(
        session.answer("s:t", &json!({}), json!(1)).verdicts(),
        [("time", GuardVerdict::Warn)]
    );
}

#[test]
fn a_guard_that_warns_ends_no_call() {
    let mut session = Session::new(json!({ "preset": "observe" }));
    assert_eq!(session.guards.time_limit("s:t"), None);
    session.took = Duration::from_secs(40);
    let judged = session.answer("s:t", &json!({}), json!(1));
    assert!(judged.text().contains("more than 30s"), "{}", judged.text());
}
