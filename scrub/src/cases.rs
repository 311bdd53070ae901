//! Checks a detector's table of test cases.

use crate::{ScrubConfig, Scrubber};

/// A scrubber with every detector on, including those that are off by default.
pub(crate) fn scrubber() -> Scrubber {
    let config = ScrubConfig {
        detectors: crate::detector_names()
            .map(|name| (name.to_owned(), crate::Rule::Action(crate::Action::Redact)))
            .collect(),
        ..ScrubConfig::default()
    };
    Scrubber::new(&config).expect("the configuration is valid")
}

/// Each positive text must have one finding of the kind, with exactly the given value; no negative
/// text may have a finding of that kind.
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
            wrong.push(format!(
                "{text:?} should yield {value:?}, yielded {found:?}"
            ));
        }
    }
    for text in negatives {
        let found = scrubber.find(text, None);
        if found.iter().any(|f| f.kind.as_str() == kind) {
            wrong.push(format!("{text:?} should yield nothing, yielded {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{kind}:\n{}", wrong.join("\n"));
}
