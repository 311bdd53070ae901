//! The tools of one run, and what is left to do when it has ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pml_approvals::Approvals;
use pml_gateway::{Config, Gateway, Progress, StartError};
use pml_hosts::journal::RunJournal;
use pml_hosts::stack::{self, LiveRun};
use pml_hosts::{
    CannotAsk, DryRun, IfUnasked, ObservedShapes, Person, PlannedCall, Record, RecordMissing,
    Recording, RunCalls, RunPlaceholders, ScriptObserver, SpeculatedCalls,
};
use pml_protocol::{Limits, Outcome, Speculation, TimerMode, ToolHost, VirtualClock};
use pml_reply::{ReplyScrubber, limit_output};
use pml_runtime::RunOptions;
use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubber, SharedPlaceholders};
use pml_search::{Search, ToolFinder};
use serde::Serialize;
use serde_json::Value;

use super::run_audit::RunAudit;
use super::tool_source::{LiveMode, ToolSource};
use crate::audit_setup::AuditSetup;
use crate::observed_calls::ObservedCalls;
use crate::servers;
use crate::tool_cache::ToolCache;

/// The plan of a dry run.
#[derive(Serialize)]
pub struct DryRunPlan {
    /// The calls that were not sent.
    pub planned: Vec<PlannedCall>,
    /// Servers that were started, to list their tools.
    pub started: Vec<String>,
    /// Fixtures that no call used.
    #[serde(rename = "unusedFixtures", skip_serializing_if = "Vec::is_empty")]
    pub unused_fixtures: Vec<String>,
}

/// What the tools of a run are made of.
pub struct RunToolsOptions {
    pub source: ToolSource,
    pub config: Config,
    pub search: Search,
    /// Set with `--scrub`.
    pub scrubber: Option<Arc<Scrubber>>,
    pub limits: Limits,
    pub tool_timeout: Option<Duration>,
    pub durable: Option<DurableTools>,
    /// Where calls are recorded; `None` for runs that are not.
    pub audit: Option<AuditSetup>,
    /// Whether calls are made before the script makes them.
    pub speculate: bool,
    /// Whether the run leaves a trace that suggestions learn from.
    pub learns: bool,
    pub progress: Box<dyn Fn(Progress) + Send + Sync>,
}

/// What the tools of a durable run need besides.
pub struct DurableTools {
    pub journal: Arc<RunJournal>,
    pub approvals: Approvals,
    /// Questions to approvers show placeholders instead of private values.
    pub placeholders: Arc<RunPlaceholders>,
}

impl DurableTools {
    /// The person at the terminal started the script and is not asked; an operator's `ask` is answered
    /// with `pml approvals`.
    fn person(&self, gateway: &Gateway) -> Person {
        let (placeholders, rules) = (self.placeholders.clone(), self.approvals.rules().clone());
        let approver = Arc::new(CannotAsk);
        Person::new(approver, gateway, placeholders, IfUnasked::Send, rules)
    }
}

/// The host behind a run, its servers, and the way out for its outcome.
pub struct RunTools {
    pipeline: Pipeline,
    /// `None` where nothing is recorded.
    audit: Option<RunAudit>,
    speculation: Speculation,
    journal: Option<Arc<RunJournal>>,
    /// `None` in a replay, which has no servers.
    servers: Option<LiveServers>,
    /// `None` without `--scrub`: the reader sees values as they are.
    replies: Option<ReplyScrubber>,
}

/// How a run ended of which others learn, and what it was about.
pub struct LearnedRun<'a> {
    /// Whether it ended well.
    pub ok: bool,
    /// What it was about, for a run that searched for nothing.
    pub about: Option<&'a str>,
}

struct LiveServers {
    gateway: Gateway,
    finder: Arc<ToolFinder>,
    shapes: Arc<ObservedShapes>,
    calls: Arc<ObservedCalls>,
    runs: Arc<RunCalls>,
}

type Live = Arc<dyn ToolHost>;

enum Pipeline {
    Live(Live),
    Replay {
        host: Live,
        clock: VirtualClock,
    },
    Record {
        host: Arc<Record<Live>>,
        clock: VirtualClock,
        file: PathBuf,
        raw: bool,
    },
    RecordMissing {
        host: Arc<RecordMissing<Live>>,
        recording: Recording,
        file: PathBuf,
        raw: bool,
    },
    DryRun(Arc<DryRun<Live>>),
}

