//! Texts that were made to keep a detector busy: the time must grow with their size, not with its
//! square. The bound is generous, so that a slow machine passes and a square does not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_scrub::{Action, Rule, ScrubConfig, Scrubber, Session, detector_names};
use serde_json::{Map, Value};

const BOUND: Duration = Duration::from_secs(8);

fn session() -> Session {
    let config = ScrubConfig {
        detectors: detector_names()
            .map(|name| (name.to_owned(), Rule::Action(Action::Redact)))
            .collect(),
        ..ScrubConfig::default()
    };
    Session::new(Arc::new(Scrubber::new(&config).expect("a configuration")))
}

fn is_quick(text: &str) {
    let began = Instant::now();
    let outcome = session().scrub_text(text, None);
    let (took, start) = (began.elapsed(), &text[..16]);
    assert!(outcome.is_ok() && took < BOUND, "{start}… took {took:?}");
}

#[test]
fn labels_without_end_are_quick() {
    is_quick(&"token".repeat(200_000));
    is_quick(&"--token ".repeat(125_000));
    is_quick(&"cookie: a=b ".repeat(80_000));
}

#[test]
fn names_of_providers_without_end_are_quick() {
    is_quick(&"sonar ".repeat(160_000));
}

#[test]
fn numbers_without_end_are_quick() {
    is_quick(&"1.".repeat(500_000));
    is_quick(&format!("{}:", "a1".repeat(300)).repeat(1_600));
}

#[test]
fn signs_of_urls_without_end_are_quick() {
    is_quick(&"a://".repeat(250_000));
    is_quick(&"www.".repeat(250_000));
}

#[test]
fn an_object_of_private_keys_is_quick() {
    let of = |n: usize| (format!("user{n}@example.com"), Value::Null);
    let fields: Map<String, Value> = (0..100_000).map(of).collect();
    let began = Instant::now();
    let outcome = session().scrub_json(Value::Object(fields), None);
    let took = began.elapsed();
    assert!(outcome.is_ok() && took < BOUND, "took {took:?}");
}
