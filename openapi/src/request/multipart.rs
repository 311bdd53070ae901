//! Bodies of `multipart/form-data`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::style::scalar;
use crate::operation::Encoding;

struct Part {
    name: String,
    filename: Option<String>,
    content_type: String,
    bytes: Vec<u8>,
}

/// The boundary and the body.
///
/// # Errors
/// Bytes are not in base64, with the name of the field.
pub fn encode(
    fields: &Map<String, Value>,
    encodings: &BTreeMap<String, Encoding>,
) -> Result<(String, Vec<u8>), String> {
    let mut parts = Vec::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let encoding = encodings.get(name);
        match value {
            Value::Array(items) => {
                for item in items {
                    parts.push(part(name, item, encoding)?);
                }
            }
            value => parts.push(part(name, value, encoding)?),
        }
    }
    let boundary = free_boundary(&parts);
    let mut body = Vec::new();
    for part in &parts {
        let file = part
            .filename
            .as_deref()
            .map(|name| format!("; filename=\"{}\"", quoted(name)));
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"{}\r\nContent-Type: {}\r\n\r\n",
            quoted(&part.name),
            file.unwrap_or_default(),
            part.content_type
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&part.bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((boundary, body))
}

fn part(name: &str, value: &Value, encoding: Option<&Encoding>) -> Result<Part, String> {
    // A document may name several types for one property.
    let configured = encoding.and_then(|encoding| encoding.content_type.as_deref());
    let configured = configured.and_then(|types| types.split(',').next());
    let configured = configured
        .map(str::trim)
        .filter(|media| !media.contains('*'));
    if encoding.is_some_and(|encoding| encoding.is_bytes) {
        let (data, filename, own_type) = match value {
            Value::Object(file) => (
                file.get("data").and_then(Value::as_str),
                file.get("filename").and_then(Value::as_str),
                file.get("contentType").and_then(Value::as_str),
            ),
            value => (value.as_str(), None, None),
        };
        let bytes = decode(data.unwrap_or_default())
            .ok_or_else(|| format!("`{name}` is not base64: encode the bytes of the file"))?;
        let content_type = own_type
            .or(configured)
            .unwrap_or("application/octet-stream");
        return Ok(Part {
            name: name.to_owned(),
            filename: Some(filename.unwrap_or(name).to_owned()),
            content_type: in_header(content_type),
            bytes,
        });
    }
    let default = match value {
        Value::Object(_) | Value::Array(_) => "application/json",
        _ => "text/plain; charset=utf-8",
    };
    let content_type = configured.unwrap_or(default);
    let bytes = match content_type.contains("json") {
        true => value.to_string(),
        false => scalar(value),
    };
    Ok(Part {
        name: name.to_owned(),
        filename: None,
        content_type: in_header(content_type),
        bytes: bytes.into_bytes(),
    })
}

/// Bytes in base64, also in the alphabet for addresses and with white space.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let plain: String = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    let padding = "=".repeat((4 - plain.trim_end_matches('=').len() % 4) % 4);
    STANDARD
        .decode(format!("{}{padding}", plain.trim_end_matches('=')))
        .ok()
}

/// A boundary that occurs in no part.
fn free_boundary(parts: &[Part]) -> String {
    let occurs = |boundary: &str| {
        let boundary = boundary.as_bytes();
        parts.iter().any(|part| {
            part.bytes
                .windows(boundary.len())
                .any(|bytes| bytes == boundary)
        })
    };
    let mut number = 0;
    loop {
        let boundary = format!("pml-part-of-a-form-{number}");
        if !occurs(&boundary) {
            return boundary;
        }
        number += 1;
    }
}

/// A name inside quotes: neither a quote nor a line break may end it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A value that stays in its line.
fn in_header(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_have_their_types_and_no_name_breaks_out_of_its_line() {
        let fields = json!({
            "file": { "data": "aGk=", "filename": "a\"\r\nX: y.txt", "contentType": "text/csv" },
            "meta": { "a": 1 }, "n": 3, "tags": ["x", "y"]
        });
        let bytes = Encoding {
            is_bytes: true,
            ..Encoding::default()
        };
        let encodings = BTreeMap::from([("file".to_owned(), bytes)]);
        let (boundary, body) = encode(fields.as_object().unwrap(), &encodings).unwrap();
        let body = String::from_utf8(body).unwrap();
        assert_eq!(body.matches(&format!("--{boundary}\r\n")).count(), 5);
        assert!(
            body.contains(
                "filename=\"a%22%0D%0AX: y.txt\"\r\nContent-Type: text/csv\r\n\r\nhi\r\n"
            )
        );
        assert!(
            body.contains("name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n")
        );
        assert!(body.ends_with(&format!("--{boundary}--\r\n")));
    }

    #[test]
    fn bytes_that_are_not_base64_name_their_field() {
        let fields = json!({ "file": "%%%" });
        let bytes = Encoding {
            is_bytes: true,
            ..Encoding::default()
        };
        let encodings = BTreeMap::from([("file".to_owned(), bytes)]);
        let error = encode(fields.as_object().unwrap(), &encodings).unwrap_err();
        assert!(error.contains("`file`"), "{error}");
        assert_eq!(decode("aGk"), Some(b"hi".to_vec()), "without padding");
    }
}
