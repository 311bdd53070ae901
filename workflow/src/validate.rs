//! Mistakes of a plan as a whole: cycles, chains that are too long, tools that do not exist.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::error::{Problem, shown};
use crate::graph::{Edge, Graph, Need};
use crate::limits::PlanLimits;
use crate::plan::{Action, Fallback, Plan, Task};
use crate::reference::{Condition, Operand, Reference, Root, Segment};
use crate::{PlanError, schema_fit};

/// Nodes of a cycle that a message names.
const MAX_CYCLE: usize = 12;

/// The graph of a plan.
///
/// # Errors
///
/// A cycle, with its path; a graph over the limits.
pub fn graph(plan: &Plan, limits: &PlanLimits) -> Result<Graph, PlanError> {
    let mut fallback_of = vec![None; plan.nodes()];
    for (index, task) in plan.tasks.iter().enumerate() {
        if let Some(Fallback::Task(other)) = task.fallback {
            if let Some(first) = fallback_of[other] {
                let first: usize = first;
                let message = format!(
                    "{} is the fallback of {} already; a task is the fallback of one other",
                    shown(&plan.tasks[other].id),
                    shown(&plan.tasks[first].id)
                );
                return Err(Problem::new(format!("tasks[{index}].fallback"), message).into());
            }
            fallback_of[other] = Some(index);
        }
    }
    let mut before: Vec<Vec<Edge>> = Vec::with_capacity(plan.nodes());
    let mut edges = 0;
    for (index, task) in plan.tasks.iter().enumerate() {
        let mut own = match fallback_of[index] {
            // It ends with the task that it stands in for.
            Some(primary) => vec![Edge {
                node: primary,
                need: Need::End,
            }],
            None => edges_of(task),
        };
        if let Some(Fallback::Task(other)) = task.fallback {
            own.extend(edges_of(&plan.tasks[other]));
            // A fallback may look at the failure that it stands in for.
            own.retain(|edge| edge.node != index);
        }
        if matches!(task.fallback, Some(Fallback::Inline(_))) {
            own.retain(|edge| edge.node != index || edge.need != Need::End);
        }
        edges += own.len();
        if edges > limits.edges {
            let message = format!("more than {} dependencies", limits.edges);
            return Err(Problem::new("tasks", message).into());
        }
        before.push(own);
    }
    for race in &plan.races {
        let member = |node: &usize| Edge {
            node: *node,
            need: Need::End,
        };
        before.push(race.members.iter().map(member).collect());
    }
    let graph = Graph::new(before, fallback_of).map_err(|cycle| {
        let mut names: Vec<String> = cycle
            .iter()
            .take(MAX_CYCLE)
            .map(|node| shown(plan.name_of(*node)))
            .collect();
        if cycle.len() > MAX_CYCLE {
            names.push(format!("{} more", cycle.len() - MAX_CYCLE));
        }
        names.extend(cycle.first().map(|node| shown(plan.name_of(*node))));
        let message = format!("the tasks wait for each other: {}", names.join(" → "));
        let place = cycle.first().map_or(0, |node| *node);
        Problem::new(format!("tasks[{place}]"), message)
    })?;
    if graph.layers() > limits.depth {
        let message = format!(
            "the longest chain has {} tasks; the limit is {}",
            graph.layers(),
            limits.depth
        );
        return Err(Problem::new("tasks", message).into());
    }
    unreachable(plan, &graph)?;
    Ok(graph)
}

fn edges_of(task: &Task) -> Vec<Edge> {
    let mut edges: Vec<Edge> = task
        .depends_on
        .iter()
        .map(|node| Edge {
            node: *node,
            need: Need::Success,
        })
        .collect();
    task.references(&mut |reference| {
        let need = match reference.root {
            Root::Output(_) if reference.is_optional() => Need::Success,
            Root::Output(_) => Need::Output,
            Root::Error(_) => Need::End,
            Root::Input | Root::Item | Root::Index => return,
        };
        edges.extend(reference.node().map(|node| Edge { node, need }));
    });
    edges
}

