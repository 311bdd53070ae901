//! The gateway's tools as documents of the search, and hits as tools again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pml_gateway::{Gateway, Tool};

use crate::{Hit, ToolDescription, ToolDocument};

/// A tool that a search found.
pub struct FoundTool {
    /// The tool.
    pub tool: Arc<Tool>,
    /// From 0 to 1: how well the tool fits, on one scale for every query.
    pub score: f64,
    /// The parts of the score.
    pub hit: Hit,
}

pub(crate) fn documents(gateway: &Gateway) -> Vec<ToolDocument> {
    let titles: HashMap<&str, String> = gateway
        .servers()
        .filter_map(|server| Some((server, gateway.server_title(server)?)))
        .collect();
    let tools = gateway.indexed_tools();
    let tools = tools.iter().map(|tool| {
        ToolDocument::new(ToolDescription {
            server: tool.id.server(),
            server_title: titles.get(tool.id.server()).map(String::as_str),
            name: tool.id.tool(),
            title: tool.title.as_deref(),
            description: &tool.description,
            input_schema: &tool.input_schema,
            annotations: tool.annotations.as_ref(),
        })
    });
    tools.collect()
}

/// The tools behind the hits, without those that are gone meanwhile.
pub(crate) fn found(hits: Vec<Hit>, tools: &[Arc<Tool>]) -> Vec<FoundTool> {
    let wanted: HashSet<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
    let tools: HashMap<&str, &Arc<Tool>> = tools
        .iter()
        .map(|tool| (tool.id.as_str(), tool))
        .filter(|(id, _)| wanted.contains(id))
        .collect();
    hits.iter()
        .filter_map(|hit| {
            Some(FoundTool {
                tool: Arc::clone(tools.get(hit.id.as_str())?),
                score: hit.score,
                hit: hit.clone(),
            })
        })
        .collect()
}
