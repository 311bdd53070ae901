//! Functions that run scripts, for all end-to-end tests.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, OnceLock};

use pml_hosts::stack;
use pml_protocol::{Limits, Outcome, ToolHost};
use pml_reply::limit_output;
use pml_runtime::{Pool, PoolOptions, Script};
use serde_json::Value;

/// The binary under test.
///
/// It trusts the `.mcp.json` of the folder that it runs in; tests of trust remove the variable. Its home
/// folder is that of all tests: nothing is written to that of the user, such as the audit log of a server.
pub fn pml() -> Command {
    let mut command = Command::new(binary());
    command
        .env("PML_TRUST", "1")
        .env("HOME", home())
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME");
    command
}

/// The home folder of commands that need none of their own. It stays between runs of the tests: what was
/// downloaded is there.
fn home() -> &'static Path {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("home");
        std::fs::create_dir_all(&home).expect("the target folder can be written");
        home
    })
}

pub fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_pml"))
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The ONNX runtime library, downloaded once by pml itself for all tests.
pub fn onnx_runtime() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
            .expect("a home folder to keep the library below")
            .join("pml/test-data");
        let library = cache.join("pml/onnxruntime/libonnxruntime.so.1.24.4");
        if !library.exists() {
            let folder = tempfile::tempdir().expect("a folder for a configuration");
            let file = folder.path().join("mcp.json");
            let servers = serde_json::json!({ "mcpServers": {
                "demo": { "command": binary(), "args": ["demo-server", folder.path()] },
            } });
            std::fs::write(&file, servers.to_string()).expect("the configuration is written");
            let output = pml()
                .args(["index", "--config"])
                .arg(&file)
                .env("XDG_DATA_HOME", &cache)
                .env_remove("ORT_DYLIB_PATH")
                .output()
                .expect("the binary starts");
            assert!(output.status.success(), "{output:?}");
        }
        library
    })
}

/// `pml run --json FLAGS -` with the script on standard input; returns the envelope.
pub fn run_json(flags: &[&str], script: &str) -> Value {
    let output = run_stdin(&[&["--json"], flags].concat(), script);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "no envelope ({error}): {}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// `pml run FLAGS -` with the script on standard input.
pub fn run_stdin(flags: &[&str], script: &str) -> Output {
    let mut child = pml()
        .arg("run")
        .args(flags)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    child
        .stdin
        .take()
        .expect("standard input is a pipe")
        .write_all(script.as_bytes())
        .expect("the script is read");
    child.wait_with_output().expect("the binary ends")
}

/// Runs a script that must succeed and returns its result.
pub fn result_of(script: &str) -> Value {
    let envelope = run_json(&[], script);
    assert_eq!(envelope["ok"], true, "{script}\n{envelope:#}");
    envelope["result"].clone()
}

/// Runs a script that must fail and returns its error.
pub fn error_of(flags: &[&str], script: &str) -> Value {
    let envelope = run_json(flags, script);
    assert_eq!(envelope["ok"], false, "{script}\n{envelope:#}");
    envelope["error"].clone()
}

/// A pool whose workers are the binary under test.
pub fn pool(limits: Limits) -> Pool {
    let options = PoolOptions {
        program: binary(),
        limits,
        ..PoolOptions::new().expect("this program has a path")
    };
    Pool::new(options)
}

/// Runs a script in a pool, with tools.
pub async fn run_in(pool: &Pool, host: Arc<dyn ToolHost>, source: &str) -> Outcome {
    let script = Script {
        name: "test.ts".to_owned(),
        source: source.to_owned(),
        args: Vec::new(),
    };
    let limits = *pool.limits();
    let host = stack::limited(host, &limits);
    let outcome = pool.run(script, limits, host, &mut |_| {}).await;
    printed(outcome, &limits)
}

/// An outcome as `pml run` prints it: a result over the output limit is an error.
pub fn printed(outcome: Outcome, limits: &Limits) -> Outcome {
    limit_output(outcome, limits)
}
