//! The tools of one run, and what is left to do when it has ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_gateway::{Config, Gateway, Progress, StartError};
use pml_hosts::journal::RunJournal;
use pml_hosts::stack::{self, LiveRun};
use pml_hosts::{
    CallCosts, ObservedShapes, PlannedCall, Recording, RunCalls, RunEnd, ScriptObserver,
    SpeculatedCalls,
};
use pml_policy::suspensions::Suspensions;
use pml_protocol::{
    Limits, Outcome, Principal, RunContext, SessionId, Speculation, TenantId, TimerMode, ToolHost,
};
use pml_reply::{ReplyScrubber, limit_output};
use pml_runtime::{PoolOptions, RunOptions};
use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubber, SharedPlaceholders};
use pml_search::{Search, ToolFinder};
use pml_telemetry::Telemetry;
use serde::Serialize;
use serde_json::{Map, Value};

use super::durable_tools::DurableTools;
use super::pipeline::{Live, Pipeline};
use super::run_audit::RunAudit;
use super::run_telemetry::RunTelemetry;
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
    /// Where the run is observed; `None` for runs that are not.
    pub telemetry: Option<Telemetry>,
    /// What calls cost, for the metrics.
    pub costs: CallCosts,
    /// What is withdrawn until a person has looked at it.
    pub suspensions: Suspensions,
    /// Whether calls are made before the script makes them.
    pub speculate: bool,
    /// Whether the run leaves a trace that suggestions learn from.
    pub learns: bool,
    /// The sandboxes of functions.
    pub sandboxes: PoolOptions,
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

