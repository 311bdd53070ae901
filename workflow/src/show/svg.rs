//! A plan as an SVG picture: a column per layer, a box per task.

use std::collections::HashMap;
use std::fmt::Write;

use super::layout::{BOX, Line, layout, path};
use super::{does, edges, has_speedup, is_direction_mark, outcome, report_of, time};
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

const MARGIN: usize = 16;
/// The height of the heading.
const HEADING: usize = 44;
/// Characters of a line in a box.
const LINE_CHARS: usize = 24;
/// Boxes in one picture at most: a larger one cannot be looked at.
const MAX_BOXES: usize = 2_000;

/// A picture that scales to the width of its page. The chain that the time of a run comes from is bold.
pub fn svg(plan: &Plan, report: Option<&WorkflowReport>) -> String {
    let graph = plan.graph();
    let shown = graph.nodes().min(MAX_BOXES);
    let levels: Vec<usize> = (0..shown).map(|node| graph.level(node)).collect();
    let lines: Vec<Line> = edges(plan)
        .filter(|(from, to, _)| *from < shown && *to < shown)
        .map(|(from, to, is_fallback)| Line {
            from,
            to,
            is_fallback,
        })
        .collect();
    let layout = layout(&levels, &lines);
    let (width, height) = (
        layout.width + 2 * MARGIN,
        layout.height + 2 * MARGIN + HEADING,
    );
    // On a phone the picture is scrolled: at a smaller scale its words cannot be read.
    let narrowest = width * 3 / 4;
    let name = plan.name.as_deref().unwrap_or("plan");
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"xMinYMin meet\" width=\"100%\" style=\"min-width:{narrowest}px;max-width:{width}px;background:#fff\" font-family=\"system-ui,sans-serif\" font-size=\"13\" role=\"img\">\n<title>{}</title>\n",
        escaped(name)
    );
    out.push_str("<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerUnits=\"userSpaceOnUse\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#5f6368\"/></marker></defs>\n");
    heading(&mut out, width, name, &summary(plan, report));
    let critical = Critical::new(plan, report);
    let offset = (MARGIN, MARGIN + HEADING);
    for (line, passes) in &layout.lines {
        let dash = if line.is_fallback {
            " stroke-dasharray=\"5 4\""
        } else {
            ""
        };
        let weight = if critical.has_line(*line) {
            " stroke-width=\"2.5\""
        } else {
            ""
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "<path d=\"{}\" fill=\"none\" stroke=\"#5f6368\"{weight}{dash} marker-end=\"url(#arrow)\"/>",
            path(&layout, *line, passes, offset)
        );
    }
    for (node, (x, y)) in layout.boxes.iter().enumerate() {
        let place = (x + offset.0, y + offset.1);
        let shown = Shown {
            report: report_of(report, node),
            is_critical: critical.has(node),
        };
        task_box(&mut out, plan, node, place, shown);
    }
    out.push_str("</svg>\n");
    out
}

/// The tasks that the time of a run comes from.
struct Critical {
    /// The place in the chain of each node on it.
    places: HashMap<usize, usize>,
}

impl Critical {
    fn new(plan: &Plan, report: Option<&WorkflowReport>) -> Self {
        let ids: HashMap<&str, usize> = plan
            .tasks
            .iter()
            .enumerate()
            .map(|(node, task)| (task.id.as_str(), node))
            .collect();
        let path = report.map_or(&[][..], |report| &report.times.critical_path);
        let nodes = path.iter().filter_map(|id| ids.get(id.as_str()).copied());
        // A chain of one says nothing.
        let places = match path.len() {
            0 | 1 => HashMap::new(),
            _ => nodes
                .enumerate()
                .map(|(place, node)| (node, place))
                .collect(),
        };
        Self { places }
    }

    fn has(&self, node: usize) -> bool {
        self.places.contains_key(&node)
    }

    fn has_line(&self, line: Line) -> bool {
        let places = (self.places.get(&line.from), self.places.get(&line.to));
        matches!(places, (Some(from), Some(to)) if from + 1 == *to)
    }
}

fn summary(plan: &Plan, report: Option<&WorkflowReport>) -> String {
    match report {
        Some(report) => {
            let times = &report.times;
            match has_speedup(times) {
                true => format!("{}, {:.1} times faster", time(times.wall_ms), times.speedup),
                false => time(times.wall_ms),
            }
        }
        None => {
            let s = |count: usize| if count == 1 { "" } else { "s" };
            let (tasks, layers) = (plan.tasks.len(), plan.graph().layers());
            format!("{tasks} task{}, {layers} layer{}", s(tasks), s(layers))
        }
    }
}

fn heading(out: &mut String, width: usize, name: &str, summary: &str) {
    // A character is about 8 units wide.
    let fits = (width - 2 * MARGIN) / 8;
    let lines = [(14, "600", name), (32, "400", summary)];
    for (dy, weight, text) in lines {
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"{weight}\" fill=\"#202124\">{}</text>",
            MARGIN + dy,
            escaped(&shortened(text, fits))
        );
    }
}

/// What a box shows of a run.
struct Shown<'a> {
    report: Option<&'a TaskReport>,
    /// Whether the time of the run comes from it.
    is_critical: bool,
}

fn task_box(out: &mut String, plan: &Plan, node: usize, (x, y): (usize, usize), shown: Shown<'_>) {
    let report = shown.report;
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
    let weight = if shown.is_critical {
        " stroke-width=\"2.5\""
    } else {
        ""
    };
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"{radius}\" fill=\"{fill}\" stroke=\"{stroke}\"{weight}/>",
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
                escaped(&shortened(text, LINE_CHARS))
            );
        }
    }
    out.push_str("</g>\n");
}

fn shortened(text: &str, chars: usize) -> String {
    match text.chars().nth(chars) {
        Some(_) => text.chars().take(chars - 1).chain(['…']).collect(),
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
