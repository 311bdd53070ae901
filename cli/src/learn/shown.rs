//! What `pml learn` prints.

use std::io::{self, Write};

use pml_learn::confidence::{Outcome, calibration_error};
use pml_learn::{ArgumentFunctions, Episode, GraphEdge, Origin, ToolGraph, Trace};
use serde_json::{Value, json};

use super::{Format, learned};
use crate::style::Style;
use crate::tool_cache::ToolCache;

/// Lines of each part of an explanation.
const MAX_LINES: usize = 10;

/// The runs of everybody, as one graph.
fn all_episodes(traces: &[Trace]) -> Vec<Episode> {
    traces.iter().filter_map(Trace::episode).collect()
}

/// How many runs there are, and how good predictions of held-out ones were.
pub fn stats(cache: &ToolCache, traces: &[Trace], is_json: bool) -> io::Result<()> {
    let failed = traces.iter().filter(|trace| !trace.ok).count();
    let calls: usize = traces.iter().map(|trace| trace.calls.len()).sum();
    let episodes = learned::of_local_user(traces);
    let tools = cache.learned_tools();
    let model = learned::model(&tools, &episodes);
    let figures = [
        ("next tool", model.held_out_steps()),
        ("task of a plan", model.held_out_tasks()),
        ("whole plan", model.held_out_plans()),
    ];
    let mut out = Style::escaped_stdout();
    if is_json {
        let figure = |outcomes: &[Outcome]| -> Value {
            json!({
                "predictions": outcomes.len(),
                "right": right(outcomes),
                "calibrationError": calibration_error(outcomes),
            })
        };
        let printed = json!({
            "runs": traces.len(),
            "failed": failed,
            "calls": calls,
            "learnedFrom": episodes.len(),
            "nextTool": figure(figures[0].1),
            "task": figure(figures[1].1),
            "plan": figure(figures[2].1),
            "actFrom": model.act_threshold(),
        });
        writeln!(out, "{printed:#}")?;
        return out.flush();
    }
    writeln!(
        out,
        "{} runs, {failed} of them failed, with {calls} calls",
        traces.len()
    )?;
    writeln!(out, "Predictions of runs that the model had not seen:")?;
    for (name, outcomes) in figures {
        match (right(outcomes), calibration_error(outcomes)) {
            (Some(right), Some(error)) => writeln!(
                out,
                "  {name:14}  {:3.0} % right of {}; confidence is off by {:.1} points on average",
                right * 100.0,
                outcomes.len(),
                error * 100.0
            )?,
            _ => writeln!(out, "  {name:14}  no run to predict yet")?,
        }
    }
    match model.act_threshold() {
        Some(least) => writeln!(
            out,
            "Reads may run ahead from a confidence of {:.0} % on",
            least * 100.0
        )?,
        None => writeln!(
            out,
            "No read may run ahead yet: too few runs were predicted well"
        )?,
    }
    out.flush()
}

/// The share of right predictions.
fn right(outcomes: &[Outcome]) -> Option<f64> {
    let count = outcomes.iter().filter(|outcome| outcome.right).count();
    (!outcomes.is_empty()).then(|| count as f64 / outcomes.len() as f64)
}

/// What follows a tool, what it feeds, and where its arguments come from.
pub fn explain(traces: &[Trace], tool: &str) -> io::Result<()> {
    let episodes = all_episodes(traces);
    let graph = ToolGraph::new(&episodes);
    let mut out = Style::escaped_stdout();
    let calls = graph.tools.iter().find(|known| known.tool == tool);
    writeln!(
        out,
        "{tool}: {} calls in runs that ended well",
        calls.map_or(0, |known| known.calls)
    )?;
    let part = |out: &mut dyn Write, title: &str, edges: Vec<&GraphEdge>, from: bool| {
        if edges.is_empty() {
            return Ok(());
        }
        writeln!(out, "{title}")?;
        for edge in edges.into_iter().take(MAX_LINES) {
            let other = if from { &edge.from } else { &edge.to };
            writeln!(out, "  {other}: {}", edge.label())?;
        }
        io::Result::Ok(())
    };
    let before = graph.edges.iter().filter(|edge| edge.to == tool).collect();
    let behind = graph
        .edges
        .iter()
        .filter(|edge| edge.from == tool)
        .collect();
    part(&mut out, "Before it:", before, true)?;
    part(&mut out, "Behind it:", behind, false)?;
    let functions = ArgumentFunctions::new(&episodes);
    let arguments = functions.of(tool);
    if !arguments.is_empty() {
        writeln!(out, "Its arguments:")?;
    }
    for (path, origin, count) in arguments.into_iter().take(2 * MAX_LINES) {
        let origin = match origin {
            Origin::Result { tool, path } if path.is_empty() => format!("the result of {tool}"),
            Origin::Result { tool, path } => format!("{path} of {tool}"),
            Origin::Intent => "stands in the intent".to_owned(),
            Origin::Constant(json) => format!("always {json}"),
            Origin::Other => "another value".to_owned(),
        };
        writeln!(out, "  {path}: {origin} ({count})")?;
    }
    out.flush()
}

/// The graph of tool use.
pub fn graph(traces: &[Trace], format: Format) -> io::Result<()> {
    let graph = ToolGraph::new(&all_episodes(traces));
    let text = match format {
        Format::Dot => graph.dot(),
        Format::Svg => graph.svg(),
        Format::Json => format!("{:#}\n", json!(graph)),
    };
    let mut out = Style::escaped_stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}
