//! A folder with a ledger server, a store and a script, and `pml` in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{pml, repository};

/// How long anything in these tests may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Ledger {
    folder: TempDir,
}

impl Ledger {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the ledger");
        let ledger = Self { folder };
        ledger.configure(json!({
            "s:look": "read",
            "s:find": "read",
            "s:put": "idempotent",
            "s:pay": { "keyed": "idempotency_key" },
        }));
        ledger
    }

    /// Writes the configuration with these effect classes.
    pub fn configure(&self, effects: Value) {
        self.configure_pml(json!({ "effects": effects }));
    }

    /// Writes the configuration with this `pml` section.
    pub fn configure_pml(&self, pml: Value) {
        let server = repository().join("tests/durable/ledger.py");
        let config = json!({
            "mcpServers": { "s": { "command": "python3", "args": [server, self.path()] } },
            "pml": pml,
        });
        std::fs::write(self.file("mcp.json"), config.to_string()).expect("the configuration");
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).expect("a file of the test");
    }

    /// `pml` with the configuration and the store of this folder.
    pub fn pml(&self, words: &[&str]) -> Command {
        let store = self.file("store/pml.db");
        self.pml_on(&format!("sqlite:{}", store.display()), words)
    }

    /// `pml` with the configuration of this folder and another store.
    pub fn pml_on(&self, store: &str, words: &[&str]) -> Command {
        let mut command = pml();
        command
            .args(words)
            .args(["--store", store])
            .arg("--config")
            .arg(self.file("mcp.json"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a durable run of a script with the id `r`.
    pub fn start(&self, script: &str) -> Child {
        self.write("script.ts", script);
        let file = self.file("script.ts");
        let words = ["run", "--durable", "--run-id", "r", "--json"];
        let mut command = self.pml(&words);
        command.arg(file).spawn().expect("pml starts")
    }

    /// Runs a command to its end.
    pub fn run(&self, words: &[&str]) -> Output {
        self.pml(words).output().expect("pml starts")
    }

    /// Runs a command, and returns what it prints as JSON.
    pub fn json(&self, words: &[&str]) -> Value {
        parse(&self.run(words))
    }

    pub fn resume(&self) -> Value {
        self.json(&["resume", "r", "--json"])
    }

    pub fn show(&self) -> Value {
        self.json(&["runs", "show", "r", "--json"])
    }

    /// The effects, in order.
    pub fn effects(&self) -> Vec<String> {
        self.lines("effects")
    }

    /// The texts that `look` was called with.
    pub fn reads(&self) -> Vec<String> {
        self.lines("reads")
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until a call is held by the server.
    pub fn wait_until_held(&self) {
        self.wait("a held call", || self.file("held").exists());
    }

    /// Waits until the ledger has this many effects.
    pub fn wait_for_effects(&self, count: usize) {
        self.wait("effects", || self.effects().len() >= count);
    }

    pub fn wait(&self, what: &str, is_done: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_done() {
            assert!(began.elapsed() < PATIENCE, "no {what} in time");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Lets held calls go on, now and later.
    pub fn let_go(&self) {
        self.write("go", "");
        let _ = std::fs::remove_file(self.file("held"));
    }
}

/// Kills a process and waits for its end.
pub fn kill(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

pub fn parse(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "no JSON ({error}): {}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
