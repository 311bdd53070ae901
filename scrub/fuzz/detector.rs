//! One detector, alone and at every confidence, against any text: nothing panics, what was found
//! is gone, a second pass changes nothing, and JSON stays JSON.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use pml_scrub::{Action, Rule, ScrubConfig, Scrubber, Session, detector_names};
use serde_json::Value;

static SCRUBBER: LazyLock<Arc<Scrubber>> = LazyLock::new(|| {
    let program = std::env::current_exe().expect("the program has a path");
    let wanted = program.file_stem().expect("the program has a name");
    let rule = |name: &str| match wanted == name {
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
    Arc::new(Scrubber::new(&config).expect("a right configuration"))
});

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let once = scrub(&text);
    assert_eq!(scrub(&once), once, "a second pass changed something");
    let left = SCRUBBER.find(&once, None);
    assert!(left.is_empty(), "left in {once:?}: {left:?}");
    // Objects and arrays are JSON; a number alone is a text like any other.
    if matches!(
        serde_json::from_str(&text),
        Ok(Value::Array(_) | Value::Object(_))
    ) {
        assert!(
            serde_json::from_str::<Value>(&once).is_ok(),
            "no JSON: {once}"
        );
    }
});

fn scrub(text: &str) -> String {
    let mut session = Session::new(SCRUBBER.clone());
    let scrubbed = session.scrub_text(text, None).expect("nothing is blocked");
    scrubbed.into_inner()
}