impl RunTools {
    /// Opens the gateway, unless the run is a replay. Must be called inside the event loop.
    pub fn open(options: RunToolsOptions) -> anyhow::Result<Self> {
        let replies = options.scrubber.map(|scrubber| {
            ReplyScrubber::for_person(SharedPlaceholders::new(PlaceholderMap::new(scrubber)))
        });
        let mode = match options.source {
            ToolSource::Replay(replay) => {
                return Ok(Self {
                    pipeline: Pipeline::Replay {
                        clock: replay.clock(),
                        host: stack::limited(replay, &options.limits),
                    },
                    audit: None,
                    speculation: Speculation::default(),
                    journal: None,
                    servers: None,
                    replies,
                });
            }
            ToolSource::Servers(mode) => mode,
        };
        let servers = LiveServers::open(options.config, options.search)?;
        let journal = options
            .durable
            .as_ref()
            .map(|durable| durable.journal.clone());
        // A recording and a dry run have the calls of the script alone.
        let speculates = options.speculate && matches!(mode, LiveMode::Send);
        let speculated = speculates.then(Arc::<SpeculatedCalls>::default);
        let run = LiveRun {
            gateway: servers.gateway.clone(),
            search: servers.finder.clone(),
            storage: Arc::default(),
            // The script was written before the run has shown any placeholder.
            placeholders: None,
            // The person at the terminal started the script; nothing asks them again.
            person: options
                .durable
                .as_ref()
                .map(|durable| durable.person(&servers.gateway)),
            script_observer: options
                .learns
                .then(|| servers.runs.clone() as Arc<dyn ScriptObserver>),
            observers: vec![
                servers.shapes.clone(),
                servers.finder.clone(),
                servers.calls.clone(),
            ],
            limits: options.limits,
            tool_timeout: options.tool_timeout,
            journal: journal.clone(),
            approvals: options.durable.map(|durable| durable.approvals),
            telemetry: None,
            speculated: speculated.clone(),
            progress: options.progress,
        };
        // A dry run sends nothing.
        let sends = !matches!(mode, LiveMode::DryRun(_));
        let audit = options.audit.filter(|_| sends).and_then(|setup| {
            let run = journal.as_ref().map(|journal| journal.local_context());
            RunAudit::open(setup, &servers.gateway, run)
        });
        let pipeline = Pipeline::new(mode, run);
        let host = recorded(pipeline.host(), audit.as_ref());
        Ok(Self {
            audit,
            speculation: stack::speculation(&servers.gateway, speculated, &host),
            journal,
            pipeline,
            servers: Some(servers),
            replies,
        })
    }

    pub fn host(&self) -> Arc<dyn ToolHost> {
        stack::streamed(recorded(self.pipeline.host(), self.audit.as_ref()))
    }

    /// Records how the run ended, where it is recorded.
    pub fn record_end(&self, script: &str, outcome: &Outcome) {
        if let Some(audit) = &self.audit {
            audit.ended(script, outcome);
        }
    }

    pub fn options(&self) -> RunOptions {
        let (clock, timers) = match &self.pipeline {
            Pipeline::Live(_) | Pipeline::DryRun(_) => (None, TimerMode::Real),
            Pipeline::Record { clock, .. } => (Some(*clock), TimerMode::Real),
            Pipeline::Replay { clock, .. } => (Some(*clock), TimerMode::Skipped),
            Pipeline::RecordMissing { host, .. } => (Some(host.clock()), TimerMode::Real),
        };
        let options = RunOptions {
            context: self.audit.as_ref().map(RunAudit::context),
            clock,
            timers,
            speculation: self.speculation.clone(),
            ..RunOptions::default()
        };
        match &self.journal {
            Some(journal) => RunOptions {
                context: options.context.or_else(|| Some(journal.local_context())),
                clock: Some(journal.clock()),
                entropy: Some(journal.entropy()),
                timers: journal.timers(),
                ..options
            },
            None => options,
        }
    }

    /// The outcome as it is printed.
    pub fn printed(&self, outcome: Outcome, limits: &Limits) -> Outcome {
        match &self.replies {
            Some(replies) => replies.outcome(outcome, limits).into_outcome(),
            None => limit_output(outcome, limits),
        }
    }

    /// Scrubs a value that is printed while the run goes on.
    pub fn printed_value(&self) -> Box<dyn Fn(Value) -> Value + Send + Sync> {
        let Some(replies) = self.replies.clone() else {
            return Box::new(|value| value);
        };
        let limits = Limits {
            output_chars: u64::MAX,
            ..Limits::default()
        };
        Box::new(move |value| {
            let outcome = Outcome {
                ok: true,
                result: serde_json::value::to_raw_value(&value).ok(),
                ..Outcome::default()
            };
            let printed = replies.outcome(outcome, &limits).into_outcome();
            let json = printed.result.as_deref().map(|json| json.get());
            json.and_then(|json| serde_json::from_str(json).ok())
                .unwrap_or_default()
        })
    }

    /// A text beside the outcome as it is printed, such as a tool id.
    pub fn printed_text(&self, text: &str) -> String {
        match &self.replies {
            Some(replies) => replies.text(text).into_inner(),
            None => text.to_owned(),
        }
    }

    /// The servers; `None` in a replay.
    pub fn gateway(&self) -> Option<&Gateway> {
        self.servers.as_ref().map(|servers| &servers.gateway)
    }

    /// Servers whose tools a search could not see, and why.
    pub fn problems(&self) -> &[(String, StartError)] {
        self.servers
            .as_ref()
            .map_or(&[], |servers| servers.finder.problems())
    }

    /// Why searches ranked by words alone, if they did.
    pub fn search_notice(&self) -> Option<String> {
        self.servers.as_ref()?.finder.notice()
    }

