//! Placeholders become values again where the model wrote them and for the server that the value came
//! from, and nowhere else.

use std::sync::Arc;

use pml_scrub::{
    Origin, PlaceholderMap, RestoreRefusal, RunOrigins, ScrubConfig, Scrubber, SharedPlaceholders,
};
use serde_json::{Value, json};

/// A session, and the placeholders of one run of it.
struct Session(SharedPlaceholders);

impl Session {
    fn new(config: Value) -> Self {
        let config: ScrubConfig = serde_json::from_value(config).expect("a configuration");
        let scrubber = Arc::new(Scrubber::new(&config).expect("a valid configuration"));
        Self(SharedPlaceholders::new(PlaceholderMap::reversible(
            scrubber,
        )))
    }

    /// A run that received these results and replies with `value`.
    fn reply(&self, results: &[(&str, &str)], value: Value) -> Value {
        let origins = Arc::new(RunOrigins::default());
        for (server, result) in results {
            origins.received(&Origin::server(server), result);
        }
        let run = self.0.for_run(origins);
        let mut map = run.lock();
        map.scrub_json(value, None)
            .expect("nothing is blocked")
            .into_inner()
    }

    /// The placeholder of an address that the server `crm` returned.
    fn address(&self, address: &str) -> String {
        let shown = self.reply(&[("crm", &json!(address).to_string())], json!(address));
        shown.as_str().expect("a placeholder").to_owned()
    }

    /// The arguments as the server receives them, if the model wrote `text`.
    fn restored(&self, mut args: Value, tool: &str, text: &str) -> Result<Value, RestoreRefusal> {
        let mut map = self.0.lock();
        let written = map.written_in(text);
        map.restore_args(&mut args, tool, &written)?;
        Ok(args)
    }
}

#[test]
fn a_placeholder_that_the_model_wrote_is_restored_for_its_server() {
    let session = Session::new(json!({}));
    let jo = session.address("jo@example.com");
    let args =
        json!({"to": [jo, "x"], "body": format!("Dear {jo}, [EMAIL_9_aaaa]"), (jo.clone()): 1});
    let restored = session.restored(args, "crm:find", &format!("find({jo})"));
    assert_eq!(
        restored.expect("it came from there"),
        json!({"to": ["jo@example.com", "x"], "body": "Dear jo@example.com, [EMAIL_9_aaaa]",
            "jo@example.com": 1})
    );
}

#[test]
fn text_that_the_model_did_not_write_restores_nothing() {
    let session = Session::new(json!({}));
    let (jo, al) = (
        session.address("jo@example.com"),
        session.address("al@example.com"),
    );
    let args = json!({ "cursor": format!("{jo}|{al}") });
    let restored = session.restored(args.clone(), "crm:list", "crm.list({ cursor })");
    assert_eq!(restored.expect("nothing is refused"), args);
    let restored = session.restored(args, "crm:list", &format!("crm.list({jo} + page)"));
    let expected = json!({ "cursor": format!("jo@example.com|{al}") });
    assert_eq!(restored.expect("nothing is refused"), expected);
}

#[test]
fn a_placeholder_that_data_contains_as_well_is_refused() {
    let session = Session::new(json!({}));
    let jo = session.address("jo@example.com");
    let mut args = json!({ "to": jo });
    let mut map = session.0.lock();
    let written = map.written_in(&jo);
    written.received(&format!("you wrote: {jo}"));
    let refused = map.restore_args(&mut args, "crm:find", &written);
    assert!(matches!(refused, Err(RestoreRefusal::Received { .. })));
    assert_eq!(args, json!({ "to": jo }));
}

