//! `sensitive` stops secrets and personal data in arguments.

use pml_guards::GuardName;
use pml_protocol::GuardVerdict;
use serde_json::{Value, json};

use crate::support::Session;

const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

fn session(settings: Value) -> Session {
    Session::only("sensitive", settings)
}

#[test]
fn secrets_are_blocked_wherever_they_stand() {
    let session = session(json!({ "verdict": "block", "detect": "secrets" }));
    let inside = format!("curl -H 'Authorization: Bearer {TOKEN}' https://example.com");
    let broken = TOKEN.replacen("ghp_", "ghp\u{200b}_", 1);
    for arguments in [
        json!({ "a": TOKEN }),
        json!({ "a": inside }),
        // Bypasses: deep, as a key, in a list, with characters that are not seen, in a URL.
        json!({ "a": { "b": [{ "c": TOKEN }] } }),
        json!({ TOKEN: 1 }),
        json!({ TOKEN: { "b": TOKEN } }),
        json!(["x", TOKEN]),
        json!({ "a": broken }),
        json!({ "a": format!("https://example.com/?t={TOKEN}") }),
        json!({ "a": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----" }),
    ] {
        let judged = session.call("s:t", arguments.clone());
        assert!(judged.is_blocked_by(GuardName::Sensitive), "{arguments}");
        assert!(!judged.text().contains("16C7e42F"), "{}", judged.text());
    }
    // A limit of the guard: parts of a secret in several arguments are not put together.
    let (head, tail) = TOKEN.split_at(12);
    assert!(
        session
            .call("s:t", json!({ "a": head, "b": tail }))
            .notes
            .is_empty()
    );
}

#[test]
fn personal_data_counts_where_the_operator_says_so() {
    let arguments = json!({ "to": "jane.doe@acme-corp.com" });
    assert!(
        session(json!({ "detect": "secrets" }))
            .call("s:t", arguments.clone())
            .notes
            .is_empty()
    );
    let judged = session(json!({ "detect": "personal" })).call("s:t", arguments);
    assert!(judged.is_blocked_by(GuardName::Sensitive) && judged.text().contains("EMAIL"));
}

#[test]
fn repair_puts_the_kind_in_the_place_of_the_value() {
    let session = session(json!({ "verdict": "repair", "detect": "personal" }));
    let judged = session.call(
        "s:t",
        json!({ "text": "von jane.doe@acme-corp.com, grüße", "n": [4111111111111111u64], "ok": "x" }),
    );
    assert_eq!(judged.value["text"], "von [EMAIL], grüße");
    assert_eq!(judged.value["ok"], "x");
    assert!(
        !judged.value.to_string().contains("4111"),
        "{}",
        judged.value
    );
    assert_eq!(judged.verdicts(), [("sensitive", GuardVerdict::Repair)]);
}
