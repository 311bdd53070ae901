//! The ONNX Runtime library: from `ORT_DYLIB_PATH`, from an earlier download, or downloaded now.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::environment::Environment;

use super::checksum::sha256;
use super::onnx_download::download;
use crate::error::ModelError;
use crate::search_paths::SearchPaths;

/// The library's file in the wheel of `third_party/minilm/onnxruntime.lock`, and its checksum.
pub(super) const NAME: &str = "libonnxruntime.so.1.24.4";
pub(super) const SHA256: &str = "2d518e11c7767f9fdc4413bdbeb45acf30db504ff76a82fc19d9238a3f9f6c24";

/// Where a library comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryOrigin {
    /// The user's own, from `ORT_DYLIB_PATH`; its checksum is not verified.
    Environment,
    /// Downloaded by pml, and verified against its checksum.
    Downloaded,
}

/// An installed ONNX Runtime library.
#[derive(Debug, Clone)]
pub struct OnnxLibrary {
    /// The shared library.
    pub path: PathBuf,
    /// Where it comes from.
    pub origin: LibraryOrigin,
}

impl OnnxLibrary {
    /// The installed library, if there is one. Downloads nothing.
    pub fn find(paths: Option<&SearchPaths>) -> Option<Self> {
        if let Some(path) = env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()) {
            return Some(Self {
                path: path.into(),
                origin: LibraryOrigin::Environment,
            });
        }
        let path = paths?.library_folder().join(NAME);
        path.is_file().then_some(Self {
            path,
            origin: LibraryOrigin::Downloaded,
        })
    }

    /// The library, downloaded if it is missing or damaged. `on_status` receives messages about the
    /// download.
    ///
    /// # Errors
    ///
    /// If no folder to download to is known, the platform has no pinned library, or the download fails.
    pub fn find_or_download(
        paths: Option<&SearchPaths>,
        on_status: &dyn Fn(&str),
    ) -> Result<Self, ModelError> {
        if let Some(found) = Self::find(paths)
            && found.check().is_ok()
        {
            return Ok(found);
        }
        let paths = paths
            .ok_or_else(|| ModelError::Download("no home folder to put it into".to_owned()))?;
        if !cfg!(all(
            target_os = "linux",
            target_arch = "x86_64",
            target_env = "gnu"
        )) {
            return Err(ModelError::Platform);
        }
        let path = download(&paths.library_folder(), on_status)?;
        Ok(Self {
            path,
            origin: LibraryOrigin::Downloaded,
        })
    }

    /// Verifies the checksum of a downloaded library; the user's own is not checked.
    ///
    /// # Errors
    ///
    /// If the checksum differs.
    pub fn check(&self) -> Result<(), ModelError> {
        match self.origin {
            LibraryOrigin::Environment => Ok(()),
            LibraryOrigin::Downloaded => check_file(&self.path),
        }
    }

    /// Loads the library into this process. It is loaded once; later calls return the same environment,
    /// whatever their path.
    pub(super) fn environment(&self) -> Result<Environment, ModelError> {
        static LOADED: OnceLock<Environment> = OnceLock::new();
        static LOADING: Mutex<()> = Mutex::new(());
        let _guard = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(environment) = LOADED.get() {
            return Ok(environment.clone());
        }
        let broken = |reason: String| ModelError::Library {
            path: self.path.clone(),
            reason,
        };
        let environment = ort::init_from(&self.path)
            .map_err(|error| broken(error.to_string()))?
            .build()
            .map_err(|error| broken(error.to_string()))?;
        Ok(LOADED.get_or_init(|| environment).clone())
    }
}

/// Verifies the checksum of a downloaded library.
pub(super) fn check_file(path: &Path) -> Result<(), ModelError> {
    let bytes = fs::read(path).unwrap_or_default();
    if sha256(&bytes) == SHA256 {
        return Ok(());
    }
    Err(ModelError::Checksum {
        what: format!("the ONNX Runtime library {}", path.display()),
    })
}
