//! Reads a whole document: its operations, and what could not be read.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::names::Names;
use super::operation::{self, Found, Surroundings};
use super::schema::Dialect;
use crate::documents::{Documents, Place};
use crate::operation::Operation;
use crate::security::{SecurityScheme, requirements};

/// Methods with a key of their own.
const METHODS: [&str; 9] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
];
/// Operations of one document.
const MAX_OPERATIONS: usize = 10_000;

/// Why a document is no service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Neither `openapi` nor `swagger` says a version that is known.
    #[error(
        "it is not an OpenAPI document: it needs `\"openapi\": \"3.…\"` or `\"swagger\": \"2.0\"`, and has {0}"
    )]
    Version(String),
    /// More operations than a listing may have.
    #[error("it has more than {MAX_OPERATIONS} operations")]
    TooMany,
}

/// What a service is read with.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Headers that every request has anyway: they are no arguments.
    pub fixed_headers: Vec<String>,
    /// Values of server variables, by name.
    pub variables: BTreeMap<String, String>,
}

/// An operation that is no tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedOperation {
    /// `GET /pets`
    pub operation: String,
    /// Why.
    pub reason: String,
}

/// A service that a document describes.
#[derive(Debug)]
pub struct Service {
    /// Its title.
    pub title: Option<String>,
    /// The version of the document.
    pub version: Option<String>,
    /// `OpenAPI 3.1.0`
    pub format: String,
    /// What the document says about it.
    pub description: Option<String>,
    /// Its address, if the document names one: the first server, with its variables.
    pub server: Option<String>,
    /// Its security schemes, by name.
    pub schemes: BTreeMap<String, SecurityScheme>,
    /// Its operations, in the order of the document.
    pub operations: Vec<Operation>,
    /// The operations that could not be read.
    pub skipped: Vec<SkippedOperation>,
}

impl Service {
    /// Reads the root of `documents`. `fits` says whether a tool, as an element of `tools/list`, is
    /// within the limits of its reader; one that is not is made again with less detail.
    ///
    /// # Errors
    /// The document is no OpenAPI document.
    pub fn read(
        documents: &Documents,
        options: &ReadOptions,
        fits: &dyn Fn(&Value) -> bool,
    ) -> Result<Self, ReadError> {
        let root = documents.root();
        let (format, dialect) = version(root)?;
        let info = root.get("info");
        let text = |key: &str| info.and_then(|info| info.text(key)).map(str::to_owned);
        let mut service = Self {
            title: text("title"),
            version: text("version"),
            format,
            description: text("description"),
            // Without servers, it is the origin of the document.
            server: server_of(documents.address(), root, options)
                .or_else(|| absolute(documents.address(), "/")),
            schemes: schemes(documents, root),
            operations: Vec::new(),
            skipped: Vec::new(),
        };
        let security = requirements(root.value.get("security"));
        let mut names = Names::default();
        let mut count = 0;
        for (path, place) in root.entries("paths") {
            if !path.starts_with('/') {
                continue;
            }
            let item = match documents.follow(place) {
                Ok(item) => item,
                Err(error) => {
                    service.skip("*", path, error.to_string());
                    continue;
                }
            };
            for (method, place) in operations(item) {
                count += 1;
                if count > MAX_OPERATIONS {
                    return Err(ReadError::TooMany);
                }
                let around = Surroundings {
                    documents,
                    dialect,
                    path_item: item,
                    consumes: media_types("consumes", place, root),
                    produces: media_types("produces", place, root),
                    security: security.as_deref(),
                    options,
                };
                let server = [place, item]
                    .into_iter()
                    .find_map(|place| server_of(documents.address(), place, options));
                let found = Found {
                    method,
                    path,
                    place,
                };
                let name = |id: Option<&str>| names.take(id, method, path);
                match operation::read(found, &around, name, fits) {
                    Ok(Some(operation)) => {
                        service.operations.push(Operation {
                            server,
                            ..operation
                        });
                    }
                    Ok(None) => {}
                    Err(reason) => service.skip(method, path, reason),
                }
            }
        }
        Ok(service)
    }

