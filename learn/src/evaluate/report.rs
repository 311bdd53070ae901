//! The table of figures of several sets, with their macro average against the targets.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::model::Model;
use crate::prior::Parameters;
use crate::tool::Tool;

use super::fit_prior::fit_prior;
use super::metrics::{Figures, evaluate, split};
use super::set::{SampleSet, SetError};

/// Rounds in which a prior is fitted.
const PRIOR_ROUNDS: usize = 3;
/// Tools of the measurement of time.
const MANY_TOOLS: usize = 3_000;
/// Suggestions of the measurement of time.
const TIMED: usize = 300;

/// Which prior a model starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriorChoice {
    /// The one that ships.
    BuiltIn,
    /// One that is fitted to the other sets alone, so that a set is measured as one never seen before.
    OtherSets,
}

/// The sets below a folder, which may be one itself, by name.
///
/// # Errors
/// A folder without sets, or a set that cannot be read.
pub fn read_sets(folder: &Path) -> Result<Vec<SampleSet>, SetError> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if is_set(folder) {
        folders.push(folder.to_owned());
    } else {
        let read = |source| SetError::Read {
            path: folder.to_owned(),
            source,
        };
        for entry in std::fs::read_dir(folder).map_err(read)? {
            let path = entry.map_err(read)?.path();
            if is_set(&path) {
                folders.push(path);
            }
        }
        folders.sort();
    }
    if folders.is_empty() {
        return Err(SetError::Empty {
            path: folder.to_owned(),
        });
    }
    folders
        .iter()
        .map(|folder| SampleSet::read(folder))
        .collect()
}

fn is_set(folder: &Path) -> bool {
    folder.join("tools.jsonl").is_file() || folder.join("samples.jsonl").is_file()
}

/// The prior that all sets together justify, as Rust.
#[must_use]
pub fn prior_as_code(sets: &[SampleSet]) -> String {
    fit_prior(&sets.iter().collect::<Vec<_>>(), PRIOR_ROUNDS).as_code()
}

/// Measures every set and gives the table to `print`, a line at a time.
pub fn report(sets: &[SampleSet], choice: PriorChoice, print: &mut dyn FnMut(&str)) {
    let header = [
        cells(&[
            "",
            "",
            "",
            "plan",
            "",
            "",
            "tier: suggestions, precision",
            "",
            "",
            "calibration error",
            "",
            "",
            "next tool",
            "",
            "Markov",
            "",
        ]),
        cells(&[
            "set", "tools", "tests", "nodes", "edges", "exact", "act", "propose", "list", "plan",
            "task", "next", "Hit@1", "Hit@3", "Hit@1", "Hit@3",
        ]),
    ];
    for line in &header {
        print(&format!("{line}      p50"));
    }
    let mut all = Vec::new();
    for (at, set) in sets.iter().enumerate() {
        let prior = match choice {
            PriorChoice::BuiltIn => Parameters::default(),
            PriorChoice::OtherSets => {
                let others = sets.iter().enumerate().filter(|(other, _)| *other != at);
                fit_prior(
                    &others.map(|(_, set)| set).collect::<Vec<_>>(),
                    PRIOR_ROUNDS,
                )
            }
        };
        let figures = evaluate(set, &prior);
        print(&row(&figures));
        all.push(figures);
    }
    summary(&all, print);
    many_tools(sets, print);
}

/// A number of a set.
type Figure = fn(&Figures) -> Option<f64>;

const WIDTHS: [usize; 16] = [18, 5, 5, 6, 6, 6, 11, 12, 11, 6, 6, 6, 6, 6, 6, 6];

fn cells<T: AsRef<str>>(values: &[T]) -> String {
    let mut line = String::new();
    for (at, (value, width)) in values.iter().zip(WIDTHS).enumerate() {
        let value = value.as_ref();
        // A heading that spans several columns runs into the empty ones behind it.
        let used = line.chars().count();
        let start: usize = WIDTHS[..at].iter().map(|width| width + 1).sum();
        line.extend(std::iter::repeat_n(' ', start.saturating_sub(used)));
        match at {
            0 => line.push_str(&format!("{value:width$}")),
            _ if value.len() > width => line.push_str(value),
            _ if value.is_empty() => {}
            _ => line.push_str(&format!("{value:>width$}")),
        }
    }
    line
}

