//! What a tool says of itself: the texts of its operation, how to get the next page, and examples.

use serde_json::Value;

use super::extension::ToolExtension;
use crate::documents::Place;
use crate::operation::{Location, Parameter};

/// Characters of an operation's own description.
const MAX_TEXT: usize = 2_000;
/// Arguments that continue a list.
const CURSORS: [&str; 16] = [
    "cursor",
    "page_token",
    "pagetoken",
    "next_token",
    "nexttoken",
    "continuation_token",
    "continuationtoken",
    "starting_after",
    "after",
    "marker",
    "next_marker",
    "page[cursor]",
    "page[after]",
    "start_cursor",
    "continue",
    "paginationtoken",
];
const PAGES: [&str; 5] = [
    "page",
    "page[number]",
    "page_number",
    "pagenumber",
    "offset",
];
const SIZES: [&str; 10] = [
    "limit",
    "per_page",
    "perpage",
    "page_size",
    "pagesize",
    "max_results",
    "maxresults",
    "count",
    "page[size]",
    "size",
];
/// Properties of a result that say where the next page is.
const NEXT: [&str; 14] = [
    "next_cursor",
    "nextcursor",
    "next_page_token",
    "nextpagetoken",
    "next_token",
    "nexttoken",
    "next_marker",
    "has_more",
    "hasmore",
    "next",
    "next_page",
    "nextlink",
    "end_cursor",
    "continue",
];

/// The description of a tool.
pub fn describe(
    operation: Place<'_>,
    method: &str,
    path: &str,
    paging: Option<String>,
    extension: &ToolExtension,
) -> String {
    let mut lines = Vec::new();
    if operation.is("deprecated") {
        lines.push("Deprecated.".to_owned());
    }
    let (summary, text) = (operation.text("summary"), operation.text("description"));
    if let Some(text) = extension.description.as_deref().or(text).or(summary) {
        lines.push(shortened(text.trim()));
    }
    lines.extend(paging);
    if !extension.capabilities.is_empty() {
        lines.push(format!(
            "Capabilities: {}.",
            extension.capabilities.join(", ")
        ));
    }
    lines.extend(
        extension
            .examples
            .iter()
            .map(|example| format!("Example: {example}")),
    );
    lines.push(format!("{method} {path}"));
    lines.join("\n\n")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How to get the pages after the first one, if the names say so.
pub fn paging(
    parameters: &[Parameter],
    output: Option<&Value>,
    defs: Option<&Value>,
) -> Option<String> {
    let argument = |names: &[&str]| {
        let query = parameters
            .iter()
            .filter(|it| it.location == Location::Query);
        let mut found = query.filter(|it| names.contains(&it.name.to_ascii_lowercase().as_str()));
        found.next().map(|parameter| parameter.argument.as_str())
    };
    let (cursor, page) = (argument(&CURSORS), argument(&PAGES));
    let next = output.and_then(|schema| next_field(schema, defs, 2));
    let mut hint = match (cursor, page, &next) {
        (Some(cursor), _, Some(next)) => {
            format!("Pages: pass `{next}` of the result as `{cursor}` to get the next page")
        }
        (Some(cursor), _, None) => format!("Pages: `{cursor}` continues behind the page before"),
        (None, Some(page), Some(next)) => {
            format!("Pages: raise `{page}` for the next page; `{next}` says whether there is one")
        }
        (None, Some(page), None) => format!("Pages: raise `{page}` for the next page"),
        (None, None, _) => return None,
    };
    if let Some(size) = argument(&SIZES) {
        hint.push_str(&format!("; `{size}` is the size of a page"));
    }
    hint.push('.');
    Some(hint)
}

/// The property that says where the next page is, at most `depth` objects deep.
fn next_field(schema: &Value, defs: Option<&Value>, depth: u32) -> Option<String> {
    let name = schema["$ref"]
        .as_str()
        .and_then(|text| text.strip_prefix("#/$defs/"));
    let schema = match (name, defs) {
        (Some(name), Some(defs)) => &defs[name],
        _ => schema,
    };
    let properties = schema["properties"].as_object();
    let all_of = schema["allOf"].as_array().into_iter().flatten();
    let own = properties.into_iter().flatten();
    if let Some((name, _)) = own
        .clone()
        .find(|(name, _)| NEXT.contains(&name.to_ascii_lowercase().as_str()))
        && depth > 0
    {
        return Some(name.clone());
    }
    let depth = depth.checked_sub(1)?;
    own.filter_map(|(name, schema)| Some(format!("{name}.{}", next_field(schema, defs, depth)?)))
        .chain(all_of.filter_map(|part| next_field(part, defs, depth)))
        .next()
}
