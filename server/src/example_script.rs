//! The example in the description of `execute_code`: a script that calls a tool of a connected server, so
//! that a model sees names which exist.

use std::cmp::Reverse;
use std::sync::Arc;

use pml_gateway::Tool;
use serde_json::Value;

/// Verbs of tools that read one thing by its name: what a model does to many things at once.
const READS: [&str; 5] = ["read", "get", "fetch", "describe", "show"];
/// The longest name of a parameter that is shown, in characters.
const MAX_PARAMETER: usize = 24;
/// The longest id of a tool that is shown, in characters.
const MAX_ID: usize = 64;

/// A script of a few lines.
pub fn example_script(tools: &[Arc<Tool>]) -> String {
    // Of equal ones the first by id, so that the same servers give the same description.
    let best = tools
        .iter()
        .filter_map(|tool| Some((tool, parameter(tool)?)))
        .max_by_key(|(tool, _)| (fitness(tool), Reverse(tool.id.to_string())));
    let (call, parameter) = match best {
        Some((tool, parameter)) => (
            format!("tools.{}.{}", tool.id.server(), tool.id.tool()),
            parameter,
        ),
        None => ("tools.server.tool".to_owned(), "id"),
    };
    format!(
        "const all = await Promise.all([\"a\", \"b\"].map(({parameter}) => {call}({{ {parameter} }})));
return all.filter((one) => JSON.stringify(one).includes(\"ERROR\")).length;"
    )
}

/// How well the tool shows what a script is for: it says that it only reads, and its name says so.
fn fitness(tool: &Tool) -> (bool, bool) {
    let annotations = tool.annotations.as_ref();
    let hint = annotations.and_then(|annotations| annotations.get("readOnlyHint"));
    let name = tool.id.tool();
    let reads = READS.iter().any(|verb| {
        name.strip_prefix(verb)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    });
    (hint == Some(&Value::Bool(true)), reads)
}

/// The one parameter that the tool requires, if that is a text, and all names can be written as they are.
fn parameter(tool: &Tool) -> Option<&str> {
    let id = &tool.id;
    if tool.quarantine.is_some() || id.server().len() + id.tool().len() > MAX_ID {
        return None;
    }
    let [Value::String(name)] = tool.input_schema.get("required")?.as_array()?.as_slice() else {
        return None;
    };
    let schema = tool.input_schema.get("properties")?.get(name)?;
    let is_text = schema.get("type")? == "string" && schema.get("enum").is_none();
    let are_names = [id.server(), id.tool(), name]
        .into_iter()
        .all(is_identifier);
    (is_text && are_names && name.len() <= MAX_PARAMETER && !is_reserved(name)).then_some(name)
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Words that cannot name a parameter of a function.
fn is_reserved(name: &str) -> bool {
    matches!(
        name,
        "arguments"
            | "await"
            | "break"
            | "case"
            | "catch"
            | "class"
            | "const"
            | "continue"
            | "debugger"
            | "default"
            | "delete"
            | "do"
            | "else"
            | "enum"
            | "eval"
            | "export"
            | "extends"
            | "false"
            | "finally"
            | "for"
            | "function"
            | "if"
            | "implements"
            | "import"
            | "in"
            | "instanceof"
            | "interface"
            | "let"
            | "new"
            | "null"
            | "package"
            | "private"
            | "protected"
            | "public"
            | "return"
            | "static"
            | "super"
            | "switch"
            | "this"
            | "throw"
            | "true"
            | "try"
            | "typeof"
            | "var"
            | "void"
            | "while"
            | "with"
            | "yield"
    )
}
