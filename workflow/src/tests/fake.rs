//! A runner without tools: `work:sleep` takes its time, `work:fail` fails, and the rest echoes.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use pml_protocol::{EffectClass, Failure, FailureKind};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::*;

pub struct Fake {
    pub started: Instant,
    pub calls: Mutex<Vec<Called>>,
    pub ended: Mutex<Vec<(String, TaskState)>>,
    pub parts: Mutex<Vec<(String, usize)>>,
    /// The outputs that were reported.
    pub outputs: Mutex<Vec<(String, Value)>>,
    pub now: Mutex<(usize, usize)>,
    pub approved: bool,
    /// How long the person thinks.
    pub thinks: Duration,
}

#[derive(Debug, Clone)]
pub struct Called {
    pub task: String,
    pub tool: String,
    pub args: Value,
    pub from: Duration,
    pub to: Duration,
}

impl Fake {
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
            calls: Mutex::default(),
            ended: Mutex::default(),
            parts: Mutex::default(),
            outputs: Mutex::default(),
            now: Mutex::default(),
            approved: true,
            thinks: Duration::ZERO,
        }
    }

    pub fn calls_of(&self, task: &str) -> Vec<Called> {
        let calls = self.calls.lock().unwrap();
        calls
            .iter()
            .filter(|call| call.task == task)
            .cloned()
            .collect()
    }

    pub fn call_count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    /// The most calls of tools with this prefix that were in flight at once.
    pub fn peak_of(&self, prefix: &str) -> usize {
        let calls = self.calls.lock().unwrap();
        let of: Vec<&Called> = calls
            .iter()
            .filter(|call| call.tool.starts_with(prefix))
            .collect();
        let at = |moment: Duration| {
            of.iter()
                .filter(|call| call.from <= moment && moment < call.to)
                .count()
        };
        of.iter().map(|call| at(call.from)).max().unwrap_or(0)
    }

    /// The most steps that were in flight at once.
    pub fn peak(&self) -> usize {
        self.now.lock().unwrap().1
    }

    /// Counts a step until it ends or is cancelled.
    fn begin(&self) -> InFlight<'_> {
        let mut now = self.now.lock().unwrap();
        now.0 += 1;
        now.1 = now.1.max(now.0);
        InFlight(self)
    }

    async fn answer(&self, task: &str, tool: &str, args: Value) -> Result<Value, TaskError> {
        let from = self.started.elapsed();
        let in_flight = self.begin();
        let ms = args["ms"].as_u64().unwrap_or(0);
        if ms > 0 {
            sleep(Duration::from_millis(ms)).await;
        }
        drop(in_flight);
        let attempt = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(Called {
                task: task.to_owned(),
                tool: tool.to_owned(),
                args: args.clone(),
                from,
                to: self.started.elapsed(),
            });
            calls.iter().filter(|call| call.task == task).count() as u64
        };
        let fails = tool.ends_with(":fail")
            || args["fails"].as_bool().unwrap_or(false)
            || args["until"].as_u64().is_some_and(|until| attempt < until);
        match fails {
            true => Err(Failure::new(FailureKind::Tool, format!("{task} broke")).into()),
            false => Ok(args.get("value").cloned().unwrap_or(args)),
        }
    }
}

struct InFlight<'a>(&'a Fake);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.now.lock().unwrap().0 -= 1;
    }
}

impl TaskRunner for Fake {
    fn call<'a>(&'a self, task: ToolTask<'a>) -> TaskFuture<'a, Result<Value, TaskError>> {
        let limit = task.timeout.unwrap_or(Duration::MAX);
        Box::pin(async move {
            let answer = self.answer(task.task, task.tool, task.args);
            timeout(limit, answer).await.unwrap_or_else(|_| {
                Err(TaskError {
                    failure: Failure::new(FailureKind::Timeout, format!("timeout of {limit:?}")),
                    had_effects: false,
                    is_unanswered: true,
                })
            })
        })
    }

    /// Code echoes its globals, with its source.
    fn code<'a>(&'a self, task: CodeTask<'a>) -> TaskFuture<'a, Result<Value, TaskError>> {
        let value = json!({ "source": task.source, "globals": task.globals });
        Box::pin(self.answer(task.task, "pml:execute_code", json!({ "value": value })))
    }

    fn effect<'a>(&'a self, tool: &'a str) -> TaskFuture<'a, EffectClass> {
        let class = match tool.split_once(':') {
            Some(("guarded", _)) => EffectClass::Guarded,
            _ => EffectClass::Read,
        };
        Box::pin(std::future::ready(class))
    }

    fn approve<'a>(&'a self, ask: ApprovalAsk<'a>) -> TaskFuture<'a, Result<(), Failure>> {
        let answer = match self.approved {
            true => Ok(()),
            false => Err(Failure::new(
                FailureKind::Denied,
                format!("{} refused", ask.task),
            )),
        };
        Box::pin(async move {
            sleep(self.thinks).await;
            answer
        })
    }

    fn event(&self, event: TaskEvent<'_>) {
        match event {
            TaskEvent::Ended {
                task,
                state,
                output,
                ..
            } => {
                self.ended.lock().unwrap().push((task.to_owned(), state));
                let output = output.cloned().unwrap_or_default();
                self.outputs.lock().unwrap().push((task.to_owned(), output));
            }
            TaskEvent::Part { task, item, .. } => {
                self.parts.lock().unwrap().push((task.to_owned(), item));
            }
            _ => {}
        }
    }
}

pub fn plan(value: Value) -> Plan {
    Plan::from_value(value, &PlanLimits::default()).unwrap()
}

pub fn refused(value: Value) -> String {
    let error = Plan::from_value(value, &PlanLimits::default()).unwrap_err();
    error.to_string()
}

pub async fn run_plan(fake: &Fake, value: Value, input: Value) -> WorkflowReport {
    let options = RunOptions {
        input,
        ..RunOptions::default()
    };
    run(&plan(value), fake, options).await
}

pub fn states(report: &WorkflowReport) -> HashMap<String, TaskState> {
    let states = report
        .tasks
        .iter()
        .map(|task| (task.id.clone(), task.state));
    states.collect()
}
