//! The crate's API: placeholders are stable and follow the configuration.

use std::sync::Arc;

use pml_scrub::{PlaceholderMap, ScrubConfig, ScrubError, Scrubbed, Scrubber};
use serde_json::{Value, json};

fn scrubber(config: Value) -> Arc<Scrubber> {
    let config: ScrubConfig = serde_json::from_value(config).expect("a configuration");
    Arc::new(Scrubber::new(&config).expect("a valid configuration"))
}

fn placeholder_map(config: Value) -> PlaceholderMap {
    PlaceholderMap::new(scrubber(config))
}

fn text(map: &mut PlaceholderMap, text: &str) -> String {
    map.scrub_text(text, None)
        .map(Scrubbed::into_inner)
        .expect("nothing is blocked")
}

#[test]
fn the_same_value_keeps_its_placeholder_within_a_map() {
    let mut map = placeholder_map(json!({}));
    let first = text(
        &mut map,
        "jo@example.com and al@example.com and JO@example.com",
    );
    assert_eq!(first, "[EMAIL_1] and [EMAIL_2] and [EMAIL_1]");
    assert_eq!(text(&mut map, "again al@example.com"), "again [EMAIL_2]");
}

#[test]
fn json_keeps_its_structure_and_keys_give_context() {
    let mut map = placeholder_map(json!({}));
    let value = json!({
        "user": {"first_name": "Zorblax", "password": "letmein please 1", "age": 7},
        "emails": ["jo@example.com"],
        "card": 4111111111111111u64,
        "jo@example.com": true,
        "nested": "{\"ssn\":536221234,\"note\":\"al@example.com\"}",
    });
    let scrubbed = map.scrub_json(value, None).expect("nothing is blocked");
    let expected = json!({
        "user": {"first_name": "[NAME_1]", "password": "[PASSWORD_1]", "age": 7},
        "emails": ["[EMAIL_1]"],
        "card": "[CARD_1]",
        "[EMAIL_1]": true,
        "nested": "{\"ssn\":\"[US_SSN_1]\",\"note\":\"[EMAIL_2]\"}",
    });
    assert_eq!(*scrubbed, expected);
    let pointers: Vec<_> = scrubbed
        .report()
        .findings()
        .iter()
        .map(|f| f.place.pointer.as_str())
        .collect();
    assert!(
        pointers.contains(&"/user/first_name") && pointers.contains(&"/emails/0"),
        "{pointers:?}"
    );
}

#[test]
fn a_number_is_found_in_every_json_notation() {
    let mut map = placeholder_map(json!({}));
    let sent =
        json!({"a": 4111111111111111u64, "b": 4111111111111111.0, "c": -4111111111111111i64});
    let out = map.scrub_json(sent, None).expect("nothing is blocked");
    assert_eq!(out.report().counts().values().sum::<usize>(), 3);
    assert!(!out.into_inner().to_string().contains("4111"));
}

#[test]
fn a_number_without_a_key_is_a_count_and_a_text_without_words_is_a_value() {
    let mut map = placeholder_map(json!({}));
    let out = map.scrub_json(json!([51824753556u64, "33102417032"]), None);
    let out = out.expect("nothing is blocked").into_inner();
    assert_eq!(out, json!([51824753556u64, "[AU_ABN_1]"]));
}

#[test]
fn a_value_identified_by_a_context_word_is_replaced_everywhere() {
    let far = " and so on".repeat(20);
    let note = format!("ssn 536221234{far}; file 536221234");
    let out = text(&mut placeholder_map(json!({})), &note);
    assert!(!out.contains("536221234"), "{out}");

    let sent = json!({"ssn": "536221234", "name": "Zora Quill", "first_name": "Zora Quill",
        "note": "file 536221234 of Zora Quill", "n": 536221234});
    let mut map = placeholder_map(json!({}));
    let out = map.scrub_json(sent, None).expect("nothing is blocked");
    let out = out.into_inner().to_string();
    assert!(
        !out.contains("536221234") && !out.contains("Quill"),
        "{out}"
    );
    let line = ["ssn 536221234".to_owned(), far, "file 536221234".to_owned()];
    let out = map.scrub_lines(&line, None).expect("nothing is blocked");
    assert!(!out.into_inner().concat().contains("536221234"));
}

#[test]
fn policies_mask_hash_allow_and_block() {
    let mut masked = placeholder_map(json!({"detectors": {"card": "mask"}}));
    assert_eq!(text(&mut masked, "4111111111111111"), "****1111");
    let mut hashed = placeholder_map(json!({"detectors": {"email": "hash"}}));
    let hash = text(&mut hashed, "jo@example.com");
    assert!(hash.starts_with("[EMAIL#") && hash.len() == 20, "{hash}");
    let mut allowed = placeholder_map(json!({"detectors": {"email": "allow"}}));
    assert_eq!(text(&mut allowed, "jo@example.com"), "jo@example.com");
    let mut blocked = placeholder_map(json!({"detectors": {"us_ssn": "block"}}));
    let error = blocked
        .scrub_text("ssn 536-22-1234", None)
        .expect_err("it is blocked");
    assert!(matches!(error, ScrubError::Blocked { .. }));
    assert!(!error.to_string().contains("536"), "{error}");
}

#[test]
fn a_tool_can_have_rules_of_its_own() {
    let config = json!({"tools": [{"tool": "crm:*", "detectors": {"email": "allow"}}]});
    let mut map = placeholder_map(config);
    let crm = map
        .scrub_text("jo@example.com", Some("crm:find"))
        .expect("nothing is blocked");
    assert_eq!(*crm, "jo@example.com");
    let other = map
        .scrub_text("jo@example.com", Some("fs:read"))
        .expect("nothing is blocked");
    assert_eq!(*other, "[EMAIL_1]");
}

