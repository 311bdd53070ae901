//! `retry` stops the same effect a second time, after a call whose answer was lost.

use pml_guards::{CallKey, GuardName};
use pml_protocol::{EffectClass, GuardVerdict};
use serde_json::json;

use crate::support::Session;

#[test]
fn the_same_call_after_a_lost_answer_is_blocked_unless_it_has_no_further_effect() {
    let mut session = Session::only("retry", json!("block"));
    let arguments = json!({ "to": "a", "amount": 5 });
    session
        .history
        .answer_lost(CallKey::new("pay:transfer", &arguments));
    for (effect, passes) in [
        (EffectClass::Read, true),
        (EffectClass::Idempotent, true),
        (EffectClass::Keyed, false),
        (EffectClass::Guarded, false),
    ] {
        session.effect = effect;
        let judged = session.call("pay:transfer", arguments.clone());
        assert_eq!(judged.is_blocked_by(GuardName::Retry), !passes, "{effect}");
    }
    // Bypasses: another order of the keys, and the same number in another form.
    session.effect = EffectClass::Guarded;
    assert!(
        session
            .call("pay:transfer", json!({ "amount": 5.0, "to": "a" }))
            .is_blocked_by(GuardName::Retry)
    );
    // What is not the same call passes.
    for other in [
        json!({ "to": "a", "amount": 6 }),
        json!({ "to": "a", "amount": "5" }),
        json!({ "to": "a" }),
    ] {
        assert!(session.call("pay:transfer", other).notes.is_empty());
    }
    assert!(session.call("pay:other", arguments).notes.is_empty());
}

#[test]
fn the_same_key_again_is_no_second_effect_and_a_key_of_pml_is_no_part_of_the_call() {
    let mut session = Session::only("retry", json!("block"));
    session.effect = EffectClass::Keyed;
    let first = json!({ "amount": 5, "key": "k1" });
    session.history.answer_lost(CallKey::new("s:pay", &first));
    session.has_own_key = true;
    assert!(session.call("s:pay", first).notes.is_empty());
    let key =
        |key: &str| CallKey::without("s:pay", &json!({ "amount": 5, "key": key }), Some("key"));
    assert_eq!(key("a"), key("b"));
    assert_eq!(key("a"), CallKey::new("s:pay", &json!({ "amount": 5 })));
}

#[test]
fn the_preset_default_warns() {
    let mut session = Session::new(json!({}));
    session.effect = EffectClass::Guarded;
    session.history.answer_lost(CallKey::new("s:t", &json!({})));
    assert_eq!(
        session.call("s:t", json!({})).verdicts(),
        [("retry", GuardVerdict::Warn)]
    );
}
