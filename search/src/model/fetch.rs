//! Fetching the ONNX Runtime library: out of a Python wheel, by its hash, with pip.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::library::{NAME, check_file};
use crate::error::ModelError;

const LOCK: &str = include_str!("../../../third_party/minilm/onnxruntime.lock");
const PYTHONS: [&str; 2] = ["python3", "python"];

/// Puts the library into `folder` and gives its path. Of several processes one fetches, and the
/// others wait for it.
pub fn library(folder: &Path, tell: &dyn Fn(&str)) -> Result<PathBuf, ModelError> {
    let unusable = |error: io::Error| {
        ModelError::Fetch(format!("{} cannot be used: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(unusable)?;
    let turn = File::create(folder.join("lock")).map_err(unusable)?;
    turn.lock().map_err(unusable)?;

    let path = folder.join(NAME);
    if check_file(&path).is_ok() {
        return Ok(path);
    }
    tell("fetching the ONNX Runtime library (18 MB, once)");
    let work = folder.join("fetching");
    // Left by a process that was killed here.
    let _ = fs::remove_dir_all(&work);
    let fetched = fetch(&work, &path);
    let _ = fs::remove_dir_all(&work);
    fetched?;
    tell("the ONNX Runtime library is there");
    Ok(path)
}

fn fetch(work: &Path, path: &Path) -> Result<(), ModelError> {
    let failed = |error: io::Error| ModelError::Fetch(error.to_string());
    fs::create_dir_all(work).map_err(failed)?;
    let lock = work.join("onnxruntime.lock");
    fs::write(&lock, LOCK).map_err(failed)?;

    let python = PYTHONS
        .into_iter()
        .find(|python| run(python, ["--version".as_ref()]).is_ok())
        .ok_or_else(|| ModelError::Fetch("there is no python3".to_owned()))?;
    let mut arguments: Vec<&OsStr> = "-m pip download --quiet --disable-pip-version-check \
        --no-input --no-deps --require-hashes --only-binary=:all: \
        --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
        --python-version 3.12 --implementation cp --abi cp312"
        .split_whitespace()
        .map(OsStr::new)
        .collect();
    let download = [
        OsStr::new("-d"),
        work.as_os_str(),
        OsStr::new("-r"),
        lock.as_os_str(),
    ];
    arguments.extend(download);
    run(python, arguments).map_err(ModelError::Fetch)?;

    let wheel = fs::read_dir(work)
        .map_err(failed)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension() == Some(OsStr::new("whl")))
        .ok_or_else(|| ModelError::Fetch("pip left no wheel".to_owned()))?;
    let unpack: [&OsStr; 5] = [
        "-m".as_ref(),
        "zipfile".as_ref(),
        "-e".as_ref(),
        wheel.as_os_str(),
        work.as_os_str(),
    ];
    run(python, unpack).map_err(ModelError::Fetch)?;
    let unpacked = work.join("onnxruntime/capi").join(NAME);
    check_file(&unpacked)?;
    // Whoever looks sees no file or a whole one.
    fs::rename(&unpacked, path).map_err(failed)
}

/// Runs a program to its end; its last words are the error.
fn run<'a>(program: &str, arguments: impl IntoIterator<Item = &'a OsStr>) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let last = told.lines().rev().find(|line| !line.trim().is_empty());
    Err(format!("{program}: {}", last.unwrap_or("it failed").trim()))
}