#[test]
fn allowed_values_and_domains_stay() {
    let config = json!({"allow": {"values": ["Jo@example.com"], "domains": ["example.org"]}});
    let mut map = placeholder_map(config);
    let line = "jo@example.com al@mail.example.org al@notexample.org";
    assert_eq!(
        text(&mut map, line),
        "jo@example.com al@mail.example.org [EMAIL_1]"
    );
}

#[test]
fn custom_patterns_are_found_and_checked_at_load() {
    let mut own =
        placeholder_map(json!({"patterns": [{"name": "EMPLOYEE_ID", "regex": "EMP-[0-9]{6}"}]}));
    assert_eq!(text(&mut own, "by EMP-123456"), "by [EMPLOYEE_ID_1]");
    for (config, says) in [
        (json!({"patterns": [{"name": "X_Y", "regex": "("}]}), "X_Y"),
        (
            json!({"patterns": [{"name": "X_Y", "regex": "a*"}]}),
            "empty",
        ),
        (
            json!({"patterns": [{"name": "lower", "regex": "a"}]}),
            "lower",
        ),
        (
            json!({"patterns": [{"name": "EMAIL", "regex": "a"}]}),
            "EMAIL",
        ),
        (json!({"detectors": {"emial": "mask"}}), "emial"),
        (json!({"minConfidence": 2.0}), "minConfidence"),
        (json!({"allow": {"values": [""]}}), "values"),
    ] {
        let config: ScrubConfig = serde_json::from_value(config).expect("the right shape");
        let error = Scrubber::new(&config)
            .err()
            .expect("an invalid configuration")
            .to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(serde_json::from_value::<ScrubConfig>(json!({"detector": {}})).is_err());
}

#[test]
fn placeholders_past_max_entries_have_no_number() {
    let mut map = placeholder_map(json!({"maxEntries": 1}));
    assert_eq!(
        text(&mut map, "jo@example.com al@example.com"),
        "[EMAIL_1] [EMAIL]"
    );
}

#[test]
fn a_value_split_over_log_lines_is_found() {
    let mut map = placeholder_map(json!({}));
    let token = format!("ghp_{}", "a1b2c3".repeat(6));
    let lines = [
        format!("token {}", &token[..20]),
        format!("{} end", &token[20..]),
        "card 41111111".to_owned(),
        "11111111 ok".to_owned(),
    ];
    let out = map
        .scrub_lines(&lines, None)
        .expect("nothing is blocked")
        .into_inner();
    assert_eq!(
        out,
        ["token [GITHUB_TOKEN_1]", " end", "card [CARD_1]", " ok"]
    );
}

#[test]
fn the_report_has_counts_and_positions_but_no_value() {
    let mut map = placeholder_map(json!({}));
    let scrubbed = map
        .scrub_text("a\nü jo@example.com", None)
        .expect("nothing is blocked");
    let report = serde_json::to_value(scrubbed.report()).expect("a report is JSON");
    assert_eq!(report["counts"], json!({"EMAIL": 1}));
    assert_eq!(
        report["findings"][0]["place"],
        json!({"line": 2, "start": 4, "end": 18})
    );
    assert!(!report.to_string().contains("example.com"));
}

#[test]
fn binary_data_passes_unless_it_is_text_or_has_private_text_in_it() {
    use base64::Engine as _;
    let mut map = placeholder_map(json!({}));
    let mut passes = |bytes: &[u8]| {
        let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
        map.scrub_binary(&base64).is_some()
    };
    assert!(passes(b"\x89PNG\r\n\x1a\n\x00\xff\xd8 pixels"));
    assert!(!passes(b"jo@example.com"));
    assert!(!passes(b"harmless text"));
    assert!(!passes(b"\x89PNG\xff\x00 jo@example.com \xff"));
    assert!(map.scrub_binary("not base64!").is_none());
}

#[test]
fn the_name_beside_a_value_is_its_context() {
    for (pair, kind) in [
        (
            json!({"name": "DB_PASSWORD", "value": "hunter22x"}),
            "PASSWORD",
        ),
        (json!({"label": "SSN", "value": "536221234"}), "US_SSN"),
        (json!({"type": "phone", "value": "4155550132"}), "PHONE"),
        (
            json!({"Key": "api_key", "Value": "8f2b7c1d9e0a4b6c8d7e"}),
            "CREDENTIAL",
        ),
        (
            json!({"type": "string", "name": "ssn", "val": 536221234}),
            "US_SSN",
        ),
    ] {
        let mut map = placeholder_map(json!({}));
        let scrubbed = map.scrub_json(pair.clone(), None).expect("not blocked");
        let kinds: Vec<_> = scrubbed
            .report()
            .counts()
            .keys()
            .map(|k| k.as_str())
            .collect();
        assert_eq!(kinds, [kind], "{pair}");
    }
    for pair in [
        json!({"name": "replicas", "value": "hunter22x"}),
        json!({"name": "DB_PASSWORD", "title": "hunter22x"}),
        json!({"type": "count", "value": "4155550132"}),
        json!({"type": "Token", "value": "identifier2"}),
        json!({"name": 7, "value": 4155550132u64}),
    ] {
        let mut map = placeholder_map(json!({}));
        let scrubbed = map.scrub_json(pair.clone(), None).expect("not blocked");
        assert_eq!(scrubbed.into_inner(), pair);
    }
}
