//! The plan: its tasks, and how they are read from JSON and YAML.

mod fields;
mod read;
#[cfg(test)]
pub use read::PLAN_FIELDS;
#[cfg(test)]
pub use read_task::TASK_FIELDS;
mod read_task;
mod source;

use std::time::Duration;

use serde_json::{Map, Value};

use crate::graph::Graph;
use crate::limits::PlanLimits;
use crate::reference::{Condition, Reference, Template};
use crate::{PlanError, validate};

/// The JSON Schema of a plan, for editors.
pub const SCHEMA: &str = include_str!("../../../typings/workflow.schema.json");

/// A plan that can be run: every reference leads to a task, and there is no cycle.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What a person calls it.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Inputs that the caller may leave out.
    pub input: Map<String, Value>,
    /// The tasks, in the order of the text.
    pub tasks: Vec<Task>,
    /// The races, by name.
    pub races: Vec<Race>,
    /// What the run gives, if the plan says so.
    pub output: Option<Template>,
    /// What a failure means for the others.
    pub on_error: OnError,
    /// The time for everything.
    pub deadline: Option<Duration>,
    /// Tasks and items that run at once.
    pub concurrency: Option<usize>,
    /// Tools that share slots: a glob, and how many calls at once.
    pub pools: Vec<(String, usize)>,
    /// The order in which ended tasks are reported.
    pub order: ReportOrder,
    pub(crate) graph: Graph,
}

/// Tasks of which the first that succeeds wins. It is a node of the graph, behind the tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Race {
    /// Its name, which references use as that of a task.
    pub name: String,
    /// The tasks.
    pub members: Vec<usize>,
}

/// What a failed task means for the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// Branches that do not depend on it go on.
    #[default]
    Continue,
    /// Everything stops.
    Stop,
}

/// The order of reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReportOrder {
    /// As tasks end.
    #[default]
    Completion,
    /// As they are in the plan.
    Submission,
}

/// A task.
#[derive(Debug, Clone, Default)]
pub struct Task {
    /// The id.
    pub id: String,
    /// What it does.
    pub action: Action,
    /// Tasks that must have ended before, by place. References imply more.
    pub depends_on: Vec<usize>,
    /// Runs only if this holds.
    pub when: Option<Condition>,
    /// Runs once for every item of this list.
    pub for_each: Option<Template>,
    /// Items at once.
    pub concurrency: Option<usize>,
    /// Safe to fail.
    pub optional: bool,
    /// How often it is tried.
    pub retry: Retry,
    /// The time of one attempt.
    pub timeout: Option<Duration>,
    /// What runs if it fails.
    pub fallback: Option<Fallback>,
    /// Its race.
    pub race: Option<usize>,
    /// Tasks with a higher one start first.
    pub priority: i64,
    /// A person is asked before it starts.
    pub approve: Option<Approve>,
    /// Whether its progress and the outputs of its items are reported as they come.
    pub stream: bool,
    /// Limits of code.
    pub limits: CodeLimits,
}

/// What a task does.
#[derive(Debug, Clone)]
pub enum Action {
    /// It calls a tool.
    Tool {
        /// `server:tool`
        tool: String,
        /// The arguments.
        args: Template,
    },
    /// It runs code in a sandbox.
    Code {
        /// The code, with references as JavaScript.
        source: String,
        /// What the plan has beside the code.
        context: Template,
        /// The references of the code.
        references: Vec<Reference>,
    },
}

impl Default for Action {
    fn default() -> Self {
        Self::Tool {
            tool: String::new(),
            args: Template::Literal(Value::Object(Map::new())),
        }
    }
}

/// The kind of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// [`Action::Tool`]
    Tool,
    /// [`Action::Code`]
    Code,
}

/// How often a task is tried. Only what may be repeated is: code without effects, calls that are
/// `read` or `idempotent`, and calls that were not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all.
    pub attempts: u32,
    /// The pause before the second one; it doubles.
    pub backoff: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 1,
            backoff: Duration::from_millis(100),
        }
    }
}

/// What runs in the place of a task that failed.
#[derive(Debug, Clone)]
pub enum Fallback {
    /// Another task of the plan, which does not run otherwise.
    Task(usize),
    /// A task of its own.
    Inline(Box<Task>),
}

/// A question before a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approve {
    /// The words of the plan.
    pub message: Option<String>,
}

/// Limits that a code task asks for. They lower those of the operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeLimits {
    /// Wall-clock time.
    pub timeout_ms: Option<u64>,
    /// Bytes of heap.
    pub memory: Option<u64>,
    /// Tool calls.
    pub calls: Option<u32>,
}

impl Plan {
    /// Reads a plan from JSON or YAML, in pml's own form or that of AgentCards and LLMCompiler.
    ///
    /// # Errors
    ///
    /// Every mistake that can be seen without knowing the tools: see [`crate::check_tools`] for those.
    pub fn parse(text: &str, limits: &PlanLimits) -> Result<Self, PlanError> {
        Self::from_value(source::read(text, limits)?, limits)
    }

    /// Reads a plan from a JSON value.
    ///
    /// # Errors
    ///
    /// As [`Plan::parse`].
    pub fn from_value(value: Value, limits: &PlanLimits) -> Result<Self, PlanError> {
        let mut plan = read::plan(&value, limits)?;
        plan.graph = validate::graph(&plan, limits)?;
        Ok(plan)
    }

    /// The dependencies.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The id of a node: a task or a race.
    pub fn name_of(&self, node: usize) -> &str {
        match self.tasks.get(node) {
            Some(task) => &task.id,
            None => &self.races[node - self.tasks.len()].name,
        }
    }

    /// The number of nodes: tasks and races.
    pub fn nodes(&self) -> usize {
        self.tasks.len() + self.races.len()
    }
}

impl Task {
    /// What it does.
    pub fn kind(&self) -> TaskKind {
        match self.action {
            Action::Tool { .. } => TaskKind::Tool,
            Action::Code { .. } => TaskKind::Code,
        }
    }

    /// Its tool.
    pub fn tool(&self) -> Option<&str> {
        match &self.action {
            Action::Tool { tool, .. } => Some(tool),
            Action::Code { .. } => None,
        }
    }

    /// Passes every reference of the task to `visit`, those of an inline fallback included.
    pub fn references<'a>(&'a self, visit: &mut dyn FnMut(&'a Reference)) {
        match &self.action {
            Action::Tool { args, .. } => args.references(visit),
            Action::Code {
                context,
                references,
                ..
            } => {
                context.references(visit);
                references.iter().for_each(&mut *visit);
            }
        }
        if let Some(when) = &self.when {
            when.references(visit);
        }
        if let Some(list) = &self.for_each {
            list.references(visit);
        }
        if let Some(Fallback::Inline(task)) = &self.fallback {
            task.references(visit);
        }
    }
}
