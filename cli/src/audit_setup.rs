//! The audit log: its settings, and how a command opens it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use pml_audit::{AuditLog, Event, LogOptions, Retention, digest};
use pml_gateway::Gateway;
use pml_hosts::AuditTrail;
use pml_units::HumanDuration;
use serde::Deserialize;
use serde_json::json;

use crate::config::{self, Settings};

/// `pml.audit`: the log of what agents did.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct AuditSettings {
    /// Whether `pml serve` writes it. If absent, it does.
    enabled: Option<bool>,
    /// The folder; relative to that of the configuration file.
    path: Option<PathBuf>,
    on_failure: OnFailure,
    retention: RetentionSettings,
}

/// What happens to a call that cannot be recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnFailure {
    /// It is refused.
    Block,
    /// It is sent, and the log says later how many events are missing.
    #[default]
    Degrade,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct RetentionSettings {
    hot: Option<HumanDuration>,
    cold: Option<HumanDuration>,
}

impl AuditSettings {
    fn options(&self) -> LogOptions {
        let default = Retention::default();
        let time = |set: Option<HumanDuration>, default: Duration| {
            set.map_or(default, |time| Duration::from_millis(time.as_millis()))
        };
        LogOptions {
            block: self.on_failure == OnFailure::Block,
            retention: Retention {
                hot: time(self.retention.hot, default.hot),
                cold: time(self.retention.cold, default.cold),
            },
            ..LogOptions::default()
        }
    }
}

/// The folder of the logs: that of the configuration, else that of the user.
pub fn folder(settings: &Settings) -> anyhow::Result<PathBuf> {
    let beside = settings.servers.file.as_deref().and_then(Path::parent);
    match (&settings.audit.path, beside) {
        (Some(path), Some(folder)) => Ok(folder.join(path)),
        (Some(path), None) => Ok(path.clone()),
        (None, _) => {
            let data = pml_files::data_dir();
            let data = data.context(
                "there is no home folder for the audit log; name one with `pml.audit.path`",
            )?;
            Ok(data.join("audit"))
        }
    }
}

/// What is needed to open the log of `pml serve`. The configuration is used up before the gateway is there.
pub struct AuditSetup {
    log: Option<Arc<AuditLog>>,
    lock: String,
}

impl AuditSetup {
    /// Opens the log, unless `pml.audit.enabled` is false, and records the configuration. With
    /// `onFailure: "degrade"`, a server also starts without a log.
    pub fn open(settings: &Settings) -> anyhow::Result<Self> {
        let lock_file = config::lock_file(&settings.servers);
        let lock = lock_file.and_then(|file| std::fs::read(file).ok());
        let lock = lock.map(|bytes| digest(&bytes)).unwrap_or_default();
        if settings.audit.enabled == Some(false) {
            return Ok(Self { log: None, lock });
        }
        let opened = folder(settings)
            .and_then(|folder| Ok(AuditLog::open(&folder, settings.audit.options())?));
        let log = match opened {
            Ok(log) => Arc::new(log),
            Err(error) if settings.audit.on_failure == OnFailure::Block => return Err(error),
            Err(error) => {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "there is no audit log: name a folder with `pml.audit.path`, or set `pml.audit.enabled` to false"
                );
                return Ok(Self { log: None, lock });
            }
        };
        let file = settings.servers.file.as_deref();
        let text = file.and_then(|file| std::fs::read(file).ok());
        let loaded = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "config": text.map(|bytes| digest(&bytes)),
            "lock": (!lock.is_empty()).then_some(&lock),
            "servers": settings.servers.servers.keys().collect::<Vec<_>>(),
        });
        log.record(&Event::new("pml.config.loaded", &loaded))?;
        Ok(Self {
            log: Some(log),
            lock,
        })
    }

    /// The log for the calls of a gateway.
    pub fn trail(&self, gateway: &Gateway) -> Option<AuditTrail> {
        let policy: String = gateway
            .policy_digest("")
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let log = self.log.clone()?;
        let named = gateway.credentials().into_iter();
        let credentials = named.map(|(server, references)| {
            let written = references.iter().map(ToString::to_string);
            (server, written.collect())
        });
        let trail = AuditTrail::new(log, &format!("sha256:{policy}"), &self.lock);
        Some(trail.with_credentials(credentials.collect()))
    }

    /// Signs the last checkpoint.
    pub fn close(&self) {
        if let Some(log) = &self.log {
            log.close();
        }
    }
}
