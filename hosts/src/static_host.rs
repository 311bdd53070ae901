//! A base host whose tools are Rust functions, for tests and for programs with their own tools.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use pml_protocol::{
    Failure, FailureKind, Hint, HostFuture, Request, RunContext, ToolHit, ToolHost, ToolResult,
    to_result,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::unsupported::unsupported;

type Handler = Arc<dyn Fn(Value) -> HostFuture<'static, Result<Value, Failure>> + Send + Sync>;

/// Tools that are Rust functions.
///
/// ```
/// # use pml_hosts::StaticHost;
/// let host = StaticHost::empty().with("demo:echo", "Echoes", |args| async move { Ok(args) });
/// ```
#[derive(Clone, Default)]
pub struct StaticHost {
    tools: BTreeMap<String, Tool>,
}

#[derive(Clone)]
struct Tool {
    description: String,
    handler: Handler,
}

impl StaticHost {
    /// A host without tools.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds a tool, or replaces the one with the same id. Ids are like `demo:echo`.
    #[must_use]
    pub fn with<F, R>(mut self, id: &str, description: &str, handler: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        let tool = Tool {
            description: description.to_owned(),
            handler: Arc::new(move |args| Box::pin(handler(args))),
        };
        self.tools.insert(id.to_owned(), tool);
        self
    }

    fn find(&self, id: &str) -> Result<&Tool, Failure> {
        self.tools.get(id).ok_or_else(|| self.unknown(id))
    }

    fn unknown(&self, id: &str) -> Failure {
        let advice = if self.tools.is_empty() {
            "no MCP server is configured; add one to .mcp.json in the working folder".to_owned()
        } else {
            let known: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            format!("the tools are {}", known.join(", "))
        };
        let message = format!("there is no tool \"{id}\": {advice}");
        Failure::new(FailureKind::Unknown, message).with_hint(Hint::SearchForTools)
    }
}

/// The share of the query's words that the tool mentions.
fn score(query: &str, id: &str, tool: &Tool) -> f64 {
    let text = format!("{id} {}", tool.description).to_lowercase();
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let found = words.iter().filter(|word| text.contains(**word)).count();
    found as f64 / words.len().max(1) as f64
}

fn hit(id: &str, tool: &Tool, score: f64) -> ToolHit {
    let (server, name) = id.split_once(':').unwrap_or(("", id));
    ToolHit {
        id: id.to_owned(),
        server: server.to_owned(),
        name: name.to_owned(),
        description: Some(tool.description.clone()),
        input_schema: None,
        score,
    }
}

impl StaticHost {
    fn search(&self, query: &str, limit: u32, threshold: Option<f64>) -> Vec<ToolHit> {
        let mut hits: Vec<ToolHit> = self
            .tools
            .iter()
            .map(|(id, tool)| hit(id, tool, score(query, id, tool)))
            .filter(|hit| hit.score > 0.0 && hit.score >= threshold.unwrap_or(0.0))
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(limit as usize);
        hits
    }

    async fn call(&self, id: &str, args: &RawValue) -> ToolResult {
        let tool = self.find(id)?;
        let args = serde_json::from_str(args.get())
            .map_err(|error| Failure::new(FailureKind::Tool, format!("bad arguments: {error}")))?;
        to_result(&(tool.handler)(args).await?)
    }
}

impl ToolHost for StaticHost {
    fn handle<'a>(&'a self, request: &'a Request, _: &'a RunContext) -> HostFuture<'a, ToolResult> {
        Box::pin(async move {
            match request {
                Request::Search {
                    query,
                    limit,
                    threshold,
                } => to_result(&self.search(query, *limit, *threshold)),
                Request::Describe { tool } => to_result(&hit(tool, self.find(tool)?, 1.0)),
                Request::Call { tool, args, .. } => self.call(tool, args).await,
                other => Err(unsupported(other)),
            }
        })
    }
}
