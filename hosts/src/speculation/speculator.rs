//! Starts the calls of a plan.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{BoxFuture, join, join_all};
use pml_gateway::Gateway;
use pml_gateway::policy::cache::canonical_json;
use pml_protocol::{
    HostFuture, PrefetchPlan, PrefetchStep, PrefetchValue, Request, RunContext, Speculate,
    SpeculatedCall, SpeculationStats, ToolHost, split_version,
};
use serde_json::Value;
use serde_json::value::to_raw_value;
use tokio::sync::watch;

use super::calls::{Answer, CallKey, Ready, SpeculatedCalls};
use super::evaluate::{Known, evaluate, needed};

/// Items of one list for which calls are started.
const MAX_ITEMS: usize = 64;
/// Steps that are taken in one run, those of all rounds of loops together.
const MAX_TAKEN_STEPS: usize = 256;
/// Calls with longer arguments are not made ahead of time.
pub(super) const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// Starts calls of class `read` before the script makes them.
///
/// Each is a request of its own, through all layers from the top, marked as speculative: a call that
/// would need approval, that is over a budget or that has an effect is refused there. The plan itself is
/// not trusted. Its calls are looked at in the order of the program, and the first tool that is not of
/// class `read` ends it.
pub struct Speculator {
    gateway: Gateway,
    calls: Arc<SpeculatedCalls>,
    host: Arc<dyn ToolHost>,
}

/// What the steps of one round refer to.
struct Frame {
    answers: HashMap<u32, Arc<watch::Sender<Answer>>>,
    item: Option<(u32, Value)>,
    outer: Option<Arc<Frame>>,
}

impl Frame {
    fn new(steps: &[PrefetchStep], item: Option<(u32, Value)>, outer: Option<Arc<Frame>>) -> Self {
        let ids = steps.iter().filter_map(|step| match step {
            PrefetchStep::Call { id, .. } | PrefetchStep::Load { id, .. } => Some(*id),
            PrefetchStep::Each { .. } => None,
        });
        Self {
            answers: ids
                .map(|id| (id, Arc::new(watch::Sender::new(Answer::Pending))))
                .collect(),
            item,
            outer,
        }
    }

    fn answer(&self, id: u32) -> Option<&Arc<watch::Sender<Answer>>> {
        let outer = || self.outer.as_ref()?.answer(id);
        self.answers.get(&id).or_else(outer)
    }

    fn items(&self) -> HashMap<u32, Value> {
        let mut items = self
            .outer
            .as_ref()
            .map_or_else(HashMap::new, |outer| outer.items());
        items.extend(self.item.clone());
        items
    }

    /// The value once all results that it needs are there.
    async fn resolve(&self, value: &PrefetchValue) -> Option<Value> {
        let mut ids = BTreeSet::new();
        needed(value, &mut ids);
        let mut known = Known {
            items: self.items(),
            ..Known::default()
        };
        for id in ids {
            known.results.insert(id, ready(self.answer(id)?).await?);
        }
        evaluate(value, &known)
    }
}

async fn ready(answer: &watch::Sender<Answer>) -> Option<Arc<Ready>> {
    let mut receiver = answer.subscribe();
    let settled = receiver.wait_for(|answer| !matches!(answer, Answer::Pending));
    match &*settled.await.ok()? {
        Answer::Ready(ready) => Some(ready.clone()),
        Answer::Pending | Answer::Never => None,
    }
}

/// The state of the order in which steps are looked at.
#[derive(Clone, Copy, Default)]
struct Gate {
    open_until: usize,
    is_closed: bool,
}

/// One execution of a plan.
struct Execution<'a> {
    speculator: &'a Speculator,
    run: &'a RunContext,
    gate: watch::Sender<Gate>,
    steps_left: AtomicUsize,
}

/// When the execution is dropped, no call of the script may wait for it.
struct EndWithExecution<'a>(&'a SpeculatedCalls);

impl Drop for EndWithExecution<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Speculator {
    /// Starts calls through `host`, the top of the stack that has `calls` in it.
    pub fn new(gateway: Gateway, calls: Arc<SpeculatedCalls>, host: Arc<dyn ToolHost>) -> Self {
        Self {
            gateway,
            calls,
            host,
        }
    }

