//! The configuration file: where it is found, and the settings in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pml_gateway::Config;
use pml_gateway::config::{ConfigError, ConfigFile, ConfigOrigin};
use pml_gateway::policy::globs::ToolGlob;
use pml_hosts::CallCosts;
use pml_policy::lock::{self, LockFile};
use pml_protocol::Limits;
use pml_scrub::ScrubConfig;
use pml_units::{ByteSize, HumanDuration, UnitError};
use pml_workflow::PlanLimits;
use serde::Deserialize;

use crate::amounts::heap_bytes;
use crate::approval_setup::ApprovalSettings;
use crate::audit_setup::AuditSettings;
use crate::store_setup::StoreSettings;
use crate::telemetry_setup::TelemetrySettings;
use crate::trust::{self, Question};

/// The keys of the `pml` section.
const SECTIONS: [&str; 17] = [
    "approvals",
    "audit",
    "effects",
    "guards",
    "labels",
    "learn",
    "limits",
    "policy",
    "pool",
    "runs",
    "scrub",
    "secrets",
    "speculate",
    "store",
    "telemetry",
    "tokens",
    "workflows",
];

/// The configuration of the operator.
#[derive(Default)]
pub struct Settings {
    pub servers: Config,
    pub limits: LimitSettings,
    pub pool: PoolSettings,
    pub scrub: ScrubConfig,
    pub store: StoreSettings,
    pub runs: RunsSettings,
    pub approvals: ApprovalSettings,
    pub audit: AuditSettings,
    pub telemetry: TelemetrySettings,
    pub workflows: WorkflowSettings,
    pub speculate: SpeculationMode,
    /// `pml.learn`: whether runs leave traces.
    pub learn: LearnSwitch,
}

/// `pml.speculate`: which calls are made before a script makes them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpeculationMode {
    /// None.
    Off,
    /// Those that follow from the script itself.
    #[default]
    Script,
}

/// `pml.learn`: whether runs leave traces from which `pml suggest` learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct LearnSwitch(pub bool);

impl Default for LearnSwitch {
    fn default() -> Self {
        Self(true)
    }
}

/// `pml.workflows`: the bounds of plans.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct WorkflowSettings {
    /// Tasks of one plan.
    max_tasks: Option<usize>,
    /// Items of one `for_each`.
    max_items: Option<usize>,
    /// Tasks in the longest chain.
    max_depth: Option<usize>,
    /// Tasks and items at once.
    concurrency: Option<usize>,
    /// Whether clients of `pml serve` see the tool `execute_workflow`.
    pub tool: bool,
    /// What one call costs, by tool: for the estimate of a dry run, metrics and audit events. The first
    /// glob that fits counts.
    pub costs: BTreeMap<ToolGlob, f64>,
}

impl WorkflowSettings {
    /// What calls cost.
    pub fn call_costs(&self) -> CallCosts {
        let costs = self.costs.iter();
        CallCosts::new(costs.map(|(glob, cost)| (glob.clone(), *cost)))
    }

    /// The bounds of a plan.
    pub fn limits(&self) -> PlanLimits {
        let standard = PlanLimits::default();
        PlanLimits {
            tasks: self.max_tasks.unwrap_or(standard.tasks),
            items: self.max_items.unwrap_or(standard.items),
            depth: self.max_depth.unwrap_or(standard.depth),
            concurrency: self.concurrency.unwrap_or(standard.concurrency),
            ..standard
        }
    }
}

/// Loads the file named with `--config`, else that of the working folder, else that of the user.
/// Without a file, everything has its default. On a terminal, the user is asked about a file of the
/// working folder that is not trusted.
pub fn load(named: Option<&Path>) -> Result<Settings, ConfigError> {
    or_default(read(named, Question::OnTerminal))
}

/// Like [`load`], for commands that start no server: nothing is asked.
pub fn load_settings(named: Option<&Path>) -> Result<Settings, ConfigError> {
    or_default(read(named, Question::Never))
}

