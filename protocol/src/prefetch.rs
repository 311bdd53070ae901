//! The calls that a script will make, as its worker foresees them, and who starts them ahead of time.
//!
//! The worker finds the calls in the syntax tree and sends them with `Parsed`. It does not know what
//! the tools do; the broker starts calls of class `read` alone, up to the first that is anything else.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::host::HostFuture;
use crate::outcome::SpeculationStats;
use crate::request::Request;
use crate::run_context::RunContext;

/// The steps that a script will take, in the order of the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PrefetchPlan {
    /// The steps.
    pub steps: Vec<PrefetchStep>,
}

/// One step of a [`PrefetchPlan`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefetchStep {
    /// A call of a tool.
    Call {
        /// The number that later steps refer to its result by.
        id: u32,
        /// `server:tool`, as the script writes it.
        tool: String,
        /// The object of arguments; `None` if it is only known when the script runs.
        args: Option<PrefetchValue>,
    },
    /// A `load` of a stored value.
    Load {
        /// The number that later steps refer to its value by.
        id: u32,
        /// The key.
        key: String,
    },
    /// The same steps for each item of a list.
    Each {
        /// The number by which [`PrefetchValue::Item`] refers to the item.
        id: u32,
        /// The list.
        list: PrefetchValue,
        /// The steps.
        steps: Vec<PrefetchStep>,
    },
}

/// A value that is known without running the script, given the results of earlier steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefetchValue {
    /// A constant.
    Json(Value),
    /// The result of a call, or a loaded value.
    Result(u32),
    /// The current item of an `each` step.
    Item(u32),
    /// A property.
    Get(Box<PrefetchValue>, String),
    /// An element of a list.
    At(Box<PrefetchValue>, u32),
    /// The elements of a list between two places.
    Slice(Box<PrefetchValue>, u32, Option<u32>),
    /// A template string: its parts, one after the other.
    Text(Vec<PrefetchValue>),
    /// An object.
    Object(Vec<(String, PrefetchValue)>),
    /// A list.
    List(Vec<PrefetchValue>),
}

impl PrefetchPlan {
    /// The most steps of one plan.
    pub const MAX_STEPS: usize = 256;
    /// The most `each` steps inside each other.
    pub const MAX_NESTING: usize = 3;
    /// The most nodes of all values together.
    pub const MAX_VALUES: usize = 8_192;
    /// The most bytes of all texts together.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Bounds a plan that a worker sent: one that is too large, or names what no script could, is
    /// dropped whole.
    #[must_use]
    pub fn sanitized(self) -> Self {
        let mut bounds = Bounds {
            steps: Self::MAX_STEPS,
            values: Self::MAX_VALUES,
            bytes: Self::MAX_BYTES,
        };
        match bounds.admit_steps(&self.steps, Self::MAX_NESTING) {
            Some(()) => self,
            None => Self::default(),
        }
    }

    /// Whether there is nothing to start.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// What a plan may still have.
struct Bounds {
    steps: usize,
    values: usize,
    bytes: usize,
}

/// Values deeper than this are not walked: a message may be a million brackets.
const MAX_DEPTH: usize = 64;

impl Bounds {
    fn admit_steps(&mut self, steps: &[PrefetchStep], nesting: usize) -> Option<()> {
        for step in steps {
            self.steps = self.steps.checked_sub(1)?;
            match step {
                PrefetchStep::Call { tool, args, .. } => {
                    self.admit_name(tool)?;
                    if let Some(args) = args {
                        self.admit_value(args, MAX_DEPTH)?;
                    }
                }
                PrefetchStep::Load { key, .. } => self.admit_name(key)?,
                PrefetchStep::Each { list, steps, .. } => {
                    self.admit_value(list, MAX_DEPTH)?;
                    self.admit_steps(steps, nesting.checked_sub(1)?)?;
                }
            }
        }
        Some(())
    }

    fn admit_name(&mut self, name: &str) -> Option<()> {
        let fits = !name.is_empty() && name.len() <= Request::MAX_ID_BYTES;
        self.admit_text(name)?;
        fits.then_some(())
    }

    fn admit_text(&mut self, text: &str) -> Option<()> {
        self.bytes = self.bytes.checked_sub(text.len())?;
        Some(())
    }

