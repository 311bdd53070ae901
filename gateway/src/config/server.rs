//! One entry of `mcpServers`: the endpoint of a server and its tool filter.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use pml_credentials::Reference;
use pml_policy::lock::ServerIdentity;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::ConfigError;
use super::document::{Document, KeyPath};
use super::expand::{Variables, expand};
use super::expansions::Expansions;
use super::functions::{FunctionLimits, Functions, Patterns};
use super::offered::Offered;
use super::open_api::{Credential, DocumentAddress, OpenApi, OpenApiAccess};
use super::references::references;
use crate::secrets::shown_origin;

/// A configured server.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The key in `mcpServers`.
    pub name: String,
    /// Whether it is never started.
    pub disabled: bool,
    /// How to reach it, or what is wrong with its entry: one unset variable must not make the other
    /// servers unusable.
    pub endpoint: Result<Endpoint, ConfigError>,
    /// Time limit of one call, from its dispatch; `None` for the default of the run.
    pub timeout: Option<Duration>,
    /// Time limit from the start of the server until its tools are listed.
    pub start_timeout: Duration,
    /// Its own tool filter.
    pub tools: ToolFilter,
    /// Folders for the `roots` capability, which is not declared if there are none.
    pub roots: Vec<PathBuf>,
    /// The protocol lifecycle.
    pub protocol: Protocol,
    /// What of its own description is believed.
    pub trust: ServerTrust,
    /// Which resources it offers; `None` for the default, see [`ServerConfig::offers`].
    pub resources: Option<Offered>,
    /// Which prompts it offers; `None` for the default, see [`ServerConfig::offers`].
    pub prompts: Option<Offered>,
    /// Keys of the entry that only other clients know.
    pub ignored_keys: Vec<String>,
    /// The `url`, `openapi` or `functions` as it was written, with its variables.
    pub address: Option<String>,
    /// The command or the address as it was written, which the lock file pins.
    pub identity: ServerIdentity,
    /// The variables that were expanded in the entry.
    pub expansions: Expansions,
    /// The secrets that its `env` or `headers` name, which are read when they are needed.
    pub references: Vec<Reference>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A child process.
    Stdio(Command),
    /// Streamable HTTP.
    Http(Remote),
    /// The HTTP+SSE transport of protocol 2024-11-05.
    Sse(Remote),
    /// A service with an OpenAPI document, which is no MCP server.
    OpenApi(Box<OpenApi>),
    /// Functions of files, which pml runs itself.
    Functions(Box<Functions>),
}

impl Endpoint {
    /// A digest of the program with its arguments and folder, or of the address. Variables and headers
    /// are left out: they hold credentials, which change.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            // The length first, so that no text can extend into the next.
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        };
        match self {
            Self::Stdio(command) => {
                add(&command.program);
                command.args.iter().for_each(|arg| add(arg));
                let folder = command
                    .cwd
                    .as_deref()
                    .map(|folder| folder.to_string_lossy());
                add(&format!("{} arguments, in {folder:?}", command.args.len()));
            }
            Self::Http(remote) | Self::Sse(remote) => add(remote.url.as_str()),
            Self::OpenApi(service) => {
                match &service.document {
                    DocumentAddress::File(path) => add(&path.to_string_lossy()),
                    DocumentAddress::Url(url) => add(url.as_str()),
                }
                add(service.base_url.as_ref().map_or("", url::Url::as_str));
            }
            Self::Functions(functions) => {
                add(&functions.folder.to_string_lossy());
                functions.files.iter().for_each(|files| add(files));
            }
        }
        digest.finalize().into()
    }
}

/// The command line of a stdio server.
#[derive(Clone, PartialEq, Eq)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables beside the inherited ones.
    pub env: BTreeMap<String, String>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
}

impl fmt::Debug for Command {
    /// Without arguments and values of variables, which may be credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("env", &self.env.keys())
            .finish_non_exhaustive()
    }
}

/// The address of a remote server.
#[derive(Clone, PartialEq, Eq)]
pub struct Remote {
    /// The URL.
    pub url: url::Url,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
}

impl fmt::Debug for Remote {
    /// Without path, query and values of headers, which may be credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("url", &shown_origin(&self.url))
            .field("headers", &self.headers.keys())
            .finish()
    }
}

