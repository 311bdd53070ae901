//! `references` stops references and placeholders that were not resolved.

use pml_guards::GuardName;
use pml_protocol::GuardVerdict;
use serde_json::json;

use crate::support::{Session, assert_linear};

#[test]
fn references_and_placeholders_are_blocked_wherever_they_stand() {
    let session = Session::new(json!({ "preset": "strict" }));
    for text in [
        "$OUTPUT[list].files",
        "$OUTPUT[list]",
        "$INPUT.name",
        "$ITEM",
        "see $OUTPUT[list].files[0] for more",
        "${HOME}/x",
        "${secret:env/TOKEN}",
        "Dear {{ name }},",
        "[EMAIL_1_k3f9]",
        "mail to [US_SSN_12_a9z0] now",
        "[EMAIL_3]",
        "[PERSON#5f2b8c01d3aa]",
        // Bypasses: other cases, braces, full-width letters, characters that are not seen.
        "$output[list]",
        "${OUTPUT[list].x}",
        "＄OUTPUT[list]",
        "$OUT\u{200b}PUT[list]",
        "[EMAIL\u{2060}_1_k3f9]",
        "［EMAIL_1_k3f9］",
        "[[EMAIL_1_k3f9]]",
    ] {
        for arguments in [
            json!({ "a": text }),
            json!({ "a": [{ "b": text }] }),
            json!({ text: 1 }),
        ] {
            let judged = session.call("s:t", arguments.clone());
            assert!(judged.is_blocked_by(GuardName::References), "{arguments}");
            assert!(!judged.text().contains("k3f9"), "{}", judged.text());
        }
    }
}

#[test]
fn ordinary_texts_pass_the_preset_strict() {
    let session = Session::only("references", json!({ "variables": true, "inText": true }));
    for text in [
        "costs $5",
        "$OUTPUTS",
        "$",
        "[]",
        "[1]",
        "[a_1]",
        "[EMAIL]",
        "${}",
        "{{}}",
        "{ {a} }",
        "$ITEMS",
        "array[INDEX_1",
        "x[i_1_abcd]",
        "if (a) { b }",
        "$INPUT",
        "日本語 [テスト_1]",
    ] {
        let judged = session.call("s:t", json!({ "a": text }));
        assert!(judged.notes.is_empty(), "{text}: {judged:?}");
    }
}

#[test]
fn the_preset_default_warns_of_a_reference_that_is_the_whole_value() {
    let session = Session::new(json!({}));
    for (text, verdicts) in [
        ("$OUTPUT[list].files", 1),
        (" [EMAIL_1_k3f9] ", 1),
        ("about [EMAIL_1_k3f9]", 0),
        ("${HOME}", 0),
        ("echo $OUTPUT[0]", 0),
    ] {
        let judged = session.call("s:t", json!({ "a": text }));
        assert_eq!(judged.notes.len(), verdicts, "{text}");
        assert!(judged.blocked.is_none());
        assert!(
            judged
                .notes
                .iter()
                .all(|note| note.verdict == GuardVerdict::Warn)
        );
    }
}

#[test]
fn the_search_takes_linear_time() {
    let sessions = [json!({}), json!({ "variables": true, "inText": true })]
        .map(|settings| Session::only("references", settings));
    for session in &sessions {
        for part in ["{", "{{", "${", "[", "[é", "$OUTPUT", "{{a", "${é"] {
            assert_linear(session, |bytes| part.repeat(bytes / part.len()));
        }
    }
}

#[test]
fn only_what_has_an_end_nearby_is_a_variable() {
    let session = Session::only("references", json!({ "variables": true, "inText": true }));
    for (text, notes) in [
        (format!("{{{{ {} }}}}", "a".repeat(128)), 1),
        (format!("{{{{ {} }}}}", "a".repeat(4096)), 0),
        (format!("[{}é_1_abcd]", "A".repeat(62)), 0),
        (format!("${{{}é", "a".repeat(255)), 0),
    ] {
        let judged = session.call("s:t", json!({ "a": text }));
        assert_eq!(judged.notes.len(), notes, "{text}");
    }
}
