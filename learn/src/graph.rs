//! The graph of tool use: which tool follows which, and what feeds it.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::tool::{Episode, Source};

/// Tools and the ways between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolGraph {
    pub tools: Vec<GraphTool>,
    pub edges: Vec<GraphEdge>,
}

/// A tool that past runs called.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphTool {
    pub tool: String,
    pub calls: usize,
}

/// What joins two tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphEdge {
    pub from: String,
    pub to: String,
    /// How often `to` was called directly behind `from`.
    pub follows: usize,
    /// How often `to` got a value from the result of `from`.
    pub feeds: usize,
    /// Which values: part of the result, argument, how often.
    pub values: Vec<(String, String, usize)>,
}

#[derive(Default)]
struct Edge {
    follows: usize,
    feeds: usize,
    values: BTreeMap<(String, String), usize>,
}

impl ToolGraph {
    /// The graph of past runs; the most used tools and edges first.
    #[must_use]
    pub fn new(episodes: &[Episode]) -> Self {
        let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
        let mut edges: BTreeMap<(&str, &str), Edge> = BTreeMap::new();
        for episode in episodes {
            let tool = |at: usize| episode.steps.get(at).map(|step| step.tool.as_str());
            for (at, step) in episode.steps.iter().enumerate() {
                *tools.entry(&step.tool).or_default() += 1;
                if let Some(before) = at.checked_sub(1).and_then(tool) {
                    edges.entry((before, &step.tool)).or_default().follows += 1;
                }
                for argument in &step.arguments {
                    if let Source::Result { step: from, path } = &argument.source
                        && let Some(from) = tool(*from)
                    {
                        let edge = edges.entry((from, &step.tool)).or_default();
                        let value = (path.clone(), argument.path.clone());
                        *edge.values.entry(value).or_default() += 1;
                    }
                }
            }
            for (from, to) in &episode.edges {
                if let (Some(from), Some(to)) = (tool(*from), tool(*to)) {
                    edges.entry((from, to)).or_default().feeds += 1;
                }
            }
        }
        let mut tools: Vec<GraphTool> = tools
            .into_iter()
            .map(|(tool, calls)| GraphTool {
                tool: tool.to_owned(),
                calls,
            })
            .collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
        let mut edges: Vec<GraphEdge> = edges
            .into_iter()
            .map(|((from, to), edge)| GraphEdge {
                from: from.to_owned(),
                to: to.to_owned(),
                follows: edge.follows,
                feeds: edge.feeds,
                values: edge
                    .values
                    .into_iter()
                    .map(|((output, input), count)| (output, input, count))
                    .collect(),
            })
            .collect();
        edges.sort_by_key(|edge| std::cmp::Reverse(edge.follows + edge.feeds));
        Self { tools, edges }
    }

    /// The graph in the language of Graphviz. A solid line is data, a dashed one only order.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut dot = String::from("digraph tools {\n  rankdir=LR;\n  node [shape=box];\n");
        for GraphTool { tool, calls } in &self.tools {
            // Writing to a string cannot fail.
            let _ = writeln!(
                dot,
                "  {} [label={}];",
                quoted(tool),
                quoted(&format!("{tool}\n{calls} calls"))
            );
        }
        for edge in &self.edges {
            let style = if edge.feeds > 0 { "solid" } else { "dashed" };
            let label = quoted(&edge.label());
            let (from, to) = (quoted(&edge.from), quoted(&edge.to));
            let _ = writeln!(dot, "  {from} -> {to} [style={style}, label={label}];");
        }
        dot.push_str("}\n");
        dot
    }

    /// The graph as a picture: the tools on a circle, the most used one on top.
    #[must_use]
    pub fn svg(&self) -> String {
        let count = self.tools.len().max(1) as f64;
        let radius = (count * 34.0).max(160.0);
        let (middle_x, middle_y) = (radius + 170.0, radius + 50.0);
        let place = |at: usize| {
            let angle = std::f64::consts::TAU * at as f64 / count;
            (
                middle_x + radius * angle.sin(),
                middle_y - radius * angle.cos(),
            )
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>\n",
            2.0 * middle_x,
            2.0 * middle_y
        );
        let number = |name: &str| self.tools.iter().position(|tool| tool.tool == name);
        for edge in &self.edges {
            let (Some(from), Some(to)) = (number(&edge.from), number(&edge.to)) else {
                continue;
            };
            let ((x1, y1), (x2, y2)) = (place(from), place(to));
            let dash = if edge.feeds > 0 {
                ""
            } else {
                " stroke-dasharray=\"4 3\""
            };
            let _ = writeln!(
                svg,
                "<path d=\"M{x1:.0} {y1:.0} Q{middle_x:.0} {middle_y:.0} {x2:.0} {y2:.0}\" fill=\"none\" stroke=\"#567\"{dash} marker-end=\"url(#arrow)\"><title>{}</title></path>",
                escaped(&format!("{} → {}: {}", edge.from, edge.to, edge.label()))
            );
        }
        for (at, tool) in self.tools.iter().enumerate() {
            let (x, y) = place(at);
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.0}\" cy=\"{y:.0}\" r=\"5\" fill=\"#246\"/><text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{} ({})</text>",
                y - 10.0,
                escaped(&tool.tool),
                tool.calls
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

impl GraphEdge {
    /// What joins the tools, in words.
    #[must_use]
    pub fn label(&self) -> String {
        let values = self.values.iter().map(|(output, input, count)| {
            let output = if output.is_empty() {
                "the result"
            } else {
                output
            };
            format!("{input} = {output} ({count})")
        });
        let mut parts: Vec<String> = values.collect();
        if self.follows > 0 {
            parts.push(format!("follows ({})", self.follows));
        }
        parts.join(", ")
    }
}

fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
