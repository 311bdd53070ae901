//! What the tests share: the odd server and a gateway over it.

use std::path::PathBuf;
use std::time::Duration;

use pml_gateway::config::{Config, ServerConfig};
use pml_gateway::{CallError, CallValue, Gateway, RunLimits, RunScope};
use serde_json::Value;

/// The server that misbehaves on request.
pub fn odd(name: &str, options: &[&str]) -> ServerConfig {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/servers/odd.py");
    let mut args = vec!["-u".to_owned(), script.display().to_string()];
    args.extend(options.iter().map(|option| (*option).to_owned()));
    ServerConfig::stdio(name, "python3", args)
}

pub fn gateway(servers: impl IntoIterator<Item = ServerConfig>) -> Gateway {
    Gateway::open(Config::of(servers)).unwrap()
}

/// A gateway over one odd server called `odd`, with a run that may call as often as it likes.
pub struct One {
    pub gateway: Gateway,
    pub scope: RunScope,
}

impl One {
    pub fn odd(options: &[&str]) -> Self {
        Self::of(odd("odd", options))
    }

    pub fn of(server: ServerConfig) -> Self {
        let gateway = gateway([server]);
        let scope = gateway.run(RunLimits::default());
        Self { gateway, scope }
    }

    pub async fn call(&self, id: &str, arguments: Value) -> Result<Value, CallError> {
        let answer = self.gateway.call(&self.scope, id, arguments).await;
        answer.map(|CallValue { value, .. }| value)
    }
}

/// Waits until `condition` holds, for at most five seconds.
pub async fn eventually(mut condition: impl AsyncFnMut() -> bool) -> bool {
    for _ in 0..250 {
        if condition().await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// The processes whose command line contains `mark`, zombies included where they show one.
pub fn processes_with(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if id != own && String::from_utf8_lossy(&line).contains(mark) {
            found.push(id);
        }
    }
    found
}

/// The zombies among our own children.
pub fn zombies() -> usize {
    let own = std::process::id().to_string();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| {
            // After the name, which may hold anything: state, then parent.
            let mut fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(own.as_str())
        })
        .count()
}
