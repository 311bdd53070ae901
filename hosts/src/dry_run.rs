//! The layer that answers calls without sending them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_protocol::{
    Failure, FailureKind, GuardNote, HostFuture, Request, RunContext, ToolHost, ToolResult,
};
use serde::Serialize;
use serde_json::Value;

use crate::arguments;
use crate::example_value::example_of;
use crate::fixtures::Fixtures;
use crate::recorded_request::RecordedRequest;
use crate::recording::RecordedAnswer;
use crate::replay::Replay;

/// Checks every call and sends none. Search and description work as in a live run. A call is checked
/// against its schema, the policy, the budgets and the approval by the layers below, which answer with
/// the tool's output schema. The script gets a made-up value, see [`AnswerSources`].
pub struct DryRun<H> {
    inner: H,
    sources: AnswerSources,
    planned: Mutex<Vec<PlannedCall>>,
}

/// The sources of values, in their order: a fixture, a recording, an example of the
/// tool's output schema, an example of its results in earlier runs. Else `null`.
pub struct AnswerSources {
    /// Answers written by hand.
    pub fixtures: Fixtures,
    /// Answers of an earlier run.
    pub recorded: Option<Replay>,
    /// Shapes of results in earlier runs.
    pub observed: ResultSchemas,
}

/// The JSON Schema of the results that a tool has given, by tool id.
pub type ResultSchemas = Box<dyn Fn(&str) -> Option<Value> + Send + Sync>;

/// A call that would have been sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCall {
    /// `server:tool`
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// Where the script's answer came from.
    pub answer: AnswerSource,
    /// Why it would have been refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Failure>,
    /// What guards say about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardNote>,
}

/// Where the answer of a planned call came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerSource {
    /// A fixture.
    Fixture,
    /// A recording.
    Recording,
    /// An example of the tool's output schema.
    Example,
    /// An example of results in earlier runs.
    Observed,
    /// Nothing is known of the tool's results: the script got `null`.
    Nothing,
    /// The call would have been refused: the script got the refusal.
    Refusal,
}

impl<H> DryRun<H> {
    pub(crate) fn new(inner: H, sources: AnswerSources) -> Self {
        Self {
            inner,
            sources,
            planned: Mutex::default(),
        }
    }

    /// The calls that would have been sent, in order.
    pub fn planned(&self) -> Vec<PlannedCall> {
        self.lock().clone()
    }

    /// Tools with a fixture that were not called: most likely misspelt.
    pub fn unused_fixtures(&self) -> Vec<String> {
        let planned = self.lock();
        let is_called = |tool: &str| planned.iter().any(|call| call.tool == tool);
        let tools = self.sources.fixtures.tools();
        tools
            .filter(|tool| !is_called(tool))
            .map(str::to_owned)
            .collect()
    }

    fn plan(&self, tool: &str, args: Value) -> usize {
        let mut planned = self.lock();
        planned.push(PlannedCall {
            tool: tool.to_owned(),
            args,
            answer: AnswerSource::Nothing,
            refused: None,
            guards: Vec::new(),
        });
        planned.len() - 1
    }

    fn make_up(
        &self,
        tool: &str,
        recorded: &RecordedRequest,
        output_schema: Option<&Value>,
    ) -> (RecordedAnswer, AnswerSource) {
        let AnswerSources {
            fixtures, observed, ..
        } = &self.sources;
        if let Some(answer) = fixtures.find(tool, &recorded.details()) {
            return (answer, AnswerSource::Fixture);
        }
        if let Some(answer) = self.recorded(recorded) {
            return (answer, AnswerSource::Recording);
        }
        let example = |schema: &Value| RecordedAnswer::Value(example_of(schema));
        if let Some(schema) = output_schema {
            return (example(schema), AnswerSource::Example);
        }
        if let Some(schema) = observed(tool) {
            return (example(&schema), AnswerSource::Observed);
        }
        (RecordedAnswer::Value(Value::Null), AnswerSource::Nothing)
    }

    fn recorded(&self, request: &RecordedRequest) -> Option<RecordedAnswer> {
        let entry = self.sources.recorded.as_ref()?.find(request).ok()?;
        Some(entry.answer).filter(|answer| *answer != RecordedAnswer::Unanswered)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PlannedCall>> {
        // Entries are only ever added and completed, each in one step.
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: ToolHost> DryRun<H> {
    async fn call(
        &self,
        tool: &str,
        recorded: RecordedRequest,
        request: &Request,
        run: &RunContext,
    ) -> ToolResult {
        let index = self.plan(tool, recorded.details());
        let answered = self.inner.handle(request, run).await;
        self.lock()[index].guards = run.notes().guards();
        match answered {
            Ok(schema) => {
                let schema: Option<Value> = arguments::parse(&schema)?;
                let (answer, source) = self.make_up(tool, &recorded, schema.as_ref());
                self.lock()[index].answer = source;
                answer.to_result()
            }
            Err(failure) => {
                let mut planned = self.lock();
                planned[index].answer = AnswerSource::Refusal;
                planned[index].refused = Some(failure.clone());
                Err(failure)
            }
        }
    }

    fn resource(&self, recorded: &RecordedRequest) -> ToolResult {
        match self.recorded(recorded) {
            Some(answer) => answer.to_result(),
            None => Err(Failure::new(
                FailureKind::Unrecorded,
                format!(
                    "a dry run asks no server for the {}; give it a recording that has it with --replay",
                    recorded.title()
                ),
            )),
        }
    }
}

impl<H: ToolHost> ToolHost for DryRun<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match (request, RecordedRequest::of(request)) {
            (Request::Call { tool, .. }, Some(recorded)) => {
                Box::pin(self.call(tool, recorded, request, run))
            }
            (Request::Resource { .. }, Some(recorded)) => {
                Box::pin(async move { self.resource(&recorded) })
            }
            _ => self.inner.handle(request, run),
        }
    }
}
