//! The workspace itself: what a newcomer's first two commands build.

use std::process::Command;

use serde_json::Value;

use crate::support::repository;

/// Cargo builds a package anew for each set of features: one that only a test turns on would
/// have `cargo run` and `cargo test` build half of the dependencies twice. What the tests have
/// just built must be all that `cargo run` needs.
#[test]
fn running_and_testing_share_one_build() {
    let output = Command::new(env!("CARGO"))
        .current_dir(repository())
        .args(["build", "--offline", "--locked", "--package", "pml"])
        .args(["--message-format", "json"])
        .output()
        .expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let messages = String::from_utf8_lossy(&output.stdout);
    let stale: Vec<String> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["fresh"] == false)
        .map(|message| message["package_id"].to_string())
        .collect();
    assert!(stale.is_empty(), "built a second time: {stale:#?}");
}
