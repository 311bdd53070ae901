//! `pml workflow run` and `dry-run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use pml_hosts::journal::RunJournal;
use pml_hosts::{AnswerSources, Fixtures, OwnClock, RunEnd};
use pml_protocol::{ErrorKind, Limits, RequestedLimits, RunError, RunFlow, ToolHost};
use pml_runtime::{LazyPool, Pool, PoolOptions, Script};
use pml_scrub::Scrubber;
use pml_server::log::in_run;
use pml_store::Store;
use pml_workflow::estimate::Estimate;
use pml_workflow::{
    EndedPlan, Find, KeptOutputs, PipelineRunner, Plan, PlanError, PlanStart, RunnerParts,
    TaskKind, missing_inputs, run_to_end,
};
use serde_json::Value;

use super::estimate::{self, Known};
use super::event_lines::EventLines;
use super::hooks::{CliHooks, TaskApprovals};
use super::plan_file::{self, InputArgs, PlanArgs};
use super::printed;
use super::task_question::TaskApprover;
use crate::amounts::parse_time;
use crate::audit_setup::AuditSetup;
use crate::config::{self, Settings};
use crate::exit::{self, ExitCode};
use crate::run::durable::{DurableArgs, DurableRun, OpenRun};
use crate::run::run_tools::{LearnedRun, RunTools, RunToolsOptions};
use crate::run::tool_source::{LiveMode, ToolSource};
use crate::run::{RunOutput, command_telemetry};
use crate::style::Style;
use crate::tool_cache::ToolCache;
use crate::{diagnostics, interrupt, progress, search_setup, suspensions};

/// Calls of one plan: its tasks and items are bounded already.
const MAX_CALLS: u32 = 1_000_000;

const INTERRUPTED: &str = "interrupted";

/// Run a plan
///
/// Tasks start as soon as what they refer to has ended. Branches that do not depend on a failed task
/// go on. The output is printed on standard output, the tasks with their times on standard error.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml workflow run plan.yaml --input dir=config\n  \
    pml workflow run plan.json --json | jq .times.speedup\n  \
    pml workflow run plan.json --stream                      a line of JSON per event\n  \
    pml workflow run --durable --run-id nightly plan.json    after a crash: pml resume nightly\n\n\
    Exit codes: 0 ok, 1 a task failed, 2 wrong usage or a mistake in the plan, 75 it waits for a person,\n\
    130 interrupted.")]
pub struct RunArgs {
    #[command(flatten)]
    plan: PlanArgs,

    #[command(flatten)]
    input: InputArgs,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,

    /// Print a line of JSON for each thing that happens, as it happens; the last line has the report
    ///
    /// Tasks that start and end, in the plan's `order`; of tasks with `stream`, their progress and the outputs of
    /// their items.
    #[arg(long, conflicts_with = "json")]
    stream: bool,

    /// Start tasks with `approve` without asking
    #[arg(long)]
    yes: bool,

    /// Time limit of one tool call, from its dispatch [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    tool_timeout: Option<u64>,

    /// Replace personal data and secrets in everything that is printed
    #[arg(long)]
    scrub: bool,

    #[command(flatten)]
    durable: DurableArgs,
}

/// Check every call of a plan and send none
///
/// Schemas, policy and budgets are applied. Answers are examples of the tools' output schemas, or of
/// what their results looked like in earlier runs; code runs with those.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml workflow dry-run plan.yaml --input dir=config\n  \
    pml workflow dry-run plan.json --fixtures answers.json --json")]
pub struct DryRunArgs {
    #[command(flatten)]
    plan: PlanArgs,

    #[command(flatten)]
    input: InputArgs,

    /// Answers: { "fs:read_file": { "value": "text" } }
    #[arg(long, value_name = "FILE")]
    fixtures: Option<PathBuf>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,

    /// Replace personal data and secrets in everything that is printed
    #[arg(long)]
    scrub: bool,
}

