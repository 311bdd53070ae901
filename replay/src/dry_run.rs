//! A rehearsal: everything that happens before a call is sent happens, and nothing is sent.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost};
use pml_session::Run;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::asked::Asked;
use crate::example::example_of;
use crate::fixtures::Fixtures;
use crate::recording::Told;
use crate::replay::Replay;

/// Tools that are found and described as ever, and never called. A call is checked against its
/// schema, the policy and the budgets; its answer is a fixture, else a recorded one, else an
/// example of the tool's output schema, else `null`.
pub struct DryRun {
    run: Run,
    fixtures: Fixtures,
    recorded: Option<Replay>,
    planned: Mutex<Vec<Planned>>,
}

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
    /// Nobody knows what the tool answers: the script got `null`.
    Nothing,
    /// The call would have been refused: the script got the refusal.
    Refusal,
}

impl DryRun {
    pub fn new(run: Run, fixtures: Fixtures, recorded: Option<Replay>) -> Self {
        Self {
            run,
            fixtures,
            recorded,
            planned: Mutex::default(),
        }
    }

    /// The calls that would have been made, in order.
    pub fn planned(&self) -> Vec<Planned> {
        self.lock().clone()
    }

    async fn rehearse(&self, tool: &str, args: &RawValue) -> Answer {
        let asked = Asked::call(tool, args);
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
        match self.run.rehearse(tool, args).await {
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

    fn make_up(&self, asked: &Asked, output_schema: Option<&Value>) -> (Told, Source) {
        if let Asked::Call { tool, args } = asked
            && let Some(told) = self.fixtures.find(tool, args)
        {
            return (told, Source::Fixture);
        }
        let recorded = self.recorded.as_ref();
        if let Some(Ok(told)) = recorded.map(|recorded| recorded.find(asked)) {
            return (told, Source::Recording);
        }
        match output_schema {
            Some(schema) => (Told::Value(example_of(schema)), Source::Example),
            None => (Told::Value(Value::Null), Source::Nothing),
        }
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
            let asked = Asked::offer(server, offer);
            let recorded = self.recorded.as_ref();
            match recorded.map(|recorded| recorded.find(&asked)) {
                Some(Ok(told)) => told.answer(),
                _ => Err(Failure::new(
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
}