    fn admit_value(&mut self, value: &PrefetchValue, depth: usize) -> Option<()> {
        self.values = self.values.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        match value {
            PrefetchValue::Json(json) => self.admit_json(json, depth),
            PrefetchValue::Result(_) | PrefetchValue::Item(_) => Some(()),
            PrefetchValue::Get(of, key) => {
                self.admit_text(key)?;
                self.admit_value(of, depth)
            }
            PrefetchValue::At(of, _) | PrefetchValue::Slice(of, ..) => self.admit_value(of, depth),
            PrefetchValue::Text(parts) | PrefetchValue::List(parts) => parts
                .iter()
                .try_for_each(|part| self.admit_value(part, depth)),
            PrefetchValue::Object(fields) => fields.iter().try_for_each(|(key, value)| {
                self.admit_text(key)?;
                self.admit_value(value, depth)
            }),
        }
    }

    fn admit_json(&mut self, json: &Value, depth: usize) -> Option<()> {
        self.values = self.values.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        match json {
            Value::String(text) => self.admit_text(text),
            Value::Array(items) => items
                .iter()
                .try_for_each(|item| self.admit_json(item, depth)),
            Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
                self.admit_text(key)?;
                self.admit_json(value, depth)
            }),
            _ => Some(()),
        }
    }
}

/// Starts the calls of a plan before the script makes them.
pub trait Speculate: Send + Sync {
    /// Starts the calls of a plan, which may be anything that a worker can send. The run loop polls the
    /// future while the run lasts.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the calls that no call of the script waits for.
    fn speculate(self: Arc<Self>, plan: PrefetchPlan, run: RunContext) -> HostFuture<'static, ()>;

    /// What became of the calls so far.
    fn stats(&self) -> SpeculationStats;

    /// The calls that were started, for a timeline.
    fn started(&self) -> Vec<SpeculatedCall>;
}

/// A call that was started before the script made it.
#[derive(Debug, Clone)]
pub struct SpeculatedCall {
    /// The tool's id.
    pub tool: String,
    /// When it was started.
    pub began: Instant,
    /// When it was answered, if it was.
    pub ended: Option<Instant>,
    /// Whether the script took its result.
    pub is_taken: bool,
}

/// Who speculates in a run, if anything does.
#[derive(Clone, Default)]
pub struct Speculation(pub Option<Arc<dyn Speculate>>);

impl fmt::Debug for Speculation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Speculation")
            .field(&self.0.as_ref().map(|speculate| speculate.stats()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, args: PrefetchValue) -> PrefetchStep {
        PrefetchStep::Call {
            id: 0,
            tool: tool.to_owned(),
            args: Some(args),
        }
    }

    #[test]
    fn a_plan_of_a_script_passes_as_it_is() {
        let plan = PrefetchPlan {
            steps: vec![
                call("a:b", PrefetchValue::Json(json!({ "path": "x" }))),
                PrefetchStep::Each {
                    id: 1,
                    list: PrefetchValue::Result(0),
                    steps: vec![call("a:c", PrefetchValue::Item(1))],
                },
            ],
        };
        assert_eq!(plan.clone().sanitized(), plan);
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<PrefetchPlan>(&json).unwrap(), plan);
    }

    #[test]
    fn a_plan_over_a_bound_is_dropped() {
        let long = "x".repeat(Request::MAX_ID_BYTES + 1);
        let null = || PrefetchValue::Json(Value::Null);
        let mut deep = null();
        for _ in 0..100 {
            deep = PrefetchValue::At(Box::new(deep), 0);
        }
        let mut nested = vec![call("a:b", null())];
        for id in 0..=PrefetchPlan::MAX_NESTING {
            nested = vec![PrefetchStep::Each {
                id: id as u32,
                list: null(),
                steps: nested,
            }];
        }
        for steps in [
            vec![call(&long, null())],
            vec![call("", null())],
            vec![call("a:b", null()); PrefetchPlan::MAX_STEPS + 1],
            vec![call("a:b", deep)],
            vec![call(
                "a:b",
                PrefetchValue::List(vec![null(); PrefetchPlan::MAX_VALUES]),
            )],
            vec![call(
                "a:b",
                PrefetchValue::Json(json!("x".repeat(PrefetchPlan::MAX_BYTES + 1))),
            )],
            nested,
        ] {
            assert!(PrefetchPlan { steps }.sanitized().is_empty());
        }
    }
}
