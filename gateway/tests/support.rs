//! Shared by the tests: the odd server and a gateway with it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use pml_gateway::config::{Config, Endpoint, Remote, ServerConfig};
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

/// A server over HTTP, written in Python, that prints its port.
pub struct PythonHttp {
    child: Child,
    pub remote: Remote,
}

impl PythonHttp {
    pub fn start(script: &str) -> Self {
        let script = format!("{}/tests/servers/{script}", env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new("python3")
            .arg(script)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut port)
            .unwrap();
        let url = format!("http://127.0.0.1:{}/mcp", port.trim())
            .parse()
            .unwrap();
        Self {
            child,
            remote: Remote {
                url,
                headers: Default::default(),
            },
        }
    }

    pub fn config(&self, name: &str) -> ServerConfig {
        ServerConfig::with_endpoint(name, Endpoint::Http(self.remote.clone()))
    }
}

impl Drop for PythonHttp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