/// The tools of a server that are used, as globs over tool names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFilter {
    /// Allowed tools. If absent, all of them; if empty, none.
    pub allow: Option<Vec<String>>,
    /// Denied tools; wins over `allow`.
    #[serde(default)]
    pub deny: Vec<String>,
}

/// Deserializes a filter, or the list of allowed tools that other clients write.
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

/// The protocol lifecycle of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Protocol {
    /// Detected, which costs one more round trip over HTTP.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// With `initialize`, as in every revision up to this one.
    #[serde(rename = "2025-11-25")]
    Session,
    /// No session: every request carries its own context.
    #[serde(rename = "2026-07-28")]
    Stateless,
}

/// What the operator believes of a server's description of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ServerTrust {
    /// Nothing: annotations are claims.
    #[default]
    None,
    /// `"trust": "annotations"`: the annotations of its tools decide their effect class.
    Annotations,
}

impl<'de> Deserialize<'de> for ServerTrust {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) if text == "annotations" => Ok(Self::Annotations),
            // Gemini CLI's `trust`, which skips its own confirmations and says nothing about
            // annotations.
            Value::Bool(_) => Ok(Self::None),
            _ => Err(D::Error::custom("expected \"annotations\"")),
        }
    }
}

const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(30);

const KEYS: [&str; 28] = [
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
    "resources",
    "prompts",
    "roots",
    "protocol",
    "trust",
    "description",
    "comment",
    "openapi",
    "baseUrl",
    "auth",
    "operations",
    "variables",
    "origins",
    "functions",
    "limits",
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
    resources: Option<Offered>,
    prompts: Option<Offered>,
    #[serde(default)]
    roots: Vec<PathBuf>,
    #[serde(default)]
    protocol: Protocol,
    #[serde(default)]
    trust: ServerTrust,
    openapi: Option<String>,
    base_url: Option<String>,
    #[serde(default)]
    auth: BTreeMap<String, Credential>,
    #[serde(default, deserialize_with = "filter")]
    operations: ToolFilter,
    #[serde(default)]
    variables: BTreeMap<String, String>,
    #[serde(default)]
    origins: Vec<String>,
    functions: Option<Patterns>,
    limits: Option<FunctionLimits>,
}

/// The transport, with the names that other clients use.
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
    /// Reads the entry `value` at `at`. A mistyped key or a value of the wrong type is an error of the
    /// file; an unset variable only makes this server unusable.
    pub(super) fn read(
        document: &Document,
        name: &str,
        value: &Value,
        at: &KeyPath,
        variables: Variables<'_>,
    ) -> Result<Self, ConfigError> {
        check_name(document, name, at)?;
        let ignored_keys = check_keys(document, value, at)?;
        let expansions = RefCell::new(Expansions::default());
        let noted = |name: &str| {
            let value = variables(name)?;
            expansions.borrow_mut().note(name, &value);
            Some(value)
        };
        let expanded = expand(document, value.clone(), at, &noted);
        let expansions = expansions.into_inner();
        let mut named = Vec::new();
        let (entry, unset) = match expanded {
            // An error may quote a value, which is shown as it was written.
            Ok(expanded) => {
                named = references(document, &expanded, at, &expansions)?;
                let entry = document.read::<Entry>(expanded, at);
                (entry.map_err(|error| error.unexpanded(&expansions))?, None)
            }
            Err(unset) => (document.read::<Entry>(value.clone(), at)?, Some(unset)),
        };
        let endpoint = match unset {
            Some(unset) => Err(unset),
            None => Ok(
                endpoint(document, &entry, at).map_err(|error| error.unexpanded(&expansions))?
            ),
        };
        let address = written_address(value);
        Ok(Self {
            name: name.to_owned(),
            disabled: entry.disabled || entry.enabled == Some(false),
            endpoint,
            timeout: entry.timeout,
            start_timeout: entry.start_timeout.unwrap_or(DEFAULT_START_TIMEOUT),
            tools: entry.tools,
            roots: entry.roots,
            protocol: entry.protocol,
            trust: entry.trust,
            resources: entry.resources,
            prompts: entry.prompts,
            ignored_keys,
            identity: written_identity(value),
            address,
            expansions,
            references: named,
        })
    }

    /// A stdio server with default settings.
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

    /// A server with default settings.
    pub fn with_endpoint(name: impl Into<String>, endpoint: Endpoint) -> Self {
        let identity = match &endpoint {
            Endpoint::Stdio(command) => ServerIdentity::Program {
                command: command.program.clone(),
                args: command.args.clone(),
                cwd: command.cwd.as_ref().map(|cwd| cwd.display().to_string()),
            },
            Endpoint::Http(remote) | Endpoint::Sse(remote) => ServerIdentity::Address {
                url: remote.url.to_string(),
            },
            Endpoint::OpenApi(service) => {
                let document = match &service.document {
                    DocumentAddress::File(path) => path.display().to_string(),
                    DocumentAddress::Url(url) => url.to_string(),
                };
                let base = service.base_url.as_ref().map(url::Url::as_str);
                service_identity(&document, base)
            }
            Endpoint::Functions(functions) => functions_identity(&functions.files.join(", ")),
        };
        Self {
            identity,
            name: name.into(),
            disabled: false,
            endpoint: Ok(endpoint),
            timeout: None,
            start_timeout: DEFAULT_START_TIMEOUT,
            tools: ToolFilter::default(),
            roots: Vec::new(),
            protocol: Protocol::Auto,
            trust: ServerTrust::None,
            resources: None,
            prompts: None,
            ignored_keys: Vec::new(),
            address: None,
            expansions: Expansions::default(),
            references: Vec::new(),
        }
    }
}

