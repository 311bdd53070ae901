//! Runs tasks for real: tools through a request pipeline, code in the sandboxes of a pool.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pml_protocol::{
    CallRecord, EffectClass, ErrorKind, Failure, FailureKind, Flow, HostFuture, LabelReport,
    Limits, LogLine, MadeCall, Outcome, ProgressReceiver, Request, RequestedLimits, RunClock,
    RunContext, RunError, RunFlow, StreamRequest, ToolHost, ToolResult, VirtualClock,
};
use pml_runtime::{ChildRun, Event, LazyPool, Script};
use serde_json::Value;
use serde_json::value::to_raw_value;
use tokio::sync::watch;

use crate::kept_outputs::{KeptOutputs, step_key};
use crate::runner::{
    ApprovalAsk, CodeTask, TaskError, TaskEvent, TaskFuture, TaskRunner, ToolTask,
};

/// What the program around a run decides and sees.
pub trait RunnerHooks: Send + Sync {
    /// What a call of the tool does.
    fn effect<'a>(&'a self, tool: &'a str) -> TaskFuture<'a, EffectClass>;

    /// Answers in the place of a person whether a task may start, or asks one. `None` leaves it to the approval
    /// layer of the pipeline, whose answers a journal keeps.
    fn approve<'a>(&'a self, ask: &ApprovalAsk<'a>) -> Option<TaskFuture<'a, Result<(), Failure>>> {
        let _ = ask;
        None
    }

    /// A line that the code of a task logged.
    fn log(&self, task: &str, line: &LogLine);

    /// What happens, as it happens.
    fn event(&self, event: TaskEvent<'_>);
}

/// The parts of a [`PipelineRunner`].
pub struct RunnerParts {
    /// Answers the calls of tool tasks.
    pub host: Arc<dyn ToolHost>,
    /// The host of one code task.
    pub code_host: Box<dyn Fn() -> Arc<dyn ToolHost> + Send + Sync>,
    /// Runs code.
    pub pool: Arc<LazyPool>,
    /// The limits of one code task.
    pub limits: Limits,
    /// The run that all tasks belong to.
    pub context: RunContext,
    /// Time and randomness of code, if every execution must see the same: a durable run.
    pub clock: Option<(VirtualClock, [u8; 32])>,
    /// Outputs of code that a resumed run does not compute again.
    pub kept: Option<KeptOutputs>,
    /// The program.
    pub hooks: Arc<dyn RunnerHooks>,
}

/// Runs tasks through a request pipeline and a pool of sandboxes.
///
/// Each task has a label of its own: what it may depend on, and what it reads.
pub struct PipelineRunner {
    parts: RunnerParts,
    in_flight: watch::Sender<usize>,
    /// What the run had read when the plan began: its inputs can depend on it.
    start: Flow,
    /// What each task has read.
    flows: Mutex<HashMap<String, RunFlow>>,
}

/// Makes globals of the values of a task. It is on the first line of the code, so that the lines of
/// the author keep their numbers.
const PRELUDE: &str = "Object.assign(globalThis,JSON.parse(args[0]));";

impl PipelineRunner {
    /// A runner.
    pub fn new(parts: RunnerParts) -> Self {
        Self {
            start: parts.context.flow().current(),
            parts,
            in_flight: watch::Sender::new(0),
            flows: Mutex::default(),
        }
    }

    /// What a task has read, which begins with what those `after` which it runs have when it starts.
    fn flow_of(&self, task: &str, after: &[&str]) -> RunFlow {
        // A flow is added in one step.
        let mut flows = self.flows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flow) = flows.get(task) {
            return flow.clone();
        }
        let mut start = self.start.clone();
        for flow in after.iter().filter_map(|before| flows.get(*before)) {
            start.join(&flow.current());
        }
        let flow = self.parts.context.flow().part(start);
        flows.insert(task.to_owned(), flow.clone());
        flow
    }

    /// Waits until the pipeline ends the run, or every step in flight waits for a person.
    pub async fn suspended(&self) -> RunError {
        let mut control = self.parts.context.control().watch();
        let mut in_flight = self.in_flight.subscribe();
        loop {
            {
                let state = control.borrow_and_update();
                if let Some(end) = state.end() {
                    return end.clone();
                }
                let open = *in_flight.borrow_and_update();
                if let Some(error) = state.suspension().filter(|_| state.suspended() >= open) {
                    return error.clone();
                }
            }
            tokio::select! {
                _ = control.changed() => {}
                _ = in_flight.changed() => {}
            }
        }
    }

