//! Fuzzes one detector, alone and at every confidence, with any text: nothing panics, the output
//! has no findings, a second pass changes nothing, and JSON stays valid.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use pml_scrub::{Action, PlaceholderMap, Rule, ScrubConfig, Scrubber, detector_names};
use serde_json::Value;

static SCRUBBER: LazyLock<Arc<Scrubber>> = LazyLock::new(|| {
    let executable = std::env::current_exe().expect("the executable has a path");
    let detector = executable.file_stem().expect("the executable has a name");
    let rule = |name: &str| match detector == name {
        true => Rule::Action(Action::Redact),
        false => Rule::Action(Action::Allow),
    };
    let config = ScrubConfig {
        min_confidence: 0.0,
        detectors: detector_names()
            .map(|name| (name.to_owned(), rule(name)))
            .collect(),
        ..ScrubConfig::default()
    };
    Arc::new(Scrubber::new(&config).expect("a valid configuration"))
});

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let once = scrub(&text);
    assert_eq!(scrub(&once), once, "a second pass changed something");
    let left = SCRUBBER.find(&once, None);
    assert!(left.is_empty(), "left in {once:?}: {left:?}");
    // Only objects and arrays count as JSON; a number alone is a text like any other.
    if matches!(
        serde_json::from_str(&text),
        Ok(Value::Array(_) | Value::Object(_))
    ) {
        assert!(
            serde_json::from_str::<Value>(&once).is_ok(),
            "invalid JSON: {once}"
        );
    }
});

fn scrub(text: &str) -> String {
    let mut placeholders = PlaceholderMap::new(SCRUBBER.clone());
    let scrubbed = placeholders.scrub_text(text, None);
    scrubbed.expect("nothing is blocked").into_inner()
}
