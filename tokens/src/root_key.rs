//! The key that signs tokens, and the key that verifies them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::str::FromStr;

use biscuit_auth::{KeyPair, PrivateKey, PublicKey, builder::Algorithm};
use pml_files::Access;

use crate::error::TokenError;

/// More than a key file has.
const MAX_KEY_FILE: u64 = 4096;

/// The private key that signs the first block of tokens.
pub struct RootKey(KeyPair);

/// The public key that verifies tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RootPublicKey(pub(crate) PublicKey);

impl RootKey {
    /// A new key.
    pub fn generate() -> Self {
        Self(KeyPair::new_with_algorithm(Algorithm::Ed25519))
    }

    /// The key in a file.
    ///
    /// # Errors
    /// The file cannot be read, is not a key, or can be read by other users.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let mut file = File::open(path).map_err(TokenError::file(path))?;
        let metadata = file.metadata().map_err(TokenError::file(path))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(TokenError::KeyIsOpen {
                path: path.to_owned(),
            });
        }
        let mut text = String::new();
        let read = file.by_ref().take(MAX_KEY_FILE).read_to_string(&mut text);
        read.map_err(TokenError::file(path))?;
        let hex = text.trim().strip_prefix(PRIVATE).ok_or(TokenError::Key)?;
        let key = PrivateKey::from_bytes_hex(hex, Algorithm::Ed25519);
        Ok(Self(KeyPair::from(&key.map_err(|_| TokenError::Key)?)))
    }

    /// Writes the key into a new file that only its owner can read.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), TokenError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        pml_files::create_private_dir(folder).map_err(TokenError::file(folder))?;
        let text = format!("{PRIVATE}{}\n", self.0.private().to_bytes_hex());
        let written = pml_files::create_new(path, text.as_bytes(), Access::OwnerOnly);
        written.map_err(TokenError::file(path))
    }

    /// The key that verifies what this one signs.
    pub fn public(&self) -> RootPublicKey {
        RootPublicKey(self.0.public())
    }

    pub(crate) fn pair(&self) -> &KeyPair {
        &self.0
    }
}

const PRIVATE: &str = "ed25519-private/";
const PUBLIC: &str = "ed25519/";

impl fmt::Debug for RootKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RootKey").field(&self.public()).finish()
    }
}

impl RootPublicKey {
    /// The public half of the key in a file; `None` if there is no such file.
    ///
    /// # Errors
    /// As [`RootKey::read`].
    pub fn of_key_file(path: &Path) -> Result<Option<Self>, TokenError> {
        match RootKey::read(path) {
            Ok(key) => Ok(Some(key.public())),
            Err(TokenError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl fmt::Display for RootPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", self.0.to_bytes_hex())
    }
}

impl fmt::Debug for RootPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for RootPublicKey {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let hex = text.trim().strip_prefix(PUBLIC).ok_or(TokenError::Key)?;
        let key = PublicKey::from_bytes_hex(hex, Algorithm::Ed25519);
        key.map(Self).map_err(|_| TokenError::Key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_for_its_owner_alone_and_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens/root.key");
        let key = RootKey::generate();
        key.write_new(&file).unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(RootKey::read(&file).unwrap().public(), key.public());
        assert!(RootKey::generate().write_new(&file).is_err());
        assert_eq!(RootKey::read(&file).unwrap().public(), key.public());

        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        let error = RootKey::read(&file).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_public_key_is_read_as_it_is_written() {
        let key = RootKey::generate().public();
        assert_eq!(key.to_string().parse::<RootPublicKey>().unwrap(), key);
        for wrong in [
            "",
            "ed25519/",
            "ed25519/00",
            "secp256r1/00",
            "ed25519/zz",
            "x",
        ] {
            assert!(wrong.parse::<RootPublicKey>().is_err(), "{wrong}");
        }
        assert!(!format!("{:?}", RootKey::generate()).contains("private"));
    }
}
