//! A folder with `tools.jsonl` and `queries.jsonl`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use pml_search::{Asked, Described, Document};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Tools, and queries with the tools that fit them.
pub struct RetrievalSet {
    pub tools: Vec<Document>,
    pub queries: Vec<SetQuery>,
}

#[derive(Deserialize)]
pub struct SetQuery {
    pub query: String,
    pub gold: Vec<String>,
}

/// A line of `tools.jsonl`. What no MCP server would tell of its tools is not read.
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
    /// `queries` is the file with the queries; the first `queries*.jsonl` if none is named.
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
                bail!("a query wants `{gold}`, which is not in tools.jsonl");
            }
        }
        Ok(Self { tools, queries })
    }

    /// Adds the tools of another set, which fit no query.
    pub fn distract(&mut self, folder: &Path) -> anyhow::Result<()> {
        let known: HashSet<String> = self.tools.iter().map(|tool| tool.id.clone()).collect();
        let others = read_tools(folder)?.into_iter();
        self.tools
            .extend(others.filter(|tool| !known.contains(&tool.id)));
        Ok(())
    }

    /// Takes every second query of each tool out of the set, as if it had led to a call of that
    /// tool before.
    pub fn learn(&mut self) {
        let mut asked = Asked::default();
        let mut seen: HashMap<String, usize> = HashMap::new();
        self.queries.retain(|query| {
            let Some(gold) = query.gold.first() else {
                return true;
            };
            let count = seen.entry(gold.clone()).or_default();
            *count += 1;
            let is_lesson = *count % 2 == 1;
            if is_lesson {
                asked.learn(&query.query, gold);
            }
            !is_lesson
        });
        for tool in &mut self.tools {
            tool.asked = asked.words(&tool.id);
        }
    }
}

fn read_tools(folder: &Path) -> anyhow::Result<Vec<Document>> {
    let tools: Vec<SetTool> = read_lines(&folder.join("tools.jsonl"))?;
    let document = |tool: SetTool| Document {
        // Ids of a set have their own form.
        id: tool.id,
        ..Document::new(Described {
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
