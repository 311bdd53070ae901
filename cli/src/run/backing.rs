//! What stands behind the tools of a run: the servers, a recording, both, or a rehearsal.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use clap::Args;
use pml_gateway::{Config, Gateway, Progress};
use pml_replay::{
    DryRun, Entry, Extension, Fixtures, Planned, Recorder, Recording, Replay, Sources,
};
use pml_runtime::{Limits, RunOptions, Sleep, ToolHost, World};
use pml_scrub::{ScrubConfig, Scrubber};
use pml_search::Search;
use pml_session::{Run, Session, SessionOptions};
use serde::Serialize;
use serde_json::Value;

use crate::memory::Memory;
use crate::servers;

/// The value of `--record` that extends the recording named with `--replay`.
const MISSING: &str = "missing";

#[derive(Args)]
pub struct BackingArgs {
    /// Write the calls and their answers to FILE; `missing` adds what the recording named with
    /// --replay lacks
    ///
    /// Personal data and secrets are replaced by names such as [EMAIL_1]. Time and randomness are
    /// the recording's, so that a replay sees the same.
    #[arg(long, value_name = "FILE|missing", conflicts_with = "dry_run")]
    record: Option<OsString>,

    /// Keep personal data and secrets in the recording
    #[arg(long, requires = "record")]
    record_raw: bool,

    /// Answer every call from this recording; no server is started
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,

    /// Check every call and send none
    ///
    /// Schemas, policy and budgets are applied. Answers come from --fixtures, else from the
    /// recording named with --replay, else they are examples of the tool's output schema, or of
    /// what its results looked like in earlier runs.
    #[arg(long)]
    dry_run: bool,

    /// Answers for a dry run: { "fs:read_file": { "value": "text" } }
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    fixtures: Option<PathBuf>,
}

/// What somebody asked for.
pub enum Mode {
    Replay(Replay),
    WithServers(Asked),
}

/// With servers behind it.
pub enum Asked {
    Live,
    Record {
        file: PathBuf,
        raw: bool,
    },
    Extend {
        file: PathBuf,
        recording: Recording,
        raw: bool,
    },
    DryRun(Sources),
}

impl BackingArgs {
    /// Reads what must be read: a file that is not there should not cost a run.
    pub fn mode(&self, memory: &Memory) -> anyhow::Result<Mode> {
        let raw = self.record_raw;
        let missing = self.record.as_ref().is_some_and(|name| name == MISSING);
        let asked = match (&self.record, &self.replay) {
            _ if self.dry_run => {
                let shapes = memory.shapes();
                Asked::DryRun(Sources {
                    fixtures: match &self.fixtures {
                        Some(file) => Fixtures::load(file)?,
                        None => Fixtures::default(),
                    },
                    recorded: self.replay.as_deref().map(Replay::load).transpose()?,
                    observed: Box::new(move |tool| shapes.schema(tool)),
                })
            }
            (Some(_), Some(file)) if missing => Asked::Extend {
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
                Asked::Record { file, raw }
            }
            (None, Some(file)) => return Ok(Mode::Replay(Replay::load(file)?)),
            (None, None) => Asked::Live,
        };
        Ok(Mode::WithServers(asked))
    }
}

/// A recording that cannot be written should not cost a run.
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
        bail!("the recording {shown} cannot be written: its folder is none");
    }
    Ok(())
}

/// What a dry run would have done, and what it did.
#[derive(Serialize)]
pub struct Rehearsal {
    /// The calls that were not sent.
    pub planned: Vec<Planned>,
    /// Servers that were started, to list their tools.
    pub started: Vec<String>,
    /// Fixtures that no call was about.
    #[serde(rename = "unusedFixtures", skip_serializing_if = "Vec::is_empty")]
    pub unused_fixtures: Vec<String>,
}

/// The tools of one run, and what is left to do when it has ended.
pub struct Backing {
    gateway: Gateway,
    session: Session,
    tools: Tools,
}

enum Tools {
    Live(Arc<Run>),
    Recorded {
        recorder: Arc<Recorder<Run>>,
        world: World,
        file: PathBuf,
        raw: bool,
    },
    Replayed(Arc<Replay>),
    Extended {
        extension: Arc<Extension<Run>>,
        recording: Recording,
        file: PathBuf,
        raw: bool,
    },
    Rehearsed(Arc<DryRun>),
}