/// The host behind a run, its servers, and the way out for its outcome.
pub struct RunTools {
    pipeline: Pipeline,
    /// The identity of the run.
    context: RunContext,
    /// `None` where nothing is recorded.
    audit: Option<RunAudit>,
    /// `None` where nothing is observed.
    telemetry: Option<Arc<RunTelemetry>>,
    /// Values that scrubbing replaced in what is printed, by kind.
    redactions: Mutex<Map<String, Value>>,
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

impl RunTools {
    /// Opens the gateway, unless the run is a replay. Must be called inside the event loop.
    pub fn open(options: RunToolsOptions) -> anyhow::Result<Self> {
        let replies = options.scrubber.map(|scrubber| {
            ReplyScrubber::for_person(SharedPlaceholders::new(PlaceholderMap::new(scrubber)))
        });
        let journal = options
            .durable
            .as_ref()
            .map(|durable| durable.journal.clone());
        let telemetry = options.telemetry;
        let observe = |context| match telemetry {
            Some(telemetry) => {
                let (telemetry, context) = RunTelemetry::begin(telemetry, context);
                (Some(Arc::new(telemetry)), context)
            }
            None => (None, context),
        };
        let mode = match options.source {
            ToolSource::Replay(replay) => {
                let (telemetry, context) = observe(context(None, journal.as_deref()));
                return Ok(Self {
                    pipeline: Pipeline::Replay {
                        clock: replay.clock(),
                        host: stack::limited(replay, &options.limits),
                    },
                    context,
                    audit: None,
                    telemetry,
                    redactions: Mutex::default(),
                    speculation: Speculation::default(),
                    journal: None,
                    servers: None,
                    replies,
                });
            }
            ToolSource::Servers(mode) => mode,
        };
        let servers = LiveServers::open(options.config, options.search, options.sandboxes)?;
        let identity = context(Some(&servers.gateway), journal.as_deref());
        let (telemetry, context) = observe(identity);
        // A recording and a dry run have the calls of the script alone.
        let speculates = options.speculate && matches!(mode, LiveMode::Send);
        let speculated = speculates.then(Arc::<SpeculatedCalls>::default);
        // A dry run sends nothing.
        let sends = !matches!(mode, LiveMode::DryRun(_));
        let audit = options
            .audit
            .filter(|_| sends)
            .and_then(|setup| RunAudit::open(setup, &servers.gateway, context.clone()));
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
            telemetry: telemetry
                .as_ref()
                .map(|observed| observed.telemetry().clone()),
            costs: options.costs,
            suspensions: options.suspensions,
            speculated: speculated.clone(),
            audit: audit.as_ref().map(RunAudit::trail),
            progress: options.progress,
        };
        let pipeline = Pipeline::new(mode, run);
        let host = recorded(pipeline.host(), audit.as_ref());
        Ok(Self {
            context,
            audit,
            telemetry,
            redactions: Mutex::default(),
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

    /// The identity of the run.
    pub fn context(&self) -> &RunContext {
        &self.context
    }

    /// Where the run is observed; `None` where it is not.
    pub fn telemetry(&self) -> Option<Arc<RunTelemetry>> {
        self.telemetry.clone()
    }

    /// The run has ended, where that is observed.
    pub fn ended(&self, outcome: &Outcome) {
        if let Some(telemetry) = &self.telemetry {
            telemetry.ended(outcome);
            tracing::info!(
                run = %self.context.id(),
                ok = outcome.ok,
                kind = outcome.error.as_ref().map(|error| error.kind.to_string()),
                wall_ms = outcome.stats.wall_ms,
                calls = outcome.calls.len(),
                "a script ended"
            );
        }
    }

    /// Records how the run ended, where it is recorded, with what was replaced in the printed outcome.
    pub fn record_end(&self, script: &str, mut ended: RunEnd) {
        if let Some(audit) = &self.audit {
            ended.redactions = self.redactions().clone();
            audit.ended(script, &ended);
        }
    }

    fn redactions(&self) -> MutexGuard<'_, Map<String, Value>> {
        self.redactions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub fn options(&self) -> RunOptions {
        let (clock, timers) = match &self.pipeline {
            Pipeline::Live(_) | Pipeline::DryRun(_) => (None, TimerMode::Real),
            Pipeline::Record { clock, .. } => (Some(*clock), TimerMode::Real),
            Pipeline::Replay { clock, .. } => (Some(*clock), TimerMode::Skipped),
            Pipeline::RecordMissing { host, .. } => (Some(host.clock()), TimerMode::Real),
        };
        let options = RunOptions {
            context: Some(self.context.clone()),
            clock,
            timers,
            speculation: self.speculation.clone(),
            ..RunOptions::default()
        };
        match &self.journal {
            Some(journal) => RunOptions {
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
            Some(replies) => {
                let reply = replies.outcome(outcome, limits);
                for (kind, count) in reply.redactions() {
                    if let Some(observed) = &self.telemetry {
                        let metrics = observed.telemetry().metrics();
                        metrics.redacted(&kind, count as u64);
                    }
                    self.redactions().insert(kind, count.into());
                }
                reply.into_outcome()
            }
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
            for note in &mut call.guards {
                note.reason = self.printed_text(&note.reason);
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

    /// Stops the servers, sends the last telemetry, and closes the audit log.
    pub async fn close(self) {
        if let Some(servers) = &self.servers {
            servers::close(&servers.gateway).await;
        }
        if let Some(telemetry) = self.telemetry {
            telemetry.close().await;
        }
        if let Some(audit) = self.audit {
            audit.close().await;
        }
    }
}

impl LiveServers {
    fn open(config: Config, search: Search, sandboxes: PoolOptions) -> anyhow::Result<Self> {
        let gateway = servers::open(config, sandboxes)?;
        Ok(Self {
            finder: Arc::new(ToolFinder::new(gateway.clone(), search)),
            gateway,
            shapes: Arc::default(),
            calls: Arc::default(),
            runs: Arc::default(),
        })
    }
}

/// The identity of the run: that of its journal, with the name of the capability token that bounds it.
fn context(gateway: Option<&Gateway>, journal: Option<&RunJournal>) -> RunContext {
    let capability = gateway.and_then(Gateway::capability);
    let principal = match capability {
        Some(capability) => Principal::named(&capability.name()),
        None => Principal::local(),
    };
    match journal {
        Some(journal) => journal.local_context(principal),
        None => RunContext::new(SessionId::random(), TenantId::local(), principal),
    }
}

/// The host with the audit log above it, where the run is recorded.
fn recorded(host: Live, audit: Option<&RunAudit>) -> Live {
    match audit {
        Some(audit) => audit.host(host),
        None => host,
    }
}
