//! An operation of a service: what its tool is and how its request looks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::security::Requirement;

/// Where a parameter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// Into the path.
    Path,
    /// Into the query.
    Query,
    /// The query as a whole (3.2).
    QueryString,
    /// Into a header.
    Header,
    /// Into the `Cookie` header.
    Cookie,
}

impl Location {
    pub(crate) fn read(name: &str) -> Option<Self> {
        Some(match name {
            "path" => Self::Path,
            "query" => Self::Query,
            "querystring" => Self::QueryString,
            "header" => Self::Header,
            "cookie" => Self::Cookie,
            _ => return None,
        })
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::QueryString => "querystring",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// How a value becomes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `a,b`
    Simple,
    /// `.a.b`
    Label,
    /// `;name=a,b`
    Matrix,
    /// `name=a&name=b`
    Form,
    /// `name=a%20b`
    SpaceDelimited,
    /// `name=a%7Cb`
    PipeDelimited,
    /// `name=a%09b`, Swagger 2.0 alone
    TabDelimited,
    /// `name[key]=a`
    DeepObject,
    /// As a cookie, without percent-encoding (3.2).
    Cookie,
    /// As JSON.
    Json,
}

/// A parameter, which is one argument of the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name in the request.
    pub name: String,
    /// The name of the argument.
    pub argument: String,
    /// Where it goes.
    pub location: Location,
    /// Whether a call needs it.
    pub required: bool,
    /// How its value becomes text.
    pub style: Style,
    /// Whether items and properties are parameters of their own.
    pub explode: bool,
    /// Whether `:/?#[]@!$&'()*+,;=` stay as they are.
    pub allow_reserved: bool,
}

/// How a body becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    /// One JSON value.
    Json,
    /// JSON values, one per line.
    JsonLines,
    /// `application/x-www-form-urlencoded`
    UrlEncoded,
    /// `multipart/form-data`
    Multipart,
    /// The text as it is.
    Text,
    /// The bytes of a text in base64.
    Bytes,
}

/// How one property of a form is sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Encoding {
    /// Its media type, if the document names one.
    pub content_type: Option<String>,
    /// Its style, explode and reserved characters, if the document says so.
    pub style: Option<(Style, bool, bool)>,
    /// Whether its value is bytes, given in base64.
    pub is_bytes: bool,
}

/// The body of a request, which is one argument of the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// The name of the argument.
    pub argument: String,
    /// Whether a call needs it.
    pub required: bool,
    /// Its media type.
    pub content_type: String,
    /// How it becomes bytes.
    pub form: BodyForm,
    /// The properties of a form that are not sent by default.
    pub encodings: BTreeMap<String, Encoding>,
}

/// What an operation does to the world, by its method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationEffect {
    /// GET, HEAD, OPTIONS, TRACE, QUERY: no effect.
    Read,
    /// PUT and DELETE: repeating it changes nothing more.
    Idempotent,
    /// It accepts an idempotency key, in this argument.
    Keyed(String),
    /// Everything else.
    Guarded,
}

/// A failure that the document explains (`x-mcp-tool.error_patterns`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorPattern {
    /// The status, or a part of the answer's text.
    pub pattern: String,
    /// What it means and what to do.
    pub hint: String,
}

/// How much of its schemas a tool has. A tool over the limits of the reader is made again with less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    Full,
    /// Without the descriptions inside the schemas.
    Bare,
    /// References are followed this often; what is behind them accepts anything.
    Depth(u32),
}

impl Detail {
    /// From everything to nearly nothing.
    pub const ALL: [Self; 6] = [
        Self::Full,
        Self::Bare,
        Self::Depth(3),
        Self::Depth(2),
        Self::Depth(1),
        Self::Depth(0),
    ];
}

/// An operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// The name of the tool.
    pub name: String,
    /// The method in capitals.
    pub method: String,
    /// The path as the document has it, with `{name}` for its parameters.
    pub path: String,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The body.
    pub body: Option<Body>,
    /// What it does to the world.
    pub effect: OperationEffect,
    /// The alternatives of its security, which are empty if it needs none; `None` if the document does
    /// not say.
    pub security: Option<Vec<Requirement>>,
    /// Its address, if it is not that of the service.
    pub server: Option<String>,
    /// What its failures mean.
    pub error_patterns: Vec<ErrorPattern>,
    /// Its tags, for filters.
    pub tags: Vec<String>,
    /// The media types of its answers, for the `Accept` header.
    pub accepts: Vec<String>,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) schemas: Schemas,
}

/// The schemas of a tool, as they were read with one detail.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Schemas {
    pub input: Arc<Value>,
    pub output: Option<Arc<Value>>,
}

impl Operation {
    /// The tool, as an element of MCP's `tools/list`.
    pub fn tool(&self) -> Value {
        let is_read = self.effect == OperationEffect::Read;
        let is_repeatable = is_read || self.effect == OperationEffect::Idempotent;
        let mut tool = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": *self.schemas.input,
            "annotations": {
                "readOnlyHint": is_read,
                "idempotentHint": is_repeatable,
                "destructiveHint": self.method == "DELETE",
                "openWorldHint": true,
            },
        });
        if let Some(title) = &self.title {
            tool["title"] = json!(title);
        }
        if let Some(output) = &self.schemas.output {
            tool["outputSchema"] = Value::clone(output);
        }
        if let OperationEffect::Keyed(argument) = &self.effect {
            tool["annotations"]["idempotencyKey"] = json!(argument);
        }
        tool
    }
}
