//! No server outlives the gateway, however the gateway ends.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use pml_gateway::RunLimits;
use pml_gateway::config::ServerConfig;
use serde_json::json;

use crate::processes::{eventually, processes_with};
use crate::support::{gateway, odd};

const MARK: &str = "PML_TEST_ORPHAN_MARK";

/// A server below a shell, as `npx` starts them: the shell is the leader, Python its child.
fn below_a_shell(name: &str, mark: &str) -> ServerConfig {
    let script = format!("{}/tests/servers/odd.py", env!("CARGO_MANIFEST_DIR"));
    let line = format!("python3 -u {script} --deaf --journal {mark}; true");
    ServerConfig::stdio(name, "/bin/sh", vec!["-c".to_owned(), line])
}

#[tokio::test]
async fn servers_and_their_children_end_when_the_gateway_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("orphan").display().to_string();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "orphans::host", "--ignored", "--nocapture"])
        .env(MARK, &mark)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let up = BufReader::new(host.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("servers are up"));
    assert!(up);
    // A shell and a Python for each of the three servers.
    assert_eq!(processes_with(&mark).len(), 6);
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(
        eventually(async || processes_with(&mark).is_empty()).await,
        "left over: {:?}",
        processes_with(&mark)
    );
}

/// The process that the test above kills.
#[tokio::test]
#[ignore = "started by another test"]
async fn host() {
    let Ok(mark) = std::env::var(MARK) else {
        return;
    };
    let gateway = gateway((0..3).map(|n| below_a_shell(&format!("s{n}"), &mark)));
    gateway.warm().await;
    println!("servers are up");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_shutdown_leaves_no_process_and_no_zombie() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("shutdown").display().to_string();
    let servers = (0..3).map(|n| below_a_shell(&format!("s{n}"), &mark));
    let gateway = gateway(servers.chain([odd("plain", &["--journal", &mark])]));
    gateway.warm().await;
    assert_eq!(processes_with(&mark).len(), 7);
    gateway.shutdown().await;
    assert_eq!(processes_with(&mark), Vec::<u32>::new());
}

#[tokio::test]
async fn dropping_the_gateway_ends_its_servers() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("dropped").display().to_string();
    {
        let gateway = gateway([odd("plain", &["--journal", &mark])]);
        let scope = gateway.run(RunLimits::default());
        gateway
            .call(&scope, "plain:echo", json!({ "text": "x" }))
            .await
            .unwrap();
        assert_eq!(processes_with(&mark).len(), 1);
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(eventually(async || processes_with(&mark).is_empty()).await);
}
