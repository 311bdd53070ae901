//! One entry of `mcpServers`: how a server is reached and what it is allowed to offer.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;

use super::ConfigError;
use super::document::{Document, KeyPath};
use super::expand::{Variables, expand};

/// A configured server. `usable` says why it cannot be used when its entry is wrong: one entry
/// with an unset token must not take fourteen good servers down.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    pub name: String,
    pub disabled: bool,
    pub usable: Result<Endpoint, ConfigError>,
    /// For one call, counted from its dispatch; `None` leaves the run's default.
    pub timeout: Option<Duration>,
    /// From starting the server until its tools are known.
    pub start_timeout: Duration,
    pub tools: ToolFilter,
    /// Folders told to a server that asks; an empty list means the capability is not declared.
    pub roots: Vec<PathBuf>,
    pub protocol: Protocol,
    /// Keys of the entry that mean nothing here: other clients have their own.
    pub ignored_keys: Vec<String>,
}

/// How to reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    Stdio(Command),
    Http(Remote),
    /// The HTTP+SSE transport of protocol 2024-11-05.
    Sse(Remote),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub program: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub url: url::Url,
    pub headers: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFilter {
    /// Without a list every tool is allowed, with an empty one none.
    pub allow: Option<Vec<String>>,
    #[serde(default)]
    pub deny: Vec<String>,
}

/// Reads a filter, or the bare list of allowed tools that other clients write.
fn filter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolFilter, D::Error> {
    match Value::deserialize(deserializer)? {
        list @ Value::Array(_) => serde_json::from_value(list).map(|allow| ToolFilter {
            allow: Some(allow),
            deny: Vec::new(),
        }),
        object => serde_json::from_value(object),
    }
    .map_err(D::Error::custom)
}

/// Which lifecycle to speak. `Auto` finds out, which costs one more exchange over HTTP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Protocol {
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// `initialize`, as in every revision up to this one.
    #[serde(rename = "2025-11-25")]
    Session,
    /// No session: every request carries its own context.
    #[serde(rename = "2026-07-28")]
    Stateless,
}

const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(30);

const KEYS: [&str; 17] = [
    "type",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "disabled",
    "enabled",
    "timeout",
    "startTimeout",
    "tools",
    "roots",
    "protocol",
    "description",
    "comment",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<Kind>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
    enabled: Option<bool>,
    #[serde(default, deserialize_with = "pml_units::millis_or_text")]
    timeout: Option<Duration>,
    #[serde(default, deserialize_with = "pml_units::millis_or_text")]
    start_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "filter")]
    tools: ToolFilter,
    #[serde(default)]
    roots: Vec<PathBuf>,
    #[serde(default)]
    protocol: Protocol,
}

/// The names that clients in use write for the three transports.
#[derive(Clone, Copy, Deserialize)]
enum Kind {
    #[serde(rename = "stdio", alias = "local")]
    Stdio,
    #[serde(
        rename = "http",
        alias = "streamable-http",
        alias = "streamableHttp",
        alias = "streamable_http",
        alias = "remote"
    )]
    Http,
    #[serde(rename = "sse")]
    Sse,
}

impl ServerConfig {
    /// Reads the entry `value` at `at`. A typing mistake in a key or a value of the wrong type is
    /// an error of the file; a variable that is not set only makes this server unusable.
    pub(super) fn read(
        document: &Document,
        name: &str,
        value: &Value,
        at: &KeyPath,
        variables: Variables<'_>,
    ) -> Result<Self, ConfigError> {
        check_name(document, name, at)?;
        let ignored_keys = check_keys(document, value, at)?;
        let (entry, unset) = match expand(document, value.clone(), at, variables) {
            Ok(expanded) => (document.read::<Entry>(expanded, at)?, None),
            Err(unset) => (document.read::<Entry>(value.clone(), at)?, Some(unset)),
        };
        let usable = match unset {
            Some(unset) => Err(unset),
            None => Ok(endpoint(document, &entry, at)?),
        };
        Ok(Self {
            name: name.to_owned(),
            disabled: entry.disabled || entry.enabled == Some(false),
            usable,
            timeout: entry.timeout,
            start_timeout: entry.start_timeout.unwrap_or(DEFAULT_START_TIMEOUT),
            tools: entry.tools,
            roots: entry.roots,
            protocol: entry.protocol,
            ignored_keys,
        })
    }

    /// A server reached over stdio with every default, for programs that build a configuration.
    pub fn stdio(name: impl Into<String>, program: impl Into<String>, args: Vec<String>) -> Self {
        Self::with_endpoint(
            name,
            Endpoint::Stdio(Command {
                program: program.into(),
                args,
                env: BTreeMap::new(),
                cwd: None,
            }),
        )
    }