/// The identity of a server in its entry. An entry without a command or a URL is never started.
fn written_identity(entry: &Value) -> ServerIdentity {
    if let Some(document) = entry["openapi"].as_str() {
        return service_identity(document, entry["baseUrl"].as_str());
    }
    if let Some(files) = written_files(entry) {
        return functions_identity(&files);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match &entry["url"] {
        Value::Null => ServerIdentity::Program {
            command: text(&entry["command"]),
            args: entry["args"]
                .as_array()
                .into_iter()
                .flatten()
                .map(text)
                .collect(),
            cwd: entry["cwd"].as_str().map(str::to_owned),
        },
        url => ServerIdentity::Address { url: text(url) },
    }
}

/// The identity of a service: its document, and its address if the entry has it.
fn service_identity(document: &str, base_url: Option<&str>) -> ServerIdentity {
    let url = match base_url {
        Some(base_url) => format!("{document} at {base_url}"),
        None => document.to_owned(),
    };
    ServerIdentity::Address { url }
}

/// The identity of functions: the patterns of their files.
fn functions_identity(files: &str) -> ServerIdentity {
    ServerIdentity::Address {
        url: format!("functions of {files}"),
    }
}

/// The patterns of an entry with functions.
fn written_files(entry: &Value) -> Option<String> {
    match entry.get("functions")? {
        Value::String(files) => Some(files.clone()),
        Value::Array(files) => {
            let files: Vec<&str> = files.iter().filter_map(Value::as_str).collect();
            Some(files.join(", "))
        }
        _ => None,
    }
}

/// Where the entry says that its tools are, for people.
fn written_address(entry: &Value) -> Option<String> {
    let address = entry.get("url").or_else(|| entry.get("openapi"));
    match address.and_then(Value::as_str) {
        Some(address) => Some(address.to_owned()),
        None => written_files(entry),
    }
}

fn check_name(document: &Document, name: &str, at: &KeyPath) -> Result<(), ConfigError> {
    if crate::printable::is_server_name(name) {
        return Ok(());
    }
    Err(document.invalid(
        at,
        "invalid server name: it must not be empty nor contain `:`, white space or invisible characters, as tool ids are `server:tool`, and has at most 128 bytes; rename it",
    ))
}

/// Refuses mistyped keys. Returns the keys that only other clients know.
fn check_keys(
    document: &Document,
    value: &Value,
    at: &KeyPath,
) -> Result<Vec<String>, ConfigError> {
    let Value::Object(entry) = value else {
        return Err(document.invalid(
            at,
            "expected an object with `command`, `url`, `openapi` or `functions`",
        ));
    };
    let mut ignored = Vec::new();
    for key in entry.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        // A key that is present as well was not mistyped.
        let meant = pml_nearest::typos_of(key, KEYS);
        if meant.iter().any(|meant| !entry.contains_key(*meant)) {
            return Err(document.unknown_key(&at.key(key.as_str()), key, KEYS));
        }
        ignored.push(key.clone());
    }
    Ok(ignored)
}