/// Tasks that no input can make run.
fn unreachable(plan: &Plan, graph: &Graph) -> Result<(), PlanError> {
    let is_never = |task: &Task| {
        let literal = match &task.when {
            Some(Condition::Value(Operand::Literal(value))) => value,
            _ => return false,
        };
        matches!(literal, Value::Bool(false) | Value::Null)
    };
    let mut problems = Vec::new();
    for (index, task) in plan.tasks.iter().enumerate() {
        if is_never(task) {
            let message = format!("{} can never run: `when` is always false", shown(&task.id));
            problems.push(Problem::new(format!("tasks[{index}].when"), message));
        }
        let after_never = graph.before(index).iter().find(|edge| {
            edge.need == Need::Output && plan.tasks.get(edge.node).is_some_and(is_never)
        });
        if let Some(edge) = after_never {
            let message = format!(
                "{} can never run: it needs the output of {}, which never runs",
                shown(&task.id),
                shown(plan.name_of(edge.node))
            );
            problems.push(Problem::new(format!("tasks[{index}]"), message));
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(PlanError::Invalid(problems)),
    }
}

/// A tool that exists.
#[derive(Debug, Clone)]
pub struct KnownTool {
    /// `server:tool`
    pub id: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// Mistakes that need the tools: tools that do not exist, with the nearest that does, and arguments
/// that cannot fit. Tools of the servers `unlisted` are not judged.
pub fn check_tools(plan: &Plan, tools: &[KnownTool], unlisted: &HashSet<String>) -> Vec<Problem> {
    let known: HashMap<&str, &KnownTool> =
        tools.iter().map(|tool| (tool.id.as_str(), tool)).collect();
    let mut problems = Vec::new();
    let mut check = |place: String, task: &Task| {
        let Action::Tool { tool, args } = &task.action else {
            return;
        };
        let (id, _) = pml_protocol::split_version(tool);
        let server = id.split_once(':').map_or("", |(server, _)| server);
        match known.get(id) {
            Some(known) => {
                for (path, message) in schema_fit::misfits(args, &known.schema) {
                    problems.push(Problem::new(format!("{place}.args{path}"), message));
                }
            }
            None if unlisted.contains(server) => {}
            None => {
                let near = pml_nearest::nearest(id, known.keys().copied(), 1);
                let near = near
                    .first()
                    .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let message = format!("there is no tool {}{near}", shown(tool));
                problems.push(Problem::new(format!("{place}.tool"), message));
            }
        }
    };
    for (index, task) in plan.tasks.iter().enumerate() {
        let place = format!("tasks[{index}]");
        if let Some(Fallback::Inline(fallback)) = &task.fallback {
            check(format!("{place}.fallback"), fallback);
        }
        check(place, task);
    }
    problems
}

/// References to inputs that neither the plan nor the caller has. `remedy` says how the caller passes one: for the
/// input `dir`, `--input dir=…`.
pub fn missing_inputs(plan: &Plan, input: &Value, remedy: impl Fn(&str) -> String) -> Vec<Problem> {
    let mut problems = Vec::new();
    let empty = serde_json::Map::new();
    let given = input.as_object().unwrap_or(&empty);
    let mut visit = |place: &str, reference: &Reference| {
        let (Root::Input, Some(Segment::Key(key))) = (reference.root, reference.path.first())
        else {
            return;
        };
        let is_known = given.contains_key(key) || plan.input.contains_key(key);
        if !is_known && reference.optional == 0 {
            let names = given.keys().chain(plan.input.keys()).map(String::as_str);
            let near = crate::error::suggestion(key, names);
            let what = format!("the input {} is missing", shown(key));
            let message = match near.is_empty() {
                true => format!(
                    "{what}; {}, or give it a default in the plan's `input`",
                    remedy(key)
                ),
                false => format!("{what}{near}"),
            };
            problems.push(Problem::new(place, message));
        }
    };
    for (index, task) in plan.tasks.iter().enumerate() {
        let place = format!("tasks[{index}]");
        task.references(&mut |reference| visit(&place, reference));
    }
    if let Some(output) = &plan.output {
        output.references(&mut |reference| visit("output", reference));
    }
    problems.dedup();
    problems
}
