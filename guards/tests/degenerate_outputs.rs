//! `saturation` stops degenerate answers.

use pml_guards::GuardName;
use serde_json::{Value, json};

use crate::support::Session;

fn session() -> Session {
    Session::only(
        "saturation",
        json!({ "verdict": "block", "same": 3, "repeated": 0.9 }),
    )
}

#[test]
fn the_same_answer_to_different_calls_is_blocked() {
    let session = session();
    let asked = |n: u32, answer: Value| session.answer("s:t", &json!({ "n": n }), answer);
    assert!(asked(1, json!("service unavailable")).notes.is_empty());
    assert!(asked(2, json!("service unavailable")).notes.is_empty());
    assert!(
        asked(2, json!("service unavailable")).notes.is_empty(),
        "the same call has the same answer"
    );
    assert!(asked(3, json!("service unavailable")).is_blocked_by(GuardName::Saturation));
    assert!(asked(4, json!("something else")).notes.is_empty());
    assert!(
        asked(5, json!("service unavailable")).notes.is_empty(),
        "the row is interrupted"
    );
    for empty in [
        json!(null),
        json!([]),
        json!(true),
        json!("ok"),
        json!({ "found": false }),
    ] {
        for n in 10..20 {
            assert!(asked(n, empty.clone()).notes.is_empty(), "{empty}");
        }
    }
}

#[test]
fn texts_that_repeat_themselves_and_numbers_at_their_limit_are_blocked() {
    for value in [
        json!("the model says\n".repeat(200)),
        json!({ "deep": ["a".repeat(2_000)] }),
        // Bypasses: spaces between, other lines now and then.
        json!("a \n\t".repeat(1_000)),
        json!(
            (0..400)
                .map(|n| if n % 20 == 0 {
                    format!("line {n}\n")
                } else {
                    "  again \n".to_owned()
                })
                .collect::<String>()
        ),
        json!({ "score": f64::MAX }),
        json!([1, -f64::MAX]),
        json!({ "n": i64::MAX }),
        json!({ "n": u64::MAX }),
        json!({ "n": i64::MIN }),
    ] {
        let judged = session().answer("s:t", &json!({}), value.clone());
        assert!(judged.is_blocked_by(GuardName::Saturation), "{value}");
    }
    let prose: String = (0..300)
        .map(|n| format!("line {n} of the file\n"))
        .collect();
    for value in [
        json!(prose),
        json!("aaaa"),
        json!("x\n".repeat(10)),
        json!(1e300),
        json!(i64::MAX - 1),
    ] {
        assert!(
            session()
                .answer("s:t", &json!({}), value.clone())
                .notes
                .is_empty(),
            "{value}"
        );
    }
}
