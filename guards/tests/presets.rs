//! Presets, verdicts, settings for single tools, and mistakes in the configuration.

use pml_guards::GuardName;
use pml_protocol::{EffectClass, GuardVerdict};
use serde_json::json;

use crate::support::{Session, mistake};

#[test]
fn ordinary_calls_pass_the_preset_default_without_a_word() {
    let mut session = Session::new(json!({}));
    session.effect = EffectClass::Guarded;
    session.schema = json!({ "properties": { "path": { "type": "string" } } });
    for arguments in [
        json!({}),
        json!({ "path": "/tmp/a", "unknown": [1, null, true] }),
        json!({ "url": "http://localhost:8080/x", "host": "10.0.0.7" }),
        json!({ "text": "costs $5, see [1] and {a} or ${HOME} in [EMAIL_1_k3f9] land" }),
        json!({ "token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789" }),
        json!({ "items": vec!["x"; 5_000] }),
    ] {
        let judged = session.call("s:t", arguments.clone());
        assert!(judged.notes.is_empty(), "{arguments}: {judged:?}");
        let answer = session.answer(
            "s:t",
            &arguments,
            json!({ "n": u64::MAX, "t": "a\n".repeat(2_000) }),
        );
        assert!(answer.notes.is_empty(), "{answer:?}");
    }
}

#[test]
fn observe_warns_of_what_strict_blocks() {
    let arguments = json!({ "url": "http://127.0.0.1/", "q": "$OUTPUT[a].b" });
    let observed = Session::new(json!({ "preset": "observe" })).call("s:t", arguments.clone());
    assert!(observed.blocked.is_none());
    let warned = [
        ("references", GuardVerdict::Warn),
        ("network", GuardVerdict::Warn),
    ];
    assert_eq!(observed.verdicts(), warned);
    let strict = Session::new(json!({ "preset": "strict" })).call("s:t", arguments);
    assert!(strict.is_blocked_by(GuardName::References));
}

#[test]
fn the_most_specific_pattern_decides_and_keeps_what_it_does_not_say() {
    let session = Session::only(
        "runaway",
        json!({ "verdict": "block", "calls": 1, "window": "1m", "tools": {
            "s:*": "warn", "s:loop_*": { "verdict": "block" }, "s:loop_ok": "off"
        } }),
    );
    let second = |tool: &str| {
        session.call(tool, json!({}));
        session.call(tool, json!({}))
    };
    assert_eq!(second("s:a").verdicts(), [("runaway", GuardVerdict::Warn)]);
    assert!(second("s:loop_a").is_blocked_by(GuardName::Runaway));
    assert!(second("s:loop_ok").notes.is_empty());
    assert!(
        second("other:a").is_blocked_by(GuardName::Runaway),
        "the settings for all tools"
    );
}

#[test]
fn settings_without_a_verdict_switch_a_guard_on() {
    let batch = json!({ "ids": [1, 2] });
    let settings = json!({ "shape": { "batch": 1 } });
    let session = Session::new(settings.clone());
    assert!(
        session
            .call("s:t", batch.clone())
            .is_blocked_by(GuardName::Shape)
    );
    let session = Session::new(json!({ "preset": "observe", "shape": settings["shape"] }));
    assert_eq!(
        session.call("s:t", batch).verdicts(),
        [("shape", GuardVerdict::Warn)]
    );
}

#[test]
fn rules_in_force_are_those_of_the_tool() {
    let session = Session::new(json!({
        "time": { "hard": "5s", "tools": { "s:slow": { "hard": "1m" } } },
        "preconditions": { "after": { "db:drop": ["db:backup"] } }
    }));
    let rule = |tool: &str, guard| {
        let rules = session.guards.in_force(tool);
        rules
            .into_iter()
            .find(|rule| rule.guard == guard)
            .map(|rule| rule.rule)
    };
    assert_eq!(
        rule("s:slow", GuardName::Time).unwrap(),
        "calls of more than 1m"
    );
    assert_eq!(
        rule("s:quick", GuardName::Time).unwrap(),
        "calls of more than 5s"
    );
    assert_eq!(rule("s:quick", GuardName::Preconditions), None);
    assert!(
        rule("db:drop", GuardName::Preconditions)
            .unwrap()
            .contains("`db:backup`")
    );
}

#[test]
fn mistakes_say_what_is_wrong_and_what_to_write() {
    for (config, said) in [
        (json!({ "preset": "lax" }), "unknown variant `lax`"),
        (
            json!({ "netwrk": "off" }),
            "there is no guard `netwrk`: did you mean `network`?",
        ),
        (
            json!({ "concurrency": "off" }),
            "it is the rule of pml.policy.concurrency",
        ),
        (
            json!({ "retry": "repair" }),
            "cannot repair: write `warn` or `block`",
        ),
        (json!({ "retry": 5 }), "expected a verdict"),
        (json!({ "retry": "stop" }), "unknown variant `stop`"),
        (json!({ "output": { "size": 5 } }), "unknown field `size`"),
        (json!({ "output": { "tools": { "fs": "off" } } }), "`fs:*`"),
        (
            json!({ "output": { "tools": { "fs:*": { "depth": "x" } } } }),
            "`output`, `fs:*`",
        ),
        (
            json!({ "time": { "soft": "1m", "hard": "1s" } }),
            "`soft` (1m) is longer than `hard` (1s)",
        ),
        (json!({ "runaway": { "calls": 0 } }), "at least 1"),
        (
            json!({ "network": { "hosts": ["http://a"] } }),
            "without scheme",
        ),
        (
            json!({ "preconditions": { "after": { "a:b": [] } } }),
            "names no tool before `a:b`",
        ),
        (
            json!({ "provenance": { "arguments": { "a:b": { "x": [] } } } }),
            "names no source of `x`",
        ),
        (
            json!({ "saturation": { "repeated": 2.0 } }),
            "a share from 0 to 1",
        ),
    ] {
        let error = mistake(config.clone());
        assert!(error.contains(said), "{config}: {error}");
    }
}
