//! The store of durable runs: its settings, and how a command opens it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use pml_store::{Durability, Retention, Store, StoreKey, StoreOptions, StoreUrl};
use pml_units::HumanDuration;
use serde::Deserialize;

use crate::config::Settings;

/// The file of the default store, in its folder.
const FILE: &str = "pml.db";

#[derive(Args, Clone, Default)]
pub struct StoreArgs {
    /// Where durable runs are stored: sqlite:PATH or postgres://… [default: `pml.store.url`, else
    /// SQLite in the user's data folder]
    #[arg(long, value_name = "URL")]
    store: Option<StoreUrl>,
}

impl StoreArgs {
    pub fn new(store: Option<StoreUrl>) -> Self {
        Self { store }
    }

    pub fn is_given(&self) -> bool {
        self.store.is_some()
    }
}

/// `pml.store`: where durable runs are stored.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct StoreSettings {
    url: Option<UrlSetting>,
    key: Option<KeySetting>,
    durability: DurabilitySetting,
    retention: RetentionSettings,
    lease: Option<HumanDuration>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct RetentionSettings {
    hot: Option<HumanDuration>,
    cold: Option<HumanDuration>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DurabilitySetting {
    #[default]
    Process,
    Power,
}

#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct UrlSetting(StoreUrl);

impl TryFrom<String> for UrlSetting {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
            .map(Self)
            .map_err(|error: pml_store::StoreError| error.to_string())
    }
}

#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct KeySetting(StoreKey);

impl TryFrom<String> for KeySetting {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
            .map(Self)
            .map_err(|error: pml_store::StoreError| error.to_string())
    }
}

/// Opens the store of `--store`, else that of the configuration, else that of the user.
pub async fn open(args: &StoreArgs, settings: &Settings) -> anyhow::Result<Store> {
    Ok(Store::open(options(args, settings)?).await?)
}

fn options(args: &StoreArgs, settings: &Settings) -> anyhow::Result<StoreOptions> {
    let configured = &settings.store;
    let file = settings.servers.file.as_deref();
    let url = match (&args.store, &configured.url) {
        (Some(url), _) => url.clone(),
        (None, Some(UrlSetting(url))) => beside(file, url),
        (None, None) => StoreUrl::Sqlite(default_folder()?.join(FILE)),
    };
    let folder = match &url {
        StoreUrl::Sqlite(file) => match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        },
        StoreUrl::Postgres(_) => default_folder()?,
    };
    let default = Retention::default();
    let time = |set: Option<HumanDuration>, default: Duration| {
        set.map_or(default, |time| Duration::from_millis(time.as_millis()))
    };
    let options = StoreOptions::new(url, folder);
    Ok(StoreOptions {
        key: configured.key.clone().map(|KeySetting(key)| key),
        durability: match configured.durability {
            DurabilitySetting::Process => Durability::Process,
            DurabilitySetting::Power => Durability::Power,
        },
        retention: Retention {
            hot: time(configured.retention.hot, default.hot),
            cold: time(configured.retention.cold, default.cold),
            approvals: settings.approvals.keep().unwrap_or(default.approvals),
        },
        lease: time(configured.lease, options.lease),
        ..options
    })
}

/// The folder of the user's store.
fn default_folder() -> anyhow::Result<PathBuf> {
    let data = pml_files::data_dir()
        .context("there is no home folder for the store; name one with --store sqlite:PATH")?;
    Ok(data.join("store"))
}

/// A relative path in a configuration file is relative to its folder.
fn beside(config: Option<&Path>, url: &StoreUrl) -> StoreUrl {
    match (url, config.and_then(Path::parent)) {
        (StoreUrl::Sqlite(path), Some(folder)) => StoreUrl::Sqlite(folder.join(path)),
        _ => url.clone(),
    }
}
