//! A run that called tools, as it is kept on disk: a line of JSON.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::tool::{Argument, Episode, Source, Step};

/// Version of the form of a trace; one of another version is ignored.
const VERSION: u32 = 1;

/// What is kept of a run. Values are not, except those that [`Source::Constant`] says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    version: u32,
    pub tenant: String,
    pub principal: String,
    /// Seconds since 1970.
    pub at: u64,
    /// What was searched for, scrubbed.
    pub intent: String,
    /// Whether the run ended well.
    pub ok: bool,
    pub calls: Vec<TracedCall>,
}

/// One call of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracedCall {
    pub tool: String,
    pub ok: bool,
    pub ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
}

/// For whom a run was, and how it ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TracedRun {
    pub tenant: String,
    pub principal: String,
    pub at: u64,
    pub intent: String,
    pub ok: bool,
}

/// Steps of a run that a model learns from.
const MAX_STEPS: usize = 32;

impl Trace {
    /// A trace of the calls of a run. `Source::Result` names places in `calls`.
    #[must_use]
    pub fn new(run: TracedRun, calls: Vec<TracedCall>) -> Self {
        Self {
            version: VERSION,
            tenant: run.tenant,
            principal: run.principal,
            at: run.at,
            intent: run.intent,
            ok: run.ok,
            calls,
        }
    }

    /// The trace as a line without its end.
    #[must_use]
    pub fn line(&self) -> String {
        // Names and numbers always become JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line; a damaged one, or one of another version, is none.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let trace: Self = serde_json::from_str(line).ok()?;
        (trace.version == VERSION).then_some(trace)
    }

    /// What a model learns from: the calls that succeeded, of a run that ended well. `None` if there is
    /// nothing to learn.
    #[must_use]
    pub fn episode(&self) -> Option<Episode> {
        if !self.ok {
            return None;
        }
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut steps = Vec::new();
        let mut edges = Vec::new();
        for (at, call) in self.calls.iter().enumerate().filter(|(_, call)| call.ok) {
            let mut arguments = call.arguments.clone();
            for argument in &mut arguments {
                let Source::Result { step, .. } = &mut argument.source else {
                    continue;
                };
                match places.get(step) {
                    Some(place) => {
                        *step = *place;
                        edges.push((*place, steps.len()));
                    }
                    None => argument.source = Source::Other,
                }
            }
            // What a run begins with tells what it is for; a list of hundred files is read in the same way.
            if steps.len() == MAX_STEPS {
                break;
            }
            places.insert(at, steps.len());
            steps.push(Step {
                tool: call.tool.clone(),
                arguments,
            });
        }
        edges.sort_unstable();
        edges.dedup();
        (!steps.is_empty()).then(|| Episode {
            intent: self.intent.clone(),
            steps,
            edges,
        })
    }
}