pub fn run(args: &RunArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::load(config)?;
    let tool_timeout = args.tool_timeout.map(Duration::from_millis);
    let prepared = PreparedWorkflow {
        text: plan_file::read_text(&args.plan.plan, &settings.workflows.limits())?,
        name: args.plan.plan.display().to_string(),
        input: args.input.read()?,
        tool_timeout: tool_timeout.or_else(|| settings.limits.tool_timeout()),
        mode: LiveMode::Send,
        durable: args.durable.workflow(),
        approves_all: args.yes,
        is_streamed: args.stream,
        output: RunOutput {
            json: args.json,
            scrub: args.scrub,
        },
        settings,
    };
    in_event_loop(prepared.run())
}

pub fn dry_run(args: &DryRunArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::load(config)?;
    let shapes = ToolCache::for_settings(&settings).shapes();
    let sources = AnswerSources {
        fixtures: match &args.fixtures {
            Some(file) => Fixtures::load(file)?,
            None => Fixtures::default(),
        },
        recorded: None,
        observed: Box::new(move |tool| shapes.schema(tool)),
    };
    let prepared = PreparedWorkflow {
        text: plan_file::read_text(&args.plan.plan, &settings.workflows.limits())?,
        name: args.plan.plan.display().to_string(),
        input: args.input.read()?,
        tool_timeout: settings.limits.tool_timeout(),
        mode: LiveMode::DryRun(Box::new(sources)),
        durable: None,
        // No call is sent.
        approves_all: true,
        is_streamed: false,
        output: RunOutput {
            json: args.json,
            scrub: args.scrub,
        },
        settings,
    };
    in_event_loop(prepared.run())
}

/// The further execution of a durable workflow.
pub async fn resume(
    settings: Settings,
    journal: Arc<RunJournal>,
    store: Store,
    output: RunOutput,
) -> anyhow::Result<ExitCode> {
    let spec = journal.spec();
    let prepared = PreparedWorkflow {
        text: spec.script.source.clone(),
        name: spec.script.name.clone(),
        input: input_of(&spec.script.args),
        tool_timeout: spec.tool_ms.map(Duration::from_millis),
        mode: LiveMode::Send,
        durable: Some(DurableRun::Resumed { journal, store }),
        approves_all: false,
        is_streamed: false,
        output,
        settings,
    };
    prepared.run().await
}

/// The input of a stored workflow.
pub fn input_of(args: &[String]) -> Value {
    let input = args
        .first()
        .and_then(|input| serde_json::from_str(input).ok());
    input.unwrap_or_default()
}

fn in_event_loop(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    event_loop.block_on(work)
}

/// A workflow whose files are read.
struct PreparedWorkflow {
    settings: Settings,
    text: String,
    name: String,
    input: Value,
    tool_timeout: Option<Duration>,
    mode: LiveMode,
    durable: Option<DurableRun>,
    approves_all: bool,
    /// `--stream`
    is_streamed: bool,
    output: RunOutput,
}

