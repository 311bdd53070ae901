//! The audit log: its settings, and how a command opens it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Context;
use pml_audit::{
    Actor, AuditLog, Event, LogOptions, Retention, Shipping, Sink, SinkGate, digest,
    parse_timestamp,
};
use pml_gateway::Gateway;
use pml_hosts::{AuditTrail, CallCosts, ShowValue};
use pml_protocol::TenantId;
use pml_scrub::Scrubber;
use pml_units::HumanDuration;
use serde::Deserialize;
use serde_json::json;

use crate::approvals::user;
use crate::audit_sinks::{self, SinkSettings};
use crate::config::{self, Settings};
use crate::diagnostics;
use crate::value_scrubber::value_scrubber;

/// `pml.audit`: the log of what agents did.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct AuditSettings {
    /// Whether `pml serve` writes it. If absent, it does.
    enabled: Option<bool>,
    /// Whether `pml run`, `pml call` and `pml resume` write it, too.
    commands: bool,
    /// Whether events show arguments and results, scrubbed, besides their digests.
    values: bool,
    /// Where events go besides the log.
    sinks: Vec<SinkSettings>,
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
    /// Whether `pml run` and the like are recorded.
    pub fn records_commands(&self) -> bool {
        self.commands && self.enabled != Some(false)
    }

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

/// The time of an event in milliseconds since 1970.
pub fn unix_ms(time: &str) -> u64 {
    let since = parse_timestamp(time).duration_since(UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    u64::try_from(millis).unwrap_or(u64::MAX)
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

/// Records what a command of the user did, such as an answer to an approval, where there is a log.
pub struct CommandAudit {
    /// `None` where the operator wants no log.
    log: Option<(PathBuf, LogOptions)>,
}

impl CommandAudit {
    /// The log that the settings name. It is opened when there is something to record.
    pub fn of(settings: &Settings) -> Self {
        let is_wanted = settings.audit.enabled != Some(false);
        let folder = folder(settings).ok().filter(|_| is_wanted);
        Self {
            log: folder.map(|folder| (folder, settings.audit.options())),
        }
    }

    /// Records an event of the user of this process.
    pub fn record(&self, kind: &str, subject: &str, data: &serde_json::Value) {
        let Some((folder, options)) = &self.log else {
            return;
        };
        let actor = Actor {
            tenant: TenantId::local().to_string(),
            principal: user::name(),
            ..Actor::default()
        };
        let event = Event::new(kind, data).about(subject).by(&actor);
        let recorded = AuditLog::open(folder, options.clone()).and_then(|log| log.record(&event));
        if let Err(error) = recorded {
            diagnostics::warning(format_args!("not recorded in the audit log: {error}"));
        }
    }
}

/// What is needed to open the log of `pml serve`. The configuration is used up before the gateway is there.
pub struct AuditSetup {
    log: Option<Arc<AuditLog>>,
    lock: String,
    /// Those that are not started yet.
    sinks: Vec<Sink>,
    shipping: Option<Shipping>,
    costs: CallCosts,
    /// `None` where events have digests alone.
    show: Option<ShowValue>,
}

impl AuditSetup {
    /// Opens the log, unless `pml.audit.enabled` is false, and records the configuration. With
    /// `onFailure: "degrade"`, a server also starts without a log.
    ///
    /// `is_stdio` is whether standard output belongs to a client.
    pub fn open(settings: &Settings, is_stdio: bool) -> anyhow::Result<Self> {
        let mut setup = Self::without_log(settings);
        if settings.audit.enabled == Some(false) {
            return Ok(setup);
        }
        let beside = settings.servers.file.as_deref().and_then(Path::parent);
        // A mistake in the configuration is found before anything is written.
        setup.sinks = audit_sinks::open(&settings.audit.sinks, beside, is_stdio)?;
        if settings.audit.values {
            let scrubber = Arc::new(Scrubber::new(&settings.scrub)?);
            setup.show = Some(value_scrubber(scrubber, settings.servers.secrets().clone()));
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
                return Ok(Self::without_log(settings));
            }
        };
        let file = settings.servers.file.as_deref();
        let text = file.and_then(|file| std::fs::read(file).ok());
        let loaded = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "config": text.map(|bytes| digest(&bytes)),
            "lock": (!setup.lock.is_empty()).then_some(&setup.lock),
            "servers": settings.servers.servers.keys().collect::<Vec<_>>(),
        });
        log.record(&Event::new("pml.config.loaded", &loaded))?;
        setup.log = Some(log);
        Ok(setup)
    }

    /// Opens the log for a command that sends calls; without a log unless the operator wants commands
    /// recorded.
    pub fn open_for_command(settings: &Settings) -> anyhow::Result<Self> {
        match settings.audit.records_commands() {
            true => Self::open(settings, true),
            false => Ok(Self::without_log(settings)),
        }
    }

    fn without_log(settings: &Settings) -> Self {
        let lock_file = config::lock_file(&settings.servers);
        let lock = lock_file.and_then(|file| std::fs::read(file).ok());
        Self {
            log: None,
            lock: lock.map(|bytes| digest(&bytes)).unwrap_or_default(),
            sinks: Vec::new(),
            shipping: None,
            costs: settings.workflows.call_costs(),
            show: None,
        }
    }

    /// The log for the calls of a gateway. From here on, events are sent to the sinks. Must be called
    /// inside the event loop.
    pub fn trail(&mut self, gateway: &Gateway) -> Option<AuditTrail> {
        let policy: String = gateway
            .policy_digest("")
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let log = self.log.clone()?;
        let (sinks, gate) = (std::mem::take(&mut self.sinks), SinkGate::default());
        if !sinks.is_empty() {
            // The log is a folder within that of all logs.
            let folder = log.folder().parent().unwrap_or(log.folder());
            self.shipping = Some(Shipping::start(folder, sinks, &gate));
        }
        let named = gateway.credentials().into_iter();
        let credentials = named.map(|(server, references)| {
            let written = references.iter().map(ToString::to_string);
            (server, written.collect())
        });
        let trail = AuditTrail::new(log, &format!("sha256:{policy}"), &self.lock)
            .with_credentials(credentials.collect())
            .with_costs(self.costs.clone())
            .with_gate(gate);
        Some(match &self.show {
            Some(show) => trail.with_values(show.clone()),
            None => trail,
        })
    }

    /// Signs the last checkpoint, and sends the last events to the sinks.
    pub async fn close(self) {
        if let Some(log) = &self.log {
            log.close();
        }
        if let Some(shipping) = self.shipping {
            shipping.close().await;
        }
    }
}
