//! The key that seals values, and its file.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use crate::error::StoreError;
use crate::options::StoreOptions;

/// The name of the key file in the data folder.
const KEY_FILE: &str = "store.key";

/// A key of 32 bytes. Its `Debug` form does not show it.
///
/// ```
/// use pml_store::StoreKey;
///
/// let key: StoreKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff".parse()?;
/// assert_eq!(format!("{key:?}"), "StoreKey(***)");
/// # Ok::<(), pml_store::StoreError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StoreKey([u8; 32]);

impl StoreKey {
    /// A new random key.
    ///
    /// # Errors
    /// The kernel gives no random bytes.
    pub fn random() -> Result<Self, StoreError> {
        Ok(Self(random_bytes()?))
    }

    /// A key for one purpose, which says nothing about the other keys.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, &self.0)
    }

    /// The key of a data folder. It is made if the folder has none and `may_create`.
    ///
    /// Two processes that start at once get the same key: a key file is complete when it appears, and
    /// the first one stays.
    pub(crate) fn of_folder(
        folder: &Path,
        may_create: bool,
        store: &Arc<str>,
    ) -> Result<Self, StoreError> {
        let file = folder.join(KEY_FILE);
        if let Some(key) = read_key_file(&file)? {
            return Ok(key);
        }
        let missing = || StoreError::KeyMissing {
            store: store.clone(),
            file: file.clone(),
        };
        if !may_create {
            return Err(missing());
        }
        write_key_file(&file, &Self::random()?).map_err(|error| not_writable(&file, &error))?;
        read_key_file(&file)?.ok_or_else(missing)
    }
}

/// The key that a store is opened with. A key file is made only for a new store: a new key would not
/// open an old one.
pub(crate) fn choose_key(
    options: &StoreOptions,
    is_new_store: bool,
    store: &Arc<str>,
) -> Result<StoreKey, StoreError> {
    match &options.key {
        Some(key) => Ok(key.clone()),
        None => StoreKey::of_folder(&options.data_folder, is_new_store, store),
    }
}

impl FromStr for StoreKey {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let text = text.trim();
        let bytes = from_hex(text)
            .or_else(|| STANDARD.decode(text).ok())
            .or_else(|| URL_SAFE.decode(text).ok());
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or(StoreError::InvalidKey)
    }
}

impl fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreKey(***)")
    }
}

/// Bytes from the kernel's random generator.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Randomness {
        detail: error.to_string(),
    })?;
    Ok(bytes)
}

/// Bytes in hexadecimal.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Bytes from 64 hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..32)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok())
        .collect()
}

/// The key in a file; `None` if there is no file.
fn read_key_file(file: &Path) -> Result<Option<StoreKey>, StoreError> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(not_writable(file, &error)),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let metadata = fs::metadata(file).map_err(|error| not_writable(file, &error))?;
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            let file = file.to_owned();
            return Err(StoreError::KeyPermissions { file, mode });
        }
    }
    text.parse().map(Some)
}

/// Writes a key file unless there is one. A hard link, unlike a rename, does not replace a file.
fn write_key_file(file: &Path, key: &StoreKey) -> io::Result<()> {
    let random: [u8; 8] = random_bytes().map_err(io::Error::other)?;
    let temporary = file.with_extension(format!("{}.new", to_hex(&random)));
    let text = format!("{}\n", to_hex(&key.0));
    let linked = pml_files::create_new(&temporary, text.as_bytes(), pml_files::Access::OwnerOnly)
        .and_then(|()| match fs::hard_link(&temporary, file) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
    // The error that counts is the first one.
    let _ = fs::remove_file(&temporary);
    linked
}

pub(crate) fn not_writable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::NotWritable {
        path: path.to_owned(),
        detail: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "00ff112233445566778899aabbccddeeff00112233445566778899aabbccddee";

    #[test]
    fn a_key_is_hexadecimal_or_base64() {
        let key: StoreKey = HEX.parse().unwrap();
        assert_eq!(STANDARD.encode(key.0).parse::<StoreKey>().unwrap(), key);
        assert_eq!(URL_SAFE.encode(key.0).parse::<StoreKey>().unwrap(), key);
        assert_eq!(format!("{HEX}\n").parse::<StoreKey>().unwrap(), key);
        for text in ["", "secret", &HEX[1..], &HEX.replace('0', "g"), "AAAA"] {
            assert_eq!(
                text.parse::<StoreKey>(),
                Err(StoreError::InvalidKey),
                "{text}"
            );
        }
    }

    #[test]
    fn a_folder_gets_one_key_even_if_two_processes_make_it() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<str> = "sqlite:x".into();
        let keys: Vec<StoreKey> = std::thread::scope(|scope| {
            let open = || StoreKey::of_folder(folder.path(), true, &store).unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(KEY_FILE);
        fs::write(&file, HEX).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let error = StoreKey::of_folder(folder.path(), true, &"s".into()).unwrap_err();
        assert!(error.to_string().contains("chmod 600"), "{error}");
        assert!(error.to_string().contains("0640"), "{error}");
    }

    #[test]
    fn a_store_that_exists_gets_no_new_key() {
        let folder = tempfile::tempdir().unwrap();
        let error = StoreKey::of_folder(folder.path(), false, &"s".into()).unwrap_err();
        assert!(matches!(error, StoreError::KeyMissing { .. }));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
