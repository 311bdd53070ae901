//! The pieces of a result, and the parts that a script gets of them.

use std::collections::VecDeque;

use pml_protocol::{CallProgress, Failure, FailureKind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a script gets of a stream, in its order.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Part {
    /// The server reports progress.
    Progress {
        done: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A part of a text, which ends behind a line where it can.
    Text { text: String },
    /// An item of a list.
    Item { value: Box<RawValue> },
    /// A result that is neither a text nor a list.
    Value { value: Box<RawValue> },
    /// The texts that follow are of this resource.
    Resource {
        uri: String,
        #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl Part {
    /// Roughly its bytes as JSON.
    pub fn size(&self) -> usize {
        match self {
            Self::Progress { message, .. } => 64 + message.as_ref().map_or(0, String::len),
            Self::Text { text } => text.len(),
            Self::Item { value } | Self::Value { value } => value.get().len(),
            Self::Resource { uri, .. } => uri.len(),
        }
    }
}

impl From<CallProgress> for Part {
    fn from(progress: CallProgress) -> Self {
        Self::Progress {
            done: progress.done,
            total: progress.total,
            message: progress.message,
        }
    }
}

/// A piece of a result that the script has not got.
#[derive(Debug)]
pub enum Piece {
    /// A text, and how much of it the script has.
    Text { text: String, at: usize },
    /// Anything else, whole.
    Whole(Option<Part>),
    /// A link to a resource, which is read when its turn comes.
    Link { uri: String },
}

impl Piece {
    fn text(text: String) -> Self {
        Self::Text { text, at: 0 }
    }

    /// The next part of at most so many bytes, and whether it is the last one.
    pub fn take(&mut self, bytes: usize) -> (Part, bool) {
        match self {
            Self::Text { text, at } => {
                let rest = &text[*at..];
                let mut end = rest.floor_char_boundary(bytes);
                if end < rest.len()
                    && let Some(line) = rest[..end].rfind('\n')
                {
                    end = line + 1;
                }
                let part = rest[..end].to_owned();
                *at += end;
                (Part::Text { text: part }, *at == text.len())
            }
            Self::Whole(part) => {
                let null = || Part::Value {
                    value: RawValue::NULL.to_owned(),
                };
                (part.take().unwrap_or_else(null), true)
            }
            Self::Link { uri } => {
                let uri = std::mem::take(uri);
                (
                    Part::Resource {
                        uri,
                        mime_type: None,
                    },
                    true,
                )
            }
        }
    }
}

/// What of a content block decides how it is streamed.
#[derive(Deserialize)]
struct Block {
    r#type: String,
    uri: Option<String>,
    resource: Option<Contents>,
}

/// A part of a resource.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contents {
    uri: String,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
}

/// The pieces of a call's result: a text in parts, a list as items, anything else whole.
pub fn pieces_of(value: &RawValue) -> Result<VecDeque<Piece>, Failure> {
    let json = value.get().trim_start();
    let mut pieces = VecDeque::new();
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json).map_err(Failure::internal)?;
        if !text.is_empty() {
            pieces.push_back(Piece::text(text));
        }
    } else if json.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(json).map_err(Failure::internal)?;
        for item in items {
            add_item(item, &mut pieces);
        }
    } else {
        let value = value.to_owned();
        pieces.push_back(Piece::Whole(Some(Part::Value { value })));
    }
    Ok(pieces)
}

fn add_item(item: &RawValue, pieces: &mut VecDeque<Piece>) {
    let json = item.get();
    // Most items are no content blocks, and parsing them costs time.
    let may_be_block = json.starts_with('{') && json.contains("\"resource");
    if may_be_block && let Ok(block) = serde_json::from_str::<Block>(json) {
        match (block.r#type.as_str(), block.uri, block.resource) {
            ("resource_link", Some(uri), _) => return pieces.push_back(Piece::Link { uri }),
            ("resource", _, Some(contents)) => return add_contents(contents, pieces),
            _ => {}
        }
    }
    let value = item.to_owned();
    pieces.push_back(Piece::Whole(Some(Part::Item { value })));
}

/// The pieces of a resource that was read.
pub fn contents_of(value: &RawValue) -> Result<VecDeque<Piece>, Failure> {
    let contents: Vec<Contents> = serde_json::from_str(value.get()).map_err(|error| {
        let message = format!("the contents of the resource cannot be read: {error}");
        Failure::new(FailureKind::Protocol, message)
    })?;
    let mut pieces = VecDeque::new();
    for part in contents {
        add_contents(part, &mut pieces);
    }
    Ok(pieces)
}

fn add_contents(contents: Contents, pieces: &mut VecDeque<Piece>) {
    let Contents {
        uri,
        mime_type,
        text,
        blob,
    } = contents;
    let header = Part::Resource { uri, mime_type };
    pieces.push_back(Piece::Whole(Some(header)));
    // Bytes stay in base64, and may be cut anywhere.
    if let Some(text) = text.or(blob).filter(|text| !text.is_empty()) {
        pieces.push_back(Piece::text(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_lines_and_between_characters() {
        let mut piece = Piece::text("ab\ncdé\nf".to_owned());
        let mut taken = Vec::new();
        loop {
            let (part, is_last) = piece.take(4);
            let Part::Text { text } = part else { panic!() };
            taken.push(text);
            if is_last {
                break;
            }
        }
        assert_eq!(taken, ["ab\n", "cdé", "\nf"]);
    }
}