#[test]
fn placeholders_cannot_be_guessed() {
    let session = Session::new(json!({}));
    let jo = session.address("jo@example.com");
    let tag = |placeholder: &str| placeholder.trim_end_matches(']')["[EMAIL_1_".len()..].to_owned();
    assert_eq!(tag(&jo).len(), 4, "{jo}");
    for guess in ["[EMAIL_1]", "[EMAIL_1_aaaa]"] {
        let restored = session.restored(json!(guess), "crm:find", guess);
        assert_eq!(restored.expect("nothing is refused"), json!(guess));
    }
    // Neither another placeholder nor another session has the same tag, except by chance.
    let mut tags = std::collections::HashSet::new();
    for number in 0..20 {
        tags.insert(tag(&session.address(&format!("al{number}@example.com"))));
        tags.insert(tag(&Session::new(json!({})).address("jo@example.com")));
    }
    assert!(tags.len() > 35, "{tags:?}");
}

#[test]
fn a_value_does_not_reach_another_server_unless_the_operator_says_so() {
    let session = Session::new(json!({}));
    let jo = session.address("jo@example.com");
    let error = session
        .restored(json!({ "to": jo }), "mail:send", &jo)
        .expect_err("it came from crm")
        .to_string();
    for part in [
        &*jo,
        "`crm`",
        "pml.scrub.restore",
        r#""mail:send": ["crm"]"#,
    ] {
        assert!(error.contains(part), "{error}");
    }
    let session = Session::new(json!({ "restore": { "mail:send": ["crm"] } }));
    let jo = session.address("jo@example.com");
    let restored = session.restored(json!({ "to": jo }), "mail:send", &jo);
    assert_eq!(
        restored.expect("it is allowed"),
        json!({ "to": "jo@example.com" })
    );
    let map = session.0.lock();
    let written = map.written_in(&jo);
    let foreign = map.check_args(&json!({ "to": jo }), "mail:send", &written);
    let foreign = foreign.expect("it is allowed");
    assert_eq!(foreign[0].placeholder, jo);
    assert_eq!(foreign[0].from, ["crm"]);
}

