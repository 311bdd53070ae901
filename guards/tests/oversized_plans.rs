//! `shape` stops long chains of calls, wide fan-outs and large batches.

use pml_guards::{CallShape, GuardName};
use serde_json::json;

use crate::support::Session;

#[test]
fn chains_and_fan_outs_over_the_limit_are_blocked() {
    let mut session = Session::only("shape", json!({ "chain": 5, "fanOut": 3 }));
    for (chain, in_flight, passes) in [(5, 3, true), (6, 1, false), (1, 4, false)] {
        session.shape = CallShape { chain, in_flight };
        let judged = session.call("s:t", json!({}));
        assert_eq!(
            judged.is_blocked_by(GuardName::Shape),
            !passes,
            "{chain} {in_flight}"
        );
    }
}

#[test]
fn batches_over_the_limit_are_blocked_at_every_depth() {
    let session = Session::only("shape", json!({ "batch": 3 }));
    assert!(
        session
            .call("s:t", json!({ "ids": [1, 2, 3] }))
            .notes
            .is_empty()
    );
    for arguments in [
        json!({ "ids": [1, 2, 3, 4] }),
        json!({ "a": { "b": [[1], [1, 2, 3, 4]] } }),
        // Bypasses: a map in the place of a list, the arguments themselves.
        json!({ "rows": { "a": 1, "b": 2, "c": 3, "d": 4 } }),
        json!({ "a": 1, "b": 2, "c": 3, "d": 4 }),
    ] {
        assert!(
            session
                .call("s:t", arguments.clone())
                .is_blocked_by(GuardName::Shape),
            "{arguments}"
        );
    }
    // A limit of the guard: a list inside of a text is a text.
    assert!(
        session
            .call("s:t", json!({ "ids": "[1,2,3,4]" }))
            .notes
            .is_empty()
    );
}
