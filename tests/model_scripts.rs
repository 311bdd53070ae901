//! The frozen corpus of scripts as language models write them: `tests/model_scripts/`.
//!
//! `PML_MODEL_SCRIPTS=1` prints every case that does not hold.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::{binary, pml, repository};

/// How many of all cases must hold. The goal is 98.
const REQUIRED_PERCENT: usize = 95;
const MIN_CASES: usize = 200;

struct Case {
    name: String,
    script: String,
    expected: Vec<Expectation>,
}

enum Expectation {
    Result(Value),
    Log(String),
    Hint(Vec<String>),
}

#[test]
fn scripts_in_the_styles_of_models_give_what_a_person_expects() {
    let cases = read_cases(&repository().join("tests/model_scripts"));
    assert!(cases.len() >= MIN_CASES, "{} cases", cases.len());
    let folder = tempfile::tempdir().expect("a folder for the configuration");
    let config = folder.path().join("mcp.json");
    let servers = serde_json::json!({ "mcpServers": {
        "demo": { "command": binary(), "args": ["demo-server", repository().join("examples/data")] },
    } });
    std::fs::write(&config, servers.to_string()).expect("the configuration is written");

    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run(&config, folder.path(), &case.script);
                    if !case
                        .expected
                        .iter()
                        .any(|expected| expected.holds(&outcome))
                    {
                        let line = format!("{}\n{}", case.name, summary(&outcome));
                        failures.lock().expect("no thread panicked").push(line);
                    }
                }
            });
        }
    });

    let failures = failures.into_inner().expect("no thread panicked");
    let held = cases.len() - failures.len();
    let report = format!(
        "{held} of {} cases hold\n\n{}",
        cases.len(),
        failures.join("\n\n")
    );
    if std::env::var_os("PML_MODEL_SCRIPTS").is_some() {
        println!("{report}");
    }
    assert!(held * 100 >= cases.len() * REQUIRED_PERCENT, "{report}");
}

fn run(config: &Path, folder: &Path, script: &str) -> Value {
    let file = tempfile::Builder::new()
        .suffix(".ts")
        .tempfile_in(folder)
        .expect("a file for the script");
    std::fs::write(file.path(), script).expect("the script is written");
    let output = pml()
        .args(["run", "--json", "--config"])
        .args([config, file.path()])
        .output()
        .expect("the binary starts");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        serde_json::json!({ "ok": false, "error": {
            "message": String::from_utf8_lossy(&output.stderr),
        } })
    })
}

fn summary(outcome: &Value) -> String {
    if outcome["ok"] == true {
        let logs = logs(outcome);
        return format!("  result: {}\n  logs: {logs}", outcome["result"]);
    }
    format!("  {}", failure_text(outcome))
}

fn logs(outcome: &Value) -> String {
    outcome["logs"].to_string()
}

fn failure_text(outcome: &Value) -> String {
    let error = &outcome["error"];
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    format!(
        "{}: {} | hint: {}",
        text("name"),
        text("message"),
        text("hint")
    )
}

impl Expectation {
    fn holds(&self, outcome: &Value) -> bool {
        let succeeded = outcome["ok"] == true;
        match self {
            Self::Result(value) => {
                succeeded && outcome.get("result").unwrap_or(&Value::Null) == value
            }
            Self::Log(text) => succeeded && logs(outcome).replace("\\\"", "\"").contains(text),
            Self::Hint(words) => {
                let failure = failure_text(outcome).to_lowercase();
                !succeeded
                    && words
                        .iter()
                        .any(|word| failure.contains(&word.to_lowercase()))
            }
        }
    }

    fn parse(text: &str) -> Self {
        let words = |text: &str| {
            text.split(" | ")
                .map(|word| word.trim().to_owned())
                .collect()
        };
        match text.trim().split_once(": ") {
            Some(("hint", list)) => Self::Hint(words(list)),
            Some(("log", text)) => Self::Log(text.to_owned()),
            _ => Self::Result(
                serde_json::from_str(text.trim())
                    .unwrap_or_else(|error| panic!("the expectation `{text}`: {error}")),
            ),
        }
    }
}

fn read_cases(folder: &Path) -> Vec<Case> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| read_file(file)).collect()
}

fn read_file(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    text.split("<<< ")
        .skip(1)
        .map(|case| {
            let (name, rest) = case.split_once('\n').expect("a name");
            let (script, expected) = rest.rsplit_once(">>> ").expect("an expectation");
            let (first, second) = match expected.split_once(" or hint: ") {
                Some((value, words)) => (value, Some(format!("hint: {words}"))),
                None => (expected, None),
            };
            let expected = std::iter::once(first).chain(second.as_deref());
            Case {
                name: format!("{stem}: {name}"),
                script: script.to_owned(),
                expected: expected.map(Expectation::parse).collect(),
            }
        })
        .collect()
}
