//! The flags that choose where the answers of a run come from: servers, a recording, both, or
//! nothing that is sent.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use pml_hosts::{AnswerSources, Fixtures, Recording, Replay};

use crate::tool_cache::ToolCache;

/// The value of `--record` that extends the recording named with `--replay`.
const MISSING: &str = "missing";

#[derive(Args)]
pub struct ToolSourceArgs {
    /// Write the calls and their answers to FILE; `missing` adds what the recording named with
    /// --replay lacks
    ///
    /// Personal data and secrets are replaced by names such as [EMAIL_1]. Time and randomness are
    /// the recording's, so that a replay sees the same.
    #[arg(long, value_name = "FILE|missing", conflicts_with_all = ["dry_run", "durable"])]
    record: Option<OsString>,

    /// Keep personal data and secrets in the recording
    #[arg(long, requires = "record")]
    record_raw: bool,

    /// Answer every call from this recording; no server is started
    #[arg(long, value_name = "FILE", conflicts_with = "durable")]
    replay: Option<PathBuf>,

    /// Check every call and send none
    ///
    /// Schemas, policy and budgets are applied. Answers come from --fixtures, else from the
    /// recording named with --replay, else they are examples of the tool's output schema, or of
    /// what its results looked like in earlier runs.
    #[arg(long, conflicts_with = "durable")]
    dry_run: bool,

    /// Answers for a dry run: { "fs:read_file": { "value": "text" } }
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    fixtures: Option<PathBuf>,
}

/// Where the answers of a run come from.
pub enum ToolSource {
    /// A recording alone.
    Replay(Replay),
    /// The servers of the configuration.
    Servers(LiveMode),
}

/// What a run against servers is for.
pub enum LiveMode {
    /// It sends its calls.
    Send,
    /// It sends and records its calls.
    Record { file: PathBuf, raw: bool },
    /// It sends and records the calls that a recording lacks.
    RecordMissing {
        file: PathBuf,
        recording: Recording,
        raw: bool,
    },
    /// It checks its calls.
    DryRun(Box<AnswerSources>),
}

impl ToolSourceArgs {
    /// Reads the files that the flags name: a missing one fails before the script runs.
    pub fn source(&self, cache: &ToolCache) -> anyhow::Result<ToolSource> {
        let raw = self.record_raw;
        let missing = self.record.as_ref().is_some_and(|name| name == MISSING);
        let mode = match (&self.record, &self.replay) {
            _ if self.dry_run => {
                let shapes = cache.shapes();
                LiveMode::DryRun(Box::new(AnswerSources {
                    fixtures: match &self.fixtures {
                        Some(file) => Fixtures::load(file)?,
                        None => Fixtures::default(),
                    },
                    recorded: self.replay.as_deref().map(Replay::load).transpose()?,
                    observed: Box::new(move |tool| shapes.schema(tool)),
                }))
            }
            (Some(_), Some(file)) if missing => LiveMode::RecordMissing {
                file: file.clone(),
                recording: Recording::load(file)?.answered(),
                raw,
            },
            (Some(_), None) if missing => {
                bail!("--record missing extends a recording; name it with --replay FILE")
            }
            (Some(_), Some(_)) => bail!(
                "--record FILE and --replay FILE exclude each other; --record missing extends the recording"
            ),
            (Some(file), None) => {
                let file = PathBuf::from(file);
                check_writable(&file)?;
                LiveMode::Record { file, raw }
            }
            (None, Some(file)) => return Ok(ToolSource::Replay(Replay::load(file)?)),
            (None, None) => LiveMode::Send,
        };
        Ok(ToolSource::Servers(mode))
    }
}

/// Fails before the script runs if the recording cannot be written.
fn check_writable(file: &std::path::Path) -> anyhow::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => std::path::Path::new("."),
    };
    let shown = file.display();
    if file.is_dir() {
        bail!("{shown} is a folder; name a file for the recording");
    }
    let metadata = std::fs::metadata(folder)
        .with_context(|| format!("the recording {shown} cannot be written"))?;
    if !metadata.is_dir() {
        bail!("the recording {shown} cannot be written: its parent is not a folder");
    }
    Ok(())
}