impl PreparedWorkflow {
    async fn run(mut self) -> anyhow::Result<ExitCode> {
        let style = Style::for_stderr();
        let plan_limits = self.settings.workflows.limits();
        let plan = plan_file::parse(&self.text, &self.name, &plan_limits)?;
        let missing = missing_inputs(&plan, &self.input, |name| {
            format!("pass it with `--input {name}=VALUE`")
        });
        if !missing.is_empty() {
            return Err(PlanError::Invalid(missing).into());
        }
        let code_limits = self.settings.limits.limits();
        let code_limits = code_limits.lowered(&RequestedLimits::default());
        let limits = Limits {
            calls: MAX_CALLS,
            ..code_limits
        };
        let pool = pool_for(&plan, code_limits)?;
        let durable = match self.durable.take() {
            Some(durable) => {
                let script = Script {
                    name: self.name.clone(),
                    source: self.text.clone(),
                    args: vec![self.input.to_string()],
                };
                let open = durable.open(&self.settings, &script, limits, self.tool_timeout);
                Some(open.await?)
            }
            None => None,
        };
        let audit = AuditSetup::open_for_command(&self.settings)?;
        let telemetry = command_telemetry(&self.settings)?;
        let suspensions = suspensions::open(&self.settings)?;
        let call_costs = self.settings.workflows.call_costs();
        let scrub_rules = std::mem::take(&mut self.settings.scrub);
        let scrubber = match self.output.scrub {
            true => Some(Arc::new(Scrubber::new(&scrub_rules)?)),
            false => None,
        };
        let durable_tools = match &durable {
            Some(durable) => {
                let approver = TaskApprover {
                    approves_all: self.approves_all,
                };
                let tools = durable.tools(&scrub_rules).await?;
                Some(tools.with_task_approver(Arc::new(approver)))
            }
            None => None,
        };
        let is_live = !self.output.json && !self.output.scrub && !self.is_streamed;
        let cache = ToolCache::for_settings(&self.settings);
        let known = Known {
            history: cache.history(),
            costs: std::mem::take(&mut self.settings.workflows.costs),
        };
        let search = search_setup::open(self.settings.servers.file.as_deref())?;
        let sandboxes = PoolOptions {
            warm: 0,
            limits,
            ..PoolOptions::new()?
        };
        let tools = RunTools::open(RunToolsOptions {
            source: ToolSource::Servers(self.mode),
            tool_timeout: self.tool_timeout,
            config: self.settings.servers,
            search,
            scrubber,
            limits,
            durable: durable_tools,
            audit: Some(audit),
            telemetry,
            costs: call_costs,
            suspensions,
            // A plan says itself what can be done at once.
            learns: self.settings.learn.0,
            speculate: false,
            sandboxes,
            progress: Arc::new(move |reported| {
                if is_live {
                    progress::print(&reported, style);
                }
            }),
        })?;
        let context = tools.context().clone();
        let runner = Arc::new(PipelineRunner::new(RunnerParts {
            host: tools.host(),
            code_host: code_host(&tools, durable.is_some()),
            pool,
            limits: code_limits,
            clock: durable.as_ref().map(|durable| {
                let journal = durable.journal();
                (journal.clock(), journal.entropy())
            }),
            kept: durable
                .as_ref()
                .map(|durable| kept_outputs(durable.journal(), context.flow())),
            context,
            hooks: Arc::new(CliHooks {
                gateway: tools.gateway().cloned(),
                approvals: match (&durable, self.approves_all) {
                    (Some(_), _) => TaskApprovals::Pipeline,
                    (None, true) => TaskApprovals::All,
                    (None, false) => TaskApprovals::Terminal,
                },
                live: is_live.then_some(style),
                lines: self
                    .is_streamed
                    .then(|| EventLines::new(tools.printed_value())),
                logs: is_live.then_some(style),
            }),
        }));
        let interrupted = async {
            // A signal that cannot be awaited interrupts nothing.
            let _ = interrupt::or(std::future::pending::<()>()).await;
            RunError::new(ErrorKind::Cancelled, INTERRUPTED)
        };
        let start = PlanStart {
            input: self.input,
            limits: plan_limits,
            known: known.times(&plan),
            time: None,
        };
        let ended = run_to_end(&plan, &runner, start, interrupted);
        let ended = in_run(tools.context(), ended).await;
        let estimate = tools.gateway().filter(|_| tools.dry_run_plan().is_some());
        let estimate = estimate
            .map(|gateway| estimate::of(&plan, &ended.report, &known, gateway, &plan_limits));
        let finished = Finished {
            plan: &plan,
            tools: &tools,
            text: &self.text,
            ended,
            estimate,
            is_streamed: self.is_streamed,
        };
        let code = finished.print(durable.as_ref(), self.output, &limits).await;
        let learned = LearnedRun {
            ok: code.as_ref().is_ok_and(|code| *code == ExitCode::SUCCESS),
            about: None,
        };
        tools.save_tools(&cache, learned);
        tools.close().await;
        if let Some(durable) = durable {
            durable.close().await;
        }
        code
    }
}

