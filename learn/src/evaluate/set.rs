//! A set of samples as files: `tools.jsonl` and `samples.jsonl`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tool::{Episode, Field, Step, Tool};

/// Why a set cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// There is no set.
    #[error("no set in {}: expected `tools.jsonl` and `samples.jsonl` there or in its folders", path.display())]
    Empty { path: PathBuf },
    /// A line is not what it should be.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        reason: String,
    },
}

/// Tools, and samples of what they are used for.
#[derive(Debug, Default)]
pub struct SampleSet {
    pub name: String,
    pub tools: Vec<Tool>,
    pub samples: Vec<Episode>,
}

impl SampleSet {
    /// Reads `tools.jsonl` and `samples.jsonl` of a folder.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is no JSON object or lacks what a sample consists of.
    pub fn read(folder: &Path) -> Result<Self, SetError> {
        let name = folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            name: name.unwrap_or_default(),
            tools: lines(&folder.join("tools.jsonl"), tool)?,
            samples: lines(&folder.join("samples.jsonl"), sample)?,
        })
    }
}

fn lines<T>(path: &Path, parse: impl Fn(&Value) -> Result<T, String>) -> Result<Vec<T>, SetError> {
    let read = |source| SetError::Read {
        path: path.to_owned(),
        source,
    };
    let bytes = std::fs::read(path).map_err(read)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let parsed = serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"));
        let item = parsed.and_then(|value: Value| match value {
            Value::Object(_) => parse(&value),
            _ => Err("expected a JSON object".to_owned()),
        });
        match item {
            Ok(item) => found.push(item),
            Err(reason) => {
                return Err(SetError::Line {
                    path: path.to_owned(),
                    line: at + 1,
                    reason,
                });
            }
        }
    }
    Ok(found)
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn tool(value: &Value) -> Result<Tool, String> {
    let id = text(value, "id");
    if id.is_empty() {
        return Err("a tool needs `id`, a text".to_owned());
    }
    let name = match text(value, "name") {
        name if name.is_empty() => id.clone(),
        name => name,
    };
    let outputs = match &value["outputs"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(named).collect(),
        _ => fields(&value["outputSchema"]),
    };
    Ok(Tool {
        server: text(value, "server"),
        description: text(value, "description"),
        inputs: fields(&value["inputSchema"]),
        outputs,
        // Sets do not say which tools have effects: what could run ahead is measured as if none had.
        read: true,
        id,
        name,
    })
}

fn named(name: &str) -> Field {
    Field {
        path: name.to_owned(),
        ..Field::default()
    }
}

/// The properties of an object schema.
#[must_use]
pub fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    properties
        .iter()
        .map(|(name, property)| Field {
            path: name.clone(),
            kind: text(property, "type"),
            required: required.contains(&name.as_str()),
            description: text(property, "description"),
        })
        .collect()
}

fn sample(value: &Value) -> Result<Episode, String> {
    let Some(intent) = value["intent"].as_str() else {
        return Err("a sample needs `intent`, a text".to_owned());
    };
    let nodes: &[Value] = match &value["nodes"] {
        Value::Array(nodes) => nodes,
        Value::Null => &[],
        _ => return Err("`nodes` is a list of {\"id\", \"tool\"}".to_owned()),
    };
    let mut ids = Vec::new();
    let mut steps = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let tool = text(node, "tool");
        if tool.is_empty() {
            return Err(format!(
                "node {} of the sample needs `tool`, a text",
                at + 1
            ));
        }
        ids.push(match &node["id"] {
            Value::String(id) => id.clone(),
            Value::Null => format!("n{at}"),
            other => other.to_string(),
        });
        steps.push(Step {
            tool,
            arguments: Vec::new(),
        });
    }
    let mut edges = Vec::new();
    for edge in value["edges"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        let end = |at: usize| {
            let id = match &edge[at] {
                Value::String(id) => id.clone(),
                other => other.to_string(),
            };
            ids.iter().position(|known| *known == id)
        };
        // An edge to a node that is missing says nothing about the others.
        if let (Some(from), Some(to)) = (end(0), end(1))
            && from != to
        {
            edges.push((from, to));
        }
    }
    Ok(in_order(intent.to_owned(), steps, edges))
}

/// The steps so that each comes behind what it needs, otherwise as they were written.
fn in_order(intent: String, steps: Vec<Step>, edges: Vec<(usize, usize)>) -> Episode {
    let mut order: Vec<usize> = Vec::with_capacity(steps.len());
    while order.len() < steps.len() {
        let open = |at: &usize| !order.contains(at);
        let free = |at: &usize| {
            open(at)
                && edges
                    .iter()
                    .all(|(from, to)| to != at || order.contains(from))
        };
        // In a circle the first one comes first.
        let next = (0..steps.len())
            .find(free)
            .or_else(|| (0..steps.len()).find(open));
        order.extend(next);
    }
    let mut place = vec![0; steps.len()];
    for (at, old) in order.iter().enumerate() {
        place[*old] = at;
    }
    let mut edges: Vec<(usize, usize)> = edges
        .into_iter()
        .map(|(from, to)| (place[from], place[to]))
        .filter(|(from, to)| from < to)
        .collect();
    edges.sort_unstable();
    edges.dedup();
    Episode {
        intent,
        steps: order.into_iter().map(|old| steps[old].clone()).collect(),
        edges,
    }
}
