//! Locates and reads the configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pml_credentials::{Credentials, Filled, SecretSettings, Template};
use pml_policy::authorize::{PolicyFile, PolicyFileError};
use pml_policy::lock::LockFile;
use serde_json::{Map, Value};

use super::document::{Document, KeyPath};
use super::expand::{Variables, expand};
use super::{ConfigError, ServerConfig};
use crate::policy::PolicyConfig;
use crate::secrets::Secrets;
use crate::transport::new_http_client;

const FILE_NAME: &str = ".mcp.json";
const TOP_LEVEL_KEYS: [&str; 2] = ["mcpServers", "pml"];

/// The configuration of the gateway.
///
/// ```
/// use pml_gateway::Config;
///
/// let text = r#"{ "mcpServers": { "fs": { "command": "npx", "args": ["-y", "server-fs", "."] } } }"#;
/// let config = Config::parse(".mcp.json".as_ref(), text, &|name| std::env::var(name).ok())?;
/// assert!(config.servers.contains_key("fs"));
/// # Ok::<(), pml_gateway::config::ConfigError>(())
/// ```
#[derive(Debug, Default)]
pub struct Config {
    /// The file that it was read from; `None` if a program built it.
    pub file: Option<PathBuf>,
    /// The servers, by name.
    pub servers: BTreeMap<String, ServerConfig>,
    /// The `pml` section. Each part of pml reads its own key with [`Config::section`].
    sections: Map<String, Value>,
    document: Option<Document>,
    secrets: Secrets,
    /// Made when a reference is first resolved.
    credentials: OnceLock<Credentials>,
    lock: Option<Arc<LockFile>>,
}

/// A configuration file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its path.
    pub path: PathBuf,
    /// Why it is used.
    pub origin: ConfigOrigin,
}

/// Why a configuration file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigOrigin {
    /// The user named it.
    Named,
    /// It is in the working folder, and may come from others.
    Project,
    /// It is the user's own.
    User,
}

impl Config {
    /// A configuration without a file.
    pub fn of(servers: impl IntoIterator<Item = ServerConfig>) -> Self {
        let config = Self {
            servers: servers
                .into_iter()
                .map(|server| (server.name.clone(), server))
                .collect(),
            ..Self::default()
        };
        config.collect_secrets();
        config
    }

    /// The credentials of all servers, which are replaced in everything that leaves the gateway.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Resolves the references to secrets, as `pml.secrets` says. Every value is hidden from then on.
    ///
    /// # Errors
    /// `pml.secrets` is invalid.
    pub fn credentials(&self) -> Result<Credentials, ConfigError> {
        if let Some(credentials) = self.credentials.get() {
            return Ok(credentials.clone());
        }
        let mut settings: SecretSettings = self.section("secrets")?;
        settings.folder = self
            .file
            .as_deref()
            .and_then(Path::parent)
            .map(Path::to_owned);
        let secrets = self.secrets.clone();
        let hide = Box::new(move |reference: &_, value: &str| {
            secrets.add_referenced(reference, value);
        });
        let credentials = Credentials::new(settings, new_http_client, hide);
        Ok(self.credentials.get_or_init(|| credentials).clone())
    }

    /// Uses only what this lock file pins.
    pub fn set_lock(&mut self, lock: LockFile) {
        self.lock = Some(Arc::new(lock));
    }

    /// Makes servers unusable whose command or address is not the one that is pinned.
    pub(crate) fn refuse_unpinned(&mut self) {
        let Some(lock) = &self.lock else {
            return;
        };
        for server in self.servers.values_mut().filter(|server| !server.disabled) {
            let pin = lock.servers.get(&server.name);
            if server.endpoint.is_ok() && pin.is_none_or(|pin| pin.identity != server.identity) {
                server.endpoint = Err(ConfigError::NotPinned {
                    server: server.name.clone(),
                    is_pinned: pin.is_some(),
                });
            }
        }
    }

    /// The lock file.
    pub(crate) fn lock(&self) -> Option<&Arc<LockFile>> {
        self.lock.as_ref()
    }

    fn collect_secrets(&self) {
        for server in self.servers.values() {
            self.secrets.add_server(server);
        }
    }