/// Like [`require`], for commands that start no server: nothing is asked.
pub fn require_settings(named: Option<&Path>) -> Result<Settings, ConfigError> {
    read(named, Question::Never)
}

fn or_default(settings: Result<Settings, ConfigError>) -> Result<Settings, ConfigError> {
    match settings {
        Err(ConfigError::NotFound { .. }) => Ok(Settings::default()),
        settings => settings,
    }
}

/// Like [`load`], but fails if there is no file: for commands that need servers.
pub fn require(named: Option<&Path>) -> Result<Settings, ConfigError> {
    read(named, Question::OnTerminal)
}

/// Like [`require`], without the lock file: for commands that compare it with the servers.
pub fn require_unlocked(named: Option<&Path>) -> Result<Settings, ConfigError> {
    read_unlocked(named, Question::OnTerminal)
}

fn read(named: Option<&Path>, question: Question) -> Result<Settings, ConfigError> {
    let mut settings = read_unlocked(named, question)?;
    if let Some(file) = lock_file(&settings.servers)
        && let Some(lock) = LockFile::read(&file)?
    {
        settings.servers.set_lock(lock);
    }
    Ok(settings)
}

/// Where the lock file of a configuration is: beside it.
pub fn lock_file(config: &Config) -> Option<PathBuf> {
    let file = config.file.as_deref()?;
    Some(file.with_file_name(lock::FILE_NAME))
}

fn read_unlocked(named: Option<&Path>, question: Question) -> Result<Settings, ConfigError> {
    let ConfigFile { path, origin } = Config::locate(named, Path::new(""))?;
    // Read once: what is trusted is what is used.
    let text = Config::read_text(&path)?;
    let mut servers = Config::parse(&path, &text, &|name| std::env::var(name).ok())?;
    servers.check_sections(&SECTIONS)?;
    if origin == ConfigOrigin::Project {
        trust::check(&mut servers, &text, question);
    }
    // Only checked: nothing is read before it is needed.
    servers.credentials()?;
    let limits = servers.section("limits")?;
    let pool = servers.section("pool")?;
    let scrub = servers.section("scrub")?;
    check_restore(&servers, &scrub)?;
    let variables = |name: &str| std::env::var(name).ok();
    let store = servers.section_with_variables("store", &variables)?;
    let runs = servers.section("runs")?;
    let audit = servers.section_with_variables("audit", &variables)?;
    let approvals = servers.section_with_variables("approvals", &variables)?;
    let telemetry = servers.section_with_variables("telemetry", &variables)?;
    let workflows = servers.section("workflows")?;
    let speculate = servers.section("speculate")?;
    let learn = servers.section("learn")?;
    Ok(Settings {
        workflows,
        speculate,
        learn,
        servers,
        limits,
        pool,
        scrub,
        store,
        runs,
        approvals,
        audit,
        telemetry,
    })
}

/// The servers in `pml.scrub.restore` must be those of the file: a rule for another one would never
/// apply.
fn check_restore(servers: &Config, scrub: &ScrubConfig) -> Result<(), ConfigError> {
    for (destination, from) in &scrub.restore {
        let named = destination.split(':').next().unwrap_or_default();
        for name in from.iter().map(String::as_str).chain([named]) {
            let known = || servers.servers.keys().map(String::as_str);
            if name.is_empty() || name.contains([':', '*']) || known().any(|known| known == name) {
                continue;
            }
            let nearest = match pml_nearest::typo_of(name, known()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "name a server of this file, or use `*` in a pattern".to_owned(),
            };
            let message = format!("there is no server `{name}`: {nearest}");
            return Err(servers.section_error(&["scrub", "restore", destination], message));
        }
    }
    Ok(())
}

/// `pml.pool`: the workers of `pml serve`.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct PoolSettings {
    /// The number of idle workers kept ready.
    pub warm: Option<usize>,
}

/// `pml.runs`: the runs of `pml serve`.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct RunsSettings {
    /// Whether `pml serve` keeps journals of its runs. If absent, it does where it can.
    pub durable: Option<bool>,
}