impl Backing {
    pub fn new(
        mode: Mode,
        config: Config,
        search: Search,
        scrubber: Option<Arc<Scrubber>>,
        tool_timeout: Option<Duration>,
        limits: &Limits,
        progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        // A replay asks nobody, so nobody is there.
        let gateway = match mode {
            Mode::Replay(_) => Gateway::open(Config::default())?,
            Mode::WithServers(_) => servers::open(config)?,
        };
        let session = Session::new(SessionOptions {
            gateway: gateway.clone(),
            search,
            scrubber,
            tool_timeout,
        });
        let run = session.run(limits, progress);
        let tools = match mode {
            Mode::Replay(replay) => Tools::Replayed(Arc::new(replay)),
            Mode::WithServers(Asked::Live) => Tools::Live(Arc::new(run)),
            Mode::WithServers(Asked::Record { file, raw }) => {
                let world = new_world();
                Tools::Recorded {
                    recorder: Arc::new(Recorder::new(run, world)),
                    world,
                    file,
                    raw,
                }
            }
            Mode::WithServers(Asked::Extend {
                file,
                recording,
                raw,
            }) => Tools::Extended {
                extension: Arc::new(Extension::new(recording.clone(), run)),
                recording,
                file,
                raw,
            },
            Mode::WithServers(Asked::DryRun(sources)) => {
                Tools::Rehearsed(Arc::new(DryRun::new(run, sources)))
            }
        };
        Ok(Self {
            gateway,
            session,
            tools,
        })
    }

    pub fn host(&self) -> Arc<dyn ToolHost> {
        match &self.tools {
            Tools::Live(run) => run.clone(),
            Tools::Recorded { recorder, .. } => recorder.clone(),
            Tools::Replayed(replay) => replay.clone(),
            Tools::Extended { extension, .. } => extension.clone(),
            Tools::Rehearsed(dry_run) => dry_run.clone(),
        }
    }

    pub fn options(&self) -> RunOptions {
        let (world, sleep) = match &self.tools {
            Tools::Live(_) | Tools::Rehearsed(_) => (None, Sleep::Real),
            Tools::Recorded { world, .. } => (Some(*world), Sleep::Real),
            Tools::Replayed(replay) => (Some(replay.world()), Sleep::Skipped),
            Tools::Extended { extension, .. } => (Some(extension.world()), Sleep::Real),
        };
        RunOptions {
            party: None,
            world,
            sleep,
            test: None,
        }
    }

    /// What is told of the run goes through it.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What a dry run would have done; `None` for any other.
    pub fn rehearsal(&self) -> Option<Rehearsal> {
        let Tools::Rehearsed(dry_run) = &self.tools else {
            return None;
        };
        let mut planned = dry_run.planned();
        for call in &mut planned {
            let args = self.session.scrub_words(&call.args.to_string());
            // Scrubbing leaves JSON, unless the policy blocks all of it.
            call.args = serde_json::from_str(&args).unwrap_or(Value::String(args));
        }
        // Tools are known of those servers that were asked for them.
        let tools = self.gateway.tools();
        let mut started: Vec<String> = tools
            .iter()
            .map(|tool| tool.id.server().to_owned())
            .collect();
        started.dedup();
        Some(Rehearsal {
            planned,
            started,
            unused_fixtures: dry_run.unused_fixtures(),
        })
    }

    /// Writes the recording, if there is one to write, whatever became of the run.
    pub fn keep(&self, script: &str, rules: &ScrubConfig) -> anyhow::Result<()> {
        let scrubbed = |recording: Recording, raw: bool| match raw {
            true => anyhow::Ok(recording),
            false => Ok(recording.scrub(Arc::new(Scrubber::new(rules)?))?),
        };
        match &self.tools {
            Tools::Recorded {
                recorder,
                world,
                file,
                raw,
            } => {
                let recording = Recording::new(script, *world, recorder.entries());
                scrubbed(recording, *raw)?.save(file)?;
            }
            Tools::Extended {
                extension,
                recording,
                file,
                raw,
            } => {
                let added: Vec<Entry> = extension.added();
                if added.is_empty() {
                    return Ok(());
                }
                let added = scrubbed(Recording::new(script, recording.world, added), *raw)?;
                recording.clone().with(added).save(file)?;
            }
            Tools::Live(_) | Tools::Replayed(_) | Tools::Rehearsed(_) => {}
        }
        Ok(())
    }

    pub async fn close(&self) {
        servers::close(&self.gateway).await;
    }
}

/// A world that nobody has had before: the present, and a number that it gives.
fn new_world() -> World {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    World {
        seed: now.subsec_nanos(),
        time_ms: u64::try_from(now.as_millis()).unwrap_or_default(),
    }
}