    /// The file to use: `named` if given, else `.mcp.json` in `folder`, else the user's own.
    ///
    /// # Errors
    /// There is no such file.
    pub fn locate(named: Option<&Path>, folder: &Path) -> Result<ConfigFile, ConfigError> {
        if let Some(named) = named {
            return Ok(ConfigFile {
                path: named.to_owned(),
                origin: ConfigOrigin::Named,
            });
        }
        let mut places = vec![(folder.join(FILE_NAME), ConfigOrigin::Project)];
        let own = pml_files::config_dir().map(|folder| folder.join("mcp.json"));
        places.extend(own.map(|path| (path, ConfigOrigin::User)));
        match places.iter().find(|(path, _)| path.is_file()) {
            Some((path, origin)) => Ok(ConfigFile {
                path: path.clone(),
                origin: *origin,
            }),
            None => Err(ConfigError::NotFound {
                looked_at: places.into_iter().map(|(path, _)| path).collect(),
            }),
        }
    }

    /// The content of `file`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read_text(file: &Path) -> Result<String, ConfigError> {
        std::fs::read_to_string(file).map_err(|error| ConfigError::Unreadable {
            file: file.to_owned(),
            reason: error.to_string(),
        })
    }

    /// Reads `file`, with variables from the environment.
    ///
    /// # Errors
    /// The file cannot be read or is invalid.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = Self::read_text(file)?;
        Self::parse(file, &text, &|name| std::env::var(name).ok())
    }

    /// Parses `text` as the content of `file`.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn parse(file: &Path, text: &str, variables: Variables<'_>) -> Result<Self, ConfigError> {
        let document = Document::parse(file, text)?;
        let root = KeyPath::root();
        let Value::Object(top) = &document.value else {
            return Err(document.invalid(&root, "expected an object with `mcpServers`"));
        };
        for key in top
            .keys()
            .filter(|key| !TOP_LEVEL_KEYS.contains(&key.as_str()))
        {
            // Other clients keep their own settings in the file; only a mistyped key is an error.
            if !pml_nearest::typos_of(key, TOP_LEVEL_KEYS).is_empty() {
                return Err(document.unknown_key(&root.key(key.as_str()), key, TOP_LEVEL_KEYS));
            }
        }

        // VS Code calls it `servers`.
        let key = match top.contains_key("mcpServers") {
            true => "mcpServers",
            false => "servers",
        };
        let at = root.key(key);
        let mut servers = BTreeMap::new();
        match top.get(key) {
            None => {}
            Some(Value::Object(entries)) => {
                for (name, entry) in entries {
                    let at = at.key(name.as_str());
                    let server = ServerConfig::read(&document, name, entry, &at, variables)?;
                    servers.insert(name.clone(), server);
                }
            }
            Some(_) => return Err(document.invalid(&at, "expected an object: name → server")),
        }

        let at = root.key("pml");
        let sections = match top.get("pml") {
            None => Map::new(),
            Some(Value::Object(sections)) => sections.clone(),
            Some(_) => return Err(document.invalid(&at, "expected an object")),
        };
        let config = Self {
            file: Some(file.to_owned()),
            servers,
            sections,
            document: Some(document),
            secrets: Secrets::default(),
            credentials: OnceLock::new(),
            lock: None,
        };
        config.collect_secrets();
        Ok(config)
    }

    /// Checks the keys of the `pml` section.
    ///
    /// # Errors
    /// A key is not in `known`.
    pub fn check_sections(&self, known: &[&str]) -> Result<(), ConfigError> {
        let Some(document) = &self.document else {
            return Ok(());
        };
        let at = KeyPath::root().key("pml");
        match self
            .sections
            .keys()
            .find(|key| !known.contains(&key.as_str()))
        {
            Some(key) => {
                Err(document.unknown_key(&at.key(key.as_str()), key, known.iter().copied()))
            }
            None => Ok(()),
        }
    }

    /// Deserializes the key `name` of the `pml` section; its default if it is absent.
    ///
    /// # Errors
    /// The value is invalid.
    pub fn section<T: serde::de::DeserializeOwned + Default>(
        &self,
        name: &str,
    ) -> Result<T, ConfigError> {
        match (&self.document, self.sections.get(name)) {
            (Some(document), Some(value)) => {
                document.read(value.clone(), &KeyPath::root().key("pml").key(name))
            }
            _ => Ok(T::default()),
        }
    }

    /// [`Config::section`] of a section with credentials: `${VAR}` and `${secret:…}` in its strings are
    /// replaced.
    ///
    /// # Errors
    /// The section is invalid, a variable is not set, or a secret cannot be used.
    pub fn section_with_variables<T: serde::de::DeserializeOwned + Default>(
        &self,
        name: &str,
        variables: Variables<'_>,
    ) -> Result<T, ConfigError> {
        match (&self.document, self.sections.get(name)) {
            (Some(document), Some(value)) => {
                let at = KeyPath::root().key("pml").key(name);
                let mut value = expand(document, value.clone(), &at, variables)?;
                self.fill(document, &mut value, &at)?;
                document.read(value, &at)
            }
            _ => Ok(T::default()),
        }
    }

    /// Puts the values of secrets into the strings of a section.
    fn fill(
        &self,
        document: &Document,
        value: &mut Value,
        at: &KeyPath,
    ) -> Result<(), ConfigError> {
        match value {
            Value::String(text) if Template::has_reference(text) => {
                let invalid = |message: String| document.invalid(at, message);
                let template = Template::parse(text).map_err(|error| invalid(error.to_string()))?;
                let filled = filled_now(template, self.credentials()?);
                let filled = filled.map_err(|error| {
                    invalid(self.secrets.hide_for_people(error.to_string()).into_owned())
                })?;
                *text = filled.text.to_string();
                Ok(())
            }
            Value::Array(values) => values
                .iter_mut()
                .enumerate()
                .try_for_each(|(index, value)| self.fill(document, value, &at.index(index))),
            Value::Object(map) => map
                .iter_mut()
                .try_for_each(|(key, value)| self.fill(document, value, &at.key(key.as_str()))),
            _ => Ok(()),
        }
    }

    /// A section of `pml` as it is written; `None` if there is none.
    pub fn raw_section(&self, name: &str) -> Option<&Value> {
        self.sections.get(name)
    }

    /// Leaves out a section of `pml`, as if it was not written.
    pub fn leave_out_section(&mut self, name: &str) {
        self.sections.remove(name);
    }

    /// Where the policy file that `policy` names is: relative to the configuration.
    pub fn policy_path(&self, policy: &PolicyConfig) -> Option<PathBuf> {
        let named = policy.file.as_ref()?;
        let folder = self.file.as_deref().and_then(Path::parent);
        Some(folder.map_or_else(|| named.clone(), |folder| folder.join(named)))
    }

    pub(crate) fn policy_file(
        &self,
        policy: &PolicyConfig,
    ) -> Result<Option<PolicyFile>, PolicyFileError> {
        let path = self.policy_path(policy);
        path.map(|path| PolicyFile::read(&path)).transpose()
    }

    /// An error about a value of the `pml` section, with its line. `path` are the keys that lead to it.
    pub fn section_error(&self, path: &[&str], message: impl Into<String>) -> ConfigError {
        let below = |at: KeyPath, key: &&str| at.key(*key);
        let at = path.iter().fold(KeyPath::root().key("pml"), below);
        match &self.document {
            Some(document) => document.invalid(&at, message),
            None => ConfigError::Invalid {
                file: PathBuf::new(),
                line: 1,
                key: at.to_string(),
                message: message.into(),
            },
        }
    }
}

