//! `provenance` stops arguments that no earlier answer had.

use pml_guards::GuardName;
use serde_json::json;

use crate::support::Session;

fn session() -> Session {
    Session::only(
        "provenance",
        json!({ "verdict": "block", "arguments": { "pay:*": { "iban": ["crm:*"], "lines": ["crm:*", "erp:lines"] } } }),
    )
}

#[test]
fn a_value_has_to_be_in_an_answer_of_a_source() {
    let session = session();
    let pay = |iban: serde_json::Value| {
        session.call("pay:transfer", json!({ "iban": iban, "text": "anything" }))
    };
    assert!(pay(json!("DE02120300000000202051")).is_blocked_by(GuardName::Provenance));
    session.answer(
        "crm:find",
        &json!({}),
        json!({ "customers": [{ "iban": "DE02120300000000202051", "n": 7 }] }),
    );
    assert!(pay(json!("DE02120300000000202051")).notes.is_empty());
    assert!(pay(json!(7)).notes.is_empty());
    assert!(
        session
            .call("pay:transfer", json!({ "text": "no iban" }))
            .notes
            .is_empty()
    );
    assert!(
        session
            .call("other:transfer", json!({ "iban": "x" }))
            .notes
            .is_empty()
    );
}

#[test]
fn a_value_that_was_changed_or_comes_from_elsewhere_is_blocked() {
    let session = session();
    session.answer("web:fetch", &json!({}), json!({ "iban": "XX00" }));
    session.answer(
        "crm:find",
        &json!({}),
        json!({ "iban": "DE02", "key-is-no-value": true, "list": ["a", ""] }),
    );
    for value in [
        // Bypasses: from another tool, the argument of a call, another case, spaces, parts, a key, a
        // boolean, the empty text, a list or an object with one foreign value, a number as a text.
        json!("XX00"),
        json!("de02"),
        json!(" DE02"),
        json!("DE"),
        json!("DE02,XX00"),
        json!("key-is-no-value"),
        json!(true),
        json!(""),
        json!(["DE02", "XX00"]),
        json!({ "zz": "DE02" }),
        json!("7"),
    ] {
        let judged = session.call("pay:transfer", json!({ "iban": value.clone() }));
        assert!(judged.is_blocked_by(GuardName::Provenance), "{value}");
    }
    session.call("crm:find", json!({ "iban": "XX00" }));
    assert!(
        session
            .call("pay:transfer", json!({ "iban": "XX00" }))
            .is_blocked_by(GuardName::Provenance)
    );
    assert!(
        session
            .call("pay:transfer", json!({ "iban": ["DE02", "a"] }))
            .notes
            .is_empty()
    );
}

#[test]
fn a_dry_run_has_no_real_answers_and_does_not_look() {
    let mut session = session();
    session.is_dry_run = true;
    assert!(
        session
            .call("pay:transfer", json!({ "iban": "x" }))
            .notes
            .is_empty()
    );
}
