//! Properties of every input: scrubbing is idempotent, keeps JSON valid, grows the text by a
//! bounded factor, leaves nothing that it would find, and never panics.

use std::sync::{Arc, LazyLock};

use pml_scrub::{Action, PlaceholderMap, Rule, ScrubConfig, Scrubbed, Scrubber, detector_names};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Every detector on, at every confidence.
static STRICT: LazyLock<Arc<Scrubber>> = LazyLock::new(|| {
    let config = ScrubConfig {
        min_confidence: 0.0,
        detectors: detector_names()
            .map(|name| (name.to_owned(), Rule::Action(Action::Redact)))
            .collect(),
        ..ScrubConfig::default()
    };
    Arc::new(Scrubber::new(&config).expect("a valid configuration"))
});
static DEFAULT: LazyLock<Arc<Scrubber>> = LazyLock::new(|| {
    Arc::new(Scrubber::new(&ScrubConfig::default()).expect("a valid configuration"))
});

fn scrub(scrubber: &Arc<Scrubber>, text: &str) -> String {
    PlaceholderMap::new(scrubber.clone())
        .scrub_text(text, None)
        .map(Scrubbed::into_inner)
        .expect("nothing is blocked")
}

/// Pieces that trigger detectors: whole, truncated and obfuscated.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "jo@example.com",
        "4111 1111 1111 1111",
        "536-22-1234",
        "GB82WEST12345698765432",
        "+1 415 555 0132",
        "203.0.113.7",
        "2001:db8::8a2e:370:7334",
        "00:1A:2b:3c:4d:5e",
        "password: Tr0ub4dor3x",
        "api_key=",
        "8f2b7c1d9e0a4b6c8d7e",
        "ghp_a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2",
        "-----BEGIN PRIVATE KEY-----",
        "-----END ",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.",
        "https://jo:s3cr3t9@example.com",
        "born on 10/23/1951",
        "Mr. ",
        "Dear Alice,",
        "221B Baker Street",
        "zip code is 35350",
        "12345678Z",
        "RSSMRA85T10A562S",
        "DE136695976",
        "curl -u jo:hunter22 x",
        "mysql -p",
        "password of the database is xK9#mQ2pLw",
        "Kennzeichen MÜ-AB 12",
        "KA-01-AB-1234",
        "2024年5月15日",
        "the twenty-first of März 1990",
        "abc8Q~kq7zvxw2jfhqpzbdkxq8Zt1LmX0vRb",
        "s.7ekghykbyx3tnz5rw21jvjok",
        "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
        "6d61696c206a6f406578616d706c652e636f6d",
        "203.0.113.7-90",
        "[EMAIL_1]",
        "[CARD#00ff00ff00ff]",
        "%40",
        "\\u0040",
        "\\\"",
        "\u{200b}",
        "４１",
        "bWFpbCBub2JvZHlAZXhhbXBsZS5jb20=",
        "name: ",
        "{\"ssn\":",
        "}",
        "\n",
        " ",
        "@",
        ":",
        "::",
        "-",
        ".",
        "=",
        "\"",
        "****1111",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 2 => "[ -~]{0,12}", 1 => "\\PC{0,6}", 1 => "[0-9 .-]{0,20}"]
}

