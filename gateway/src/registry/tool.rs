//! A tool of a server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pml_policy::lock::{Quarantine, ToolDefinition, sorted};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::arguments::ArgumentCheck;
use super::schema_graph::{SchemaGraph, SchemaProblem};
use super::slow_checks::SlowChecks;
use crate::ToolId;
use crate::printable::is_tool_name;

/// Bytes of a tool's description with its schemas, as JSON.
const MAX_TOOL_BYTES: usize = 256 * 1024;
/// Bytes of a refused tool's name that are shown.
const MAX_SHOWN_NAME: usize = 64;
/// Subschemas that are compiled at once; more are compiled on a thread of their own.
const QUICK_SUBSCHEMAS: u64 = 300;
/// How long a check waits for its thread and its result.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// A tool, as its server describes it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// `server:tool`.
    pub id: ToolId,
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description; empty if there is none.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub input_schema: Value,
    /// The JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints of the server about its tool. They may be wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// A digest of name, description, schemas and annotations.
    pub fingerprint: String,
    /// Why it is found and not called: it is not as the lock file pins it.
    #[serde(skip)]
    pub quarantine: Option<Quarantine>,
    #[serde(skip)]
    check: OnceLock<ArgumentCheck>,
    #[serde(skip)]
    answer_check: OnceLock<ArgumentCheck>,
    /// Whether the input schema is compiled in less than a millisecond.
    #[serde(skip)]
    compiles_quickly: bool,
    /// Why the output schema was left out.
    #[serde(skip)]
    output_problem: Option<SchemaProblem>,
}

/// A tool that its server lists and that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedTool {
    /// `server:tool`, shortened.
    pub tool: String,
    /// Why it cannot be used.
    pub reason: String,
}

impl RefusedTool {
    fn new(server: &str, name: &str, reason: impl Into<String>) -> Self {
        let end = name.floor_char_boundary(MAX_SHOWN_NAME);
        let name = name[..end].escape_debug();
        Self {
            tool: format!("{server}:{name}"),
            reason: reason.into(),
        }
    }
}

impl Tool {
    /// Reads one element of `tools/list`. Real servers leave out required fields, so only the name is
    /// needed; without an input schema any arguments are accepted. `None` without a name.
    ///
    /// # Errors
    /// The tool exceeds a limit, or its name has characters outside the specification's alphabet: names
    /// are shown in lists, approvals, signatures and logs. A schema over its limits reaches no reader of
    /// tools: an input schema refuses the tool, an output schema is left out.
    pub(crate) fn read(server: &str, described: &Value) -> Option<Result<Self, RefusedTool>> {
        let name = described["name"].as_str().filter(|name| !name.is_empty())?;
        let read = || Self::read_named(server, name, described);
        // Reading shares no state with anything else.
        let read = catch_unwind(AssertUnwindSafe(read));
        let panicked = |_| Err("reading it makes pml panic".to_owned());
        let tool = read.unwrap_or_else(panicked);
        Some(tool.map_err(|reason| RefusedTool::new(server, name, reason)))
    }

