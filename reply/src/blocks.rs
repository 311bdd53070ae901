//! Images, sounds and resources in a result: they travel as content blocks, not as text.

use pml_scrub::{PlaceholderMap, ScrubError, Scrubbed};
use serde_json::{Map, Value};

use crate::reply_parts;

/// The blocks of one reply; further ones are left out.
const MAX_BLOCKS: usize = 32;

/// One piece of content beside the text.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// An image.
    Image(Media),
    /// Audio.
    Audio(Media),
    /// An embedded resource with text, or a link, as MCP writes them.
    Described(Scrubbed<Value>),
    /// An embedded resource of bytes.
    Bytes {
        /// The resource without its bytes.
        described: Scrubbed<Value>,
        /// The bytes in base64.
        blob: Scrubbed<String>,
    },
}

/// Bytes in base64.
#[derive(Debug, Clone, PartialEq)]
pub struct Media {
    /// The bytes.
    pub data: Scrubbed<String>,
    /// Their media type.
    pub mime_type: Scrubbed<String>,
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
pub(crate) fn may_be_in(json: &str) -> bool {
    [
        "\"image\"",
        "\"audio\"",
        "\"resource\"",
        "\"resource_link\"",
    ]
    .iter()
    .any(|kind| json.contains(kind))
}

/// Takes the blocks out of a result and leaves a text where each was: `(image 1)`, or why it is
/// left out.
pub(crate) fn take(
    value: &mut Value,
    placeholders: &mut PlaceholderMap,
) -> Result<Vec<Block>, ScrubError> {
    let mut taken = Vec::new();
    walk(value, placeholders, &mut taken)?;
    Ok(taken)
}

/// Replaces the values in blocks that became known after they were scrubbed.
pub(crate) fn complete(
    blocks: &mut Vec<Block>,
    placeholders: &mut PlaceholderMap,
) -> Result<(), ScrubError> {
    for mut block in std::mem::take(blocks) {
        match &mut block {
            Block::Image(media) | Block::Audio(media) => {
                reply_parts::complete(&mut media.mime_type, placeholders, None)?;
            }
            Block::Described(described) | Block::Bytes { described, .. } => {
                *described = placeholders.complete_json(described.clone(), None)?;
            }
        }
        blocks.push(block);
    }
    Ok(())
}

fn walk(
    value: &mut Value,
    placeholders: &mut PlaceholderMap,
    taken: &mut Vec<Block>,
) -> Result<(), ScrubError> {
    match value {
        Value::Object(fields) => match kind_of(fields) {
            Some(kind) => {
                let fields = std::mem::take(fields);
                let mark = mark(kind, fields, placeholders, taken)?;
                *value = Value::String(mark);
                Ok(())
            }
            None => fields
                .values_mut()
                .try_for_each(|value| walk(value, placeholders, taken)),
        },
        Value::Array(items) => items
            .iter_mut()
            .try_for_each(|item| walk(item, placeholders, taken)),
        _ => Ok(()),
    }
}

/// Takes one block, and returns the text for its place.
fn mark(
    kind: Kind,
    fields: Map<String, Value>,
    placeholders: &mut PlaceholderMap,
    taken: &mut Vec<Block>,
) -> Result<String, ScrubError> {
    let name = kind.name();
    if taken.len() >= MAX_BLOCKS {
        return Ok(format!("({name} left out: an answer shows {MAX_BLOCKS})"));
    }
    Ok(match scrub(placeholders, kind, fields)? {
        Some(block) => {
            taken.push(block);
            format!("({name} {})", taken.len())
        }
        None => format!("({name} withheld: its bytes may hold private text)"),
    })
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

/// `None` for bytes that are withheld.
fn scrub(
    placeholders: &mut PlaceholderMap,
    kind: Kind,
    mut value: Map<String, Value>,
) -> Result<Option<Block>, ScrubError> {
    if let Kind::Image | Kind::Audio = kind {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let Some(data) = placeholders.scrub_binary(text("data")) else {
            return Ok(None);
        };
        let mime_type = placeholders.scrub_text(text("mimeType"), None)?;
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
    let described = placeholders.scrub_json(Value::Object(value), None)?;
    let Some(blob) = blob else {
        return Ok(Some(Block::Described(described)));
    };
    let blob = blob
        .as_str()
        .and_then(|blob| placeholders.scrub_binary(blob));
    Ok(blob.map(|blob| Block::Bytes { described, blob }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use pml_scrub::Scrubber;
    use serde_json::json;

    /// A GIF of one pixel.
    const PIXEL: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

    #[test]
    fn images_over_the_limit_are_left_out_with_a_note() {
        let one = json!({ "type": "image", "data": PIXEL, "mimeType": "image/gif" });
        let mut value = Value::Array(vec![one; MAX_BLOCKS + 1]);
        let mut placeholders =
            PlaceholderMap::new(Arc::new(Scrubber::new(&Default::default()).unwrap()));
        assert_eq!(
            take(&mut value, &mut placeholders).unwrap().len(),
            MAX_BLOCKS
        );
        assert_eq!(value[MAX_BLOCKS], "(image left out: an answer shows 32)");
    }

    #[test]
    fn blocks_are_found_at_any_depth() {
        let mut value = json!({
            "title": "t",
            "shots": [{ "type": "image", "data": PIXEL, "mimeType": "image/gif" }],
            "odd": { "type": "image", "data": "not base64", "mimeType": "image/png" },
            "file": { "type": "resource", "resource": { "uri": "a:b", "text": "t" } },
            "not": { "type": "image", "width": 3 },
        });
        let mut placeholders =
            PlaceholderMap::new(Arc::new(Scrubber::new(&Default::default()).unwrap()));
        let taken = take(&mut value, &mut placeholders).unwrap();
        assert_eq!(taken.len(), 2);
        assert_eq!(
            value,
            json!({
                "title": "t",
                "shots": ["(image 1)"],
                "odd": "(image withheld: its bytes may hold private text)",
                "file": "(resource 2)",
                "not": { "type": "image", "width": 3 },
            })
        );
    }
}
