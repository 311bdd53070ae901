//! Resolves references, keeps their values, and renews them.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::time::Instant;

use crate::cached::{Cached, Read};
use crate::error::SecretError;
use crate::provider;
use crate::reference::Reference;
use crate::secret::Secret;
use crate::settings::SecretSettings;

/// Makes the HTTP client for Vault, when it is first needed.
pub type NewClient = fn() -> reqwest::Result<reqwest::Client>;

/// Receives every value before it is used, so that it can be hidden in what leaves the process.
pub type OnValue = Box<dyn Fn(&Reference, &str) + Send + Sync>;

/// A lease that is renewed for less than this part of what was asked for is near its end.
const SHORT_RENEWAL: f64 = 0.5;

/// The secrets of a configuration. Clones share what is kept.
///
/// ```
/// use pml_credentials::{Credentials, SecretSettings};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let new_client = || reqwest::Client::builder().build();
/// let credentials = Credentials::new(SecretSettings::default(), new_client, Box::new(|_, _| {}));
/// let home = credentials.get(&"secret:env/HOME".parse().unwrap()).await.unwrap();
/// assert_eq!(home.value(), std::env::var("HOME").unwrap());
/// # });
/// ```
#[derive(Clone)]
pub struct Credentials(Arc<Shared>);

struct Shared {
    settings: SecretSettings,
    new_client: NewClient,
    client: OnceLock<reqwest::Client>,
    on_value: OnValue,
    sources: Mutex<HashMap<Reference, Arc<Source>>>,
    last_version: AtomicU64,
}

/// One source; its lock is held while it is asked, so that concurrent callers ask once.
#[derive(Default)]
struct Source(tokio::sync::Mutex<Option<Cached>>);

impl Credentials {
    /// Nothing is read yet.
    pub fn new(settings: SecretSettings, new_client: NewClient, on_value: OnValue) -> Self {
        Self(Arc::new(Shared {
            settings,
            new_client,
            client: OnceLock::new(),
            on_value,
            sources: Mutex::default(),
            last_version: AtomicU64::new(0),
        }))
    }

    /// The value of a secret: the one that is kept, or that of its source. A source that does not
    /// answer does not end the use of a value that it gave before.
    ///
    /// # Errors
    /// The secret cannot be used.
    pub async fn get(&self, reference: &Reference) -> Result<Secret, SecretError> {
        let source = self.source(reference);
        let mut cached = source.0.lock().await;
        if !cached.as_ref().is_some_and(Cached::is_fresh) {
            self.refresh(reference, &mut cached).await?;
        }
        field(reference, cached.as_ref())
    }

    /// The value of a secret after a server rejected `rejected`: that of its source, unless another
    /// caller has got it already. It may be the same.
    ///
    /// # Errors
    /// The secret cannot be used.
    pub async fn renew(&self, reference: &Reference, rejected: u64) -> Result<Secret, SecretError> {
        let source = self.source(reference);
        let mut cached = source.0.lock().await;
        let known = field(reference, cached.as_ref()).ok();
        let is_rejected = |secret: &Secret| secret.version() == rejected;
        if known.as_ref().is_none_or(is_rejected)
            && cached.as_ref().is_none_or(Cached::may_be_asked_again)
        {
            self.read(reference, &mut cached).await?;
            let same = field(reference, cached.as_ref()).is_ok_and(|now| is_rejected(&now));
            if let Some(cached) = cached.as_mut().filter(|_| same) {
                cached.still_rejected();
            }
        }
        field(reference, cached.as_ref())
    }

    /// When the lease of the secret must be renewed; `None` if it has none. Secrets that are not in
    /// use have none.
    pub async fn lease_due(&self, reference: &Reference) -> Option<Instant> {
        let source = self.source(reference);
        let cached = source.0.lock().await;
        cached.as_ref()?.lease_due()
    }

    /// The settings.
    pub(crate) fn settings(&self) -> &SecretSettings {
        &self.0.settings
    }

    /// Announces a value that is not itself kept, such as the token of Vault.
    pub(crate) fn announce(&self, reference: &Reference, value: &str) {
        (self.0.on_value)(reference, value);
    }

    /// The HTTP client.
    pub(crate) fn client(&self) -> reqwest::Result<reqwest::Client> {
        if let Some(client) = self.0.client.get() {
            return Ok(client.clone());
        }
        let client = (self.0.new_client)()?;
        Ok(self.0.client.get_or_init(|| client).clone())
    }

    fn source(&self, reference: &Reference) -> Arc<Source> {
        let mut sources = self
            .0
            .sources
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        sources.entry(reference.source()).or_default().clone()
    }

    /// Renews the lease of a value, or reads the value.
    async fn refresh(
        &self,
        reference: &Reference,
        cached: &mut Option<Cached>,
    ) -> Result<(), SecretError> {
        if let Some(known) = cached
            && let Some(lease) = known.lease.clone().filter(|lease| lease.is_renewable)
        {
            match provider::vault::renew_lease(self, reference, &lease).await {
                Ok(duration) if duration >= lease.duration.mul_f64(SHORT_RENEWAL) => {
                    known.renewed(duration);
                    return Ok(());
                }
                // It is near its longest time, or gone.
                Ok(_) => {}
                Err(error) => {
                    tracing::info!(%error, "a lease is not renewed, its secret is read anew")
                }
            }
        }
        self.read(reference, cached).await
    }

    /// Asks the source. If it does not answer, the value that is kept is used on.
    async fn read(
        &self,
        reference: &Reference,
        cached: &mut Option<Cached>,
    ) -> Result<(), SecretError> {
        match (provider::read(self, reference).await, &mut *cached) {
            (Ok(read), before) => {
                let read = self.checked(reference, read)?;
                let next = || self.0.last_version.fetch_add(1, Ordering::Relaxed) + 1;
                let ttl = self.0.settings.ttl();
                let now = Cached::new(read, ttl, before.as_ref(), next);
                *cached = Some(now);
                Ok(())
            }
            (Err(error), Some(known)) if error.is_transient() => {
                tracing::warn!(%error, "the last value of a secret is used on");
                known.kept_on(self.0.settings.ttl());
                Ok(())
            }
            (Err(error), _) => {
                *cached = None;
                Err(error)
            }
        }
    }

    /// Announces the values, of which none is empty.
    fn checked(&self, reference: &Reference, read: Read) -> Result<Read, SecretError> {
        for (name, value) in &read.fields {
            if value.is_empty() && name == reference.field() {
                return Err(SecretError::Unusable {
                    reference: reference.clone(),
                    reason: "it is empty; give it a value".to_owned(),
                });
            }
            let named = match reference {
                Reference::Vault { path, .. } => Reference::Vault {
                    path: path.clone(),
                    field: name.clone(),
                },
                other => other.clone(),
            };
            self.announce(&named, value);
        }
        Ok(read)
    }
}

fn field(reference: &Reference, cached: Option<&Cached>) -> Result<Secret, SecretError> {
    let secrets = cached.map(|cached| &cached.secrets);
    if let Some(secret) = secrets.and_then(|secrets| secrets.get(reference.field())) {
        return Ok(secret.clone());
    }
    let names: Vec<&str> = secrets
        .into_iter()
        .flat_map(|secrets| secrets.keys().map(String::as_str))
        .collect();
    Err(SecretError::Missing {
        reference: reference.clone(),
        remedy: format!("its path has the fields {}", names.join(", ")),
    })
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}
