//! A plan as lines of text, layer by layer.

use std::fmt::Write;

use super::{does, has_speedup, outcome, report_of, time};
use crate::plan::{Fallback, Plan};
use crate::report::WorkflowReport;

/// The widest column of ids.
const MAX_ID_WIDTH: usize = 32;

/// The layers of a plan and what each task waits for; with a run, how each task ended.
pub fn text(plan: &Plan, report: Option<&WorkflowReport>) -> String {
    let graph = plan.graph();
    let mut out = String::new();
    let (tasks, layers) = (plan.tasks.len(), graph.layers());
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "{}{tasks} task{}, {layers} layer{}",
        plan.name
            .as_ref()
            .map_or_else(String::new, |name| format!("{name}: ")),
        if tasks == 1 { "" } else { "s" },
        if layers == 1 { "" } else { "s" },
    );
    let widest = plan.tasks.iter().map(|task| task.id.chars().count()).max();
    let width = widest.unwrap_or(0).min(MAX_ID_WIDTH);
    let mut order: Vec<usize> = (0..tasks).collect();
    order.sort_by_key(|node| graph.level(*node));
    for node in order {
        let task = &plan.tasks[node];
        let mut notes = Vec::new();
        if let Some(task) = report_of(report, node) {
            notes.push(outcome(task));
        }
        if let Some(primary) = graph.fallback_of(node) {
            notes.push(format!("fallback of {}", plan.name_of(primary)));
        } else if !graph.before(node).is_empty() {
            let names: Vec<&str> = graph
                .before(node)
                .iter()
                .map(|edge| plan.name_of(edge.node))
                .collect();
            notes.push(format!("after {}", shortened(&names)));
        }
        if let Some(race) = task.race {
            notes.push(format!("race {}", plan.races[race].name));
        }
        if matches!(task.fallback, Some(Fallback::Inline(_))) {
            notes.push("has a fallback".to_owned());
        }
        if task.optional {
            notes.push("optional".to_owned());
        }
        if task.approve.is_some() {
            notes.push("asks first".to_owned());
        }
        let _ = writeln!(
            out,
            "{:>3}  {:width$}  {}{}{}",
            graph.level(node) + 1,
            task.id,
            does(task),
            if notes.is_empty() { "" } else { "  · " },
            notes.join(" · "),
        );
        if let Some(error) = report_of(report, node).and_then(|task| task.error.as_ref()) {
            let _ = writeln!(out, "     {:width$}  {}", "", error.message);
        }
    }
    if let Some(report) = report {
        let times = &report.times;
        let _ = write!(out, "{} in all", time(times.wall_ms));
        if has_speedup(times) {
            let (sequential, speedup) = (time(times.sequential_ms), times.speedup);
            let _ = write!(
                out,
                ", {sequential} one after another: {speedup:.1} times faster"
            );
        }
        let path: Vec<&str> = times.critical_path.iter().map(String::as_str).collect();
        if !path.is_empty() {
            let (critical, path) = (time(times.critical_path_ms), shortened(&path));
            let _ = write!(
                out,
                "; critical path {critical} ({})",
                path.replace(", ", " → ")
            );
        }
        out.push('\n');
    }
    out
}

fn shortened(names: &[&str]) -> String {
    const MAX: usize = 6;
    let mut text = names
        .iter()
        .take(MAX)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MAX {
        text.push_str(&format!(", and {} more", names.len() - MAX));
    }
    text
}
