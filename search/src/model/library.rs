//! The ONNX Runtime library: found where the user says, or where an earlier run put it, or
//! fetched.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::environment::Environment;

use super::checksum::sha256;
use super::fetch;
use crate::error::ModelError;
use crate::place::Place;

/// The file inside the wheel of `third_party/minilm/onnxruntime.lock`, and what it must be.
pub(super) const NAME: &str = "libonnxruntime.so.1.24.4";
pub(super) const SHA256: &str = "2d518e11c7767f9fdc4413bdbeb45acf30db504ff76a82fc19d9238a3f9f6c24";

/// Where a library comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryOrigin {
    /// `ORT_DYLIB_PATH`: the user's own, not checked.
    Environment,
    /// Fetched by pml and checked against its checksum.
    Fetched,
}

/// A library that is there.
#[derive(Debug, Clone)]
pub struct Library {
    pub path: PathBuf,
    pub origin: LibraryOrigin,
}

impl Library {
    /// The library that would be used, if there is one. Fetches nothing.
    pub fn find(place: Option<&Place>) -> Option<Self> {
        if let Some(path) = env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()) {
            return Some(Self {
                path: path.into(),
                origin: LibraryOrigin::Environment,
            });
        }
        let path = place?.library().join(NAME);
        path.is_file().then_some(Self {
            path,
            origin: LibraryOrigin::Fetched,
        })
    }

    /// The library, fetched first if need be. `tell` hears of it.
    pub fn find_or_fetch(place: Option<&Place>, tell: &dyn Fn(&str)) -> Result<Self, ModelError> {
        if let Some(found) = Self::find(place)
            && found.check().is_ok()
        {
            return Ok(found);
        }
        let place = place.ok_or_else(|| {
            ModelError::Fetch("there is no home folder to put it into".to_owned())
        })?;
        if !cfg!(all(
            target_os = "linux",
            target_arch = "x86_64",
            target_env = "gnu"
        )) {
            return Err(ModelError::Platform);
        }
        let path = fetch::library(&place.library(), tell)?;
        Ok(Self {
            path,
            origin: LibraryOrigin::Fetched,
        })
    }

    /// A library that pml fetched is what it was; the user's own is the user's business.
    pub fn check(&self) -> Result<(), ModelError> {
        match self.origin {
            LibraryOrigin::Environment => Ok(()),
            LibraryOrigin::Fetched => check_file(&self.path),
        }
    }

    /// Loads the library into this process: once, whoever asks.
    pub(super) fn environment(&self) -> Result<Environment, ModelError> {
        static LOADED: OnceLock<Environment> = OnceLock::new();
        static LOADING: Mutex<()> = Mutex::new(());
        let _turn = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
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

pub(super) fn check_file(path: &Path) -> Result<(), ModelError> {
    let bytes = fs::read(path).unwrap_or_default();
    if sha256(&bytes) == SHA256 {
        return Ok(());
    }
    Err(ModelError::Checksum {
        what: format!("the ONNX Runtime library {}", path.display()),
    })
}