/// Fills a template while the configuration is read, which happens outside of the runtime of the
/// servers.
fn filled_now(template: Template, credentials: Credentials) -> Result<Filled, String> {
    let fill = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let filled = runtime.block_on(template.fill(&credentials));
        filled.map_err(|error| error.to_string())
    };
    // A thread of its own: the caller may already be inside of a runtime.
    let done = std::thread::spawn(fill).join();
    done.unwrap_or_else(|_| Err("reading the secret panicked".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Endpoint, Protocol, ServerTrust};

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(Path::new("m.json"), text, &|name| {
            (name == "TOKEN").then(|| "secret".to_owned())
        })
    }

    fn mistake(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_servers_key_of_vs_code_is_read() {
        let config = parse(r#"{ "servers": { "fs": { "command": "npx" } } }"#).unwrap();
        assert_eq!(config.servers.len(), 1);
    }

    #[test]
    fn a_file_of_another_client_works_unchanged() {
        let config = parse(
            r#"{
              "mcpServers": {
                "fs":  { "command": "npx", "args": ["-y", "server", "."], "autoApprove": ["*"] },
                "api": { "type": "http", "url": "https://example.test/mcp",
                         "headers": { "Authorization": "Bearer ${TOKEN}" }, "timeout": "5s" },
                "old": { "type": "sse", "url": "http://127.0.0.1:1/sse", "disabled": true }
              },
              "numStartups": 12
            }"#,
        )
        .unwrap();
        let Ok(Endpoint::Stdio(command)) = &config.servers["fs"].endpoint else {
            panic!()
        };
        assert_eq!((command.program.as_str(), command.args.len()), ("npx", 3));
        assert_eq!(config.servers["fs"].ignored_keys, ["autoApprove"]);
        let Ok(Endpoint::Http(remote)) = &config.servers["api"].endpoint else {
            panic!()
        };
        assert_eq!(remote.headers["Authorization"], "Bearer secret");
        assert_eq!(config.servers["api"].timeout, Some(Duration::from_secs(5)));
        assert!(matches!(
            config.servers["old"].endpoint,
            Ok(Endpoint::Sse(_))
        ));
        assert!(config.servers["old"].disabled);
        assert_eq!(config.servers["old"].protocol, Protocol::Auto);
    }

    #[test]
    fn trust_in_annotations_is_read_and_the_trust_of_gemini_cli_means_nothing_here() {
        let trust = |value: &str| {
            let text = format!(
                r#"{{ "mcpServers": {{ "fs": {{ "command": "x", "trust": {value} }} }} }}"#
            );
            parse(&text).map(|config| config.servers["fs"].trust)
        };
        assert_eq!(trust("\"annotations\""), Ok(ServerTrust::Annotations));
        assert_eq!(trust("true"), Ok(ServerTrust::None));
        let error = trust("\"all\"").unwrap_err().to_string();
        assert!(
            error.contains("`mcpServers.fs.trust`: expected \"annotations\""),
            "{error}"
        );
    }

    #[test]
    fn a_key_that_is_equally_near_to_two_is_a_mistake_too() {
        // `roots` and `tools`: an allow list must not vanish.
        let error = mistake(r#"{ "mcpServers": { "fs": { "command": "x", "rools": ["echo"] } } }"#);
        assert!(
            error.contains("unknown key `mcpServers.fs.rools`"),
            "{error}"
        );
    }

    #[test]
    fn a_misspelt_key_names_file_line_key_and_the_nearest_one() {
        assert_eq!(
            mistake("{ \"mcpServers\": {\n  \"fs\": {\n    \"comand\": \"x\" } } }"),
            "m.json:3: unknown key `mcpServers.fs.comand`: did you mean `command`?"
        );
        assert_eq!(
            mistake("{\n \"mcpServer\": {} }"),
            "m.json:2: unknown key `mcpServer`: did you mean `mcpServers`?"
        );
    }

    #[test]
    fn a_wrong_value_names_file_line_and_key() {
        let text =
            mistake("{ \"mcpServers\": {\n \"fs\": { \"command\": \"x\",\n \"args\": \"-y\" } } }");
        assert!(
            text.starts_with("m.json:3: `mcpServers.fs.args`: invalid type"),
            "{text}"
        );
        let text = mistake("{ \"mcpServers\": { \"fs\": {} } }");
        assert!(text.contains("needs `command`"), "{text}");
        let text = mistake("{ \"mcpServers\": { \"a:b\": { \"command\": \"x\" } } }");
        assert!(text.contains("`server:tool`"), "{text}");
        let text = mistake("{ \"mcpServers\": { \"a\": { \"url\": \"ftp://x\" } } }");
        assert!(text.contains("`mcpServers.a.url`"), "{text}");
    }

    #[test]
    fn an_unset_variable_makes_only_its_own_server_unusable() {
        let config = parse(
            "{ \"mcpServers\": {\n \"a\": { \"command\": \"x\" },\n \"b\": { \"command\": \"${NOPE}\" } } }",
        )
        .unwrap();
        assert!(config.servers["a"].endpoint.is_ok());
        assert_eq!(
            config.servers["b"]
                .endpoint
                .as_ref()
                .unwrap_err()
                .to_string(),
            "m.json:3: `mcpServers.b.command` uses ${NOPE}, which is not set: set it, or write ${NOPE:-default}"
        );
    }

    #[test]
    fn a_missing_file_says_where_it_was_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("x.json");
        let found = Config::locate(Some(&named), folder.path()).unwrap();
        assert_eq!(
            (found.path, found.origin),
            (named.clone(), ConfigOrigin::Named)
        );
        assert!(
            Config::load(&named)
                .unwrap_err()
                .to_string()
                .contains("cannot be read")
        );
        std::fs::write(folder.path().join(FILE_NAME), "{}").unwrap();
        let found = Config::locate(None, folder.path()).unwrap();
        assert_eq!(found.path, folder.path().join(FILE_NAME));
        assert_eq!(found.origin, ConfigOrigin::Project);
    }

    #[test]
    fn unknown_sections_of_pml_are_refused() {
        let config = parse("{ \"pml\": {\n \"polcy\": {} } }").unwrap();
        assert_eq!(
            config
                .check_sections(&["policy", "limits"])
                .unwrap_err()
                .to_string(),
            "m.json:2: unknown key `pml.polcy`: did you mean `policy`?"
        );
    }
}
