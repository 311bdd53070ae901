//! The headers of a remote server whose values are secrets: they are read for every request, so a
//! rotated secret needs no new session.

use ::http::{HeaderName, HeaderValue};
use pml_credentials::{Filled, Reference, SecretError, Template};

use crate::config::Remote;
use crate::server::ServerCredentials;

/// The headers with references to secrets.
#[derive(Debug, Clone)]
pub struct SecretHeaders {
    headers: Vec<(HeaderName, Template)>,
    credentials: ServerCredentials,
}

/// The values for one request.
pub struct HeaderValues {
    /// Names and values.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The secrets in them, with their versions.
    pub used: Vec<(Reference, u64)>,
}

impl SecretHeaders {
    /// The headers of `remote`.
    pub fn new(remote: &Remote, credentials: ServerCredentials) -> Self {
        let headers = remote.headers.iter().filter_map(|(name, value)| {
            let is_secret = Template::has_reference(value);
            let template = is_secret.then(|| Template::parse(value).ok()).flatten()?;
            Some((HeaderName::try_from(name.as_str()).ok()?, template))
        });
        Self {
            headers: headers.collect(),
            credentials,
        }
    }

    /// The current values.
    pub async fn values(&self) -> Result<HeaderValues, SecretError> {
        let mut values = HeaderValues {
            headers: Vec::with_capacity(self.headers.len()),
            used: Vec::new(),
        };
        for (name, template) in &self.headers {
            let Filled { text, versions } = template.fill(self.credentials.credentials()).await?;
            let unusable = |(reference, _): &(Reference, u64)| SecretError::Unusable {
                reference: reference.clone(),
                reason: format!(
                    "it has a character that the header {name} may not have, such as a line break"
                ),
            };
            match HeaderValue::try_from(text.as_str()) {
                Ok(mut value) => {
                    value.set_sensitive(true);
                    values.headers.push((name.clone(), value));
                }
                Err(_) => match versions.first() {
                    Some(first) => return Err(unusable(first)),
                    None => continue,
                },
            }
            values.used.extend(versions);
        }
        Ok(values)
    }

    /// Asks the sources again after the server rejected `used`. Returns whether a value has changed.
    pub async fn renew(&self, used: &[(Reference, u64)]) -> bool {
        let mut has_changed = false;
        for (reference, version) in used {
            match self
                .credentials
                .credentials()
                .renew(reference, *version)
                .await
            {
                Ok(secret) => has_changed |= secret.version() != *version,
                Err(error) => tracing::warn!(%error, "a rejected secret is not renewed"),
            }
        }
        has_changed
    }
}
