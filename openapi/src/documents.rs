//! A document with those that it refers to, and references between them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

/// References that lead to references.
const MAX_CHAIN: usize = 32;
/// Keys whose values are data, in which `$ref` means nothing.
const DATA_KEYS: [&str; 5] = ["example", "examples", "default", "enum", "const"];
/// Keys whose values have names as keys.
const NAMED_KEYS: [&str; 6] = [
    "properties",
    "patternProperties",
    "schemas",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Why a reference leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// There is no value at the pointer.
    #[error("the reference `{0}` leads nowhere")]
    Missing(String),
    /// Its document could not be loaded.
    #[error("the reference `{reference}` leads to a document that cannot be used: {reason}")]
    Document {
        /// The reference.
        reference: String,
        /// The reason.
        reason: String,
    },
    /// The reference leads back to itself.
    #[error("the reference `{0}` leads back to itself")]
    Circular(String),
}

/// A document and all documents that it refers to, by address without fragment.
#[derive(Debug)]
pub struct Documents {
    root: Url,
    loaded: BTreeMap<String, Result<Value, String>>,
}

/// A value and the document it is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub uri: &'a str,
    pub value: &'a Value,
}

impl<'a> Place<'a> {
    /// The value of a key.
    pub fn get(self, key: &str) -> Option<Place<'a>> {
        let value = self.value.get(key)?;
        Some(Self { value, ..self })
    }

    pub fn at(self, value: &'a Value) -> Place<'a> {
        Self { value, ..self }
    }

    /// The text of a key.
    pub fn text(self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str()
    }

    /// Whether a key is `true`.
    pub fn is(self, key: &str) -> bool {
        self.value.get(key) == Some(&Value::Bool(true))
    }

    /// The items of a key.
    pub fn items(self, key: &str) -> impl Iterator<Item = Place<'a>> + use<'a> {
        let items = self.value.get(key).and_then(Value::as_array);
        items
            .into_iter()
            .flatten()
            .map(move |value| Self { value, ..self })
    }

    /// The entries of a key.
    pub fn entries(self, key: &str) -> impl Iterator<Item = (&'a str, Place<'a>)> + use<'a> {
        let entries = self.value.get(key).and_then(Value::as_object);
        let entries = entries.into_iter().flatten();
        entries.map(move |(key, value)| (key.as_str(), Self { value, ..self }))
    }
}

impl Documents {
    /// The document at `root`.
    pub fn new(root: Url, document: Value) -> Self {
        let mut root = root;
        root.set_fragment(None);
        let loaded = BTreeMap::from([(root.to_string(), Ok(document))]);
        Self { root, loaded }
    }

    /// The address of the root document.
    pub fn address(&self) -> &Url {
        &self.root
    }

    /// The root document.
    pub(crate) fn root(&self) -> Place<'_> {
        let root = self.loaded.get_key_value(self.root.as_str());
        match root {
            Some((uri, Ok(value))) => Place { uri, value },
            _ => Place {
                uri: "",
                value: &Value::Null,
            },
        }
    }

    /// The documents that the loaded ones refer to and that are not loaded.
    pub fn missing(&self) -> Vec<Url> {
        let mut found = BTreeSet::new();
        for (uri, document) in &self.loaded {
            let (Ok(document), Ok(base)) = (document, Url::parse(uri)) else {
                continue;
            };
            collect(document, false, &mut |reference| {
                if let Some(url) = document_of(&base, reference)
                    && !self.loaded.contains_key(url.as_str())
                {
                    found.insert(url);
                }
            });
        }
        found.into_iter().collect()
    }

    /// Adds a document that was missing, or the reason why it cannot be had.
    pub fn add(&mut self, address: &Url, document: Result<Value, String>) {
        self.loaded.insert(address.to_string(), document);
    }

    /// Where a reference leads that stands in the document `uri`.
    pub(crate) fn resolve(
        &self,
        uri: &str,
        reference: &str,
    ) -> Result<(String, Place<'_>), ReferenceError> {
        let missing = || ReferenceError::Missing(reference.to_owned());
        let (_, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let address = match reference.starts_with('#') {
            true => uri.to_owned(),
            false => {
                let base = Url::parse(uri).map_err(|_| missing())?;
                document_of(&base, reference).map_or_else(|| uri.to_owned(), |url| url.to_string())
            }
        };
        let (uri, document) = match self.loaded.get_key_value(&address) {
            Some((uri, Ok(document))) => (uri, document),
            Some((_, Err(reason))) => {
                return Err(ReferenceError::Document {
                    reference: reference.to_owned(),
                    reason: reason.clone(),
                });
            }
            None => return Err(missing()),
        };
        let pointer = percent_decoded(fragment);
        let value = document.pointer(&pointer).ok_or_else(missing)?;
        Ok((format!("{uri}#{pointer}"), Place { uri, value }))
    }

    /// The value of a place, references followed.
    pub(crate) fn follow<'a>(&'a self, place: Place<'a>) -> Result<Place<'a>, ReferenceError> {
        let mut place = place;
        for _ in 0..MAX_CHAIN {
            let Some(reference) = place.text("$ref") else {
                return Ok(place);
            };
            place = self.resolve(place.uri, reference)?.1;
        }
        let reference = place.text("$ref").unwrap_or_default();
        Err(ReferenceError::Circular(reference.to_owned()))
    }
}

