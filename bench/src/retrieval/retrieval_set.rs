//! Retrieval sets: a folder with `tools.jsonl` and `queries.jsonl`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use pml_search::{QueryFeedback, ToolDescription, ToolDocument};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Tools, and queries with their right tools.
pub struct RetrievalSet {
    /// The tools to search.
    pub tools: Vec<ToolDocument>,
    /// The queries, each with the tools that answer it.
    pub queries: Vec<SetQuery>,
}

/// A line of `queries.jsonl`.
#[derive(Deserialize)]
pub struct SetQuery {
    /// The text.
    pub query: String,
    /// The ids of the right tools.
    pub gold: Vec<String>,
}

/// A line of `tools.jsonl`. Fields that MCP servers do not send are not read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetTool {
    id: String,
    server: String,
    name: String,
    title: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    input_schema: Value,
    annotations: Option<Value>,
}

impl RetrievalSet {
    /// Reads a set. `queries` is the name of the query file; the first `queries*.jsonl` by default.
    ///
    /// # Errors
    ///
    /// If a file is missing or malformed, or a query names a tool that is not in the set.
    pub fn read(folder: &Path, queries: Option<&str>) -> anyhow::Result<Self> {
        let tools = read_tools(folder)?;
        let queries = match queries {
            Some(name) => folder.join(name),
            None => first_queries(folder)?,
        };
        let queries: Vec<SetQuery> = read_lines(&queries)?;
        let known: HashSet<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
        for query in &queries {
            if let Some(gold) = query.gold.iter().find(|id| !known.contains(id.as_str())) {
                bail!("the right tool `{gold}` of a query is not in tools.jsonl");
            }
        }
        Ok(Self { tools, queries })
    }

    /// Adds the tools of another set, which are right for no query.
    ///
    /// # Errors
    ///
    /// If the other set cannot be read.
    pub fn add_distractors(&mut self, folder: &Path) -> anyhow::Result<()> {
        let known: HashSet<String> = self.tools.iter().map(|tool| tool.id.clone()).collect();
        let others = read_tools(folder)?.into_iter();
        self.tools
            .extend(others.filter(|tool| !known.contains(&tool.id)));
        Ok(())
    }

    /// Removes every second query of each tool from the set, and records it as feedback of an earlier
    /// successful call.
    pub fn train_feedback(&mut self) {
        let mut feedback = QueryFeedback::default();
        let mut seen: HashMap<String, usize> = HashMap::new();
        self.queries.retain(|query| {
            let Some(gold) = query.gold.first() else {
                return true;
            };
            let count = seen.entry(gold.clone()).or_default();
            *count += 1;
            let is_training = *count % 2 == 1;
            if is_training {
                feedback.record(&query.query, gold);
            }
            !is_training
        });
        for tool in &mut self.tools {
            tool.feedback = feedback.words(&tool.id);
        }
    }
}

fn read_tools(folder: &Path) -> anyhow::Result<Vec<ToolDocument>> {
    let tools: Vec<SetTool> = read_lines(&folder.join("tools.jsonl"))?;
    let document = |tool: SetTool| ToolDocument {
        // The ids of a set have a format of their own.
        id: tool.id,
        ..ToolDocument::new(ToolDescription {
            server: &tool.server,
            server_title: None,
            name: &tool.name,
            title: tool.title.as_deref(),
            description: &tool.description,
            input_schema: &tool.input_schema,
            annotations: tool.annotations.as_ref(),
        })
    };
    Ok(tools.into_iter().map(document).collect())
}

fn first_queries(folder: &Path) -> anyhow::Result<std::path::PathBuf> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("queries") && name.ends_with(".jsonl")
        })
        .collect();
    files.sort();
    let first = files.into_iter().next();
    first.with_context(|| format!("{} has no queries.jsonl", folder.display()))
}

fn read_lines<T: DeserializeOwned>(file: &Path) -> anyhow::Result<Vec<T>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).with_context(|| format!("{}:{}", file.display(), number + 1))
        })
        .collect()
}
