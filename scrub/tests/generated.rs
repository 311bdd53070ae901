//! Generated values of each kind, with a fresh seed in every run: found in each notation and place, and
//! near misses left alone. `PML_SCRUB_SEED` repeats a run.

mod generator;

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use generator::{Case, Random};
use pml_scrub::{Action, Rule, ScrubConfig, Scrubber, detector_names};

/// Cases of each kind; half of them are near misses.
const CASES: usize = 400;
/// The share of values that must be found, and of near misses that may be.
const MIN_RECALL: f64 = 0.95;
const MAX_FALSE: f64 = 0.05;

fn seed() -> u64 {
    let given = std::env::var("PML_SCRUB_SEED").ok();
    given.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64)
    })
}

fn scrubber() -> Scrubber {
    let config = ScrubConfig {
        detectors: detector_names()
            .map(|name| (name.to_owned(), Rule::Action(Action::Redact)))
            .collect(),
        ..ScrubConfig::default()
    };
    Scrubber::new(&config).expect("a valid configuration")
}

/// Kinds of secrets are many; every one of these detectors counts as the generated kind.
const SECRET_DETECTORS: [&str; 8] = [
    "provider_secret",
    "labelled_secret",
    "command_line",
    "entropy",
    "jwt",
    "private_key",
    "url_credentials",
    "base64",
];

/// Whether the scrubber finds the kind in the case, in its span if it has one.
fn is_found(scrubber: &Scrubber, case: &Case) -> bool {
    scrubber
        .find_alternatives(&case.text, case.key)
        .iter()
        .any(|f| {
            let same = match case.kind {
                "SECRET" | "LABELLED" => SECRET_DETECTORS.contains(&f.detector),
                kind => f.kind.as_str() == kind,
            };
            let touches = case.span.is_none_or(|(start, end)| {
                let shared = f
                    .place
                    .end
                    .min(end)
                    .saturating_sub(f.place.start.max(start));
                match case.kind {
                    // The span of a labelled secret has its label too.
                    "LABELLED" => shared > 0,
                    _ => shared * 2 >= end - start,
                }
            });
            same && touches
        })
}

#[test]
fn generated_values_are_found_and_near_misses_are_not() {
    let seed = seed();
    let scrubber = scrubber();
    let mut random = Random::new(seed);
    let mut failures = Vec::new();
    for kind in generator::kinds() {
        let (mut found, mut values, mut wrong, mut misses) = (0, 0, 0, 0);
        let mut by_notation: BTreeMap<&str, (usize, String)> = BTreeMap::new();
        for case in generator::cases(&kind, &mut random, CASES) {
            let hit = is_found(&scrubber, &case);
            match (case.span.is_some(), hit) {
                (true, true) => found += 1,
                (false, true) => wrong += 1,
                _ => {}
            }
            if case.span.is_some() {
                values += 1;
            } else {
                misses += 1;
            }
            if hit != case.span.is_some() {
                let entry = by_notation.entry(case.notation).or_default();
                *entry = (entry.0 + 1, case.text);
            }
        }
        let recall = f64::from(found) / f64::from(values);
        let false_share = f64::from(wrong) / f64::from(misses);
        let precision = f64::from(found) / f64::from((found + wrong).max(1));
        let f1 = 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE);
        println!(
            "{:16} precision {precision:.3} recall {recall:.3} F1 {f1:.3} near misses found {false_share:.3}",
            kind.name
        );
        if recall < MIN_RECALL || false_share > MAX_FALSE {
            failures.push(format!("{}: {by_notation:#?}", kind.name));
        }
    }
    assert!(
        failures.is_empty(),
        "seed {seed} (set PML_SCRUB_SEED to repeat):\n{}",
        failures.join("\n")
    );
}