    fn read_named(server: &str, name: &str, described: &Value) -> Result<Self, String> {
        if !is_tool_name(name) {
            return Err(
                "its name has other characters than letters, digits and _ - . / : or more than 128"
                    .to_owned(),
            );
        }
        let (fingerprint, bytes) = fingerprint(described);
        if bytes > MAX_TOOL_BYTES {
            return Err(format!(
                "its description has {} KiB, over the limit of {} KiB",
                bytes / 1024,
                MAX_TOOL_BYTES / 1024
            ));
        }
        let text = |key: &str| described[key].as_str().map(str::to_owned);
        let object = |key: &str| {
            described
                .get(key)
                .filter(|value| value.is_object())
                .cloned()
        };
        let input_schema = object("inputSchema").unwrap_or_else(|| json!({ "type": "object" }));
        let compiles_quickly = match SchemaGraph::new(&input_schema) {
            Ok(graph) => graph.size <= QUICK_SUBSCHEMAS && graph.patterns == 0,
            // The schema is used for everything but validation.
            Err(SchemaProblem::Reference(_)) => true,
            Err(problem) => return Err(format!("its input schema is refused: {problem}")),
        };
        let mut output_schema = object("outputSchema");
        let output_problem = output_schema
            .as_ref()
            .and_then(|schema| SchemaGraph::new(schema).err())
            .filter(|problem| !matches!(problem, SchemaProblem::Reference(_)));
        if output_problem.is_some() {
            output_schema = None;
        }
        Ok(Self {
            id: ToolId::new(server, name),
            title: text("title").or_else(|| {
                described["annotations"]["title"]
                    .as_str()
                    .map(str::to_owned)
            }),
            description: text("description").unwrap_or_default(),
            input_schema,
            output_schema,
            annotations: object("annotations"),
            fingerprint,
            quarantine: None,
            check: OnceLock::new(),
            answer_check: OnceLock::new(),
            compiles_quickly,
            output_problem,
        })
    }

    /// What its server says about it, for the lock file.
    pub fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            title: self.title.clone(),
            description: self.description.clone(),
            input_schema: self.input_schema.clone(),
            output_schema: self.output_schema.clone(),
            annotations: self.annotations.clone(),
        }
    }

    /// Validates `arguments` against the input schema and returns them. The error says where they are
    /// invalid. What takes longer than a millisecond is done on another thread, in the server's turn.
    pub(crate) async fn check_arguments(
        self: &Arc<Self>,
        arguments: Value,
        turns: &SlowChecks,
    ) -> Result<Value, String> {
        let compiled = match self.check.get() {
            None if self.compiles_quickly => Some(self.check()),
            compiled => compiled,
        };
        if let Some(check) = compiled
            && check.is_quick(&arguments)
        {
            return check.check_as(&arguments, true).map(|()| arguments);
        }
        let tool = self.clone();
        let checked = async move {
            let turn = turns.turn().await?;
            let work = move || {
                let _turn = turn;
                tool.check().check(&arguments).map(|()| arguments)
            };
            tokio::task::spawn_blocking(work).await.ok()
        };
        match tokio::time::timeout(CHECK_TIMEOUT, checked).await {
            Ok(Some(checked)) => checked,
            Ok(None) => Err("they could not be checked: call again".to_owned()),
            Err(_) => Err("the check took too long: pass less".to_owned()),
        }
    }

    /// [`Tool::check_arguments`] on this thread, however long it takes.
    pub(crate) fn check_now(&self, arguments: &Value) -> Result<(), String> {
        self.check().check(arguments)
    }

    /// What is not checked of the tool's arguments, or left out of its description, and why. Compiles
    /// the input schema.
    pub(crate) fn notices(&self) -> Vec<String> {
        let output = self
            .output_problem
            .iter()
            .map(|problem| format!("its output schema is left out: {problem}"));
        let input = self.check().notice().map(str::to_owned);
        input.into_iter().chain(output).collect()
    }

    /// Validates an answer against the output schema. The error names the places and quotes nothing.
    pub(crate) fn check_answer(&self, value: &Value) -> Result<(), String> {
        let Some(schema) = &self.output_schema else {
            return Ok(());
        };
        let check = self.answer_check.get_or_init(|| ArgumentCheck::new(schema));
        check.check(value).map_err(|mistakes| {
            let mut places = mistakes.split("; ").filter_map(|mistake| {
                let (place, _) = mistake.split_once(": ")?;
                place.strip_prefix("arguments")
            });
            let place = places.next().unwrap_or_default();
            match place.is_empty() {
                true => "look at the whole answer".to_owned(),
                false => format!("look at `result{place}`"),
            }
        })
    }

    fn check(&self) -> &ArgumentCheck {
        self.check.get_or_init(|| {
            let check = ArgumentCheck::new(&self.input_schema);
            if let Some(notice) = check.notice() {
                tracing::warn!(tool = ?self.id.as_str(), notice, "a schema is not checked in full");
            }
            check
        })
    }
}

