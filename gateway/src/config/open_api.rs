//! The keys of an entry that is a service with an OpenAPI document.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;
use url::Url;

use super::server::ToolFilter;

/// A service with an OpenAPI document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApi {
    /// Where the document is.
    pub document: DocumentAddress,
    /// The address of the service, in place of those in the document.
    pub base_url: Option<Url>,
    /// Headers and credentials of its requests.
    pub access: OpenApiAccess,
    /// The operations that become tools: globs over names of tools, or `METHOD /path`.
    pub operations: ToolFilter,
    /// Values of the variables in the addresses of the document.
    pub variables: BTreeMap<String, String>,
    /// Other origins that references may be loaded from and credentials may be sent to.
    pub origins: Vec<Url>,
}

/// Where a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentAddress {
    /// A file, by its absolute path.
    File(PathBuf),
    /// Over HTTP.
    Url(Url),
}

impl DocumentAddress {
    /// Reads an address; a path is relative to `folder`.
    pub(crate) fn read(text: &str, folder: &Path) -> Self {
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Self::Url(url),
            _ => {
                let path = folder.join(super::server::at_home(text));
                Self::File(std::path::absolute(&path).unwrap_or(path))
            }
        }
    }
}

impl fmt::Display for DocumentAddress {
    /// As an error shows it: of a URL, scheme and host.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Url(url) => f.write_str(&crate::secrets::shown_origin(url)),
        }
    }
}

/// What every request of a service carries. All of it may be secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OpenApiAccess {
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// The credentials of the document's security schemes, by their names.
    pub auth: BTreeMap<String, Credential>,
}

impl OpenApiAccess {
    /// Whether there is anything that must not go to a foreign address.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.auth.is_empty()
    }
}

impl fmt::Debug for OpenApiAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApiAccess")
            .field("headers", &self.headers.keys())
            .field("auth", &self.auth.keys())
            .finish()
    }
}

/// The credential of one security scheme.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// The key, the token, or what follows the scheme in `Authorization`.
    Text(String),
    /// A user name and a password.
    Basic {
        /// The user name.
        username: String,
        /// The password.
        password: String,
    },
    /// A client that gets tokens for itself (OAuth 2 client credentials).
    Client(ClientCredentials),
    /// The login of the user (`pml login`).
    Login,
}

/// A client of OAuth 2 that gets tokens for itself.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ClientCredentials {
    /// The client id.
    pub client_id: String,
    /// The client secret.
    pub client_secret: String,
    /// Where tokens are had, in place of the address in the document.
    pub token_url: Option<Url>,
    /// The scopes to ask for, in place of those in the document.
    pub scopes: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for Credential {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Basic {
            username: String,
            password: String,
        }
        let value = Value::deserialize(deserializer)?;
        let has = |key: &str| value.get(key).is_some();
        if let Value::String(text) = value {
            return Ok(Self::Text(text));
        }
        if has("username") {
            let Basic { username, password } =
                serde_json::from_value(value).map_err(D::Error::custom)?;
            return Ok(Self::Basic { username, password });
        }
        if has("clientId") {
            let client = serde_json::from_value(value);
            return client.map(Self::Client).map_err(D::Error::custom);
        }
        match value == serde_json::json!({ "login": true }) {
            true => Ok(Self::Login),
            false => Err(D::Error::custom(
                "expected a text, or an object with `username` and `password`, with `clientId` and `clientSecret`, or with `\"login\": true`",
            )),
        }
    }
}

/// A user name and a password as `Authorization: Basic` has them.
pub(crate) fn basic(username: &str, password: &str) -> String {
    STANDARD.encode(format!("{username}:{password}"))
}

impl Credential {
    /// The texts that may name secrets.
    pub(crate) fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Text(text) => vec![text],
            Self::Basic { username, password } => vec![username, password],
            Self::Client(client) => vec![&mut client.client_id, &mut client.client_secret],
            Self::Login => Vec::new(),
        }
    }

    /// Its secret texts, with the name of each.
    pub(crate) fn secrets(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Text(text) => vec![("token", text.clone())],
            Self::Basic { username, password } => vec![
                ("password", password.clone()),
                ("password", basic(username, password)),
            ],
            Self::Client(client) => vec![("clientSecret", client.client_secret.clone())],
            Self::Login => Vec::new(),
        }
    }
}