    async fn execute(&self, plan: PrefetchPlan, run: RunContext) {
        let plan = plan.sanitized();
        if plan.is_empty() {
            return;
        }
        let tools = tools_of(&plan.steps);
        let unknown = tools.iter().filter(|tool| tool.is_unknown);
        self.calls.begin(
            unknown
                .map(|tool| (tool.step, tool.id.to_owned()))
                .collect(),
        );
        let execution = Execution {
            speculator: self,
            run: &run,
            gate: watch::Sender::new(Gate::default()),
            steps_left: AtomicUsize::new(MAX_TAKEN_STEPS),
        };
        let _end = EndWithExecution(&self.calls);
        let frame = Arc::new(Frame::new(&plan.steps, None, None));
        let steps = execution.steps(&plan.steps, 0, frame);
        join(execution.open_gate(&tools, count(&plan.steps)), steps).await;
    }
}

impl Speculate for Speculator {
    fn speculate(self: Arc<Self>, plan: PrefetchPlan, run: RunContext) -> HostFuture<'static, ()> {
        Box::pin(async move { self.execute(plan, run).await })
    }

    fn stats(&self) -> SpeculationStats {
        self.calls.stats()
    }

    fn started(&self) -> Vec<SpeculatedCall> {
        self.calls.started()
    }
}

/// The tool of a step.
struct StepTool<'a> {
    step: usize,
    id: &'a str,
    is_unknown: bool,
}

/// The tools of all calls, in the order of the program.
fn tools_of(steps: &[PrefetchStep]) -> Vec<StepTool<'_>> {
    fn add<'a>(steps: &'a [PrefetchStep], next: &mut usize, into: &mut Vec<StepTool<'a>>) {
        for step in steps {
            let at = *next;
            *next += 1;
            match step {
                PrefetchStep::Call { tool, args, .. } => into.push(StepTool {
                    step: at,
                    id: tool,
                    is_unknown: args.is_none(),
                }),
                PrefetchStep::Load { .. } => {}
                PrefetchStep::Each { steps, .. } => add(steps, next, into),
            }
        }
    }
    let mut tools = Vec::new();
    add(steps, &mut 0, &mut tools);
    tools
}

fn count(steps: &[PrefetchStep]) -> usize {
    steps.iter().map(size).sum()
}

/// How many steps a step is, with those inside it.
fn size(step: &PrefetchStep) -> usize {
    match step {
        PrefetchStep::Each { steps, .. } => 1 + count(steps),
        PrefetchStep::Call { .. } | PrefetchStep::Load { .. } => 1,
    }
}

