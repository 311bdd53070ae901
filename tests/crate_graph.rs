//! The dependency graph of docs/architecture.md, compared with the manifests, and the crates that
//! must build without V8 and LanceDB.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use serde::Deserialize;

use crate::support::repository;

/// Large external crates that only the worker and search may need.
const HEAVY: [&str; 5] = ["deno_core", "deno_web", "lancedb", "ort", "v8"];

/// Crates that must not need any of [`HEAVY`].
const LIGHT: [&str; 3] = ["check", "hosts", "test-runner"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
    features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
    optional: bool,
    features: Vec<String>,
}

/// The packages of the workspace, by the names of their folders.
fn packages() -> BTreeMap<String, Package> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(repository())
        .output()
        .expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {errors}");
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata.packages.into_iter();
    packages
        .map(|package| (folder(&package.name).to_owned(), package))
        .collect()
}

/// The folder of a package of the workspace: `pml-hosts` is in `hosts/`, `pml` in `cli/`.
fn folder(package: &str) -> &str {
    match package {
        "pml" => "cli",
        name => name.strip_prefix("pml-").unwrap_or(name),
    }
}

/// The dependencies of a crate within the workspace.
type Graph = BTreeMap<String, Vec<String>>;

fn actual_graph() -> Graph {
    let packages = packages();
    packages
        .iter()
        .map(|(name, package)| {
            let normal = package.dependencies.iter().filter(|one| one.kind.is_none());
            let names: BTreeSet<String> = normal
                .map(|one| folder(&one.name).to_owned())
                .filter(|one| packages.contains_key(one))
                .collect();
            (name.clone(), names.into_iter().collect())
        })
        .collect()
}

/// The fenced block below the heading "Dependency graph": a line per crate, `name → names`.
fn documented_graph() -> Graph {
    let path = repository().join("docs/architecture.md");
    let text = std::fs::read_to_string(path).expect("docs/architecture.md is there");
    let (_, section) = text
        .split_once("\n## Dependency graph\n")
        .expect("the page has the section");
    let block = section
        .split("```")
        .nth(1)
        .expect("the section has a fenced block");
    // The first line is the language of the block.
    let lines = block.lines().skip(1).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (name, names) = line.split_once('→').unwrap_or_else(|| {
                panic!("line of the graph without an arrow, expected `name → names`: {line}")
            });
            let names = names.split_whitespace().map(str::to_owned).collect();
            (name.trim().to_owned(), names)
        })
        .collect()
}

fn line(name: &str, names: &[String]) -> String {
    format!("{name} → {}", names.join(" "))
        .trim_end()
        .to_owned()
}

#[test]
fn the_documented_crate_graph_is_that_of_the_manifests() {
    let (documented, actual) = (documented_graph(), actual_graph());
    let mut difference = String::new();
    let all: BTreeSet<&String> = documented.keys().chain(actual.keys()).collect();
    for name in all {
        let (written, real) = (documented.get(name), actual.get(name));
        if written == real {
            continue;
        }
        if let Some(names) = written {
            writeln!(difference, "- {}", line(name, names)).expect("a String takes text");
        }
        if let Some(names) = real {
            writeln!(difference, "+ {}", line(name, names)).expect("a String takes text");
        }
    }
    assert!(
        difference.is_empty(),
        "the block in docs/architecture.md differs from the manifests:\n{difference}"
    );
}

/// The first path to an external crate of [`HEAVY`], through everything that a build of `name`
/// compiles when no feature is enabled.
fn path_to_heavy(packages: &BTreeMap<String, Package>, name: &str) -> Option<Vec<String>> {
    let mut queue = vec![vec![name.to_owned()]];
    let mut seen = BTreeSet::new();
    while let Some(path) = queue.pop() {
        let last = path.last().expect("a path is never empty");
        if !seen.insert(last.clone()) {
            continue;
        }
        let package = &packages[last];
        let default = package.features.get("default");
        assert!(
            default.is_none_or(Vec::is_empty),
            "{last} has default features; this test reads optional dependencies as absent"
        );
        let built = package.dependencies.iter();
        for dependency in built.filter(|one| one.kind.as_deref() != Some("dev") && !one.optional) {
            let next = folder(&dependency.name).to_owned();
            let longer = [path.as_slice(), std::slice::from_ref(&next)].concat();
            if HEAVY.contains(&next.as_str()) {
                return Some(longer);
            }
            if packages.contains_key(&next) {
                assert!(
                    dependency.features.is_empty(),
                    "{last} enables {:?} of {next}; a crate without V8 enables no feature",
                    dependency.features
                );
                queue.push(longer);
            }
        }
    }
    None
}

#[test]
fn check_hosts_and_the_test_runner_need_neither_v8_nor_lancedb() {
    let packages = packages();
    for name in LIGHT {
        let path = path_to_heavy(&packages, name).map(|path| path.join(" → "));
        assert_eq!(path, None, "{name} builds a large crate");
    }
}

#[test]
fn only_programs_enable_the_worker() {
    let enabling: Vec<String> = packages()
        .into_iter()
        .filter(|(_, package)| {
            let mut dependencies = package.dependencies.iter();
            dependencies
                .any(|one| one.name == "pml-runtime" && one.features.iter().any(|f| f == "worker"))
        })
        .map(|(name, _)| name)
        .collect();
    assert_eq!(enabling, ["bench", "cli"]);
}
