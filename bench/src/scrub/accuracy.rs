//! Accuracy of findings: precision, recall and F1 per kind.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use pml_scrub::{Action, Rule, ScrubConfig, Scrubber, detector_names};

use crate::kinds;
use crate::rows::Row;

/// A finding in a row, with the data set's name of its kind.
#[derive(Clone)]
pub struct LabelledFinding {
    pub kind: String,
    pub start: usize,
    pub end: usize,
}

/// A scrubber with all detectors enabled, also those that are off by default.
pub fn scrubber() -> Result<Scrubber> {
    let config = ScrubConfig {
        detectors: detector_names()
            .map(|name| (name.to_owned(), Rule::Action(Action::Redact)))
            .collect(),
        ..ScrubConfig::default()
    };
    Ok(Scrubber::new(&config)?)
}

/// The findings of each row. A span that matches several kinds about equally well counts as each of
/// them, as in Presidio's results.
pub fn findings(rows: &[Row], keyed: bool) -> Result<Vec<Vec<LabelledFinding>>> {
    let scrubber = scrubber()?;
    let of = |row: &Row| {
        let key = row.recognizer.as_deref().filter(|_| keyed);
        let found = scrubber.find_alternatives(&row.text, key).into_iter();
        found
            .map(|f| LabelledFinding {
                kind: kinds::in_data(f.kind.as_str(), row.tested()).to_owned(),
                start: f.place.start,
                end: f.place.end,
            })
            .collect()
    };
    Ok(rows.iter().map(of).collect())
}

/// Writes the findings as JSON Lines.
pub fn write(path: &Path, rows: &[Row], found: &[Vec<LabelledFinding>]) -> Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for (index, (_, found)) in rows.iter().zip(found).enumerate() {
        for f in found {
            let line =
                serde_json::json!({"index": index, "kind": f.kind, "start": f.start, "end": f.end});
            writeln!(file, "{line}")?;
        }
    }
    Ok(file.flush()?)
}

/// True positives, false positives and false negatives of a kind.
#[derive(Default, Clone, Copy)]
pub struct Score {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Score {
    fn add(&mut self, other: Score) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.missed += other.missed;
    }

    fn rate(part: usize, rest: usize) -> f64 {
        if part + rest == 0 {
            1.0
        } else {
            part as f64 / (part + rest) as f64
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = Self::rate(self.right, self.wrong);
        let recall = Self::rate(self.right, self.missed);
        let f1 = 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE);
        write!(
            f,
            "precision {precision:.3}  recall {recall:.3}  F1 {f1:.3}  ({} right, {} wrong, {} missed)",
            self.right, self.wrong, self.missed
        )
    }
}

/// Scores each kind. A span counts as found if a finding of its kind covers at least half of it; a
/// finding is wrong if it overlaps no span of its kind. A row that tests certain kinds counts for these
/// only.
pub fn scores(rows: &[Row], found: &[Vec<LabelledFinding>]) -> BTreeMap<String, Score> {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for (row, found) in rows.iter().zip(found) {
        if let Some(tested) = row.tested() {
            for kind in tested {
                let own: Vec<_> = found.iter().filter(|f| f.kind == *kind).collect();
                let expected = row.expected_count.unwrap_or(row.spans.len());
                let right = match row.spans.is_empty() || tested.len() > 1 {
                    true => own.len().min(expected),
                    false => row
                        .spans
                        .iter()
                        .filter(|s| own.iter().any(|f| covers(f, s.start, s.end)))
                        .count(),
                };
                // Several kinds in one row: only the number of findings is known.
                let missed = if tested.len() > 1 {
                    0
                } else {
                    expected - right.min(expected)
                };
                let score = Score {
                    right,
                    wrong: own.len().saturating_sub(expected.max(right)),
                    missed,
                };
                scores.entry(kind.clone()).or_default().add(score);
            }
            continue;
        }
        let kinds: BTreeSet<&str> = row
            .spans
            .iter()
            .filter_map(|s| s.kind.as_deref())
            .chain(found.iter().map(|f| f.kind.as_str()))
            .collect();
        for kind in kinds {
            let spans: Vec<_> = row
                .spans
                .iter()
                .filter(|s| s.kind.as_deref() == Some(kind))
                .collect();
            let own: Vec<_> = found.iter().filter(|f| f.kind == kind).collect();
            let right = spans
                .iter()
                .filter(|s| own.iter().any(|f| covers(f, s.start, s.end)))
                .count();
            let touches =
                |f: &&&LabelledFinding| spans.iter().any(|s| f.start < s.end && s.start < f.end);
            let wrong = own.iter().filter(|f| !touches(f)).count();
            scores.entry(kind.to_owned()).or_default().add(Score {
                right,
                wrong,
                missed: spans.len() - right,
            });
        }
    }
    scores
}

fn covers(found: &LabelledFinding, start: usize, end: usize) -> bool {
    let shared = found.end.min(end).saturating_sub(found.start.max(start));
    shared * 2 >= end - start && shared > 0
}

/// The score of all structured kinds together.
pub fn structured(rows: &[Row], found: &[Vec<LabelledFinding>]) -> Score {
    let mut all = Score::default();
    for (kind, score) in scores(rows, found) {
        if kinds::is_structured(&kind) {
            all.add(score);
        }
    }
    all
}

pub fn print(name: &str, rows: &[Row], found: &[Vec<LabelledFinding>]) {
    println!("## {name}");
    for (kind, score) in scores(rows, found) {
        println!("{kind:28} {score}");
    }
    println!(
        "{:28} {}",
        "structured kinds together",
        structured(rows, found)
    );
    println!();
}
