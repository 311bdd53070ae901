//! Makes the request of a call from its arguments.

use serde_json::{Map, Value};

use super::escape::escape_except;
use super::{form, multipart, style};
use crate::documents::percent_decoded;
use crate::operation::{Body, BodyForm, Location, Operation, Parameter, Style};
use crate::read::placeholders;

/// A request, relative to the address of its service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method.
    pub method: String,
    /// The path, encoded, with a slash at its beginning.
    pub path: String,
    /// The query, encoded, without the question mark; empty if there is none.
    pub query: String,
    /// Headers, cookies among them.
    pub headers: Vec<(String, String)>,
    /// The media type and the bytes of the body.
    pub body: Option<(String, Vec<u8>)>,
}

/// Why arguments make no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// An argument of the path is empty or absent: another operation would be called.
    #[error("`{0}` is a part of the path and must not be empty")]
    EmptyPath(String),
    /// An argument would lead to another path.
    #[error("`{0}` would lead out of the path: `.` and `..` are not names")]
    LeavesPath(String),
    /// A header cannot have such a value.
    #[error("`{0}` is sent in a header and must not have line breaks or control characters")]
    Header(String),
    /// The body cannot be made.
    #[error("{0}")]
    Body(String),
}

impl Operation {
    /// The request of a call with these arguments, which fit the input schema.
    ///
    /// # Errors
    /// A value cannot be sent where it belongs.
    pub fn request(&self, arguments: &Map<String, Value>) -> Result<HttpRequest, RequestError> {
        let given = |parameter: &Parameter| {
            arguments
                .get(&parameter.argument)
                .filter(|value| !value.is_null())
        };
        let path = self.filled_path(&given)?;
        let mut query: Vec<String> = Vec::new();
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut cookies: Vec<String> = Vec::new();
        for parameter in &self.parameters {
            let Some(value) = given(parameter) else {
                continue;
            };
            let Parameter {
                name,
                style,
                explode,
                allow_reserved,
                ..
            } = parameter;
            match parameter.location {
                Location::Path => {}
                Location::Query => {
                    query.push(style::in_query(
                        name,
                        value,
                        *style,
                        *explode,
                        *allow_reserved,
                    ));
                }
                Location::QueryString => query.push(form::query_string(value, *style)),
                Location::Header => {
                    let value = style::in_header(value, *style, *explode);
                    if value.chars().any(char::is_control) {
                        return Err(RequestError::Header(parameter.argument.clone()));
                    }
                    headers.push((name.clone(), value));
                }
                Location::Cookie => cookies.extend(cookie(parameter, value)?),
            }
        }
        if !cookies.is_empty() {
            headers.push(("cookie".to_owned(), cookies.join("; ")));
        }
        query.retain(|part| !part.is_empty());
        let body = match &self.body {
            Some(body) => arguments
                .get(&body.argument)
                .map(|value| encode_body(body, value))
                .transpose()?,
            None => None,
        };
        Ok(HttpRequest {
            method: self.method.clone(),
            path,
            query: query.join("&"),
            headers,
            body,
        })
    }

    /// The path with its parameters. It has the segments of the document: no value adds one, leaves one
    /// out or leads upwards.
    fn filled_path<'v>(
        &self,
        given: &dyn Fn(&Parameter) -> Option<&'v Value>,
    ) -> Result<String, RequestError> {
        let mut path = self
            .path
            .split(['?', '#'])
            .next()
            .unwrap_or_default()
            .to_owned();
        for name in placeholders(&self.path) {
            let parameter = self
                .parameters
                .iter()
                .find(|it| it.location == Location::Path && it.name == name);
            let Some(parameter) = parameter else {
                continue;
            };
            let empty = || RequestError::EmptyPath(parameter.argument.clone());
            let value = given(parameter).ok_or_else(empty)?;
            let text = style::in_path(
                name,
                value,
                parameter.style,
                parameter.explode,
                parameter.allow_reserved,
            );
            if text.is_empty() {
                return Err(empty());
            }
            path = path.replace(&format!("{{{name}}}"), &text);
            if leads_upwards(&path) {
                return Err(RequestError::LeavesPath(parameter.argument.clone()));
            }
        }
        // What the document has outside of parameters, such as a space.
        Ok(escape_except(&path, "%/:@!$&'()*+,;="))
    }
}

/// Whether a segment of the path is `.` or `..`, also in disguise: clients resolve them.
fn leads_upwards(path: &str) -> bool {
    path.split(['/', '\\']).any(|segment| {
        let plain = percent_decoded(segment);
        matches!(plain.as_str(), "." | "..")
    })
}

fn cookie(parameter: &Parameter, value: &Value) -> Result<Vec<String>, RequestError> {
    let is_plain = parameter.style == Style::Cookie;
    let encode = |text: &str| match is_plain {
        true => text.to_owned(),
        false => escape_except(text, ""),
    };
    let pairs = style::named(
        &parameter.name,
        value,
        parameter.style,
        parameter.explode,
        &encode,
    );
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let breaks_out = |pair: &String| pair.chars().any(|c| c.is_control() || c == ';');
    match pairs.iter().any(breaks_out) {
        true => Err(RequestError::Header(parameter.argument.clone())),
        false => Ok(pairs),
    }
}

fn encode_body(body: &Body, value: &Value) -> Result<(String, Vec<u8>), RequestError> {
    let no_fields = Map::new();
    let fields = value.as_object().unwrap_or(&no_fields);
    let (content_type, bytes) = match body.form {
        BodyForm::Json => (body.content_type.clone(), value.to_string().into_bytes()),
        BodyForm::JsonLines => {
            let one = std::slice::from_ref(value);
            let lines = value.as_array().map_or(one, Vec::as_slice);
            let prefix = if body.content_type.contains("json-seq") {
                "\u{1e}"
            } else {
                ""
            };
            let text: String = lines
                .iter()
                .map(|line| format!("{prefix}{line}\n"))
                .collect();
            (body.content_type.clone(), text.into_bytes())
        }
        BodyForm::UrlEncoded => (
            body.content_type.clone(),
            form::encode(fields, &body.encodings).into_bytes(),
        ),
        BodyForm::Multipart => {
            let (boundary, bytes) =
                multipart::encode(fields, &body.encodings).map_err(RequestError::Body)?;
            let media = body.content_type.split(';').next().unwrap_or_default();
            (format!("{media}; boundary={boundary}"), bytes)
        }
        BodyForm::Text => (body.content_type.clone(), style::scalar(value).into_bytes()),
        BodyForm::Bytes => {
            let text = value.as_str().unwrap_or_default();
            let wrong = || {
                let message = format!("`{}` is not base64: encode the bytes", body.argument);
                RequestError::Body(message)
            };
            (
                body.content_type.clone(),
                multipart::decode(text).ok_or_else(wrong)?,
            )
        }
    };
    Ok((content_type, bytes))
}
