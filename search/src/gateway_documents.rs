//! The gateway's tools as search reads them, and what it found as tools again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pml_gateway::{Gateway, Tool};
use pml_search::{Described, Document, Hit};

/// A tool that fits.
pub struct Found {
    pub tool: Arc<Tool>,
    /// From 0 to 1: how well the tool fits, on one scale for every query.
    pub score: f64,
    /// How the score came about.
    pub hit: Hit,
}

pub(crate) fn documents(gateway: &Gateway) -> Vec<Document> {
    let titles: HashMap<&str, String> = gateway
        .servers()
        .filter_map(|server| Some((server, gateway.server_title(server)?)))
        .collect();
    let tools = gateway.tools();
    let tools = tools.iter().map(|tool| {
        Document::new(Described {
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

/// The tools behind the hits. One that has gone meanwhile is not found.
pub(crate) fn found(hits: Vec<Hit>, tools: &[Arc<Tool>]) -> Vec<Found> {
    let wanted: HashSet<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
    let tools: HashMap<&str, &Arc<Tool>> = tools
        .iter()
        .map(|tool| (tool.id.as_str(), tool))
        .filter(|(id, _)| wanted.contains(id))
        .collect();
    hits.iter()
        .filter_map(|hit| {
            Some(Found {
                tool: Arc::clone(tools.get(hit.id.as_str())?),
                score: hit.score,
                hit: hit.clone(),
            })
        })
        .collect()
}
