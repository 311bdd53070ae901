//! Presidio and detect-secrets from the package index, in a virtual environment in the cache.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::accuracy::Found;
use crate::corpus::Corpus;
use crate::rows::Row;

const PACKAGES: [&str; 2] = ["presidio-analyzer==2.2.366", "detect-secrets==1.5.0"];
/// Presidio takes seconds for a megabyte; a part of each corpus tells its speed as well.
const SAMPLE: usize = 100_000;

pub struct Peer {
    pub name: String,
    /// By row; detect-secrets knows none of the kinds in the data.
    pub findings: Option<Vec<Vec<Found>>>,
    pub mb_per_second: Vec<f64>,
    pub note: String,
}

#[derive(Deserialize)]
struct Answer {
    name: String,
    findings: Option<Vec<Vec<(String, usize, usize)>>>,
    mb_per_second: Vec<f64>,
    note: String,
}

pub fn run(rows: &[Row], corpora: &[Corpus]) -> Result<Vec<Peer>> {
    let python = environment()?;
    let question = serde_json::json!({
        "rows": rows.iter().map(|r| serde_json::json!({"text": r.text, "entities": r.entities, "recognizer": r.recognizer})).collect::<Vec<_>>(),
        "corpora": corpora.iter().map(|c| &c.text[..c.text.floor_char_boundary(SAMPLE)]).collect::<Vec<_>>(),
    });
    let mut child = Command::new(python)
        .args(["-W", "ignore", "-c", include_str!("peers.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start the peers' Python")?;
    // The script reads everything before it answers, so writing first cannot block for good.
    child
        .stdin
        .take()
        .context("no input")?
        .write_all(question.to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "the peers failed: {}",
        output.status
    );
    let answers: Vec<Answer> =
        serde_json::from_slice(&output.stdout).context("the peers' answer")?;
    let found = |(kind, start, end): (String, usize, usize)| Found { kind, start, end };
    let peer = |answer: Answer| Peer {
        name: answer.name,
        findings: answer.findings.map(|rows| {
            rows.into_iter()
                .map(|row| row.into_iter().map(found).collect())
                .collect()
        }),
        mb_per_second: answer.mb_per_second,
        note: answer.note,
    };
    Ok(answers.into_iter().map(peer).collect())
}

/// The Python of the environment, made and filled at the first run.
fn environment() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = cache
        .or_else(home)
        .context("set HOME or XDG_CACHE_HOME")?
        .join("pml/bench/scrub-peers");
    let python = folder.join("bin/python");
    let installed = |python: &PathBuf| {
        let check = Command::new(python)
            .args(["-c", "import presidio_analyzer, detect_secrets"])
            .stderr(Stdio::null())
            .status();
        check.is_ok_and(|status| status.success())
    };
    if !installed(&python) {
        let made = Command::new("python3")
            .args(["-m", "venv"])
            .arg(&folder)
            .status()
            .context("python3 is needed for the peers; or pass --no-peers")?;
        ensure!(
            made.success(),
            "python3 -m venv failed; install its venv module, or pass --no-peers"
        );
        let filled = Command::new(&python)
            .args(["-m", "pip", "install", "--quiet"])
            .args(PACKAGES)
            .status()?;
        ensure!(
            filled.success(),
            "the peers could not be installed; pass --no-peers to go without"
        );
    }
    // The model for names is a package that some indexes lack; the peer runs without it then.
    let has_model = |python: &PathBuf| {
        let check = Command::new(python)
            .args(["-c", "import en_core_web_sm"])
            .stderr(Stdio::null())
            .status();
        check.is_ok_and(|status| status.success())
    };
    if !has_model(&python) {
        let _ = Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "en-core-web-sm"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
    Ok(python)
}
