//! A plan as an SVG picture: a column per layer, a box per task.

use std::fmt::Write;

use super::{does, edges, is_direction_mark, outcome, report_of};
use crate::plan::Plan;
use crate::report::{TaskReport, WorkflowReport};

/// Fill and line of each state.
pub const COLORS: [(&str, &str, &str); 5] = [
    ("done", "#e6f4ea", "#1e7d3c"),
    ("failed", "#fce8e6", "#c5221f"),
    ("skipped", "#f1f3f4", "#80868b"),
    ("cancelled", "#fef7e0", "#b06000"),
    ("unknown", "#f3e8fd", "#8430ce"),
];
const PLAIN: (&str, &str) = ("#ffffff", "#3c4043");

const BOX: (usize, usize) = (176, 58);
const GAP: (usize, usize) = (56, 18);
const MARGIN: usize = 16;
/// Characters of a line in a box.
const LINE_CHARS: usize = 24;
/// Boxes in one picture at most: a larger one cannot be looked at.
const MAX_BOXES: usize = 2_000;

/// A picture that scales to the width of its page.
pub fn svg(plan: &Plan, report: Option<&WorkflowReport>) -> String {
    let graph = plan.graph();
    let shown = graph.nodes().min(MAX_BOXES);
    let mut rows = vec![0; graph.layers()];
    let places: Vec<(usize, usize)> = (0..shown)
        .map(|node| {
            let column = graph.level(node);
            let row = rows[column];
            rows[column] += 1;
            (
                MARGIN + column * (BOX.0 + GAP.0),
                MARGIN + row * (BOX.1 + GAP.1),
            )
        })
        .collect();
    let width = 2 * MARGIN + rows.len() * (BOX.0 + GAP.0) - GAP.0;
    let tallest = rows.iter().max().copied().unwrap_or(0);
    let height = 2 * MARGIN + tallest * (BOX.1 + GAP.1) - GAP.1;
    // On a phone the picture is scrolled: at a smaller scale its words cannot be read.
    let narrowest = width * 3 / 4;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"xMinYMin meet\" width=\"100%\" style=\"min-width:{narrowest}px;max-width:{width}px;background:#fff\" font-family=\"system-ui,sans-serif\" font-size=\"13\" role=\"img\">\n<title>{}</title>\n",
        escaped(plan.name.as_deref().unwrap_or("plan"))
    );
    out.push_str("<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#5f6368\"/></marker></defs>\n");
    for (from, to, is_fallback) in edges(plan) {
        let (Some(from), Some(to)) = (places.get(from), places.get(to)) else {
            continue;
        };
        line(&mut out, *from, *to, is_fallback);
    }
    for (node, place) in places.iter().enumerate() {
        task_box(&mut out, plan, node, *place, report_of(report, node));
    }
    out.push_str("</svg>\n");
    out
}

fn line(out: &mut String, from: (usize, usize), to: (usize, usize), is_fallback: bool) {
    let (x1, y1) = (from.0 + BOX.0, from.1 + BOX.1 / 2);
    let (x2, y2) = (to.0, to.1 + BOX.1 / 2);
    let middle = usize::midpoint(x1, x2);
    let dash = if is_fallback {
        " stroke-dasharray=\"5 4\""
    } else {
        ""
    };
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<path d=\"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}\" fill=\"none\" stroke=\"#5f6368\"{dash} marker-end=\"url(#arrow)\"/>"
    );
}

fn task_box(
    out: &mut String,
    plan: &Plan,
    node: usize,
    (x, y): (usize, usize),
    report: Option<&TaskReport>,
) {
    let (fill, stroke) = report
        .and_then(|task| {
            COLORS
                .iter()
                .find(|(name, ..)| *name == task.state.as_str())
        })
        .map_or(PLAIN, |(_, fill, line)| (*fill, *line));
    let radius = if plan
        .tasks
        .get(node)
        .is_some_and(|task| task.tool().is_none())
    {
        20
    } else {
        6
    };
    let (title, second, third) = match plan.tasks.get(node) {
        Some(task) => (
            task.id.clone(),
            does(task),
            report.map(outcome).unwrap_or_default(),
        ),
        None => (
            plan.name_of(node).to_owned(),
            "first that succeeds".to_owned(),
            String::new(),
        ),
    };
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"{radius}\" fill=\"{fill}\" stroke=\"{stroke}\"/>",
        escaped(&format!("{title}: {second} {third}")),
        BOX.0,
        BOX.1
    );
    let lines = [
        (20, "600", &title),
        (37, "400", &second),
        (52, "400", &third),
    ];
    for (dy, weight, text) in lines {
        if !text.is_empty() {
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"{weight}\" fill=\"#202124\">{}</text>",
                x + BOX.0 / 2,
                y + dy,
                escaped(&shortened(text))
            );
        }
    }
    out.push_str("</g>\n");
}

fn shortened(text: &str) -> String {
    match text.chars().nth(LINE_CHARS) {
        Some(_) => text.chars().take(LINE_CHARS - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c if is_direction_mark(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