fn endpoint(document: &Document, entry: &Entry, at: &KeyPath) -> Result<Endpoint, ConfigError> {
    if let Some(address) = &entry.openapi {
        return open_api(document, entry, address, at);
    }
    if let Some(files) = &entry.functions {
        return functions(document, entry, files.clone().into_list(), at);
    }
    if entry.limits.is_some() {
        return Err(document.invalid(
            &at.key("limits"),
            "`limits` are those of functions: this entry has no `functions`",
        ));
    }
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
            "this server has both `command` and `url`: remove one of them",
        )),
        (Some(Kind::Stdio), None, _) => {
            Err(document.invalid(at, "a server of type `stdio` needs `command`"))
        }
        (Some(Kind::Http | Kind::Sse), _, None) => {
            Err(document.invalid(at, "a server reached over HTTP needs `url`"))
        }
        (None, None, None) => Err(document.invalid(
            at,
            "needs `command` (a program to start), `url` (a server to reach), `openapi` (the document of a service) or `functions` (files with functions)",
        )),
    }
}

/// Expands `~/…`, as servers are started without a shell.
pub(super) fn at_home<T>(text: &T) -> T::Owned
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

/// Whether a URL without a transport type is that of an HTTP+SSE server: by convention, its path ends
/// in `/sse`.
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
    let url = http_address(document, url, &at.key("url"))?;
    check_headers(document, entry, at)?;
    Ok(Remote {
        url,
        headers: entry.headers.clone(),
    })
}

fn open_api(
    document: &Document,
    entry: &Entry,
    address: &str,
    at: &KeyPath,
) -> Result<Endpoint, ConfigError> {
    for (key, is_set) in [
        ("command", entry.command.is_some()),
        ("url", entry.url.is_some()),
    ] {
        if is_set {
            let message = format!("this server has both `openapi` and `{key}`: remove one of them");
            return Err(document.invalid(&at.key(key), message));
        }
    }
    check_headers(document, entry, at)?;
    let base_url = entry
        .base_url
        .as_deref()
        .map(|url| http_address(document, url, &at.key("baseUrl")))
        .transpose()?;
    let origins = entry.origins.iter().enumerate();
    let origins = origins
        .map(|(n, url)| http_address(document, url, &at.key("origins").index(n)))
        .collect::<Result<_, _>>()?;
    let folder = document.file.parent().unwrap_or(std::path::Path::new(""));
    Ok(Endpoint::OpenApi(Box::new(OpenApi {
        document: DocumentAddress::read(address, folder),
        base_url,
        access: OpenApiAccess {
            headers: entry.headers.clone(),
            auth: entry.auth.clone(),
        },
        operations: entry.operations.clone(),
        variables: entry.variables.clone(),
        origins,
    })))
}

fn functions(
    document: &Document,
    entry: &Entry,
    files: Vec<String>,
    at: &KeyPath,
) -> Result<Endpoint, ConfigError> {
    for (key, is_set) in [
        ("command", entry.command.is_some()),
        ("url", entry.url.is_some()),
    ] {
        if is_set {
            let message =
                format!("this server has both `functions` and `{key}`: remove one of them");
            return Err(document.invalid(&at.key(key), message));
        }
    }
    if files.iter().all(|pattern| pattern.trim().is_empty()) {
        return Err(document.invalid(
            &at.key("functions"),
            "names no files: write a pattern such as `tools/*.ts`",
        ));
    }
    let folder = document.file.parent().unwrap_or(std::path::Path::new(""));
    Ok(Endpoint::Functions(Box::new(Functions {
        files,
        folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
        limits: entry.limits.unwrap_or_default(),
    })))
}

fn http_address(document: &Document, url: &str, at: &KeyPath) -> Result<url::Url, ConfigError> {
    url::Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            document.invalid(at, format!("`{url}` is not an http:// or https:// address"))
        })
}

fn check_headers(document: &Document, entry: &Entry, at: &KeyPath) -> Result<(), ConfigError> {
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
    Ok(())
}