    /// A server with every default.
    pub fn with_endpoint(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            name: name.into(),
            disabled: false,
            usable: Ok(endpoint),
            timeout: None,
            start_timeout: DEFAULT_START_TIMEOUT,
            tools: ToolFilter::default(),
            roots: Vec::new(),
            protocol: Protocol::Auto,
            ignored_keys: Vec::new(),
        }
    }
}

fn check_name(document: &Document, name: &str, at: &KeyPath) -> Result<(), ConfigError> {
    let allowed = |c: char| !c.is_whitespace() && !c.is_control() && c != ':';
    if name.is_empty() || !name.chars().all(allowed) {
        return Err(document.invalid(
            at,
            "a server's name must not be empty nor contain `:` or white space, since tools are called `server:tool`: rename it",
        ));
    }
    Ok(())
}

/// Refuses what looks like a typing mistake; returns the keys that belong to other clients.
fn check_keys(
    document: &Document,
    value: &Value,
    at: &KeyPath,
) -> Result<Vec<String>, ConfigError> {
    let Value::Object(entry) = value else {
        return Err(document.invalid(at, "expected an object with `command` or `url`"));
    };
    let mut ignored = Vec::new();
    for key in entry.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        // One that is there was not mistyped.
        let meant = pml_nearest::typo_of(key, KEYS);
        if meant.is_some_and(|meant| !entry.contains_key(meant)) {
            return Err(document.unknown_key(&at.key(key.as_str()), key, KEYS));
        }
        ignored.push(key.clone());
    }
    Ok(ignored)
}

fn endpoint(document: &Document, entry: &Entry, at: &KeyPath) -> Result<Endpoint, ConfigError> {
    match (entry.kind, &entry.command, &entry.url) {
        (None | Some(Kind::Stdio), Some(command), None) => Ok(Endpoint::Stdio(Command {
            program: at_home(command.as_str()),
            args: entry.args.iter().map(|arg| at_home(arg.as_str())).collect(),
            env: entry.env.clone(),
            cwd: entry.cwd.as_deref().map(at_home),
        })),
        (None, None, Some(url)) if is_sse_address(url) => {
            Ok(Endpoint::Sse(remote(document, entry, url, at)?))
        }
        (None | Some(Kind::Http), None, Some(url)) => {
            Ok(Endpoint::Http(remote(document, entry, url, at)?))
        }
        (Some(Kind::Sse), None, Some(url)) => Ok(Endpoint::Sse(remote(document, entry, url, at)?)),
        (_, Some(_), Some(_)) => Err(document.invalid(
            &at.key("url"),
            "this server has both `command` and `url`: keep the one that is meant",
        )),
        (Some(Kind::Stdio), None, _) => {
            Err(document.invalid(at, "a server of type `stdio` needs `command`"))
        }
        (Some(Kind::Http | Kind::Sse), _, None) => {
            Err(document.invalid(at, "a server reached over HTTP needs `url`"))
        }
        (None, None, None) => Err(document.invalid(
            at,
            "needs `command` (a program to start) or `url` (a server to reach)",
        )),
    }
}

/// `~/…` as a shell would read it: a server is started without one.
fn at_home<T>(text: &T) -> T::Owned
where
    T: ToOwned + AsRef<OsStr> + ?Sized,
    T::Owned: From<String>,
{
    let home = text
        .as_ref()
        .to_str()
        .and_then(|text| text.strip_prefix("~/"));
    match (home, std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}").into(),
        _ => text.to_owned(),
    }
}

/// Clients that do not write the transport find it out; the old one lives at `/sse` by custom.
pub fn is_sse_address(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.trim_end_matches('/').ends_with("/sse")
}

fn remote(
    document: &Document,
    entry: &Entry,
    url: &str,
    at: &KeyPath,
) -> Result<Remote, ConfigError> {
    let parsed = url::Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = parsed else {
        return Err(document.invalid(
            &at.key("url"),
            format!("`{url}` is not an http:// or https:// address"),
        ));
    };
    for (name, value) in &entry.headers {
        let valid = http::HeaderName::try_from(name.as_str()).is_ok()
            && http::HeaderValue::try_from(value.as_str()).is_ok();
        if !valid {
            return Err(document.invalid(
                &at.key("headers").key(name.as_str()),
                "is not a valid HTTP header: look for a line break or a stray character",
            ));
        }
    }
    Ok(Remote {
        url,
        headers: entry.headers.clone(),
    })
}
