//! `pml.secrets` of the configuration.

use std::path::PathBuf;
use std::time::Duration;

use pml_units::HumanDuration;
use serde::Deserialize;

const DEFAULT_TTL: Duration = Duration::from_secs(300);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);

/// How secrets are read and how long they are kept.
///
/// ```
/// let settings: pml_credentials::SecretSettings = serde_json::from_str(
///     r#"{ "ttl": "1m", "timeout": "5s",
///          "vault": { "address": "https://vault.example:8200", "namespace": "team", "token": "${secret:file/~/.vault-token}" } }"#,
/// )?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct SecretSettings {
    ttl: Option<HumanDuration>,
    timeout: Option<HumanDuration>,
    /// The server of `secret:vault/…`.
    pub vault: VaultSettings,
    /// The folder that paths of `secret:file/…` are relative to: that of the configuration.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

/// `pml.secrets.vault`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct VaultSettings {
    /// Its address; else that of `VAULT_ADDR`.
    pub address: Option<String>,
    /// Its namespace; else that of `VAULT_NAMESPACE`.
    pub namespace: Option<String>,
    /// A reference to the token; else `VAULT_TOKEN` and `~/.vault-token` are tried.
    pub token: Option<String>,
}

impl SecretSettings {
    /// How long a value is used before its source is asked again. A lease of Vault has its own time.
    pub fn ttl(&self) -> Duration {
        self.ttl.map_or(DEFAULT_TTL, HumanDuration::get)
    }

    /// How long a source may take to answer.
    pub fn timeout(&self) -> Duration {
        self.timeout.map_or(DEFAULT_TIMEOUT, HumanDuration::get)
    }
}
