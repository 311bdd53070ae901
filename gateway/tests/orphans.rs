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
    let mut host = host("orphans::host_of_three", &mark);
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

/// A server that starts two processes in sessions of their own, whose parent ends at once. One of
/// them has an empty environment, and so no tag.
fn with_daemons(name: &str, mark: &str) -> ServerConfig {
    let script = format!("{}/tests/servers/odd.py", env!("CARGO_MANIFEST_DIR"));
    let line = format!(
        "(setsid sh -c 'sleep 1000; : {mark}' &); \
         (env -i /usr/bin/setsid /bin/sh -c 'sleep 1000; : {mark} bare' &); \
         sleep 0.3; exec python3 -u {script} --journal {mark}"
    );
    ServerConfig::stdio(name, "/bin/sh", vec!["-c".to_owned(), line])
}

#[tokio::test]
async fn a_process_in_a_session_of_its_own_does_not_outlive_the_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("daemon").display().to_string();
    // In a process of its own: other gateways keep orphans alive that have no tag.
    let mut host = host("orphans::host_that_shuts_down", &mark);
    assert!(host.wait().unwrap().success());
    assert_eq!(processes_with(&mark), Vec::<u32>::new());
}

#[tokio::test]
#[ignore = "started by another test"]
async fn host_that_shuts_down() {
    let Ok(mark) = std::env::var(MARK) else {
        return;
    };
    let gateway = gateway([with_daemons("daemons", &mark)]);
    gateway.warm().await;
    assert_eq!(processes_with(&mark).len(), 3);
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_process_in_a_session_of_its_own_does_not_outlive_a_killed_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("killed").display().to_string();
    let mut host = host("orphans::host_with_daemons", &mark);
    let up = BufReader::new(host.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("servers are up"));
    assert!(up);
    host.kill().unwrap();
    host.wait().unwrap();
    // The one without a tag cannot be distinguished from other processes.
    let bare = format!("{mark} bare");
    let left = || processes_with(&mark).len() - processes_with(&bare).len();
    assert!(
        eventually(async || left() == 0).await,
        "{} left over",
        left()
    );
    for pid in processes_with(&bare) {
        // SAFETY: the process was started by this test.
        unsafe { libc::kill(pid.cast_signed(), libc::SIGKILL) };
    }
}

#[tokio::test]
#[ignore = "started by another test"]
async fn host_with_daemons() {
    let Ok(mark) = std::env::var(MARK) else {
        return;
    };
    let gateway = gateway([with_daemons("daemons", &mark)]);
    gateway.warm().await;
    println!("servers are up");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn orphans_that_end_while_the_gateway_runs_leave_no_zombie() {
    let folder = tempfile::tempdir().unwrap();
    let short = folder.path().join("shortlived");
    std::fs::copy("/bin/sleep", &short).unwrap();
    let script = format!("{}/tests/servers/odd.py", env!("CARGO_MANIFEST_DIR"));
    let line = format!(
        "(setsid {} 0.2 &); exec python3 -u {script}",
        short.display()
    );
    let server = ServerConfig::stdio("s", "/bin/sh", vec!["-c".to_owned(), line]);
    let gateway = gateway([server]);
    gateway.warm().await;
    let zombies = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let stats =
            processes.filter_map(|one| std::fs::read_to_string(one.path().join("stat")).ok());
        stats.filter(|stat| stat.contains("(shortlived) Z")).count()
    };
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(eventually(async || zombies() == 0).await);
    gateway.shutdown().await;
}

fn host(name: &str, mark: &str) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env(MARK, mark)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The process that the first test kills.
#[tokio::test]
#[ignore = "started by another test"]
async fn host_of_three() {
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
