//! How a service wants to know who calls.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::operation::Location;

/// A security scheme of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecurityScheme {
    /// A key in a header, the query or a cookie.
    ApiKey {
        /// The name of the header, parameter or cookie.
        name: String,
        /// Where it goes.
        location: Location,
    },
    /// `Authorization: Basic`.
    Basic,
    /// `Authorization: Bearer`, also from OAuth and OpenID Connect.
    Bearer {
        /// Where tokens for a client's own credentials are had, if the scheme has that flow.
        token_url: Option<String>,
        /// The scopes of that flow.
        scopes: Vec<String>,
    },
    /// Another scheme of `Authorization`, such as `Digest` or `Token`.
    Other {
        /// Its name.
        scheme: String,
    },
}

/// The schemes that a request needs together, with their scopes. An empty one needs none.
pub type Requirement = BTreeMap<String, Vec<String>>;

impl SecurityScheme {
    /// Reads a scheme of OpenAPI 3 or Swagger 2.0.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value[key].as_str();
        Some(match text("type")? {
            "apiKey" => Self::ApiKey {
                name: text("name")?.to_owned(),
                location: match text("in")? {
                    "query" => Location::Query,
                    "cookie" => Location::Cookie,
                    _ => Location::Header,
                },
            },
            "basic" => Self::Basic,
            "http" => match text("scheme")?.to_ascii_lowercase().as_str() {
                "basic" => Self::Basic,
                "bearer" => Self::bearer(&Value::Null),
                _ => Self::Other {
                    scheme: text("scheme")?.to_owned(),
                },
            },
            // Swagger 2.0 has one flow in the scheme itself.
            "oauth2" => match &value["flows"] {
                Value::Null if text("flow") == Some("application") => Self::bearer(value),
                flows => Self::bearer(&flows["clientCredentials"]),
            },
            "openIdConnect" => Self::bearer(&Value::Null),
            other => Self::Other {
                scheme: other.to_owned(),
            },
        })
    }

    fn bearer(flow: &Value) -> Self {
        let scopes = flow["scopes"].as_object();
        Self::Bearer {
            token_url: flow["tokenUrl"].as_str().map(str::to_owned),
            scopes: scopes
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }
}

/// The alternatives of a `security` key; `None` without the key.
pub(crate) fn requirements(value: Option<&Value>) -> Option<Vec<Requirement>> {
    let alternatives = value?.as_array()?;
    let read = |alternative: &Value| -> Option<Requirement> {
        let schemes = alternative.as_object()?.iter();
        let scopes = |value: &Value| -> Vec<String> {
            let scopes = value.as_array().into_iter().flatten();
            scopes
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        Some(
            schemes
                .map(|(name, value)| (name.clone(), scopes(value)))
                .collect(),
        )
    };
    Some(alternatives.iter().filter_map(read).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemes_of_both_generations_are_read() {
        let bearer = |token_url: Option<&str>, scopes: &[&str]| SecurityScheme::Bearer {
            token_url: token_url.map(str::to_owned),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        };
        for (value, expected) in [
            (json!({ "type": "basic" }), SecurityScheme::Basic),
            (
                json!({ "type": "http", "scheme": "Bearer" }),
                bearer(None, &[]),
            ),
            (
                json!({ "type": "oauth2", "flow": "application", "tokenUrl": "https://t", "scopes": { "r": "" } }),
                bearer(Some("https://t"), &["r"]),
            ),
            (
                json!({ "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "/t", "scopes": {} } } }),
                bearer(Some("/t"), &[]),
            ),
            (
                json!({ "type": "apiKey", "in": "query", "name": "k" }),
                SecurityScheme::ApiKey {
                    name: "k".to_owned(),
                    location: Location::Query,
                },
            ),
        ] {
            assert_eq!(SecurityScheme::read(&value), Some(expected), "{value}");
        }
    }
}
