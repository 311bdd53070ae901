//! The workspace itself: what a newcomer's first two commands build.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::repository;

/// Every package with the features it is built with.
fn packages(selection: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(repository())
        .args(["tree", "--offline", "--locked", "--prefix", "none"])
        .args(["--format", "{p} [{f}]"])
        .args(selection)
        .output()
        .expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8_lossy(&output.stdout);
    let lines = lines.lines().map(|line| line.trim_end_matches(" (*)"));
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Cargo builds a package anew for each set of features: one that only a test turns on would
/// have `cargo test` build half of the dependencies a second time.
#[test]
fn running_and_testing_share_one_build() {
    let run = packages(&["--package", "pml", "--edges", "normal,build"]);
    let test = packages(&["--workspace", "--edges", "normal,build,dev"]);
    let twice: Vec<_> = run.difference(&test).collect();
    assert!(
        twice.is_empty(),
        "`cargo test` turns on features of these that `cargo run` does not: {twice:#?}"
    );
}