    /// The plan of a dry run; `None` for any other run.
    pub fn dry_run_plan(&self) -> Option<DryRunPlan> {
        let Pipeline::DryRun(dry_run) = &self.pipeline else {
            return None;
        };
        let mut planned = dry_run.planned();
        for call in &mut planned {
            call.tool = self.printed_text(&call.tool);
            let args = self.printed_text(&call.args.to_string());
            // Scrubbed JSON is JSON, unless the policy blocks all of it.
            call.args = serde_json::from_str(&args).unwrap_or(Value::String(args));
            if let Some(refused) = &mut call.refused {
                refused.message = self.printed_text(&refused.message);
            }
        }
        // The gateway knows the tools of the servers that were started.
        let servers = self.servers.as_ref();
        let tools = servers.map_or_else(Vec::new, |servers| servers.gateway.tools());
        let mut started: Vec<String> = tools
            .iter()
            .map(|tool| tool.id.server().to_owned())
            .collect();
        started.dedup();
        Some(DryRunPlan {
            planned,
            started,
            unused_fixtures: dry_run.unused_fixtures(),
        })
    }

    /// Writes the recording, if there is one to write, however the run ended.
    pub fn save_recording(&self, script: &str, rules: &ScrubConfig) -> anyhow::Result<()> {
        let scrubbed = |recording: Recording, raw: bool| match raw {
            true => anyhow::Ok(recording),
            false => Ok(recording.scrub(Arc::new(Scrubber::new(rules)?))?),
        };
        match &self.pipeline {
            Pipeline::Record {
                host,
                clock,
                file,
                raw,
            } => {
                let recording = Recording::new(script, *clock, host.entries());
                scrubbed(recording, *raw)?.save(file)?;
            }
            Pipeline::RecordMissing {
                host,
                recording,
                file,
                raw,
            } => {
                let added = host.added();
                if added.is_empty() {
                    return Ok(());
                }
                let added = scrubbed(Recording::new(script, recording.clock, added), *raw)?;
                recording.clone().with(added).save(file)?;
            }
            Pipeline::Live(_) | Pipeline::Replay { .. } | Pipeline::DryRun(_) => {}
        }
        Ok(())
    }

    /// Keeps what was learned about the tools.
    pub fn save_tools(&self, cache: &ToolCache, ended: LearnedRun<'_>) {
        let Some(servers) = &self.servers else {
            return;
        };
        if servers.finder.has_listed() && servers.gateway.servers().next().is_some() {
            cache.save_tools(&servers.gateway.tools(), servers.finder.problems());
        }
        cache.save_shapes(cache.scrub_shapes(servers.shapes.take()));
        cache.save_history(&servers.calls.take());
        servers.runs.all_ended(ended.ok);
        let runs = servers.runs.take_ended();
        cache.save_traces(&runs, Some(&servers.gateway), ended.about);
    }

    /// Stops the servers, and closes the audit log.
    pub async fn close(self) {
        if let Some(servers) = &self.servers {
            servers::close(&servers.gateway).await;
        }
        if let Some(audit) = self.audit {
            audit.close().await;
        }
    }
}

impl LiveServers {
    fn open(config: Config, search: Search) -> anyhow::Result<Self> {
        let gateway = servers::open(config)?;
        Ok(Self {
            finder: Arc::new(ToolFinder::new(gateway.clone(), search)),
            gateway,
            shapes: Arc::default(),
            calls: Arc::default(),
            runs: Arc::default(),
        })
    }
}

/// The host with the audit log above it, where the run is recorded.
fn recorded(host: Live, audit: Option<&RunAudit>) -> Live {
    match audit {
        Some(audit) => audit.host(host),
        None => host,
    }
}

impl Pipeline {
    fn host(&self) -> Arc<dyn ToolHost> {
        match self {
            Self::Live(host) => host.clone(),
            Self::Replay { host, .. } => host.clone(),
            Self::Record { host, .. } => host.clone(),
            Self::RecordMissing { host, .. } => host.clone(),
            Self::DryRun(host) => host.clone(),
        }
    }

    fn new(mode: LiveMode, run: LiveRun) -> Self {
        match mode {
            LiveMode::Send => Self::Live(stack::live(run)),
            LiveMode::Record { file, raw } => {
                let clock = clock_of_now();
                Self::Record {
                    host: stack::record(run, clock),
                    clock,
                    file,
                    raw,
                }
            }
            LiveMode::RecordMissing {
                file,
                recording,
                raw,
            } => Self::RecordMissing {
                host: stack::record_missing(run, recording.clone()),
                recording,
                file,
                raw,
            },
            LiveMode::DryRun(sources) => Self::DryRun(stack::dry_run(run, *sources)),
        }
    }
}

/// A virtual clock that starts now, with a seed of its own.
fn clock_of_now() -> VirtualClock {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    VirtualClock {
        seed: now.subsec_nanos(),
        time_ms: u64::try_from(now.as_millis()).unwrap_or_default(),
    }
}
