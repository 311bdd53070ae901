//! The tool definitions that the server lists.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// All tools, in the order they are listed.
pub fn tools() -> Vec<Tool> {
    let path = json!({ "type": "string", "description": "Relative to the folder of the server" });
    let below = json!({ "type": "string", "description": "A file or folder to stay in; everything by default" });
    let suffix =
        json!({ "type": "string", "description": "Only files that end like this, such as .json" });
    let pointer = json!({ "type": "string", "description": "JSON pointer to the part wanted, such as /dependencies/0; everything by default" });
    let note = json!({ "type": "integer", "minimum": 1, "description": "The id of the note" });
    vec![
        read_only("list_files", "List files", "List every file below a folder with its size in bytes.",
            input(json!({ "path": below, "suffix": suffix }), &[]))
        .with_raw_output_schema(object(json!({
            "type": "object",
            "properties": { "files": { "type": "array", "items": {
                "type": "object",
                "properties": { "path": { "type": "string" }, "bytes": { "type": "integer" } },
                "required": ["path", "bytes"],
            } } },
            "required": ["files"],
        }))),
        read_only("read_file", "Read a file", "Read a text file.",
            input(json!({
                "path": path,
                "head": { "type": "integer", "minimum": 1, "description": "Only so many lines from the beginning" },
            }), &["path"])),
        read_only("search_text", "Search in files", "Find the lines of files that contain a text, whatever its case.",
            input(json!({
                "query": { "type": "string", "minLength": 1, "description": "The text to look for" },
                "path": below,
                "suffix": suffix,
                "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 50 },
            }), &["query"]))
        .with_raw_output_schema(object(json!({
            "type": "object",
            "properties": {
                "matches": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "path": { "type": "string" }, "line": { "type": "integer" }, "text": { "type": "string" } },
                    "required": ["path", "line", "text"],
                } },
                "more": { "type": "boolean" },
            },
            "required": ["matches", "more"],
        }))),
        read_only("read_json", "Read JSON", "Read a JSON file, or the part of it that a pointer names.",
            input(json!({ "path": path, "pointer": pointer }), &["path"])),
        read_only("query_json", "Query JSON", "Parse JSON text and give the part that a pointer names.",
            input(json!({ "json": { "type": "string", "description": "The JSON text" }, "pointer": pointer }), &["json"])),
        read_only("count_text", "Count words", "Count the lines, words and characters of a text.",
            input(json!({ "text": { "type": "string" } }), &["text"]))
        .with_raw_output_schema(object(json!({
            "type": "object",
            "properties": { "lines": { "type": "integer" }, "words": { "type": "integer" }, "characters": { "type": "integer" } },
            "required": ["lines", "words", "characters"],
        }))),
        read_only("replace_text", "Replace text", "Replace every occurrence of a text in another.",
            input(json!({ "text": { "type": "string" }, "find": { "type": "string", "minLength": 1 }, "replace": { "type": "string" } }),
                &["text", "find", "replace"])),
        mutating("add_note", "Add a note", "Keep a note with a title for as long as the server runs.", false,
            input(json!({ "title": { "type": "string" }, "text": { "type": "string" } }), &["title", "text"]))
        .with_raw_output_schema(note_id()),
        read_only("list_notes", "List notes", "List the titles of notes, a page at a time.",
            input(json!({
                "cursor": { "type": "integer", "minimum": 0, "description": "`nextCursor` of the page before" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 20 },
            }), &[]))
        .with_raw_output_schema(object(json!({
            "type": "object",
            "properties": {
                "notes": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "id": { "type": "integer" }, "title": { "type": "string" } },
                    "required": ["id", "title"],
                } },
                "nextCursor": { "type": "integer", "description": "Where the next page begins; absent on the last" },
            },
            "required": ["notes"],
        }))),
        read_only("read_note", "Read a note", "Read one note with its text.", input(json!({ "id": note }), &["id"]))
        .with_raw_output_schema(object(json!({
            "type": "object",
            "properties": { "id": { "type": "integer" }, "title": { "type": "string" }, "text": { "type": "string" } },
            "required": ["id", "title", "text"],
        }))),
        mutating("delete_note", "Delete a note", "Delete one note for good.", true, input(json!({ "id": note }), &["id"]))
        .with_raw_output_schema(note_id()),
        read_only("slow", "Wait", "Wait for a while, reporting progress after each step.",
            input(json!({
                "ms": { "type": "integer", "minimum": 0, "maximum": 600_000, "description": "How long, in milliseconds" },
                "steps": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 1 },
            }), &["ms"])),
        read_only("flaky", "Fail, then work", "Fail a given number of times for each key, and then succeed.",
            input(json!({
                "key": { "type": "string", "description": "Whose failures are counted" },
                "failures": { "type": "integer", "minimum": 0, "description": "How many calls fail first" },
            }), &["key", "failures"])),
    ]
}

/// A read-only tool.
fn read_only(
    name: &'static str,
    title: &str,
    description: &'static str,
    input: Arc<JsonObject>,
) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(true)
        .open_world(false);
    Tool::new(name, description, input)
        .with_title(title)
        .with_annotations(annotations)
}

/// A tool that changes the notes.
fn mutating(
    name: &'static str,
    title: &str,
    description: &'static str,
    destructive: bool,
    input: Arc<JsonObject>,
) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(false)
        .destructive(destructive)
        .idempotent(false)
        .open_world(false);
    Tool::new(name, description, input)
        .with_title(title)
        .with_annotations(annotations)
}

fn input(properties: Value, required: &[&str]) -> Arc<JsonObject> {
    object(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }))
}

/// The output schema of a tool that returns the id of a note.
fn note_id() -> Arc<JsonObject> {
    object(json!({
        "type": "object",
        "properties": { "id": { "type": "integer" } },
        "required": ["id"],
    }))
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}