/// The address of the document that a reference leads to; `None` within the same document.
fn document_of(base: &Url, reference: &str) -> Option<Url> {
    if reference.starts_with('#') {
        return None;
    }
    let mut url = base.join(reference).ok()?;
    url.set_fragment(None);
    (url.as_str() != base.as_str()).then_some(url)
}

/// Calls `found` for every reference. The depth is that of the parsed document, which is bounded.
fn collect(value: &Value, keys_are_names: bool, found: &mut impl FnMut(&str)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, false, found)),
        Value::Object(map) => {
            if !keys_are_names && let Some(Value::String(reference)) = map.get("$ref") {
                found(reference);
            }
            for (key, value) in map {
                let is_data = DATA_KEYS.contains(&key.as_str()) || key.starts_with("x-");
                if keys_are_names || !is_data {
                    let names = !keys_are_names && NAMED_KEYS.contains(&key.as_str());
                    collect(value, names, found);
                }
            }
        }
        _ => {}
    }
}

/// A text with its `%XX` replaced.
pub(crate) fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes
            .get(at..at + 3)
            .filter(|three| three[0] == b'%')
            .and_then(|three| std::str::from_utf8(&three[1..]).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn documents(root: Value) -> Documents {
        Documents::new("file:///api/root.yaml".parse().unwrap(), root)
    }

    #[test]
    fn missing_documents_are_named_once_and_data_is_not_a_reference() {
        let documents = documents(json!({
            "a": { "$ref": "models/pet.yaml#/Pet" },
            "b": { "$ref": "models/pet.yaml#/Cat" },
            "c": { "$ref": "#/a" },
            "example": { "$ref": "not-this.yaml" },
            "x-code": { "$ref": "nor-this.yaml" },
            "properties": { "example": { "$ref": "https://other.example/s.json" } }
        }));
        let missing: Vec<String> = documents.missing().iter().map(Url::to_string).collect();
        assert_eq!(
            missing,
            [
                "file:///api/models/pet.yaml",
                "https://other.example/s.json"
            ]
        );
    }

    #[test]
    fn references_between_documents_are_followed_relative_to_their_own() {
        let mut documents = documents(json!({ "a": { "$ref": "m/pet.yaml#/Pet" } }));
        let address = |path: &str| format!("file:///api/{path}").parse().unwrap();
        documents.add(
            &address("m/pet.yaml"),
            Ok(json!({ "Pet": { "$ref": "cat.yaml#/a~1b" } })),
        );
        documents.add(
            &address("m/cat.yaml"),
            Ok(json!({ "a/b": { "type": "string" } })),
        );
        let place = documents.root().get("a").unwrap();
        let followed = documents.follow(place).unwrap();
        assert_eq!(followed.value, &json!({ "type": "string" }));
        assert_eq!(followed.uri, "file:///api/m/cat.yaml");
    }

    #[test]
    fn circles_and_dead_ends_are_errors() {
        let mut documents = documents(json!({
            "a": { "$ref": "#/b" }, "b": { "$ref": "#/a" }, "c": { "$ref": "#/none" },
            "d": { "$ref": "gone.yaml" }
        }));
        let gone = "file:///api/gone.yaml".parse().unwrap();
        documents.add(&gone, Err("there is no such file".to_owned()));
        let error = |key: &str| {
            let place = documents.root().get(key).unwrap();
            documents.follow(place).unwrap_err().to_string()
        };
        assert!(error("a").contains("back to itself"));
        assert!(error("c").contains("leads nowhere"));
        assert!(error("d").contains("there is no such file"));
    }
}
