//! Files, as container platforms mount secrets.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{MAX_BYTES, text};
use crate::error::SecretError;
use crate::reference::Reference;

/// Reads `path`, which is relative to `folder`; `~/` is the user's home.
pub fn read(
    reference: &Reference,
    path: &str,
    folder: Option<&Path>,
) -> Result<Zeroizing<String>, SecretError> {
    let path = place(path, folder);
    let failed = |error: io::Error| failure(reference, &path, &error);
    let mut file = File::open(&path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let unusable = |reason: String| SecretError::Unusable {
        reference: reference.clone(),
        reason,
    };
    if !metadata.is_file() {
        return Err(unusable(format!("{} is not a file", path.display())));
    }
    if is_writable_by_all(&metadata) {
        return Err(unusable(format!(
            "everybody on this machine can write {}, and so choose the credential; run `chmod 600` on it",
            path.display()
        )));
    }
    if is_readable_by_all(&metadata) {
        tracing::warn!(
            "everybody on this machine can read the file of `{reference}`: run `chmod 600 {}`",
            path.display()
        );
    }
    // The whole size at once: a buffer that grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_BYTES + 1));
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    (&mut file)
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    text(reference, bytes)
}

fn place(path: &str, folder: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.map_or_else(|| PathBuf::from(path), |folder| folder.join(path)),
    }
}

fn failure(reference: &Reference, path: &Path, error: &io::Error) -> SecretError {
    let (reference, shown) = (reference.clone(), path.display());
    match error.kind() {
        io::ErrorKind::NotFound => SecretError::Missing {
            reference,
            remedy: format!("there is no file {shown}; create it, or correct the path"),
        },
        io::ErrorKind::PermissionDenied => SecretError::Denied {
            reference,
            reason: error.to_string(),
            remedy: format!("let the user that runs pml read {shown}"),
        },
        _ => SecretError::Unreachable {
            reference,
            reason: error.to_string(),
            remedy: format!("look at {shown}"),
        },
    }
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions())
}

#[cfg(unix)]
fn is_writable_by_all(metadata: &Metadata) -> bool {
    mode(metadata) & 0o002 != 0
}

#[cfg(unix)]
fn is_readable_by_all(metadata: &Metadata) -> bool {
    mode(metadata) & 0o004 != 0
}

#[cfg(not(unix))]
fn is_writable_by_all(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_readable_by_all(_: &Metadata) -> bool {
    false
}