#[test]
fn a_value_of_one_of_several_servers_goes_back_to_that_one() {
    let session = Session::new(json!({}));
    let shown = session.reply(
        &[
            ("crm", r#"["jo@example.com"]"#),
            ("news", r#"["al@example.com"]"#),
        ],
        json!(["jo@example.com", "al@example.com", "made.up@example.com"]),
    );
    let shown: Vec<&str> = shown
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let goes = |placeholder: &str, tool: &str| {
        session
            .restored(json!(placeholder), tool, placeholder)
            .is_ok()
    };
    assert!(goes(shown[0], "crm:find") && !goes(shown[0], "news:list"));
    assert!(goes(shown[1], "news:list") && !goes(shown[1], "crm:find"));
    // Made from the data of both, as far as is known.
    assert!(!goes(shown[2], "crm:find") && !goes(shown[2], "news:list"));
}

#[test]
fn what_the_model_wrote_itself_goes_anywhere() {
    let session = Session::new(json!({}));
    let shown = session.reply(&[], json!("jo@example.com"));
    let shown = shown.as_str().unwrap();
    assert!(session.restored(json!(shown), "mail:send", shown).is_ok());
}

#[test]
fn secrets_and_cards_are_never_restored() {
    let session = Session::new(json!({}));
    let token = format!("ghp_{}", "a1b2".repeat(9));
    let value = json!(["4111 1111 1111 1111", token]);
    let shown = session.reply(&[("crm", &value.to_string())], value);
    assert_eq!(shown, json!(["[CARD_1]", "[GITHUB_TOKEN_1]"]));
    let restored = session.restored(shown.clone(), "crm:find", &shown.to_string());
    assert_eq!(restored.expect("nothing is refused"), shown);
}

#[test]
fn an_operator_can_make_everything_or_one_kind_one_way() {
    for config in [
        json!({"reversible": false}),
        json!({"detectors": {"email": {"reversible": false}}}),
    ] {
        let session = Session::new(config);
        let jo = session.address("jo@example.com");
        assert_eq!(jo, "[EMAIL_1]");
        let restored = session.restored(json!(jo), "crm:find", &jo);
        assert_eq!(restored.expect("nothing is refused"), json!(jo));
    }
}

#[test]
fn a_replaced_number_is_restored_as_a_number() {
    let session = Session::new(json!({}));
    let shown = session.reply(&[("hr", r#"{"ssn":536221234}"#)], json!({"ssn": 536221234}));
    let restored = session.restored(shown.clone(), "hr:find", &shown.to_string());
    assert_eq!(
        restored.expect("it came from there"),
        json!({"ssn": 536221234})
    );
}

#[test]
fn a_server_cannot_tell_the_model_what_was_restored() {
    let session = Session::new(json!({}));
    let value = json!({ "full_name": "Johanna Quistorp" });
    let shown = session.reply(&[("crm", &value.to_string())], value);
    let name = shown["full_name"].as_str().unwrap();
    let plain = |text: &str| session.reply(&[], json!(text));
    session
        .restored(json!(name), "crm:echo", name)
        .expect("it came from there");
    assert_eq!(plain("Johanna Quistorp is here"), format!("{name} is here"));
    let keyed = session.reply(&[], json!({ "Johanna Quistorp": ["JOHANNA QUISTORP"] }));
    assert!(
        !keyed.to_string().to_lowercase().contains("quistorp"),
        "{keyed}"
    );
    let mut map = session.0.lock();
    let error = map.hide_restored("\"Johanna Quistorp\" is not of type \"integer\"");
    assert_eq!(
        error.unwrap(),
        format!("\"{name}\" is not of type \"integer\"")
    );
    let lines = ["Johanna Quistorp".to_owned()];
    let lines = map.scrub_lines(&lines, None).expect("nothing is blocked");
    assert_eq!(lines.into_inner(), [name]);
}

#[test]
fn a_map_that_never_restores_has_placeholders_without_a_tag() {
    let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default()).unwrap());
    let mut map = PlaceholderMap::new(scrubber);
    let text = map.scrub_text("jo@example.com", None).unwrap().into_inner();
    assert_eq!(text, "[EMAIL_1]");
    assert!(map.written_in(&text).is_empty());
}

#[test]
fn values_of_more_than_16_mib_together_are_not_restored() {
    let session = Session::new(json!({}));
    let long = format!("{}@example.com", "jo.".repeat(18) + "jo");
    let jo = session.address(&long);
    let times = |count: usize| json!({ "to": vec![jo.as_str(); count] });
    let fits = 16 * 1024 * 1024 / long.len();
    let error = session.restored(times(fits + 1), "crm:find", &jo);
    let error = error.expect_err("it is too much");
    assert!(matches!(error, RestoreRefusal::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("more than 16 MiB"), "{error}");
    let restored = session.restored(times(fits), "crm:find", &jo);
    assert_eq!(restored.expect("it fits")["to"][0], long.as_str());
}

#[test]
fn a_value_from_a_search_is_restored_by_a_rule_for_all_servers_only() {
    let from_search = |config: Value| {
        let session = Session::new(config);
        let origins = Arc::new(RunOrigins::default());
        origins.received(
            &Origin::unknown(),
            r#"[{"id":"crm:find"},"jo@example.com"]"#,
        );
        let run = session.0.for_run(origins);
        let shown = run.lock().scrub_text("jo@example.com", None);
        let shown = shown.expect("nothing is blocked").into_inner();
        session.restored(json!(shown), "crm:find", &shown)
    };
    let error = from_search(json!({})).expect_err("its server is unknown");
    let error = error.to_string();
    assert!(error.contains("an unknown server"), "{error}");
    assert!(error.contains(r#""crm:find": ["*"]"#), "{error}");
    assert!(from_search(json!({ "restore": { "crm": ["cr*"] } })).is_err());
    let restored = from_search(json!({ "restore": { "crm": ["*"] } }));
    assert_eq!(restored.expect("it is allowed"), "jo@example.com");
}
