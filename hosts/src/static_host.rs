//! A host whose tools are Rust functions: for tests, for programs with tools of their own, and,
//! with none at all, for a run that has no server configured.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use pml_ops::{Answer, Failure};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::host::{HostFuture, ToolHit, ToolHost};

type Handler = Arc<dyn Fn(Value) -> HostFuture<'static, Result<Value, Failure>> + Send + Sync>;

#[derive(Clone, Default)]
pub struct MemoryHost {
    tools: BTreeMap<String, Tool>,
}

#[derive(Clone)]
struct Tool {
    description: String,
    handler: Handler,
}

impl MemoryHost {
    /// A host without tools.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds a tool under an id such as `demo:echo`.
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
        Failure::new("tool", format!("there is no tool \"{id}\": {advice}"))
    }
}

/// A tool fits as well as the share of the query's words that it mentions.
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

fn to_answer(value: &impl serde::Serialize) -> Answer {
    to_raw_value(value)
        .map_err(|error| Failure::new("tool", format!("the answer is no JSON: {error}")))
}

impl ToolHost for MemoryHost {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        let mut hits: Vec<ToolHit> = self
            .tools
            .iter()
            .map(|(id, tool)| hit(id, tool, score(query, id, tool)))
            .filter(|hit| hit.score > 0.0 && hit.score >= threshold.unwrap_or(0.0))
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(limit as usize);
        Box::pin(async move { Ok(hits) })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        let answer = self
            .find(tool)
            .and_then(|found| to_answer(&hit(tool, found, 1.0)));
        Box::pin(async move { answer })
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            let found = self.find(tool)?;
            let args = serde_json::from_str(args.get())
                .map_err(|error| Failure::new("tool", format!("bad arguments: {error}")))?;
            let value = (found.handler)(args).await?;
            to_answer(&value)
        })
    }
}
