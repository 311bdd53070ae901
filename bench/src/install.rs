//! Installs the programs to compare: pml is built, its peers are installed from package registries.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The folder that keeps peers between runs.
///
/// # Errors
///
/// If neither `XDG_CACHE_HOME` nor `HOME` is set.
pub fn cache_folder() -> Result<PathBuf> {
    let base = match env::var_os("XDG_CACHE_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env::var_os("HOME").context("HOME is not set")?).join(".cache"),
    };
    Ok(base.join("pml").join("bench"))
}

/// Installs an npm package at an exact version, once, and returns the folder of its binaries.
///
/// # Errors
///
/// If npm is missing or fails.
pub fn install_npm(package: &str, version: &str) -> Result<PathBuf> {
    let folder = cache_folder()?.join(format!("{package}-{version}"));
    let binaries = folder.join("node_modules").join(".bin");
    if folder.join("node_modules").join(package).is_dir() {
        return Ok(binaries);
    }
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("the folder {} cannot be created", folder.display()))?;
    eprintln!("installing {package}@{version} with npm ...");
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"])
        .arg(&folder)
        .arg(format!("{package}@{version}"))
        .status()
        .context("npm could not be started; it comes with Node.js")?;
    if !installed.success() {
        bail!("npm could not install {package}@{version}; is a package registry reachable?");
    }
    Ok(binaries)
}

/// Installs a Python package into a virtual environment of its own, once, and returns its folder.
///
/// # Errors
///
/// If Python or pip is missing or fails.
pub fn install_pip(name: &str, requirement: &str) -> Result<PathBuf> {
    let folder_name = requirement.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
    let folder = cache_folder()?.join(folder_name);
    let complete = folder.join("complete");
    if complete.exists() {
        return Ok(folder);
    }
    eprintln!("installing {requirement} with pip ...");
    let created = Command::new("python3")
        .args(["-m", "venv"])
        .arg(&folder)
        .status()
        .context("python3 could not be started")?;
    let installed = Command::new(folder.join("bin/pip"))
        .args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            requirement,
        ])
        .status()
        .with_context(|| format!("the environment of {name} has no pip"))?;
    if !created.success() || !installed.success() {
        bail!("pip could not install {requirement}; is a package index reachable?");
    }
    std::fs::write(&complete, "")?;
    Ok(folder)
}

/// Builds the release binary of `pml` and returns its path, which is beside this program.
///
/// # Errors
///
/// If the build fails.
pub fn build_pml() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut build = Command::new(cargo);
    build
        .args(["build", "--release", "--package", "pml"])
        .current_dir(workspace);
    // Cargo's variables describe this package. Some build scripts depend on them, and would rebuild
    // much of the dependency tree.
    for (name, _) in env::vars_os() {
        let variable = name.to_string_lossy();
        if variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_") {
            build.env_remove(&name);
        }
    }
    let built = build.status().context("cargo could not be started")?;
    if !built.success() {
        bail!("the pml binary could not be built");
    }
    let this = env::current_exe()?;
    let folder = this.parent().context("this program has no parent folder")?;
    Ok(folder.join("pml"))
}
