//! A plan as a Graphviz graph.

use std::fmt::Write;

use super::{does, edges, is_direction_mark, outcome, report_of};
use crate::plan::{Plan, TaskKind};
use crate::report::WorkflowReport;

/// A directed graph, for `dot`.
pub fn dot(plan: &Plan, report: Option<&WorkflowReport>) -> String {
    let mut out = String::from(
        "digraph plan {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", style=\"filled,rounded\", fillcolor=\"#ffffff\"];\n",
    );
    for (node, task) in plan.tasks.iter().enumerate() {
        let state = report_of(report, node);
        let times = state.map_or_else(String::new, |task| format!("\\n{}", outcome(task)));
        let shape = match task.kind() {
            TaskKind::Tool => "box",
            TaskKind::Code => "ellipse",
        };
        let color = state
            .and_then(|task| {
                let colors = super::svg::COLORS.iter();
                colors
                    .clone()
                    .find(|(name, ..)| *name == task.state.as_str())
            })
            .map_or_else(String::new, |(_, fill, line)| {
                format!(", fillcolor=\"{fill}\", color=\"{line}\"")
            });
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "  n{node} [shape={shape}, label=\"{}\\n{}{times}\"{color}];",
            escaped(&task.id),
            escaped(&does(task)),
        );
    }
    for (index, race) in plan.races.iter().enumerate() {
        let node = plan.tasks.len() + index;
        let name = escaped(&race.name);
        let _ = writeln!(out, "  n{node} [shape=diamond, label=\"first of {name}\"];");
    }
    for (from, to, is_fallback) in edges(plan) {
        let style = if is_fallback {
            " [style=dashed, label=\"fails\"]"
        } else {
            ""
        };
        let _ = writeln!(out, "  n{from} -> n{to}{style};");
    }
    out.push_str("}\n");
    out
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            c if c.is_control() => escaped.push(' '),
            c if is_direction_mark(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
