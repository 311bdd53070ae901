//! The functions of an entry: which are tools, and which cannot be.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use pml_gateway::config::Functions;
use pml_script::functions::{FunctionFile, FunctionTool, read_functions};
use pml_script::nesting;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::files::{self, FoundFile};

/// Bytes of one file.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The classes that a comment can name after `@effect`.
const CLASSES: [&str; 3] = ["read", "idempotent", "guarded"];

/// The functions of the files of one entry.
#[derive(Debug)]
pub struct FunctionSet {
    /// The tools, by name.
    pub functions: BTreeMap<String, ReadFunction>,
    /// What cannot be a tool, with the reason.
    pub skipped: Vec<SkippedEntry>,
    /// The files as they were when they were read.
    pub(crate) files: Vec<FoundFile>,
}

/// A function that is a tool.
#[derive(Debug, Clone)]
pub struct ReadFunction {
    /// Its file, relative to the folder of the configuration.
    pub file: String,
    /// The function.
    pub tool: FunctionTool,
    pub(crate) source: Arc<str>,
}

/// A function or a file that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedEntry {
    /// The file, relative to the folder of the configuration.
    pub file: String,
    /// The line of what is wrong, from 1.
    pub line: u32,
    /// The function; `None` if the whole file is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// What is wrong and what to do.
    pub reason: String,
}

impl FunctionSet {
    /// Reads the files of an entry. What cannot be used is skipped, and nothing else.
    ///
    /// # Errors
    /// The patterns mean no file, or too many.
    pub fn read(functions: &Functions) -> Result<Self, String> {
        let files = files::find(&functions.folder, &functions.files)?;
        if files.is_empty() {
            return Err(format!(
                "no file matches `{}` in {}: correct `functions`",
                functions.files.join("`, `"),
                functions.folder.display()
            ));
        }
        let mut set = Self {
            functions: BTreeMap::new(),
            skipped: Vec::new(),
            files: files.clone(),
        };
        for file in files {
            let shown = shown_path(&functions.folder, &file.path);
            match read_file(&file, &shown) {
                Ok((source, read)) => set.add(&shown, source, read),
                Err((line, reason)) => set.skip(&shown, line, None, reason),
            }
        }
        Ok(set)
    }

    fn add(&mut self, file: &str, source: Arc<str>, read: FunctionFile) {
        for skipped in read.skipped {
            self.skip(file, skipped.line, Some(skipped.name), skipped.reason);
        }
        for tool in read.functions {
            let (name, line) = (tool.name.clone(), tool.line);
            if let Err(reason) = self.check(&tool) {
                self.skip(file, line, Some(name), reason);
                continue;
            }
            let function = ReadFunction {
                file: file.to_owned(),
                tool,
                source: source.clone(),
            };
            self.functions.insert(name, function);
        }
    }

    fn check(&self, tool: &FunctionTool) -> Result<(), String> {
        if let Some(known) = self.functions.get(&tool.name) {
            return Err(format!(
                "{} has a function with this name too: rename one of them",
                known.file
            ));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !tool.name.chars().all(is_plain) {
            return Err(
                "the name of a tool has letters of ASCII, digits and `_`: export it by another name"
                    .to_owned(),
            );
        }
        match &tool.effect {
            Some(class) if !CLASSES.contains(&class.as_str()) => Err(format!(
                "`@effect {class}` is no class: write {}",
                CLASSES.join(", ")
            )),
            _ => Ok(()),
        }
    }

    fn skip(&mut self, file: &str, line: u32, function: Option<String>, reason: String) {
        self.skipped.push(SkippedEntry {
            file: file.to_owned(),
            line,
            function,
            reason,
        });
    }
}

impl ReadFunction {
    /// The function as an element of MCP's `tools/list`.
    pub fn described(&self) -> Value {
        let tool = &self.tool;
        let mut described = Map::new();
        described.insert("name".to_owned(), tool.name.as_str().into());
        if !tool.description.is_empty() {
            described.insert("description".to_owned(), tool.description.as_str().into());
        }
        described.insert("inputSchema".to_owned(), tool.input_schema.clone());
        if let Some(output) = &tool.output_schema {
            described.insert("outputSchema".to_owned(), output.clone());
        }
        let annotations = match tool.effect.as_deref() {
            Some("read") => json!({ "readOnlyHint": true, "destructiveHint": false }),
            Some("idempotent") => json!({ "readOnlyHint": false, "idempotentHint": true }),
            Some(_) => json!({ "readOnlyHint": false, "idempotentHint": false }),
            None => Value::Null,
        };
        if !annotations.is_null() {
            described.insert("annotations".to_owned(), annotations);
        }
        Value::Object(described)
    }

    /// The script that calls it.
    pub(crate) fn script(&self) -> String {
        self.tool.script(&self.source)
    }
}

/// The text of a file and its functions. The error has the line that it is about.
fn read_file(file: &FoundFile, shown: &str) -> Result<(Arc<str>, FunctionFile), (u32, String)> {
    let mut source = String::new();
    // It may have grown since it was found.
    let read = std::fs::File::open(&file.path)
        .and_then(|opened| opened.take(MAX_FILE_BYTES + 1).read_to_string(&mut source));
    let bytes = read.map_err(|error| (1, format!("the file cannot be read: {error}")))?;
    if bytes as u64 > MAX_FILE_BYTES {
        return Err((1, "the file has more than 1 MiB: split it".to_owned()));
    }
    if !nesting::is_bounded(&source) {
        return Err((1, "the file is too large to read: split it".to_owned()));
    }
    let source: Arc<str> = source.into();
    let (name, text) = (shown.to_owned(), source.clone());
    let read = nesting::on_large_stack(move || read_functions(&name, &text));
    match read {
        Some(Ok(read)) => Ok((source, read)),
        Some(Err(rejection)) => Err((rejection.line, rejection.message)),
        None => Err((1, "reading the file takes too long: simplify it".to_owned())),
    }
}

fn shown_path(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder)
        .unwrap_or(file)
        .display()
        .to_string()
}
