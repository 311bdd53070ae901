//! `effect` stops calls with more effect than is permitted.

use pml_guards::GuardName;
use pml_protocol::EffectClass;
use serde_json::json;

use crate::support::Session;

#[test]
fn a_call_above_the_permitted_class_is_blocked() {
    let mut session = Session::only(
        "effect",
        json!({ "max": "idempotent", "tools": { "mail:send": "off" } }),
    );
    for (effect, passes) in [
        (EffectClass::Read, true),
        (EffectClass::Idempotent, true),
        (EffectClass::Keyed, false),
        (EffectClass::Guarded, false),
    ] {
        session.effect = effect;
        let judged = session.call("s:t", json!({}));
        assert_eq!(judged.is_blocked_by(GuardName::Effect), !passes, "{effect}");
        assert!(session.call("mail:send", json!({})).notes.is_empty());
    }
}

/// Bypasses: the class is that of the operator or the lock file, so neither the name of a tool nor its
/// arguments, nor an annotation of an untrusted server, lowers it.
#[test]
fn strict_blocks_what_nobody_has_classified() {
    let mut session = Session::new(json!({ "preset": "strict" }));
    session.effect = EffectClass::default();
    for (tool, arguments) in [
        ("s:read_file", json!({})),
        ("s:get", json!({ "readOnlyHint": true, "dryRun": true })),
    ] {
        assert!(
            session
                .call(tool, arguments)
                .is_blocked_by(GuardName::Effect)
        );
    }
}