/// Workers are kept warm if the plan has code: they start while the servers do.
fn pool_for(plan: &Plan, limits: Limits) -> std::io::Result<Arc<LazyPool>> {
    let options = PoolOptions {
        limits,
        ..PoolOptions::new()?
    };
    let has_code = plan.tasks.iter().any(|task| task.kind() == TaskKind::Code);
    Ok(match has_code {
        true => LazyPool::running(Arc::new(Pool::new(options))),
        false => LazyPool::new(options),
    })
}

/// The outputs of code that a resumed plan does not run again. `flow` is what the plan has read: code that looks for
/// them as checkpoints reads it.
fn kept_outputs(journal: &Arc<RunJournal>, flow: &RunFlow) -> KeptOutputs {
    let read = journal.clone();
    let (write, writer) = (journal.clone(), flow.clone());
    // Code that asks for nothing has read what the tasks before it have, and they run again or are answered from
    // the journal.
    let find: Find = Box::new(move |key| read.kept(key, &RunFlow::default()));
    let keep = move |key: &str, value| write.keep(key, value, writer.current());
    KeptOutputs::new(&find, Box::new(keep))
}

/// Code of a durable workflow sees the same time and randomness in every execution.
fn code_host(
    tools: &RunTools,
    is_durable: bool,
) -> Box<dyn Fn() -> Arc<dyn ToolHost> + Send + Sync> {
    let host = tools.host();
    match is_durable {
        true => Box::new(move || Arc::new(OwnClock::new(host.clone()))),
        false => Box::new(move || host.clone()),
    }
}

/// A run that has ended, to be stored and printed.
struct Finished<'a> {
    plan: &'a Plan,
    tools: &'a RunTools,
    /// The plan as it was written.
    text: &'a str,
    ended: EndedPlan,
    /// Of a dry run.
    estimate: Option<Estimate>,
    /// `--stream`
    is_streamed: bool,
}

impl Finished<'_> {
    async fn print(
        self,
        durable: Option<&OpenRun>,
        output: RunOutput,
        limits: &Limits,
    ) -> anyhow::Result<ExitCode> {
        let (tools, ended) = (self.tools, &self.ended);
        let mut outcome = ended.outcome();
        let stopped = ended.stopped.as_ref();
        let is_interrupted = stopped.is_some_and(|error| error.message == INTERRUPTED);
        if let Some(durable) = durable {
            durable.ended(&mut outcome, is_interrupted).await;
        }
        in_run(tools.context(), async { tools.ended(&outcome) }).await;
        tools.record_end(self.text, RunEnd::new(&outcome));
        let is_said = |error: &&RunError| stopped.is_some() || error.kind == ErrorKind::Unknown;
        if let Some(error) = outcome.error.as_ref().filter(is_said)
            && !is_interrupted
        {
            diagnostics::error(&error.message);
        }
        if !output.json {
            crate::run::report::print_crossings(&outcome);
        }
        let report = printed::printed_report(tools, &ended.report, limits);
        let run = outcome.run.as_ref().map(|run| run.as_str().to_owned());
        let dry_run = tools.dry_run_plan();
        let style = Style::for_stderr();
        if let (Some(dry_run), false) = (&dry_run, output.json) {
            crate::run::report::print_plan(dry_run, style);
        }
        if let (Some(estimate), false) = (&self.estimate, output.json) {
            diagnostics::line(estimate::shown(estimate, style));
        }
        let said = printed::Said {
            run: run.as_deref(),
            dry_run: dry_run.as_ref(),
            estimate: self.estimate.as_ref(),
            is_streamed: self.is_streamed,
        };
        exit::check_pipe(printed::print(self.plan, &report, &said, output.json))?;
        Ok(printed::exit_code(&outcome, is_interrupted))
    }
}
