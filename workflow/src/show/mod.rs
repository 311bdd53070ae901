//! Plans as pictures: text, Mermaid, Graphviz and SVG, with the times of a run if there is one.

mod dot;
mod layout;
mod mermaid;
mod svg;
mod text;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;
pub use text::text;

use serde_json::{Value, json};

use crate::plan::{Plan, Task};
use crate::report::{TaskReport, Times, WorkflowReport};

/// The plan and its graph as JSON.
pub fn json(plan: &Plan, report: Option<&WorkflowReport>) -> Value {
    let graph = plan.graph();
    let task = |(node, task): (usize, &Task)| {
        json!({
            "id": task.id,
            "does": does(task),
            "layer": graph.level(node),
            "after": graph.before(node).iter().map(|edge| plan.name_of(edge.node)).collect::<Vec<_>>(),
            "race": task.race.map(|race| plan.races[race].name.clone()),
            "fallbackOf": graph.fallback_of(node).map(|other| plan.name_of(other)),
        })
    };
    json!({
        "name": plan.name,
        "layers": graph.layers(),
        "tasks": plan.tasks.iter().enumerate().map(task).collect::<Vec<_>>(),
        "run": report.map(|report| json!({ "tasks": report.tasks, "times": report.times })),
    })
}

/// What a task does, in a few words.
fn does(task: &Task) -> String {
    let what = task.tool().unwrap_or("code").to_owned();
    match task.for_each {
        Some(_) => format!("{what} × each"),
        None => what,
    }
}

/// How a task ended, in a few words.
fn outcome(task: &TaskReport) -> String {
    let items = task
        .items
        .map_or_else(String::new, |(done, all)| format!(" {done}/{all}"));
    let attempts = match task.attempts {
        0 | 1 => String::new(),
        attempts if task.items.is_none() => format!(" ({attempts} attempts)"),
        _ => String::new(),
    };
    match task.start_ms {
        Some(_) => format!("{}{items} {}{attempts}", task.state.as_str(), time(task.ms)),
        None => task.state.as_str().to_owned(),
    }
}

/// Whether a character turns the direction of a text around, so that a name looks like another one.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether the speed-up says something: not of a run that did nothing, or that waited for a person.
fn has_speedup(times: &Times) -> bool {
    times.speedup >= 0.5
}

/// Milliseconds as a person reads them.
pub fn time(ms: f64) -> String {
    if ms >= 10_000.0 {
        format!("{:.1} s", ms / 1e3)
    } else if ms >= 10.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{ms:.1} ms")
    }
}

/// The nodes that a picture has: tasks and races, with the edges into them.
fn edges(plan: &Plan) -> impl Iterator<Item = (usize, usize, bool)> + '_ {
    let graph = plan.graph();
    (0..graph.nodes()).flat_map(move |node| {
        let is_fallback = graph.fallback_of(node).is_some();
        let edges = graph.before(node).iter();
        edges.map(move |edge| (edge.node, node, is_fallback))
    })
}

fn report_of(report: Option<&WorkflowReport>, node: usize) -> Option<&TaskReport> {
    report.and_then(|report| report.tasks.get(node))
}
