//! `output` stops large, deep and long answers.

use pml_guards::GuardName;
use pml_protocol::GuardVerdict;
use serde_json::{Value, json};

use crate::support::Session;

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn answers_over_a_limit_are_withheld() {
    let session = Session::only("output", json!({ "bytes": "1k", "depth": 4, "items": 10 }));
    for (value, passes) in [
        (json!("x".repeat(1024)), true),
        (json!("x".repeat(1025)), false),
        (nested(4), true),
        (nested(5), false),
        (json!(vec![1; 10]), true),
        (json!(vec![1; 11]), false),
        // Bypasses: text in keys, in many small values, an object in the place of a list.
        (json!({ "k".repeat(1025): 1 }), false),
        (json!({ "a": vec!["x".repeat(200); 6] }), false),
        (
            Value::Object((0..11).map(|n| (n.to_string(), json!(1))).collect()),
            false,
        ),
        (json!({ "a": { "b": { "c": { "d": {} } } } }), false),
    ] {
        let judged = session.answer("s:t", &json!({}), value);
        assert_eq!(
            judged.is_blocked_by(GuardName::Output),
            !passes,
            "{}",
            judged.text()
        );
    }
}

#[test]
fn repair_cuts_an_answer_to_its_limits() {
    let session = Session::only(
        "output",
        json!({ "verdict": "repair", "bytes": "1k", "depth": 2, "items": 3 }),
    );
    let cut = |value: Value| session.answer("s:t", &json!({}), value);
    let judged = cut(json!([1, 2, 3, 4, 5]));
    assert_eq!(
        (judged.value.clone(), judged.verdicts()),
        (json!([1, 2, 3]), vec![("output", GuardVerdict::Repair)])
    );
    assert_eq!(
        cut(json!({ "a": { "b": [1] } })).value,
        json!({ "a": { "b": null } })
    );
    assert_eq!(cut(json!("é".repeat(800))).value, json!("é".repeat(512)));
    let judged = cut(json!({ "a": "x".repeat(3000), "b": "y".repeat(3000) }));
    assert!(judged.value.to_string().len() <= 1100, "{}", judged.value);
    // What is repaired passes.
    assert!(cut(judged.value).notes.is_empty());
}
