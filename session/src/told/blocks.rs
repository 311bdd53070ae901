//! Images, sounds and resources in a result: they leave as content of their own, not as text.

use pml_scrub::{ScrubError, Scrubbed, Session};
use serde_json::{Map, Value};

const MAX_BLOCKS: usize = 32;

/// One piece of content beside the text.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Image(Media),
    Audio(Media),
    /// An embedded resource with text, or a link, as MCP writes them.
    Described(Scrubbed<Value>),
    /// An embedded resource of bytes.
    Bytes {
        described: Scrubbed<Value>,
        blob: Scrubbed<String>,
    },
}

/// Bytes in base64.
#[derive(Debug, Clone, PartialEq)]
pub struct Media {
    pub data: Scrubbed<String>,
    pub mime_type: Scrubbed<String>,
}

/// What was found in a result: still as the script left it.
pub(super) struct Found {
    kind: Kind,
    value: Map<String, Value>,
}

#[derive(Clone, Copy)]
enum Kind {
    Image,
    Audio,
    Resource,
    Link,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Resource => "resource",
            Self::Link => "link",
        }
    }
}

/// Whether a result, as JSON, may hold blocks.
pub(super) fn may_be_in(json: &str) -> bool {
    [
        "\"image\"",
        "\"audio\"",
        "\"resource\"",
        "\"resource_link\"",
    ]
    .iter()
    .any(|kind| json.contains(kind))
}

/// Takes the blocks out of a result and leaves a mark where each was: `(image 1)`.
pub(super) fn take(value: &mut Value) -> Vec<Found> {
    let mut found = Vec::new();
    walk(value, &mut found);
    found
}

fn walk(value: &mut Value, found: &mut Vec<Found>) {
    match value {
        Value::Object(fields) => {
            if found.len() < MAX_BLOCKS
                && let Some(kind) = kind_of(fields)
            {
                let fields = std::mem::take(fields);
                found.push(Found {
                    kind,
                    value: fields,
                });
                *value = Value::String(format!("({} {})", kind.name(), found.len()));
            } else {
                fields.values_mut().for_each(|value| walk(value, found));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, found)),
        _ => {}
    }
}

fn kind_of(fields: &Map<String, Value>) -> Option<Kind> {
    let is_text = |key: &str| fields.get(key).is_some_and(Value::is_string);
    match fields.get("type")?.as_str()? {
        "image" if is_text("data") && is_text("mimeType") => Some(Kind::Image),
        "audio" if is_text("data") && is_text("mimeType") => Some(Kind::Audio),
        "resource_link" if is_text("uri") && is_text("name") => Some(Kind::Link),
        "resource" => {
            let resource = fields.get("resource")?.as_object()?;
            let is_text = |key: &str| resource.get(key).is_some_and(Value::is_string);
            (is_text("uri") && (is_text("text") || is_text("blob"))).then_some(Kind::Resource)
        }
        _ => None,
    }
}

/// `None` for bytes that may not leave.
pub(super) fn scrub(names: &mut Session, found: Found) -> Result<Option<Block>, ScrubError> {
    let Found { kind, mut value } = found;
    if let Kind::Image | Kind::Audio = kind {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let Some(data) = names.scrub_binary(text("data")) else {
            return Ok(None);
        };
        let mime_type = names.scrub_text(text("mimeType"), None)?;
        let media = Media { data, mime_type };
        return Ok(Some(match kind {
            Kind::Image => Block::Image(media),
            _ => Block::Audio(media),
        }));
    }
    let blob = value
        .get_mut("resource")
        .and_then(Value::as_object_mut)
        .and_then(|resource| resource.remove("blob"));
    let described = names.scrub_json(Value::Object(value), None)?;
    let Some(blob) = blob else {
        return Ok(Some(Block::Described(described)));
    };
    let blob = blob.as_str().and_then(|blob| names.scrub_binary(blob));
    Ok(blob.map(|blob| Block::Bytes { described, blob }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocks_are_taken_from_wherever_they_stand() {
        let mut value = json!({
            "title": "t",
            "shots": [{ "type": "image", "data": "aGk=", "mimeType": "image/png" }],
            "file": { "type": "resource", "resource": { "uri": "a:b", "text": "t" } },
            "not": { "type": "image", "width": 3 },
        });
        let found = take(&mut value);
        assert_eq!(found.len(), 2);
        assert_eq!(
            value,
            json!({
                "title": "t",
                "shots": ["(image 1)"],
                "file": "(resource 2)",
                "not": { "type": "image", "width": 3 },
            })
        );
    }
}
