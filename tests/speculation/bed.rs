//! A server that counts and orders calls, with a pipeline that speculates or does not.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pml_gateway::{Config, Gateway, RunLimits};
use pml_hosts::stack::{self, LiveRun};
use pml_hosts::{SpeculatedCalls, StaticHost};
use pml_protocol::{Limits, Outcome, SpeculationStats};
use pml_runtime::{Event, Pool, RunOptions, Script};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{pool, repository};

pub struct Bed {
    folder: TempDir,
    pub gateway: Gateway,
    pool: Arc<Pool>,
    limits: Limits,
    speculates: bool,
}

/// What a run has shown to the script, its reader and the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub result: Option<String>,
    pub error: Option<String>,
    logs: Vec<String>,
    calls: Vec<(String, bool)>,
    /// The writes, in the order in which the server got them.
    writes: Vec<String>,
}

/// The configuration in which `s:read`, `s:list` and `s:broken` have no effect.
pub fn effects() -> Value {
    json!({ "effects": { "s:read": "read", "s:list": "read", "s:broken": "read" } })
}

impl Bed {
    pub fn new(speculates: bool, pml: &Value) -> Self {
        Self::with(speculates, pml, &[], Limits::default())
    }

    pub fn with(speculates: bool, pml: &Value, flags: &[&str], limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = repository().join("tests/speculation/server.py");
        let mut args = vec![json!(server), json!(folder.path().join("log"))];
        args.extend(flags.iter().map(|flag| json!(flag)));
        let config = json!({
            "mcpServers": { "s": { "command": "python3", "args": args } },
            "pml": pml,
        });
        let file = folder.path().join("mcp.json");
        let config = Config::parse(&file, &config.to_string(), &|_| None).unwrap();
        Self {
            gateway: Gateway::open(config).unwrap(),
            pool: Arc::new(pool(limits)),
            folder,
            limits,
            speculates,
        }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// The calls that the server got, in their order.
    pub fn received(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    pub async fn call(&self, tool: &str) {
        let run = self.gateway.run(RunLimits::default());
        self.gateway.call(&run, tool, json!({})).await.unwrap();
    }

    pub async fn run(&self, source: &str) -> Outcome {
        let speculated = self.speculates.then(Arc::<SpeculatedCalls>::default);
        let host = stack::live(LiveRun {
            gateway: self.gateway.clone(),
            search: Arc::new(StaticHost::empty()),
            storage: Arc::default(),
            placeholders: None,
            person: None,
            script_observer: None,
            observers: Vec::new(),
            limits: self.limits,
            tool_timeout: Some(Duration::from_secs(20)),
            journal: None,
            approvals: None,
            telemetry: None,
            costs: Default::default(),
            suspensions: Default::default(),
            speculated: speculated.clone(),
            audit: None,
            progress: Arc::new(|_| {}),
        });
        let options = RunOptions {
            speculation: stack::speculation(&self.gateway, speculated, &host),
            ..RunOptions::default()
        };
        let script = Script {
            name: "speculation.ts".to_owned(),
            source: source.to_owned(),
            args: vec!["k4".to_owned()],
        };
        let mut on_event = |_: Event<'_>| {};
        let run = self
            .pool
            .run_with(script, options, self.limits, host, &mut on_event);
        run.await
    }

    /// Runs a script on a server that has forgotten everything.
    pub async fn seen(&self, source: &str) -> (Seen, SpeculationStats) {
        self.call("s:reset").await;
        let outcome = self.run(source).await;
        let stats = outcome.stats.speculation.unwrap_or_default();
        let is_write = |line: &String| line.starts_with("write");
        let seen = Seen {
            result: outcome.result.map(|result| result.get().to_owned()),
            error: outcome
                .error
                .map(|error| format!("{}: {}", error.kind, error.message)),
            logs: outcome.logs.into_iter().map(|line| line.text).collect(),
            calls: outcome
                .calls
                .into_iter()
                .map(|call| (call.tool, call.ok))
                .collect(),
            writes: self.received().into_iter().filter(is_write).collect(),
        };
        (seen, stats)
    }
}
