//! The release archive and the npm package that `packaging/build` makes.
//!
//! By default a small program of the system stands in for the binary, because stripping and
//! compressing the real one takes half a minute. `PML_PACKAGE=1` packages the binary under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{binary, repository};

fn build(arguments: &[&str], out: &Path) -> Output {
    Command::new(repository().join("packaging/build"))
        .args(arguments)
        .arg("--out")
        .arg(out)
        .output()
        .expect("the script starts")
}

fn packaged_binary() -> (PathBuf, &'static str) {
    match std::env::var_os("PML_PACKAGE") {
        Some(_) => (binary(), "pml "),
        None => (PathBuf::from("/bin/echo"), "echo"),
    }
}

/// The standard output of a command that succeeds.
fn stdout(command: &mut Command) -> String {
    let output = command.output().expect("the command starts");
    assert!(output.status.success(), "{command:?}\n{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn both_packages_hold_a_binary_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dist");
    let (program, expected) = packaged_binary();
    let built = build(&["--binary", program.to_str().unwrap()], &out);
    assert!(built.status.success(), "{built:?}");
    let checked = stdout(
        Command::new("sha256sum")
            .args(["--check", "SHA256SUMS"])
            .current_dir(&out),
    );
    assert_eq!(checked.matches(": OK").count(), 2, "{checked}");

    let version = env!("CARGO_PKG_VERSION");
    let unpacked = folder.path().join("unpacked");
    for (archive, root) in [
        (
            format!("pml-{version}-linux-x64.tar.gz"),
            format!("pml-{version}-linux-x64"),
        ),
        (format!("pml-{version}.tgz"), "package".to_owned()),
    ] {
        fs::create_dir_all(&unpacked).unwrap();
        stdout(
            Command::new("tar")
                .arg("--extract")
                .arg("--file")
                .arg(out.join(&archive))
                .arg("--directory")
                .arg(&unpacked),
        );
        let root = unpacked.join(root);
        for file in ["LICENSE", "README.md", "CHANGELOG.md", "typings/pml.d.ts"] {
            assert!(root.join(file).is_file(), "{archive}: {file}");
        }
        let printed = stdout(Command::new(root.join("pml")).arg("--version"));
        assert!(printed.contains(expected), "{archive}: {printed}");
    }
    let manifest = fs::read_to_string(unpacked.join("package/package.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["version"], version);
    assert_eq!(manifest["bin"]["pml"], "pml");
}

#[test]
fn a_binary_that_does_not_exist_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let built = build(&["--binary", "/nonexistent/pml"], folder.path());
    let message = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(!built.status.success(), "{message}");
    assert!(
        message.contains("there is no file /nonexistent/pml"),
        "{message}"
    );
}
