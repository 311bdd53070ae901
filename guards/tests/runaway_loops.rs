//! `runaway` stops loops that make the same call again and again.

use std::time::Duration;

use pml_guards::GuardName;
use serde_json::json;

use crate::support::Session;

#[tokio::test(start_paused = true)]
async fn the_call_after_the_last_is_blocked_until_the_window_ends() {
    let session = Session::only(
        "runaway",
        json!({ "verdict": "block", "calls": 3, "window": "1m" }),
    );
    for _ in 0..3 {
        assert!(
            session
                .call("s:t", json!({ "a": 1, "b": 2 }))
                .notes
                .is_empty()
        );
    }
    // Bypasses: another order of the keys, the same number in another form.
    assert!(
        session
            .call("s:t", json!({ "b": 2, "a": 1 }))
            .is_blocked_by(GuardName::Runaway)
    );
    assert!(
        session
            .call("s:t", json!({ "b": 2.0, "a": 1 }))
            .is_blocked_by(GuardName::Runaway)
    );
    assert!(
        session
            .call("s:t", json!({ "b": 2, "a": 2 }))
            .notes
            .is_empty()
    );
    assert!(
        session
            .call("s:u", json!({ "a": 1, "b": 2 }))
            .notes
            .is_empty()
    );
    tokio::time::advance(Duration::from_secs(61)).await;
    assert!(
        session
            .call("s:t", json!({ "a": 1, "b": 2 }))
            .notes
            .is_empty()
    );
}

#[test]
fn arguments_that_differ_a_little_each_time_are_counted_by_the_tool() {
    let session = Session::only(
        "runaway",
        json!({ "verdict": "block", "calls": 5, "sameTool": 10, "window": "1m" }),
    );
    let blocked = (0..20).filter(|n| session.call("s:t", json!({ "nonce": n })).blocked.is_some());
    assert_eq!(blocked.count(), 10);
}

#[test]
fn a_loop_is_warned_of_once() {
    let session = Session::only(
        "runaway",
        json!({ "verdict": "warn", "calls": 2, "window": "1m" }),
    );
    let warned: usize = (0..50)
        .map(|_| session.call("s:t", json!({})).notes.len())
        .sum();
    assert_eq!(warned, 1);
}