/// A digest of what a tool is, and the bytes of its description.
fn fingerprint(described: &Value) -> (String, usize) {
    let mut kept = Map::new();
    for key in [
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
    ] {
        if let Some(value) = described.get(key) {
            kept.insert(key.to_owned(), value.clone());
        }
    }
    // Sorted keys: the same description always has the same digest.
    let text = sorted(Value::Object(kept)).to_string();
    let digest = Sha256::digest(&text);
    let digest = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    (digest, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(described: Value) -> Result<Tool, RefusedTool> {
        Tool::read("s", &described).unwrap()
    }

    #[tokio::test]
    async fn a_tool_without_schema_or_description_is_still_a_tool() {
        let tool = Arc::new(read(json!({ "name": "go" })).unwrap());
        assert_eq!(tool.id.as_str(), "s:go");
        let arguments = json!({ "anything": 1 });
        assert!(
            tool.check_arguments(arguments, &SlowChecks::default())
                .await
                .is_ok()
        );
        assert!(Tool::read("s", &json!({ "description": "no name" })).is_none());
    }

    #[tokio::test]
    async fn large_arguments_are_checked_on_another_thread_and_returned() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "array", "items": { "type": "integer", "pattern": "a" } } } });
        let tool = Arc::new(read(json!({ "name": "go", "inputSchema": schema })).unwrap());
        let arguments = json!({ "n": vec![1; 50_000] });
        let turns = SlowChecks::default();
        let checked = tool.check_arguments(arguments.clone(), &turns).await;
        assert_eq!(checked, Ok(arguments));
        let error = tool
            .check_arguments(json!({ "n": vec!["a"; 50_000] }), &turns)
            .await;
        assert!(error.unwrap_err().starts_with("arguments.n[0]"));
    }

    #[test]
    fn a_tool_over_a_limit_is_refused_by_name_and_an_output_schema_is_left_out() {
        let long = json!({ "name": "long", "description": "x".repeat(MAX_TOOL_BYTES) });
        let refused = read(long).unwrap_err();
        assert_eq!(refused.tool, "s:long");
        assert!(refused.reason.contains("256 KiB"), "{}", refused.reason);
        let endless = json!({ "$ref": "#" });
        let refused = read(json!({ "name": "a\nb", "inputSchema": endless })).unwrap_err();
        assert_eq!(refused.tool, "s:a\\nb");
        let tool = read(json!({ "name": "out", "outputSchema": endless })).unwrap();
        assert_eq!(tool.output_schema, None);
        assert_eq!(tool.notices().len(), 1);
    }

    #[test]
    fn a_server_cannot_write_lines_of_its_own_with_a_name() {
        for name in [
            "weather\nbank:transfer_money",
            "list_files (read only)",
            "a\u{202e}b",
        ] {
            let refused = read(json!({ "name": name })).unwrap_err();
            assert!(refused.reason.contains("characters"), "{name}");
            assert!(
                !refused.tool.contains(['\n', '\u{202e}']),
                "{}",
                refused.tool
            );
        }
    }

    #[test]
    fn the_fingerprint_follows_meaning_and_not_the_order_of_keys() {
        let print = |json: &str| {
            read(serde_json::from_str(json).unwrap())
                .unwrap()
                .fingerprint
        };
        let first =
            print(r#"{"name":"a","description":"d","inputSchema":{"type":"object","title":"x"}}"#);
        assert_eq!(
            first,
            print(r#"{"inputSchema":{"title":"x","type":"object"},"description":"d","name":"a"}"#)
        );
        assert_ne!(
            first,
            print(r#"{"name":"a","description":"e","inputSchema":{"type":"object","title":"x"}}"#)
        );
    }
}
