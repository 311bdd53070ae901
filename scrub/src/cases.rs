//! How a detector's table of cases is checked.

use crate::{ScrubConfig, Scrubber};

/// The strictest scrubber: every detector is on, also those that are off by default.
pub(crate) fn scrubber() -> Scrubber {
    let config = ScrubConfig {
        detectors: crate::detector_names()
            .map(|name| (name.to_owned(), crate::Rule::Action(crate::Action::Redact)))
            .collect(),
        ..ScrubConfig::default()
    };
    Scrubber::new(&config).expect("the default configuration is right")
}

/// Each positive text must hold a finding of the kind that is exactly the given part; no negative
/// text may hold a finding of that kind.
pub(crate) fn check(kind: &str, positives: &[(&str, &str)], negatives: &[&str]) {
    let scrubber = scrubber();
    let mut wrong = Vec::new();
    for (text, value) in positives {
        let found = scrubber.find(text, None);
        let hit = |f: &&crate::Finding| {
            let chars = text
                .chars()
                .skip(f.place.start)
                .take(f.place.end - f.place.start);
            f.kind.as_str() == kind && chars.collect::<String>() == *value
        };
        if found.iter().filter(hit).count() != 1 {
            wrong.push(format!("{text:?} should give {value:?}, gave {found:?}"));
        }
    }
    for text in negatives {
        let found = scrubber.find(text, None);
        if found.iter().any(|f| f.kind.as_str() == kind) {
            wrong.push(format!("{text:?} should give nothing, gave {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{kind}:\n{}", wrong.join("\n"));
}