    /// The clock of the run that all tasks belong to.
    pub(crate) fn clock(&self) -> &RunClock {
        self.parts.context.clock()
    }

    /// The calls that the tasks have made.
    pub(crate) fn take_calls(&self) -> Vec<CallRecord> {
        self.parts.context.made_calls().take()
    }

    /// What the tasks have read.
    pub(crate) fn labels(&self) -> Option<LabelReport> {
        self.parts.context.flow().report()
    }

    fn begin(&self) -> InFlight<'_> {
        self.in_flight.send_modify(|count| *count += 1);
        InFlight(self)
    }

    async fn call_tool(&self, task: ToolTask<'_>) -> Result<Value, TaskError> {
        let _in_flight = self.begin();
        let args = to_raw_value(&task.args).map_err(Failure::internal)?;
        let mut request = Request::call(task.tool, args);
        request.sanitize()?;
        let flow = self.flow_of(task.task, task.after);
        let run = self.parts.context.with_flow(flow);
        if let Some(limit) = task.timeout {
            run.set_time_limit(limit);
        }
        if task.is_streamed {
            let (hooks, name, item) = (self.parts.hooks.clone(), task.task.to_owned(), task.item);
            run.set_progress_receiver(ProgressReceiver::new(move |progress| {
                hooks.event(TaskEvent::Progress {
                    task: &name,
                    item,
                    progress: &progress,
                });
            }));
        }
        let made = MadeCall::begin(task.tool, &run);
        let answer = self.parts.host.handle(&request, &run).await;
        made.end(answer.is_ok());
        let answer = answer.map_err(|failure| TaskError {
            failure,
            had_effects: false,
            is_unanswered: run.notes().is_unanswered(),
        })?;
        parsed(answer.get())
    }

    /// Asks through the pipeline.
    async fn ask(&self, ask: ApprovalAsk<'_>) -> Result<(), Failure> {
        let mut request = Request::ApproveTask {
            task: ask.task.to_owned(),
            tool: ask.tool.map(str::to_owned),
            question: ask.message.map(str::to_owned),
        };
        request.sanitize()?;
        let run = self.parts.context.for_request();
        self.parts.host.handle(&request, &run).await?;
        Ok(())
    }

    async fn run_code(&self, task: CodeTask<'_>) -> Result<Value, TaskError> {
        let _in_flight = self.begin();
        let parts = &self.parts;
        let globals = task.globals.to_string();
        let step = step_key(task.task, task.item, task.source, &globals);
        if let Some(output) = parts.kept.as_ref().and_then(|kept| kept.find(&step)) {
            return Ok(output);
        }
        let script = Script {
            name: format!("{}.ts", file_name(task.task)),
            source: format!("{PRELUDE}{}", task.source),
            args: vec![globals],
        };
        let limits = parts.limits.lowered(&RequestedLimits {
            wall_ms: task.limits.timeout_ms,
            heap_bytes: task.limits.memory,
            calls: task.limits.calls,
            ..RequestedLimits::default()
        });
        let clock = parts.clock.map(|(clock, entropy)| {
            let seed = seed_of(clock.seed, &task);
            (VirtualClock { seed, ..clock }, mixed(entropy, seed))
        });
        let called = Arc::new(CalledTools {
            inner: (parts.code_host)(),
            tools: Mutex::default(),
            has_asked: AtomicBool::new(false),
        });
        let hooks = parts.hooks.clone();
        let name = task.task.to_owned();
        let mut on_event = move |event: Event<'_>| {
            if let Event::Log(line) = event {
                hooks.log(&name, line);
            }
        };
        let code = ChildRun {
            parent: &parts.context,
            flow: self.flow_of(task.task, task.after),
            script,
            limits,
            host: called.clone(),
            clock,
        };
        let mut outcome = code.run(parts.pool.get(), &mut on_event).await;
        let made_calls = parts.context.made_calls();
        made_calls.add(std::mem::take(&mut outcome.calls));
        let result = self.result_of(outcome, &called).await;
        if let (Some(kept), Ok(output)) = (&parts.kept, &result)
            && !called.has_asked.load(Ordering::Relaxed)
        {
            kept.add(step, output);
        }
        result
    }

    async fn result_of(&self, outcome: Outcome, called: &CalledTools) -> Result<Value, TaskError> {
        let Some(error) = outcome.error else {
            return outcome
                .result
                .map_or(Ok(Value::Null), |json| parsed(json.get()));
        };
        if matches!(error.kind, ErrorKind::Waiting | ErrorKind::Unknown) {
            let _suspended = self.parts.context.control().suspend(error);
            return std::future::pending().await;
        }
        let tools = std::mem::take(&mut *called.lock());
        let mut had_effects = false;
        for tool in tools {
            had_effects |= self.parts.hooks.effect(&tool).await != EffectClass::Read;
        }
        Err(TaskError {
            failure: failure_of(&error),
            had_effects,
            is_unanswered: false,
        })
    }
}

