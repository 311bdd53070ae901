//! What an operation answers: media types and the schema of the tool's result.

use serde_json::{Value, json};

use super::schema::SchemaReader;
use crate::documents::{Documents, Place};

/// The answers with a status of 200 to 299, or else the default one.
fn successes<'a>(documents: &'a Documents, operation: Place<'a>) -> Vec<Place<'a>> {
    let all = |wanted: fn(&str) -> bool| -> Vec<Place<'a>> {
        operation
            .entries("responses")
            .filter(|(status, _)| wanted(status))
            .filter_map(|(_, place)| documents.follow(place).ok())
            .collect()
    };
    let found = all(|status| status.len() == 3 && status.starts_with('2'));
    match found.is_empty() {
        true => all(|status| status == "default"),
        false => found,
    }
}

/// The media types of the answers, the first ones first.
pub fn accepts(documents: &Documents, operation: Place<'_>, produces: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = produces.iter().map(|media| (*media).to_owned()).collect();
    for response in successes(documents, operation) {
        for (media, _) in response.entries("content") {
            if !found.iter().any(|known| known == media) {
                found.push(media.to_owned());
            }
        }
    }
    found
}

/// The schema of the result; `None` if the document does not say.
pub fn output<'a>(
    documents: &'a Documents,
    operation: Place<'a>,
    reader: &mut SchemaReader<'a>,
) -> Option<Value> {
    let mut schemas: Vec<Value> = Vec::new();
    for response in successes(documents, operation) {
        let schema = result_of(documents, response, reader)?;
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    }
    match schemas.len() {
        0 => None,
        1 => schemas.pop(),
        _ => Some(json!({ "anyOf": schemas })),
    }
}

fn result_of<'a>(
    documents: &'a Documents,
    response: Place<'a>,
    reader: &mut SchemaReader<'a>,
) -> Option<Value> {
    // Swagger 2.0.
    if let Some(schema) = response.get("schema") {
        return match documents
            .follow(schema)
            .is_ok_and(|it| it.text("type") == Some("file"))
        {
            true => None,
            false => Some(reader.read(schema)),
        };
    }
    let is_json = |media: &str| {
        let media = media.split(';').next().unwrap_or(media).trim();
        media == "application/json" || media.ends_with("+json") || media == "*/*"
    };
    let mut contents = response.entries("content").peekable();
    if contents.peek().is_none() {
        return Some(json!({ "type": "null" }));
    }
    let contents: Vec<_> = contents.collect();
    let (media, place) = contents
        .iter()
        .find(|(media, _)| is_json(media))
        .or(contents.first())?;
    match (place.get("schema"), place.get("itemSchema")) {
        (Some(schema), _) if is_json(media) => Some(reader.read(schema)),
        (_, Some(item)) => Some(json!({ "type": "array", "items": reader.read(item) })),
        _ if media.starts_with("text/") && !media.contains("event-stream") => {
            Some(json!({ "type": "string" }))
        }
        _ => None,
    }
}