/// `pml.limits`: a missing key keeps its default.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct LimitSettings {
    timeout: Option<Time>,
    cpu: Option<Time>,
    memory: Option<Heap>,
    buffers: Option<ByteSize>,
    max_calls: Option<u32>,
    concurrent_calls: Option<u32>,
    tool_timeout: Option<Time>,
    max_output: Option<u64>,
    max_logs: Option<ByteSize>,
}

impl LimitSettings {
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            wall_ms: self.timeout.map_or(default.wall_ms, |time| time.0),
            cpu_ms: self.cpu.map_or(default.cpu_ms, |time| time.0),
            heap_bytes: self.memory.map_or(default.heap_bytes, |heap| heap.0),
            buffer_bytes: self.buffers.map_or(default.buffer_bytes, ByteSize::bytes),
            calls: self.max_calls.unwrap_or(default.calls),
            concurrent_calls: self.concurrent_calls.unwrap_or(default.concurrent_calls),
            tool_ms: self.tool_timeout.map_or(default.tool_ms, |time| time.0),
            output_chars: self.max_output.unwrap_or(default.output_chars),
            log_bytes: self.max_logs.map_or(default.log_bytes, ByteSize::bytes),
            ..default
        }
    }

    /// The time limit of one call. `None` leaves each server its own limit.
    pub fn tool_timeout(&self) -> Option<Duration> {
        self.tool_timeout.map(|time| Duration::from_millis(time.0))
    }
}

/// Milliseconds, written as `"30s"`; at least one.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "HumanDuration")]
struct Time(u64);

impl TryFrom<HumanDuration> for Time {
    type Error = UnitError;

    fn try_from(time: HumanDuration) -> Result<Self, UnitError> {
        time.non_zero().map(|time| Self(time.as_millis()))
    }
}

/// Bytes of a V8 heap, written as `"64m"`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "ByteSize")]
struct Heap(u64);

impl TryFrom<ByteSize> for Heap {
    type Error = String;

    fn try_from(size: ByteSize) -> Result<Self, String> {
        heap_bytes(size).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(json: &str) -> Result<Limits, String> {
        serde_json::from_str::<LimitSettings>(json)
            .map(|settings| settings.limits())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_limit_has_a_key_and_missing_keys_keep_their_defaults() {
        let set = limits(
            r#"{ "timeout": "1m", "cpu": "2s", "memory": "64m", "buffers": "1m", "maxCalls": 7,
                 "concurrentCalls": 3, "toolTimeout": "500ms", "maxOutput": 9, "maxLogs": "1k" }"#,
        );
        let expected = Limits {
            wall_ms: 60_000,
            cpu_ms: 2_000,
            heap_bytes: 64 << 20,
            buffer_bytes: 1 << 20,
            calls: 7,
            concurrent_calls: 3,
            tool_ms: 500,
            output_chars: 9,
            log_bytes: 1 << 10,
            ..Limits::default()
        };
        assert_eq!(set, Ok(expected));
        assert_eq!(limits("{}"), Ok(Limits::default()));
    }

    #[test]
    fn a_misspelt_or_meaningless_limit_is_refused() {
        for (json, message) in [
            (r#"{ "timout": "1m" }"#, "unknown field `timout`"),
            (r#"{ "timeout": "soon" }"#, "invalid duration `soon`"),
            (r#"{ "timeout": "30" }"#, "add a unit, for example `30s`"),
            (r#"{ "timeout": 30 }"#, "add a unit, for example `30s`"),
            (r#"{ "cpu": "0s" }"#, "at least 1ms"),
            (r#"{ "maxLogs": "64" }"#, "add a unit, for example `64m`"),
            (r#"{ "memory": "1k" }"#, "from 8 MiB to 4 GiB"),
        ] {
            let error = limits(json).unwrap_err();
            assert!(error.contains(message), "{json}: {error}");
        }
    }
}