/// Counts a step until it ends or is dropped.
struct InFlight<'a>(&'a PipelineRunner);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.send_modify(|count| *count -= 1);
    }
}

impl TaskRunner for PipelineRunner {
    fn call<'a>(&'a self, task: ToolTask<'a>) -> TaskFuture<'a, Result<Value, TaskError>> {
        Box::pin(self.call_tool(task))
    }

    fn code<'a>(&'a self, task: CodeTask<'a>) -> TaskFuture<'a, Result<Value, TaskError>> {
        Box::pin(self.run_code(task))
    }

    fn effect<'a>(&'a self, tool: &'a str) -> TaskFuture<'a, EffectClass> {
        self.parts.hooks.effect(tool)
    }

    fn approve<'a>(&'a self, ask: ApprovalAsk<'a>) -> TaskFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            // Before an answer, so that a suspended step does not end the run.
            let _in_flight = self.begin();
            match self.parts.hooks.approve(&ask) {
                Some(answer) => answer.await,
                None => self.ask(ask).await,
            }
        })
    }

    fn event(&self, event: TaskEvent<'_>) {
        self.parts.hooks.event(event);
    }
}

/// Notes the tools that code calls: code with effects is not run again.
struct CalledTools {
    inner: Arc<dyn ToolHost>,
    tools: Mutex<Vec<String>>,
    /// Whether the code asked for anything but the time.
    has_asked: AtomicBool,
}

impl CalledTools {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        // Names are added in one step each.
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolHost for CalledTools {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        if !matches!(request, Request::Harness { .. }) {
            self.has_asked.store(true, Ordering::Relaxed);
        }
        let called = match request {
            Request::Call { tool, .. } | Request::Stream(StreamRequest::Open { tool, .. }) => {
                Some(tool)
            }
            _ => None,
        };
        if let Some(tool) = called {
            let mut tools = self.lock();
            if !tools.contains(tool) {
                tools.push(tool.clone());
            }
        }
        self.inner.handle(request, run)
    }
}

fn parsed(json: &str) -> Result<Value, TaskError> {
    serde_json::from_str(json).map_err(|error| {
        let message = format!("the result cannot be used in a plan: {error}");
        Failure::new(FailureKind::Output, message).into()
    })
}

fn failure_of(error: &RunError) -> Failure {
    let kind = match error.kind {
        ErrorKind::Timeout => FailureKind::Timeout,
        ErrorKind::Internal => FailureKind::Internal,
        ErrorKind::Cancelled => FailureKind::Cancelled,
        ErrorKind::Output => FailureKind::Output,
        _ => FailureKind::Tool,
    };
    let place = match (error.line, error.column) {
        (Some(1), Some(column)) => {
            let column = (column as usize).saturating_sub(PRELUDE.len());
            format!(" (line 1, column {column})")
        }
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        _ => String::new(),
    };
    Failure::new(kind, format!("{}{place}", error.message))
}

/// Ids are not file names.
fn file_name(task: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    task.chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect()
}

/// A seed of its own for every task and item, the same in every execution (FNV-1a).
fn seed_of(seed: u32, task: &CodeTask<'_>) -> u32 {
    let item = task.item.map_or(u64::MAX, |item| item as u64);
    let bytes = task.task.bytes().chain(item.to_le_bytes());
    bytes
        .chain(task.attempt.to_le_bytes())
        .fold(seed ^ 0x811c_9dc5, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
}

fn mixed(mut entropy: [u8; 32], seed: u32) -> [u8; 32] {
    for (byte, mix) in entropy.iter_mut().zip(seed.to_le_bytes()) {
        *byte ^= mix;
    }
    entropy
}