fn text() -> impl Strategy<Value = String> {
    vec(piece(), 0..12).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::String),
        any::<u64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            Just("password".to_owned()),
            Just("first_name".to_owned()),
            Just("ssn".to_owned()),
            text()
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((key, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The shape of a value, which scrubbing keeps.
fn shape(value: &Value) -> String {
    match value {
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(shape).collect::<Vec<_>>().join(",")
        ),
        Value::Object(fields) => format!("{{{}}}", fields.len()),
        Value::Bool(_) | Value::Null => value.to_string(),
        Value::String(_) | Value::Number(_) => "leaf".to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn scrubbing_twice_changes_nothing(text in text()) {
        for scrubber in [&*STRICT, &*DEFAULT] {
            let once = scrub(scrubber, &text);
            prop_assert_eq!(scrub(scrubber, &once), once.clone(), "from {:?}", text);
        }
    }

    #[test]
    fn nothing_is_left_to_find(text in text()) {
        for scrubber in [&*STRICT, &*DEFAULT] {
            let once = scrub(scrubber, &text);
            prop_assert!(scrubber.find(&once, None).is_empty(), "{:?} from {:?}", once, text);
        }
    }

    /// A value that was found and can be recognised again is nowhere in the output.
    #[test]
    fn no_value_that_was_found_is_left(before in text(), number in 100_000_000u64..900_000_000, after in text()) {
        let text = format!("{before} ssn: {number} {after} and {} so on {number}", "on ".repeat(40));
        let chars: Vec<char> = text.chars().collect();
        let is_number = |f: &pml_scrub::Finding| {
            chars[f.place.start..f.place.end].iter().collect::<String>() == number.to_string()
        };
        if DEFAULT.find(&text, None).iter().any(is_number) {
            let out = scrub(&DEFAULT, &text);
            prop_assert!(!out.contains(&number.to_string()), "{} from {}", out, text);
        }
    }

    #[test]
    fn a_text_grows_by_a_bounded_factor(text in text()) {
        // The shortest value, an age of one digit, becomes `[AGE_1]`; no other grows as much.
        prop_assert!(scrub(&STRICT, &text).len() <= text.len() * 12 + 40);
    }

    #[test]
    fn json_stays_json_of_the_same_shape(value in value()) {
        let before = shape(&value);
        let mut placeholders = PlaceholderMap::new(DEFAULT.clone());
        let scrubbed = placeholders.scrub_json(value, None).expect("nothing is blocked");
        prop_assert_eq!(shape(&scrubbed), before);
        let again = PlaceholderMap::new(DEFAULT.clone()).scrub_json((*scrubbed).clone(), None).expect("nothing is blocked");
        prop_assert_eq!(&*again, &*scrubbed);
    }

    #[test]
    fn json_in_a_text_stays_json(value in value()) {
        // A number alone is a text like any other; objects and arrays are JSON.
        let text = Value::Array(vec![value]).to_string();
        let out = scrub(&DEFAULT, &text);
        prop_assert!(serde_json::from_str::<Value>(&out).is_ok(), "{} from {}", out, text);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..300), key in "\\PC{0,10}") {
        let text = String::from_utf8_lossy(&bytes);
        STRICT.find(&text, None);
        STRICT.find(&text, Some(&key));
    }

    #[test]
    fn cut_and_glued_values_never_panic(text in text(), key in "[a-z_]{0,12}", at in any::<prop::sample::Index>()) {
        let cut = text.floor_char_boundary(at.index(text.len() + 1));
        STRICT.find(&text[..cut], Some(&key));
        STRICT.find(&text[cut..], None);
    }
}

/// Regression inputs, found by fuzzing a single detector.
#[test]
fn what_fuzzing_found_stays_fixed() {
    for text in [
        "Ottawa, K1A 0B1ttawa, K1A 0B",
        "api_key =y ==y =i__key = f2f7i__key = f2f7i__key = f2f7c16c8D7+",
        "0 (532 9523 4564012 88883 4564010 (532 9523 4564012 88883 4564012 82 888)182",
        "DOB: 1@9--1990-05-17TB:r: 1@9--1990-05-17TB:r`d@9--1990-05-1--1990-05-17TB:r`d@9--1990-05-17:0",
        "a@b.cc+a@b.cd+a@b.ce+a@b.cf+a@b.cg+a@b.ch+a@b.ci+a@b.cj+a@b.ck+a@b.cl+a@b.cm+a@b.cn+a@b.co+a@b.cp+a@b.cq",
    ] {
        for scrubber in [&*STRICT, &*DEFAULT] {
            let once = scrub(scrubber, text);
            assert_eq!(scrub(scrubber, &once), once, "from {text:?}");
        }
    }
}

#[test]
fn every_detector_has_a_fuzz_target() {
    let targets = include_str!("../fuzz/Cargo.toml");
    for name in detector_names() {
        let target = format!("[[bin]]\nname = \"{name}\"\npath = \"detector.rs\"");
        assert!(targets.contains(&target), "scrub/fuzz has no target {name}");
    }
}
