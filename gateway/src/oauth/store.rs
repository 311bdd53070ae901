//! Logins on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pml_files::{Access, create_private_dir, data_dir, write_atomic};
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use sha2::{Digest, Sha256};
use url::Url;

use super::error::OAuthError;
use super::lock::FileLock;
use super::login_record::LoginRecord;

/// A folder with one file per server, with mode 0600.
#[derive(Debug, Clone)]
pub struct TokenStore {
    folder: PathBuf,
}

impl TokenStore {
    /// The logins of the current user.
    ///
    /// # Errors
    /// The user has no home folder.
    pub fn of_user() -> Result<Self, OAuthError> {
        let data = data_dir().ok_or(OAuthError::NoFolder)?;
        Ok(Self::new(data.join("oauth")))
    }

    /// The logins in `folder`, which is created with the first one.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The servers with a login, in no particular order.
    ///
    /// # Errors
    /// A stored login cannot be read.
    pub fn servers(&self) -> Result<Vec<Url>, OAuthError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(self.folder_error(source)),
        };
        let mut servers = Vec::new();
        for entry in entries {
            let path = entry.map_err(|source| self.folder_error(source))?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
                && let Some(record) = read(&path)?
            {
                servers.push(record.server);
            }
        }
        Ok(servers)
    }

    /// Deletes the login to a server. `false` means there was none.
    ///
    /// # Errors
    /// The stored login cannot be locked or deleted.
    pub async fn forget(&self, server: &Url) -> Result<bool, OAuthError> {
        let path = self.path(server);
        if !path.exists() {
            return Ok(false);
        }
        let _lock = self.lock(server).await?;
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(OAuthError::Store { path, source }),
        }
    }

    pub(super) fn load(&self, server: &Url) -> Result<Option<LoginRecord>, OAuthError> {
        // Two servers with the same digest must not get each other's tokens.
        let record = read(&self.path(server))?.filter(|record| record.server == *server);
        record.iter().try_for_each(LoginRecord::check_lengths)?;
        Ok(record)
    }

    pub(super) fn save(&self, record: &LoginRecord) -> Result<(), OAuthError> {
        record.check_lengths()?;
        self.make_folder()
            .map_err(|source| self.folder_error(source))?;
        let path = self.path(&record.server);
        write(&path, record).map_err(|source| OAuthError::Store { path, source })
    }

    pub(super) async fn lock(&self, server: &Url) -> Result<FileLock, OAuthError> {
        self.make_folder()
            .map_err(|source| self.folder_error(source))?;
        FileLock::acquire(&self.path(server).with_extension("lock")).await
    }

    fn folder_error(&self, source: io::Error) -> OAuthError {
        OAuthError::Store {
            path: self.folder.clone(),
            source,
        }
    }

    /// The file of a server: its host for people, and a digest that is different for each server of it.
    fn path(&self, server: &Url) -> PathBuf {
        let host: String = server
            .host_str()
            .unwrap_or("server")
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '.' {
                    c
                } else {
                    '_'
                }
            })
            .take(100)
            .collect();
        let digest = Sha256::digest(server.as_str().as_bytes());
        let digest: String = digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.folder.join(format!("{host}-{digest}.json"))
    }

    fn make_folder(&self) -> io::Result<()> {
        create_private_dir(&self.folder)?;
        // The folder may have existed with other permissions.
        #[cfg(unix)]
        fs::set_permissions(
            &self.folder,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )?;
        Ok(())
    }
}

fn read(path: &Path) -> Result<Option<LoginRecord>, OAuthError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(OAuthError::Store {
                path: path.to_owned(),
                source,
            });
        }
    };
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|source| OAuthError::Damaged {
            path: path.to_owned(),
            source,
        })
}

fn write(path: &Path, record: &LoginRecord) -> io::Result<()> {
    write_atomic(path, &serde_json::to_vec_pretty(record)?, Access::OwnerOnly)
}

/// One server's login as a credential store of rmcp. Its owner holds the lock while rmcp uses it.
pub(super) struct ServerCredentials {
    pub(super) store: TokenStore,
    pub(super) server: Url,
    pub(super) client_secret: Option<String>,
    pub(super) private_network: bool,
}

impl ServerCredentials {
    fn put(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.store
            .save(&LoginRecord {
                server: self.server.clone(),
                client_secret: self.client_secret.clone(),
                private_network: self.private_network,
                credentials,
            })
            .map_err(into_rmcp)
    }
}

#[async_trait::async_trait]
impl CredentialStore for ServerCredentials {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let record = self.store.load(&self.server).map_err(into_rmcp)?;
        Ok(record.map(|record| record.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.put(credentials)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        match fs::remove_file(self.store.path(&self.server)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(AuthError::CredentialStoreError(error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// A refresh token that was rejected once stays rejected: without its tokens, the login asks for a
    /// new one instead of trying it again at every call.
    async fn on_refresh_token_rejected(
        &self,
        rejected: &StoredCredentials,
    ) -> Result<(), AuthError> {
        let mut rejected = rejected.clone();
        rejected.token_response = None;
        self.put(rejected)
    }
}

fn into_rmcp(error: OAuthError) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}
