//! Adversarial texts: the time must grow linearly with their size. The bound is generous, so that a
//! slow machine passes and quadratic time does not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_scrub::{Action, PlaceholderMap, Rule, ScrubConfig, Scrubber, detector_names};
use serde_json::{Map, Value};

const BOUND: Duration = Duration::from_secs(8);

fn strict_map() -> PlaceholderMap {
    let config = ScrubConfig {
        detectors: detector_names()
            .map(|name| (name.to_owned(), Rule::Action(Action::Redact)))
            .collect(),
        ..ScrubConfig::default()
    };
    PlaceholderMap::new(Arc::new(
        Scrubber::new(&config).expect("a valid configuration"),
    ))
}

fn assert_fast(text: &str) {
    let started = Instant::now();
    let outcome = strict_map().scrub_text(text, None);
    let (took, start) = (started.elapsed(), &text[..16]);
    assert!(outcome.is_ok() && took < BOUND, "{start}… took {took:?}");
}

#[test]
fn many_labels_take_linear_time() {
    assert_fast(&"token".repeat(200_000));
    assert_fast(&"--token ".repeat(125_000));
    assert_fast(&"cookie: a=b ".repeat(80_000));
}

#[test]
fn many_provider_names_take_linear_time() {
    assert_fast(&"sonar ".repeat(160_000));
}

#[test]
fn many_keys_of_addresses_and_a_long_run_of_spaces_take_linear_time() {
    assert_fast(&format!(
        "{}{}",
        "street: ".repeat(60_000),
        " ".repeat(500_000)
    ));
}

#[test]
fn many_blocks_without_an_end_take_linear_time() {
    let token = "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4";
    assert_fast(&format!("-----BEGIN CERTIFICATE-----\n{token}\n").repeat(12_000));
}

#[test]
fn many_numbers_take_linear_time() {
    assert_fast(&"1.".repeat(500_000));
    assert_fast(&format!("{}:", "a1".repeat(300)).repeat(1_600));
}

#[test]
fn many_url_schemes_take_linear_time() {
    assert_fast(&"a://".repeat(250_000));
    assert_fast(&"www.".repeat(250_000));
}

#[test]
fn an_object_of_private_keys_takes_linear_time() {
    let of = |n: usize| (format!("user{n}@example.com"), Value::Null);
    let fields: Map<String, Value> = (0..100_000).map(of).collect();
    let started = Instant::now();
    let outcome = strict_map().scrub_json(Value::Object(fields), None);
    let took = started.elapsed();
    assert!(outcome.is_ok() && took < BOUND, "took {took:?}");
}

#[test]
fn values_with_one_beginning_take_linear_time() {
    let mut map = strict_map();
    let values = (0..2_000).map(|n| format!("password: secret{}9", "x".repeat(n % 240)));
    for value in values {
        map.scrub_text(&value, None).expect("nothing is blocked");
    }
    for text in ["secret ", "secretx", "secretxxxxxxxxxx-"] {
        let started = Instant::now();
        let outcome = map.scrub_text(&text.repeat(1_000_000 / text.len()), None);
        let took = started.elapsed();
        assert!(outcome.is_ok() && took < BOUND, "{text}… took {took:?}");
    }
}

#[test]
fn many_brackets_after_labels_take_linear_time() {
    assert_fast(&"token=[".repeat(140_000));
    assert_fast(&"token=[A_1]".repeat(90_000));
}

#[test]
fn many_typographic_signs_take_linear_time() {
    assert_fast(&"“a” … ".repeat(90_000));
    assert_fast(&"a://b:“@".repeat(90_000));
}
