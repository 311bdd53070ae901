//! A rehearsal: everything that happens before a call is sent happens, and nothing is sent.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost};
use pml_session::Run;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::recorded_request::RecordedRequest;
use crate::example_value::example_of;
use crate::fixtures::Fixtures;
use crate::recording::RecordedAnswer;
use crate::replay::Replay;

/// Tools that are found and described as ever, and never called. A call is checked against its
/// schema, the policy and the budgets; its answer is made up.
pub struct DryRun {
    run: Run,
    sources: Sources,
    planned: Mutex<Vec<Planned>>,
}

/// Where answers come from, the first that has one: a fixture, a recording, an example of the
/// tool's output schema, an example of what its results looked like in earlier runs. Else `null`.
pub struct Sources {
    pub fixtures: Fixtures,
    pub recorded: Option<Replay>,
    pub observed: Observed,
}

/// A JSON Schema of the results that were seen of a tool.
pub type Observed = Box<dyn Fn(&str) -> Option<Value> + Send + Sync>;

/// A call that would have been made.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    pub tool: String,
    pub args: Value,
    pub answer: Source,
    /// Why it would have been refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Failure>,
}

/// Where the answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Fixture,
    Recording,
    Example,
    /// An example of what earlier results looked like.
    Observed,
    /// Nobody knows what the tool answers: the script got `null`.
    Nothing,
    /// The call would have been refused: the script got the refusal.
    Refusal,
}

impl DryRun {
    pub fn new(run: Run, sources: Sources) -> Self {
        Self {
            run,
            sources,
            planned: Mutex::default(),
        }
    }

    /// The calls that would have been made, in order.
    pub fn planned(&self) -> Vec<Planned> {
        self.lock().clone()
    }

    /// Tools with a fixture that no call was about: most likely misspelt.
    pub fn unused_fixtures(&self) -> Vec<String> {
        let planned = self.lock();
        let is_called = |tool: &str| planned.iter().any(|call| call.tool == tool);
        let unused = self
            .sources
            .fixtures
            .tools()
            .filter(|tool| !is_called(tool));
        unused.map(str::to_owned).collect()
    }

    async fn rehearse(&self, tool: &str, args: &RawValue) -> Answer {
        let asked = RecordedRequest::call(tool, args);
        let place = {
            let mut planned = self.lock();
            planned.push(Planned {
                tool: tool.to_owned(),
                args: asked.details(),
                answer: Source::Nothing,
                refused: None,
            });
            planned.len() - 1
        };
        let rehearsed = match self.run.admit(tool, args).await {
            Ok(()) => self.run.rehearse(tool, args).await,
            Err(refused) => Err(refused),
        };
        match rehearsed {
            Ok(output_schema) => {
                let (told, source) = self.make_up(&asked, output_schema.as_ref());
                self.lock()[place].answer = source;
                told.answer()
            }
            Err(failure) => {
                let mut planned = self.lock();
                planned[place].answer = Source::Refusal;
                planned[place].refused = Some(failure.clone());
                Err(failure)
            }
        }
    }

    fn make_up(&self, asked: &RecordedRequest, output_schema: Option<&Value>) -> (RecordedAnswer, Source) {
        let Sources {
            fixtures, observed, ..
        } = &self.sources;
        if let RecordedRequest::Call { tool, args } = asked
            && let Some(told) = fixtures.find(tool, args)
        {
            return (told, Source::Fixture);
        }
        if let Some(told) = self.recorded(asked) {
            return (told, Source::Recording);
        }
        if let Some(schema) = output_schema {
            return (RecordedAnswer::Value(example_of(schema)), Source::Example);
        }
        if let RecordedRequest::Call { tool, .. } = asked
            && let Some(schema) = observed(tool)
        {
            return (RecordedAnswer::Value(example_of(&schema)), Source::Observed);
        }
        (RecordedAnswer::Value(Value::Null), Source::Nothing)
    }

    fn recorded(&self, asked: &RecordedRequest) -> Option<RecordedAnswer> {
        let entry = self.sources.recorded.as_ref()?.find(asked).ok()?;
        Some(entry.answer).filter(|told| *told != RecordedAnswer::Unanswered)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Planned>> {
        // Entries are only ever added and completed, each in one step.
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolHost for DryRun {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        self.run.search(query, limit, threshold)
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        self.run.describe(tool)
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            let asked = RecordedRequest::offer(server, offer);
            match self.recorded(&asked) {
                Some(told) => told.answer(),
                None => Err(Failure::new(
                    "unrecorded",
                    format!(
                        "a dry run asks no server for the {}; give it a recording that has it with --replay",
                        asked.title()
                    ),
                )),
            }
        })
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(self.rehearse(tool, args))
    }

    fn store<'a>(&'a self, key: &'a str, value: &'a RawValue) -> HostFuture<'a, Answer> {
        self.run.store(key, value)
    }

    fn load<'a>(&'a self, key: &'a str) -> HostFuture<'a, Answer> {
        self.run.load(key)
    }
}
