//! A plan as a Mermaid flowchart.

use std::fmt::Write;

use super::{does, edges, is_direction_mark, outcome, report_of};
use crate::plan::{Plan, TaskKind};
use crate::report::WorkflowReport;

/// A flowchart, for Markdown.
pub fn mermaid(plan: &Plan, report: Option<&WorkflowReport>) -> String {
    let mut out = String::from("flowchart LR\n");
    for (node, task) in plan.tasks.iter().enumerate() {
        let state = report_of(report, node);
        let times = state.map_or_else(String::new, |task| format!("<br/>{}", outcome(task)));
        let label = format!("{}<br/>{}{times}", escaped(&task.id), escaped(&does(task)));
        let (open, close) = match task.kind() {
            TaskKind::Tool => ("[\"", "\"]"),
            TaskKind::Code => ("([\"", "\"])"),
        };
        let class = state.map_or_else(String::new, |task| format!(":::{}", task.state.as_str()));
        // Writing to a string does not fail.
        let _ = writeln!(out, "  n{node}{open}{label}{close}{class}");
    }
    for (index, race) in plan.races.iter().enumerate() {
        let node = plan.tasks.len() + index;
        let _ = writeln!(out, "  n{node}{{\"first of {}\"}}", escaped(&race.name));
    }
    for (from, to, is_fallback) in edges(plan) {
        let arrow = if is_fallback { "-. fails .->" } else { "-->" };
        let _ = writeln!(out, "  n{from} {arrow} n{to}");
    }
    if report.is_some() {
        for (state, fill, line) in super::svg::COLORS {
            let _ = writeln!(out, "  classDef {state} fill:{fill},stroke:{line}");
        }
    }
    out
}

/// Text inside quotes, with entities for what would end them or begin markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("#quot;"),
            '#' => escaped.push_str("#35;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            '&' => escaped.push_str("#amp;"),
            '`' => escaped.push_str("#96;"),
            c if c.is_control() => escaped.push(' '),
            c if is_direction_mark(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