    fn skip(&mut self, method: &str, path: &str, reason: String) {
        self.skipped.push(SkippedOperation {
            operation: format!("{} {path}", method.to_ascii_uppercase()),
            reason,
        });
    }
}

fn version(root: Place<'_>) -> Result<(String, Dialect), ReadError> {
    let text = |key: &str| match root.value.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        // YAML reads `2.0` as a number.
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    match (text("openapi"), text("swagger")) {
        (Some(version), _) if version.starts_with("3.0") => {
            Ok((format!("OpenAPI {version}"), Dialect::Old))
        }
        (Some(version), _) if version.starts_with("3.") => {
            Ok((format!("OpenAPI {version}"), Dialect::JsonSchema))
        }
        (None, Some(version)) if version.starts_with('2') => {
            Ok((format!("Swagger {version}"), Dialect::Old))
        }
        (Some(version), _) => Err(ReadError::Version(format!("`\"openapi\": \"{version}\"`"))),
        (_, Some(version)) => Err(ReadError::Version(format!("`\"swagger\": \"{version}\"`"))),
        _ => Err(ReadError::Version("neither".to_owned())),
    }
}

/// The operations of a path, also those of methods without a key of their own (3.2).
fn operations<'a>(item: Place<'a>) -> impl Iterator<Item = (&'a str, Place<'a>)> {
    let known = item
        .value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| METHODS.contains(&key.as_str()) && value.is_object())
        .map(move |(key, value)| (key.as_str(), item.at(value)));
    let is_token = |method: &str| {
        !method.is_empty()
            && method.len() <= 32
            && method
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    known.chain(
        item.entries("additionalOperations")
            .filter(move |(method, _)| is_token(method)),
    )
}

/// The media types of Swagger 2.0, of the operation or of the document.
fn media_types<'a>(key: &str, operation: Place<'a>, root: Place<'a>) -> Vec<&'a str> {
    let place = match operation.get(key) {
        Some(_) => operation,
        None => root,
    };
    place
        .items(key)
        .filter_map(|item| item.value.as_str())
        .collect()
}

fn schemes(documents: &Documents, root: Place<'_>) -> BTreeMap<String, SecurityScheme> {
    let new = root
        .get("components")
        .into_iter()
        .flat_map(|it| it.entries("securitySchemes"));
    let old = root.entries("securityDefinitions");
    new.chain(old)
        .filter_map(|(name, place)| {
            let place = documents.follow(place).ok()?;
            Some((name.to_owned(), SecurityScheme::read(place.value)?))
        })
        .collect()
}

/// The first server of an object, with its variables, relative to the document.
fn server_of(document: &Url, place: Place<'_>, options: &ReadOptions) -> Option<String> {
    if let Some(server) = place.items("servers").next() {
        let mut url = server.text("url")?.to_owned();
        for (name, variable) in server.entries("variables") {
            let value = options.variables.get(name).map(String::as_str);
            let value = value
                .or_else(|| variable.text("default"))
                .unwrap_or_default();
            url = url.replace(&format!("{{{name}}}"), value);
        }
        for (name, value) in &options.variables {
            url = url.replace(&format!("{{{name}}}"), value);
        }
        return absolute(document, &url);
    }
    // Swagger 2.0; without a host it is that of the document.
    place.get("swagger")?;
    let path = place.text("basePath").unwrap_or("/");
    let Some(host) = place.text("host") else {
        return absolute(document, path);
    };
    let schemes: Vec<&str> = place
        .items("schemes")
        .filter_map(|it| it.value.as_str())
        .collect();
    let scheme = match schemes.contains(&"https") || schemes.is_empty() {
        true => "https",
        false => "http",
    };
    absolute(document, &format!("{scheme}://{host}{path}"))
}

/// An address over HTTP; a relative one is relative to the document.
fn absolute(document: &Url, url: &str) -> Option<String> {
    let url = document.join(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.to_string())
}
