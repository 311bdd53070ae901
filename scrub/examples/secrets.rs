//! The recall of secrets and the false findings on labelled texts, with a part of the rules held out.
//!
//! `cargo run -p pml-scrub --example secrets -- FOLDER [--held-out | --list]`
//!
//! `FOLDER` has a file `<set>.jsonl` for each set, and each line is a text:
//!
//! ```json
//! {"rule": "github/pat", "text": "token = \"ghp_…\"", "secret": "ghp_…"}
//! {"rule": "github/pat", "text": "token = \"${GITHUB_TOKEN}\""}
//! ```
//!
//! `secret` is the part of the text that must be hidden; an empty one stands for an unknown part, and a line
//! without it is a text in which nothing may be found. What stands before the `/` of `rule` is the group: a
//! quarter of the groups, by a hash of their name, is held out. Without an option the figures are those of the
//! other groups; `--list` also prints what was missed and what was wrongly found there; `--held-out` prints
//! the figures of the groups that are held out, and never their texts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use pml_scrub::{ScrubConfig, Scrubber};
use serde::Deserialize;

/// The detectors that find secrets.
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelledText {
    rule: String,
    text: String,
    secret: Option<String>,
}

impl LabelledText {
    /// FNV-1a of the group's name decides, so that the same groups are held out on every machine.
    fn is_held_out(&self) -> bool {
        let group = self.rule.split('/').next().unwrap_or_default();
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = group.bytes().fold(0xcbf2_9ce4_8422_2325, step);
        (hash >> 32).is_multiple_of(4)
    }
}

/// What happened to the texts of a set.
#[derive(Default)]
struct Score {
    positives: usize,
    found: usize,
    negatives: usize,
    marked: usize,
}

impl Score {
    fn add(&mut self, other: &Self) {
        self.positives += other.positives;
        self.found += other.found;
        self.negatives += other.negatives;
        self.marked += other.marked;
    }

    fn print(&self, name: &str) {
        let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
        println!(
            "| {name} | {} | {:.3} | {} | {:.3} |",
            self.positives,
            share(self.found, self.positives),
            self.negatives,
            share(self.marked, self.negatives)
        );
    }
}

fn main() -> Result<()> {
    const USAGE: &str = "usage: secrets FOLDER [--held-out | --list]";
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().map(PathBuf::from).context(USAGE)?;
    let (held_out, list) = match arguments.next() {
        None => (false, false),
        Some(option) if option == "--held-out" => (true, false),
        Some(option) if option == "--list" => (false, true),
        Some(other) => bail!("unknown option `{}`; {USAGE}", other.display()),
    };
    let scrubber = Scrubber::new(&ScrubConfig::default())?;
    let part = match held_out {
        true => "held out",
        false => "development",
    };
    println!("| set ({part}) | secrets | recall | harmless texts | share marked |");
    println!("|---|---|---|---|---|");
    let mut all = Score::default();
    for (name, texts) in read(&folder)? {
        let mut score = Score::default();
        for text in texts.iter().filter(|t| t.is_held_out() == held_out) {
            let hit = is_hit(&scrubber, text);
            match &text.secret {
                Some(_) => {
                    score.positives += 1;
                    score.found += usize::from(hit);
                }
                None => {
                    score.negatives += 1;
                    score.marked += usize::from(hit);
                }
            }
            if list && hit != text.secret.is_some() {
                print_failure(&scrubber, &name, text);
            }
        }
        score.print(&name);
        all.add(&score);
    }
    all.print("all");
    Ok(())
}

/// The texts of each set, in the order of the sets' names.
fn read(folder: &Path) -> Result<BTreeMap<String, Vec<LabelledText>>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut sets = BTreeMap::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "jsonl") {
            continue;
        }
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let row = |(number, line)| {
            serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), number + 1))
        };
        let rows: Result<Vec<LabelledText>> = text.lines().enumerate().map(row).collect();
        let name = path.file_stem().unwrap_or_default().display().to_string();
        sets.insert(name, rows?);
    }
    ensure!(!sets.is_empty(), "{} has no .jsonl file", folder.display());
    Ok(sets)
}

/// The ranges, in characters, of the secrets that are found in a text.
fn findings(scrubber: &Scrubber, text: &str) -> Vec<(Range<usize>, String)> {
    scrubber
        .find(text, None)
        .into_iter()
        .filter(|f| SECRET_DETECTORS.contains(&f.detector))
        .map(|f| (f.place.start..f.place.end, f.kind.to_string()))
        .collect()
}

/// Whether at least half of the secret is found, or anything if it is unknown which part is one.
fn is_hit(scrubber: &Scrubber, labelled: &LabelledText) -> bool {
    let found = findings(scrubber, &labelled.text);
    let Some(secret) = labelled.secret.as_ref().filter(|s| !s.is_empty()) else {
        return !found.is_empty();
    };
    let length = secret.chars().count();
    labelled.text.match_indices(secret.as_str()).any(|(at, _)| {
        let start = labelled.text[..at].chars().count();
        let shared = |(place, _): &(Range<usize>, String)| {
            let end = place.end.min(start + length);
            end.saturating_sub(place.start.max(start))
        };
        found.iter().map(shared).sum::<usize>() * 2 >= length
    })
}

fn print_failure(scrubber: &Scrubber, set: &str, labelled: &LabelledText) {
    const SHOWN: usize = 300;
    let text: String = labelled.text.chars().take(SHOWN).collect();
    match &labelled.secret {
        Some(secret) => println!("missed {set} {}: {secret:?} in {text:?}", labelled.rule),
        None => {
            let found = findings(scrubber, &labelled.text);
            let values: Vec<_> = found
                .into_iter()
                .map(|(place, kind)| {
                    let value = labelled.text.chars().skip(place.start).take(place.len());
                    (kind, value.collect::<String>())
                })
                .collect();
            println!("marked {set} {}: {values:?} in {text:?}", labelled.rule);
        }
    }
}
