//! Profiles choose the detectors, rules override them, and allow lists leave values alone.

use pml_scrub::{Profile, ScrubConfig, Scrubber};

const TEXT: &str = "jo@example.org paid on 2021-05-21 with password: Tr0ub4dor&3";

fn kinds(config: serde_json::Value, text: &str) -> Vec<String> {
    let config: ScrubConfig = serde_json::from_value(config).expect("a valid configuration");
    let scrubber = Scrubber::new(&config).expect("a valid configuration");
    let found = scrubber.find(text, None);
    found.iter().map(|f| f.kind.to_string()).collect()
}

#[test]
fn a_profile_chooses_the_detectors() {
    for (profile, expected) in [
        ("secrets-only", vec!["PASSWORD"]),
        ("default", vec!["EMAIL", "PASSWORD"]),
        ("strict", vec!["EMAIL", "DATE", "PASSWORD"]),
        ("hipaa", vec!["EMAIL", "DATE", "PASSWORD"]),
    ] {
        let config = serde_json::json!({"profile": profile});
        assert_eq!(kinds(config, TEXT), expected, "{profile}");
    }
    assert_eq!(ScrubConfig::default().profile, Profile::Default);
}

#[test]
fn a_rule_overrides_the_profile() {
    let config = serde_json::json!({
        "profile": "secrets-only", "detectors": {"email": "redact", "password": "allow"}
    });
    assert_eq!(kinds(config, TEXT), ["EMAIL"]);
}

#[test]
fn an_allowed_pattern_matches_a_whole_value() {
    let config = serde_json::json!({"allow": {"patterns": ["[a-z]+@example\\.org"]}});
    assert_eq!(kinds(config.clone(), "write jo@example.org"), [""; 0]);
    assert_eq!(kinds(config, "write 1jo@example.org"), ["EMAIL"]);
}

#[test]
fn an_invalid_allowed_pattern_is_an_error_that_names_it() {
    let config: ScrubConfig =
        serde_json::from_value(serde_json::json!({"allow": {"patterns": ["("]}})).expect("a shape");
    let error = Scrubber::new(&config).err().expect("an error").to_string();
    assert!(error.contains("pml.scrub.allow.patterns"), "{error}");
}

#[test]
fn an_allowed_place_is_a_tool_and_a_pointer() {
    let config = serde_json::json!({"allow": {"places": [
        {"tool": "crm:*", "pointer": "/items/*/contact", "kind": "EMAIL"}
    ]}});
    let config: ScrubConfig = serde_json::from_value(config).expect("a configuration");
    let scrubber = std::sync::Arc::new(Scrubber::new(&config).expect("a valid configuration"));
    let value =
        serde_json::json!({"items": [{"contact": "jo@example.org", "note": "al@example.org"}]});
    let scrub = |tool| {
        let mut map = pml_scrub::PlaceholderMap::new(scrubber.clone());
        map.scrub_json(value.clone(), Some(tool))
            .expect("not blocked")
            .into_inner()
    };
    assert_eq!(scrub("crm:find")["items"][0]["contact"], "jo@example.org");
    assert_eq!(scrub("crm:find")["items"][0]["note"], "[EMAIL_1]");
    assert_eq!(scrub("mail:find")["items"][0]["contact"], "[EMAIL_1]");
}

#[test]
fn a_place_that_names_nothing_is_an_error() {
    for allow in [
        serde_json::json!({"places": [{"kind": "EMAIL"}]}),
        serde_json::json!({"fingerprints": ["jo@example.org"]}),
    ] {
        let config = serde_json::json!({ "allow": allow });
        let config: ScrubConfig = serde_json::from_value(config).expect("a shape");
        let error = Scrubber::new(&config).err().expect("an error").to_string();
        assert!(error.contains("pml.scrub.allow."), "{error}");
    }
}