impl Execution<'_> {
    /// Looks at the tools in the order of the program, up to the first whose calls may have an effect.
    async fn open_gate(&self, tools: &[StepTool<'_>], steps: usize) {
        let mut allowed = BTreeSet::new();
        for tool in tools {
            self.open(tool.step, false);
            let id = split_version(tool.id).0;
            if !allowed.contains(id) && !self.may_speculate(id).await {
                // A loop with such a call in it comes to its end once before it is repeated.
                return self.open(0, true);
            }
            allowed.insert(id);
        }
        self.open(steps, true);
    }

    fn open(&self, step: usize, is_closed: bool) {
        self.speculator.calls.open(step, is_closed);
        self.gate.send_modify(|gate| {
            gate.open_until = gate.open_until.max(step);
            gate.is_closed |= is_closed;
        });
    }

    async fn may_speculate(&self, id: &str) -> bool {
        let gateway = &self.speculator.gateway;
        let spelled = gateway.spelled(id).await;
        if let Some(spelled) = &spelled {
            self.speculator.calls.respell(id, spelled);
        }
        let tool = gateway
            .describe_for_call(spelled.as_deref().unwrap_or(id))
            .await;
        tool.is_ok_and(|tool| gateway.may_speculate(&tool))
    }

    /// Waits until it is known whether the steps before `until` have no effect.
    async fn passes(&self, until: usize) -> bool {
        let mut gate = self.gate.subscribe();
        let decided = gate.wait_for(|gate| gate.open_until >= until || gate.is_closed);
        decided.await.is_ok_and(|gate| gate.open_until >= until)
    }

    /// Starts each step as soon as its arguments are known. `first` is the number of the first one.
    fn steps<'a>(
        &'a self,
        steps: &'a [PrefetchStep],
        first: usize,
        frame: Arc<Frame>,
    ) -> BoxFuture<'a, ()> {
        let mut at = first;
        let started = steps.iter().map(|step| {
            let number = at;
            at += size(step);
            self.step(step, number, frame.clone())
        });
        let started: Vec<_> = started.collect();
        Box::pin(async move {
            join_all(started).await;
        })
    }

    /// Whether a further step may be taken.
    fn has_steps_left(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        let left = &self.steps_left;
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .is_ok()
    }

    async fn step(&self, step: &PrefetchStep, number: usize, frame: Arc<Frame>) {
        if !self.has_steps_left() {
            return;
        }
        match step {
            PrefetchStep::Call { id, tool, args } => {
                let Some(answer) = frame.answer(*id).cloned() else {
                    return;
                };
                let args = match args {
                    Some(args) => frame.resolve(args).await,
                    None => None,
                };
                let is_made = match args.filter(Value::is_object) {
                    Some(args) => self.call(tool, &args, number, &answer).await,
                    None => None,
                };
                if is_made.is_none() {
                    answer.send_replace(Answer::Never);
                }
            }
            PrefetchStep::Load { id, key } => {
                let Some(answer) = frame.answer(*id) else {
                    return;
                };
                let found = self.load(key).await;
                answer.send_replace(found.map_or(Answer::Never, Answer::Ready));
            }
            PrefetchStep::Each { id, list, steps } => {
                let Some(Value::Array(items)) = frame.resolve(list).await else {
                    return;
                };
                // Nothing of the loop is started if a part of it may have an effect.
                if !self.passes(number + size(step)).await {
                    return;
                }
                let rounds = items.into_iter().take(MAX_ITEMS).map(|item| {
                    let inner = Frame::new(steps, Some((*id, item)), Some(frame.clone()));
                    self.steps(steps, number + 1, Arc::new(inner))
                });
                join_all(rounds).await;
            }
        }
    }

    /// Makes a call, unless the script has made it before. `None` if there will be no answer.
    async fn call(
        &self,
        tool: &str,
        args: &Value,
        step: usize,
        answer: &Arc<watch::Sender<Answer>>,
    ) -> Option<()> {
        let calls = &self.speculator.calls;
        let raw = to_raw_value(args).ok()?;
        if raw.get().len() > MAX_ARGUMENT_BYTES {
            return None;
        }
        let mut request = Request::call(tool, raw);
        request.sanitize().ok()?;
        let (id, version) = split_version(tool);
        let key = CallKey {
            tool: id.to_owned(),
            version: version.map(str::to_owned),
            args: canonical_json(args),
        };
        let at = calls.plan(step, key, answer.clone())?;
        if !self.passes(step + 1).await {
            return None;
        }
        if !calls.start(at) {
            // The script has made it itself, and its answer comes from there.
            return Some(());
        }
        let run = self.run.for_speculation();
        let dropped = async {
            let mut receiver = answer.subscribe();
            let given_up = receiver.wait_for(|answer| matches!(answer, Answer::Never));
            let _ = given_up.await;
        };
        tokio::select! {
            biased;
            () = dropped => {}
            result = self.speculator.host.handle(&request, &run) => calls.finish(at, result),
        }
        Some(())
    }

    async fn load(&self, key: &str) -> Option<Arc<Ready>> {
        let request = Request::Load {
            key: key.to_owned(),
        };
        let run = self.run.for_speculation();
        let found = self.speculator.host.handle(&request, &run).await.ok()?;
        let found: Vec<&serde_json::value::RawValue> = serde_json::from_str(found.get()).ok()?;
        Some(Arc::new(Ready::new((*found.first()?).to_owned())))
    }
}