fn row(of: &Figures) -> String {
    let tier = |at: usize| match of.tiers[at] {
        (0, _) => "0".to_owned(),
        (count, precision) => format!("{count} {}", number(precision)),
    };
    let values = [
        of.name.clone(),
        of.tools.to_string(),
        of.suggestions.to_string(),
        number(of.node_f1),
        number(of.edge_f1),
        number(of.exact),
        tier(0),
        tier(1),
        tier(2),
        number(of.plan_calibration),
        number(of.task_calibration),
        number(of.step_calibration),
        number(of.hit1),
        number(of.hit3),
        number(of.markov1),
        number(of.markov3),
    ];
    let time = of
        .micros
        .map_or("-".to_owned(), |micros| format!("{:.2} ms", micros / 1e3));
    format!("{} {time:>8}", cells(&values))
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

/// The mean over the sets that have a figure.
fn macro_average(all: &[Figures], figure: impl Fn(&Figures) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = all.iter().filter_map(figure).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn summary(all: &[Figures], print: &mut dyn FnMut(&str)) {
    let mean = |figure: Figure| macro_average(all, figure);
    let acts: usize = all.iter().map(|of| of.tiers[0].0).sum();
    let right: f64 = all
        .iter()
        .map(|of| of.tiers[0].0 as f64 * of.tiers[0].1.unwrap_or(0.0))
        .sum();
    let total = |at: usize| -> String {
        all.iter()
            .map(|of| of.tiers[at].0)
            .sum::<usize>()
            .to_string()
    };
    let values = [
        "macro average".to_owned(),
        String::new(),
        all.iter()
            .map(|of| of.suggestions)
            .sum::<usize>()
            .to_string(),
        number(mean(|of| of.node_f1)),
        number(mean(|of| of.edge_f1)),
        number(mean(|of| of.exact)),
        format!("{acts} {}", number(mean(|of| of.tiers[0].1))),
        total(1),
        total(2),
        number(mean(|of| of.plan_calibration)),
        number(mean(|of| of.task_calibration)),
        number(mean(|of| of.step_calibration)),
        number(mean(|of| of.hit1)),
        number(mean(|of| of.hit3)),
        number(mean(|of| of.markov1)),
        number(mean(|of| of.markov3)),
    ];
    print(&cells(&values));
    print("");
    print("Targets, as macro averages:");
    let (hit, markov) = (mean(|of| of.hit1), mean(|of| of.markov1));
    print(&target("next tool Hit@1 at least .600", hit, |hit| {
        hit >= 0.6
    }));
    let lead = hit.zip(markov).map(|(hit, markov)| hit - markov);
    print(&target(
        "Hit@1 above order-1 Markov by at least .050",
        lead,
        |lead| lead >= 0.05,
    ));
    let errors: [(&str, Figure); 3] = [
        ("calibration error of next tools at most .050", |of| {
            of.step_calibration
        }),
        ("calibration error of tasks at most .050", |of| {
            of.task_calibration
        }),
        ("calibration error of plans at most .050", |of| {
            of.plan_calibration
        }),
    ];
    for (name, figure) in errors {
        print(&target(name, mean(figure), |error| error <= 0.05));
    }
    print(&target(
        "precision of tier act at least .950",
        mean(|of| of.tiers[0].1),
        |p| p >= 0.95,
    ));
    let pooled = (acts > 0).then(|| right / acts as f64);
    print(&format!(
        "  precision of tier act over all {acts} suggestions: {}",
        number(pooled)
    ));
}

fn target(name: &str, value: Option<f64>, met: impl Fn(f64) -> bool) -> String {
    let verdict = match value {
        None => "nothing to measure",
        Some(value) if met(value) => "met",
        Some(_) => "MISSED",
    };
    format!("  {name}: {} {verdict}", number(value))
}

/// The time of a suggestion among many tools: those of all sets, and copies of them under other names.
fn many_tools(sets: &[SampleSet], print: &mut dyn FnMut(&str)) {
    let Some(largest) = sets.iter().max_by_key(|set| set.samples.len()) else {
        return;
    };
    let mut tools: Vec<Tool> = largest.tools.clone();
    for set in sets.iter().filter(|set| set.name != largest.name) {
        tools.extend(set.tools.iter().cloned());
    }
    let real = tools.len();
    for copy in 0.. {
        if real == 0 || tools.len() >= MANY_TOOLS {
            break;
        }
        let mut tool = tools[copy % real].clone();
        tool.id = format!("{} {copy}", tool.id);
        tool.name = format!("{}_{copy}", tool.name);
        tools.push(tool);
    }
    let (training, test) = split(largest, 0);
    let start = Instant::now();
    let model = Model::new(&tools, &training, &Parameters::default());
    let fitted = start.elapsed();
    let mut times = Vec::new();
    for sample in test.iter().take(TIMED) {
        let start = Instant::now();
        std::hint::black_box(model.suggest(&sample.intent));
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let Some(p50) = times.get(times.len() / 2) else {
        return;
    };
    print(&target(
        &format!(
            "suggestion among {} tools and {} past runs under 15 ms p50",
            tools.len(),
            training.len()
        ),
        Some(*p50),
        |p50| p50 < 15.0,
    ));
    print(&format!(
        "  (p95 {:.1} ms; the model was fitted in {:.1} s)",
        times[times.len() * 95 / 100],
        fitted.as_secs_f64()
    ));
}
