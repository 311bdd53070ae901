//! Downloads the ONNX Runtime library: pip fetches its Python wheel, pinned by hash.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::onnx_library::{NAME, check_file};
use super::wheel;
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

    let python = Python::find(work)
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
    python.run(&arguments).map_err(ModelError::Download)?;

    let wheel = fs::read_dir(work)
        .map_err(failed)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension() == Some(OsStr::new("whl")))
        .ok_or_else(|| ModelError::Download("pip left no wheel".to_owned()))?;
    let unpacked = work.join(NAME);
    let library = wheel::read_checked(&wheel, wheel_hash())
        .and_then(|archive| wheel::extract(&archive, &format!("onnxruntime/capi/{NAME}")))
        .map_err(ModelError::Download)?;
    fs::write(&unpacked, library).map_err(failed)?;
    check_file(&unpacked)?;
    // Atomic: other processes see no file or the whole one.
    fs::rename(&unpacked, path).map_err(failed)
}

/// The hash of the pinned wheel, from [`REQUIREMENTS`].
fn wheel_hash() -> &'static str {
    let hash = REQUIREMENTS.split_once("--hash=sha256:");
    hash.map_or("", |(_, hash)| hash.trim())
}

/// A Python interpreter that imports nothing from the working folder or from the user's settings of
/// Python.
///
/// `-I` takes the working folder, `PYTHONPATH`, `PYTHONSTARTUP` and the user's site-packages off the
/// path. The interpreter starts in a folder of `pml`, with a short environment, from an absolute entry
/// of the `PATH`.
struct Python<'a> {
    program: PathBuf,
    work: &'a Path,
}

impl<'a> Python<'a> {
    fn find(work: &'a Path) -> Option<Self> {
        PYTHONS
            .into_iter()
            .filter_map(pml_files::find_executable)
            .map(|program| Self { program, work })
            .find(|python| python.run(&["--version".as_ref()]).is_ok())
    }

    /// Runs the interpreter and waits for it; the error is the last line of its standard error.
    fn run(&self, arguments: &[&OsStr]) -> Result<(), String> {
        let name = self.program.display();
        let output = Command::new(&self.program)
            .arg("-I")
            .args(arguments)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)))
            .envs(pml_files::absolute_search_path().map(|path| ("PATH", path)))
            .current_dir(self.work)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{name}: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
        Err(format!("{name}: {}", last.unwrap_or("it failed").trim()))
    }
}

/// Whether pip gets the variable: its own settings, its configuration in the home folder, proxies and
/// certificates. `PIP_PYTHON` would start another interpreter.
fn is_passed(name: &str) -> bool {
    const NAMES: [&str; 15] = [
        "ALL_PROXY",
        "CURL_CA_BUNDLE",
        "HOME",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "REQUESTS_CA_BUNDLE",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "all_proxy",
        "http_proxy",
        "https_proxy",
        "no_proxy",
    ];
    NAMES.contains(&name) || (name.starts_with("PIP_") && name != "PIP_PYTHON")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modules that Python would import from its working folder without `-I`.
    const PLANTED: [&str; 6] = [
        "pip.py",
        "pip/__init__.py",
        "pip/__main__.py",
        "zipfile.py",
        "sitecustomize.py",
        "usercustomize.py",
    ];

    #[test]
    fn a_working_folder_cannot_run_code_in_the_python_of_the_download() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("owned");
        for name in PLANTED {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("open({:?}, 'a').write(__name__)", mark)).unwrap();
        }
        // The interpreter starts in this folder, which is worse than where the download starts it.
        let python = Python::find(folder.path()).unwrap();
        python
            .run(&["-m".as_ref(), "pip".as_ref(), "--version".as_ref()])
            .unwrap();
        python
            .run(&["-c".as_ref(), "import zipfile, pip".as_ref()])
            .unwrap();
        let ran = fs::read_to_string(&mark).unwrap_or_default();
        assert_eq!(ran, "", "modules of the folder ran");
    }

    #[test]
    fn python_sees_neither_the_environment_nor_its_own_variables() {
        for name in [
            "PYTHONPATH",
            "PYTHONHOME",
            "PIP_PYTHON",
            "GITHUB_TOKEN",
            "PML_TOKEN",
            "PATH",
        ] {
            assert!(!is_passed(name), "{name}");
        }
        for name in ["HOME", "https_proxy", "PIP_INDEX_URL"] {
            assert!(is_passed(name), "{name}");
        }
    }

    #[test]
    fn the_wheel_is_pinned_by_its_hash() {
        assert_eq!(wheel_hash().len(), 64);
    }
}
