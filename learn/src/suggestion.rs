//! What a model suggests: a plan, how sure it is of it, and what it is good for.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::arguments::{Filled, FilledArgument};

/// A suggested plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    pub tasks: Vec<Task>,
    /// Which task needs which: places in `tasks`.
    pub edges: Vec<(usize, usize)>,
    /// The probability that a run calls exactly these tools.
    pub confidence: f64,
    pub tier: Tier,
}

/// A call of a suggested plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    pub tool: String,
    /// Whether the tool has no effect.
    pub read: bool,
    /// The probability that a run makes this call.
    pub confidence: f64,
    /// Whether it reads only, and is so sure that it may run before it is asked for.
    pub ahead: bool,
    pub arguments: Vec<FilledArgument>,
}

/// What a suggestion is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Tools that may help.
    List,
    /// A plan to look at.
    Propose,
    /// A plan whose reads may run ahead.
    Act,
}

impl Tier {
    /// The tier in one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Propose => "propose",
            Self::Act => "act",
        }
    }
}

impl Task {
    /// Whether every argument that the tool needs is known, or known once earlier tasks have ended.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.arguments
            .iter()
            .all(|argument| argument.value != Filled::Missing)
    }
}

impl Plan {
    /// The plan for `pml workflow run`. An argument that is not known is an input of the plan.
    #[must_use]
    pub fn workflow(&self) -> Value {
        let id = |at: usize| format!("t{}", at + 1);
        let tasks: Vec<Value> = self
            .tasks
            .iter()
            .enumerate()
            .map(|(at, task)| {
                let mut args = Map::new();
                for argument in &task.arguments {
                    let value = match &argument.value {
                        Filled::Value(value) => value.clone(),
                        Filled::Result { task, path } => reference(&id(*task), path).into(),
                        Filled::Missing => {
                            format!("$INPUT.{}_{}", id(at), name_of(&argument.path)).into()
                        }
                    };
                    insert(&mut args, &argument.path, value);
                }
                let needs: Vec<String> =
                    self.edges.iter().filter(|(_, to)| *to == at).map(|(from, _)| id(*from)).collect();
                match needs.is_empty() {
                    true => json!({ "id": id(at), "tool": task.tool, "args": args }),
                    false => {
                        json!({ "id": id(at), "tool": task.tool, "args": args, "depends_on": needs })
                    }
                }
            })
            .collect();
        json!({ "tasks": tasks })
    }

    /// The plan in a line for a model, of at most `max_chars` characters; arguments are left out first.
    #[must_use]
    pub fn compact(&self, max_chars: usize) -> String {
        let line = |with_arguments: bool, count: usize| {
            let tasks = self
                .tasks
                .iter()
                .take(count)
                .map(|task| match with_arguments {
                    true => format!("{}({})", task.tool, self.known_arguments(task)),
                    false => task.tool.clone(),
                });
            let mut line = tasks.collect::<Vec<_>>().join(" → ");
            if count < self.tasks.len() {
                line.push_str(" → …");
            }
            format!("Likely plan ({:.0} %): {line}", self.confidence * 100.0)
        };
        let fits = |line: &String| line.chars().count() <= max_chars;
        let all = self.tasks.len();
        Some(line(true, all))
            .filter(fits)
            .or_else(|| (1..=all).rev().map(|count| line(false, count)).find(fits))
            .unwrap_or_default()
    }

    fn known_arguments(&self, task: &Task) -> String {
        let shown = task
            .arguments
            .iter()
            .filter_map(|argument| match &argument.value {
                Filled::Value(value) => Some(format!("{}: {value}", argument.path)),
                Filled::Result { task, path } => {
                    let from = &self.tasks.get(*task)?.tool;
                    let path = if path.is_empty() {
                        String::new()
                    } else {
                        format!(".{path}")
                    };
                    Some(format!("{}: {from}{path}", argument.path))
                }
                Filled::Missing => None,
            });
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// A reference to a part of a result, as plans write it; of a list the first element.
fn reference(task: &str, path: &str) -> String {
    let path = path.replace("[*]", "[0]");
    match path.is_empty() || path.starts_with('[') {
        true => format!("$OUTPUT[{task}]{path}"),
        false => format!("$OUTPUT[{task}].{path}"),
    }
}

fn name_of(path: &str) -> String {
    path.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect()
}

/// Sets `filter.owner` inside of nested objects.
fn insert(args: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        Some((head, rest)) => {
            let inner = args
                .entry(head)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
        None => {
            args.insert(path.to_owned(), value);
        }
    }
}
