//! The body of a request: which of its media types is sent, and how.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::documents::{Documents, Place};
use crate::operation::{Body, BodyForm, Encoding, Style};

/// A body and the schema of its argument.
pub struct ReadBody<'a> {
    pub body: Body,
    pub schema: BodySchema<'a>,
}

/// The schema of a body's argument.
pub enum BodySchema<'a> {
    /// The schema of the document.
    Schema(Place<'a>),
    /// A list of such values.
    ListOf(Place<'a>),
    /// The object of a form of Swagger 2.0: properties with their schemas.
    Form(Vec<(String, bool, Place<'a>)>),
    /// Made here.
    Fixed(Value),
}

/// The forms of a media type, and how much it is preferred (less is better).
fn form_of(media: &str) -> (BodyForm, u32) {
    let media = media
        .split(';')
        .next()
        .unwrap_or(media)
        .trim()
        .to_ascii_lowercase();
    let media = media.as_str();
    match media {
        "application/json" => (BodyForm::Json, 0),
        "application/x-ndjson"
        | "application/ndjson"
        | "application/jsonl"
        | "application/x-jsonlines"
        | "application/json-seq"
        | "application/json-lines" => (BodyForm::JsonLines, 2),
        "application/x-www-form-urlencoded" => (BodyForm::UrlEncoded, 3),
        "multipart/form-data" => (BodyForm::Multipart, 4),
        "*/*" | "application/*" => (BodyForm::Json, 6),
        _ if media.ends_with("+json") || media == "text/json" => (BodyForm::Json, 1),
        _ if media.starts_with("multipart/") => (BodyForm::Multipart, 5),
        "text/plain" => (BodyForm::Text, 7),
        _ if media.starts_with("text/") || media.ends_with("xml") || media.ends_with("yaml") => {
            (BodyForm::Text, 8)
        }
        "application/graphql" | "application/javascript" => (BodyForm::Text, 8),
        _ => (BodyForm::Bytes, 9),
    }
}

/// Whether a schema is that of bytes.
fn is_bytes(documents: &Documents, schema: Place<'_>) -> bool {
    let Ok(schema) = documents.follow(schema) else {
        return false;
    };
    let is = |key: &str, value: &str| schema.text(key) == Some(value);
    let has_type = schema.get("type").is_some();
    is("type", "file")
        || is("format", "binary")
        || is("contentEncoding", "binary")
        || (schema.get("contentMediaType").is_some()
            && schema.get("contentEncoding").is_none()
            && !is("contentMediaType", "application/json"))
        || (!has_type && is("contentMediaType", "application/octet-stream"))
        || (is("type", "array")
            && schema.get("items").is_some_and(|items| {
                documents
                    .follow(items)
                    .is_ok_and(|items| items.text("format") == Some("binary"))
            }))
}

/// The properties of a form's schema, those of its `allOf` included.
fn properties<'a>(
    documents: &'a Documents,
    schema: Place<'a>,
    left: u32,
) -> Vec<(&'a str, Place<'a>)> {
    let Ok(schema) = documents.follow(schema) else {
        return Vec::new();
    };
    let mut found: Vec<(&str, Place<'_>)> = schema.entries("properties").collect();
    if left > 0 {
        for key in ["allOf", "anyOf", "oneOf"] {
            for part in schema.items(key) {
                found.extend(properties(documents, part, left - 1));
            }
        }
    }
    found
}

/// Reads `requestBody` of OpenAPI 3; its reference was followed.
pub fn read<'a>(documents: &'a Documents, place: Place<'a>) -> Option<ReadBody<'a>> {
    let has_bytes = |media: Place<'a>| {
        media.get("schema").is_some_and(|schema| {
            properties(documents, schema, 2)
                .iter()
                .any(|(_, schema)| is_bytes(documents, *schema))
        })
    };
    let (name, media) =
        place
            .entries("content")
            .min_by_key(|(name, media)| match form_of(name) {
                (BodyForm::Multipart, _) if has_bytes(*media) => 3,
                (BodyForm::UrlEncoded, _) if has_bytes(*media) => 4,
                (_, rank) => rank,
            })?;
    let media = documents.follow(media).unwrap_or(media);
    let schema = media.get("schema");
    let is_object = schema.is_some_and(|schema| {
        let schema = documents.follow(schema);
        schema.is_ok_and(|it| matches!(it.text("type"), Some("object" | "array")))
    });
    let is_encoded = schema.is_some_and(|schema| {
        let schema = documents.follow(schema);
        schema.is_ok_and(|it| {
            it.text("format") == Some("byte") || it.text("contentEncoding") == Some("base64")
        })
    });
    let form = match form_of(name).0 {
        // Bytes that the document describes as an object are JSON; those in base64 are sent so.
        BodyForm::Bytes if is_object => BodyForm::Json,
        BodyForm::Bytes if is_encoded => BodyForm::Text,
        form => form,
    };
    let schema = match (form, schema, media.get("itemSchema")) {
        (BodyForm::JsonLines, _, Some(item)) => BodySchema::ListOf(item),
        (BodyForm::JsonLines, Some(schema), None) => {
            match documents
                .follow(schema)
                .is_ok_and(|it| it.text("type") == Some("array"))
            {
                true => BodySchema::Schema(schema),
                false => BodySchema::ListOf(schema),
            }
        }
        (BodyForm::JsonLines, None, None) => BodySchema::Fixed(json!({ "type": "array" })),
        (BodyForm::Bytes, ..) => BodySchema::Fixed(bytes_schema("The bytes of the body in base64")),
        (BodyForm::Text, ..) => BodySchema::Fixed(json!({ "type": "string" })),
        (BodyForm::UrlEncoded | BodyForm::Multipart, None, _) => {
            BodySchema::Fixed(json!({ "type": "object" }))
        }
        (BodyForm::Json, Some(schema), _) if is_bytes(documents, schema) => {
            BodySchema::Fixed(json!({}))
        }
        (_, Some(schema), _) => BodySchema::Schema(schema),
        (_, None, _) => BodySchema::Fixed(json!({})),
    };
    let encodings = match form {
        BodyForm::UrlEncoded | BodyForm::Multipart => encodings(documents, media),
        _ => BTreeMap::new(),
    };
    let content_type = match name {
        "*/*" | "application/*" => "application/json",
        name => name,
    };
    Some(ReadBody {
        body: Body {
            argument: "body".to_owned(),
            required: place.is("required"),
            content_type: content_type.to_owned(),
            form,
            encodings,
        },
        schema,
    })
}

fn encodings(documents: &Documents, media: Place<'_>) -> BTreeMap<String, Encoding> {
    let mut all: BTreeMap<String, Encoding> = BTreeMap::new();
    if let Some(schema) = media.get("schema") {
        for (name, schema) in properties(documents, schema, 2) {
            if is_bytes(documents, schema) {
                all.entry(name.to_owned()).or_default().is_bytes = true;
            }
        }
    }
    for (name, place) in media.entries("encoding") {
        let encoding = all.entry(name.to_owned()).or_default();
        encoding.content_type = place.text("contentType").map(str::to_owned);
        let explode = place.value.get("explode").and_then(Value::as_bool);
        let style = match place.text("style") {
            Some("form") => Some(Style::Form),
            Some("spaceDelimited") => Some(Style::SpaceDelimited),
            Some("pipeDelimited") => Some(Style::PipeDelimited),
            Some("deepObject") => Some(Style::DeepObject),
            _ if explode.is_some() => Some(Style::Form),
            _ => None,
        };
        encoding.style = style.map(|style| {
            let default = matches!(style, Style::Form | Style::DeepObject);
            (style, explode.unwrap_or(default), place.is("allowReserved"))
        });
    }
    all
}

/// The body of Swagger 2.0: the parameter `in: body`, or those `in: formData`.
pub fn read_old<'a>(parameters: &[Place<'a>], consumes: &[&str]) -> Option<ReadBody<'a>> {
    let is_in = |place: &Place<'a>, location: &str| place.text("in") == Some(location);
    if let Some(place) = parameters.iter().find(|place| is_in(place, "body")) {
        let media = consumes.iter().min_by_key(|media| form_of(media).1);
        let media = media.copied().unwrap_or("application/json");
        let (form, _) = form_of(media);
        let (form, media) = match form {
            // A form with one schema is an object, whatever its media type was meant to be.
            BodyForm::UrlEncoded | BodyForm::Multipart => (BodyForm::Json, "application/json"),
            form => (form, media),
        };
        return Some(ReadBody {
            body: Body {
                argument: "body".to_owned(),
                required: place.is("required"),
                content_type: match media {
                    "*/*" | "application/*" => "application/json".to_owned(),
                    media => media.to_owned(),
                },
                form,
                encodings: BTreeMap::new(),
            },
            schema: match (form, place.get("schema")) {
                (BodyForm::Bytes, _) => {
                    BodySchema::Fixed(bytes_schema("The bytes of the body in base64"))
                }
                (BodyForm::Text, _) => BodySchema::Fixed(json!({ "type": "string" })),
                (_, Some(schema)) => BodySchema::Schema(schema),
                (_, None) => BodySchema::Fixed(json!({})),
            },
        });
    }
    let fields: Vec<&Place<'a>> = parameters
        .iter()
        .filter(|place| is_in(place, "formData"))
        .collect();
    if fields.is_empty() {
        return None;
    }
    let has_file = fields
        .iter()
        .any(|place| place.text("type") == Some("file"));
    let is_multipart = has_file
        || consumes.iter().all(|media| media.starts_with("multipart/")) && !consumes.is_empty();
    let mut encodings = BTreeMap::new();
    let mut properties = Vec::new();
    for place in fields {
        let Some(name) = place.text("name") else {
            continue;
        };
        let style = match place.text("collectionFormat") {
            Some("multi") => (Style::Form, true, false),
            Some("ssv") => (Style::SpaceDelimited, false, false),
            Some("tsv") => (Style::TabDelimited, false, false),
            Some("pipes") => (Style::PipeDelimited, false, false),
            _ => (Style::Form, false, false),
        };
        let encoding = Encoding {
            content_type: None,
            style: (place.text("type") == Some("array")).then_some(style),
            is_bytes: place.text("type") == Some("file"),
        };
        encodings.insert(name.to_owned(), encoding);
        let schema = place.get("schema").unwrap_or(*place);
        properties.push((name.to_owned(), place.is("required"), schema));
    }
    let (form, content_type) = match is_multipart {
        true => (BodyForm::Multipart, "multipart/form-data"),
        false => (BodyForm::UrlEncoded, "application/x-www-form-urlencoded"),
    };
    Some(ReadBody {
        body: Body {
            argument: "body".to_owned(),
            required: properties.iter().any(|(_, required, _)| *required),
            content_type: content_type.to_owned(),
            form,
            encodings,
        },
        schema: BodySchema::Form(properties),
    })
}

/// The schema of bytes.
fn bytes_schema(description: &str) -> Value {
    json!({ "type": "string", "contentEncoding": "base64", "description": description })
}

/// The schema of a property of a form whose value is bytes.
pub fn file_schema() -> Value {
    json!({
        "description": "The bytes of a file in base64, or with its name",
        "anyOf": [
            { "type": "string", "contentEncoding": "base64" },
            {
                "type": "object",
                "properties": {
                    "data": { "type": "string", "contentEncoding": "base64" },
                    "filename": { "type": "string" },
                    "contentType": { "type": "string" }
                },
                "required": ["data"],
                "additionalProperties": false
            }
        ]
    })
}
