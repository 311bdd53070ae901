//! The capability token of this process, and what verifies tokens.
//!
//! `--capability` and `PML_CAPABILITY` bind every command that opens a gateway, so they are kept for the
//! whole process here, and `servers::open` is the one place that uses them.

use std::env::VarError;
use std::io::Read;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context, bail};
use pml_gateway::Config;
use pml_protocol::Principal;
use pml_tokens::{Capability, CapabilityStore, RootPublicKey, SignedToken};
use serde::Deserialize;

/// The variable with a token: an argument is visible to every user of the machine.
const VARIABLE: &str = "PML_CAPABILITY";
/// More than a token has.
const MAX_TOKEN_FILE: u64 = 64 * 1024;

static FLAG: OnceLock<String> = OnceLock::new();

/// `pml.tokens`: which tokens are accepted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct TokenSettings {
    /// The root keys; if absent, the one of `pml token key`.
    trusted_keys: Option<Vec<String>>,
}

/// Keeps the token that `--capability` names. A file is read once.
pub fn set_flag(value: Option<&str>) -> anyhow::Result<()> {
    if let Some(value) = value {
        // The command line is parsed once.
        let _ = FLAG.set(read(value)?);
    }
    Ok(())
}

/// Whether a token binds this process.
pub fn is_given() -> bool {
    FLAG.get().is_some() || std::env::var_os(VARIABLE).is_some()
}

/// The token that binds this process; `None` if it has none.
pub fn of_process(config: &Config) -> anyhow::Result<Option<Capability>> {
    let (source, text) = match FLAG.get() {
        Some(text) => ("--capability", text.clone()),
        None => match std::env::var(VARIABLE) {
            Ok(text) => (VARIABLE, text),
            Err(VarError::NotPresent) => return Ok(None),
            Err(error) => bail!("{VARIABLE} cannot be used: {error}"),
        },
    };
    if text.trim().is_empty() {
        bail!("{source} is empty: give it a token, or leave it out");
    }
    let store = store(config)?;
    if !store.has_keys() {
        bail!(
            "{source} cannot be verified, as there is no root key: run `pml token key`, or name the key that signed it in `pml.tokens.trustedKeys`"
        );
    }
    let token: SignedToken = text.parse().context(source)?;
    Ok(Some(store.open(&token).context(source)?))
}

/// Who runs scripts of this process.
pub fn principal(config: &Config) -> anyhow::Result<Principal> {
    let capability = of_process(config)?;
    Ok(capability.map_or_else(Principal::local, |token| Principal::named(&token.name())))
}

/// A token that an argument names: the text itself, `@FILE`, or `-` for standard input.
pub fn read(argument: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    match argument.strip_prefix('@') {
        Some(file) => std::fs::File::open(file)
            .and_then(|file| file.take(MAX_TOKEN_FILE).read_to_string(&mut text))
            .with_context(|| format!("the token file {file} cannot be read"))?,
        None if argument == "-" => std::io::stdin()
            .take(MAX_TOKEN_FILE)
            .read_to_string(&mut text)
            .context("the token cannot be read from standard input")?,
        None => return Ok(argument.to_owned()),
    };
    Ok(text)
}

/// The folder of the root key, the revoked tokens and the counted calls.
pub fn folder() -> anyhow::Result<PathBuf> {
    let data = pml_files::data_dir();
    let data = data.context("there is no home folder for tokens: set HOME or XDG_DATA_HOME")?;
    Ok(CapabilityStore::folder(&data))
}

/// What verifies the tokens of clients; `None` for a user without a home folder.
pub fn for_clients(config: &Config) -> anyhow::Result<Option<CapabilityStore>> {
    match pml_files::data_dir() {
        Some(_) => store(config).map(Some),
        None => Ok(None),
    }
}

/// What verifies tokens: the keys that the configuration pins, else that of `pml token key`.
pub fn store(config: &Config) -> anyhow::Result<CapabilityStore> {
    let folder = folder()?;
    let settings: TokenSettings = config.section("tokens")?;
    let keys = match settings.trusted_keys {
        Some(keys) => {
            let keys = keys.iter().enumerate().map(|(n, key)| {
                key.parse::<RootPublicKey>()
                    .with_context(|| format!("`pml.tokens.trustedKeys[{n}]`"))
            });
            keys.collect::<anyhow::Result<Vec<_>>>()?
        }
        None => {
            let own = RootPublicKey::of_key_file(&CapabilityStore::root_key(&folder))?;
            own.into_iter().collect()
        }
    };
    Ok(CapabilityStore::new(&folder, keys))
}
