//! The secrets that the entry of a server names: their values for its environment and its headers.

use std::ops::Deref;
use std::sync::Arc;

use pml_credentials::{Credentials, Reference, SecretError, Template};
use tokio::time::Instant;
use zeroize::Zeroize;

use crate::config::{Credential, Endpoint};

/// The versions of the values of all references of a server, in order.
pub type Versions = Vec<u64>;

/// The secrets of one server.
#[derive(Debug, Clone)]
pub struct ServerCredentials {
    credentials: Credentials,
    references: Arc<[Reference]>,
}

impl ServerCredentials {
    pub fn new(credentials: Credentials, references: &[Reference]) -> Self {
        Self {
            credentials,
            references: references.into(),
        }
    }

    /// The references.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// The resolver.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The versions of the current values.
    pub async fn versions(&self) -> Result<Versions, SecretError> {
        let mut versions = Versions::with_capacity(self.references.len());
        for reference in &*self.references {
            versions.push(self.credentials.get(reference).await?.version());
        }
        Ok(versions)
    }

    /// Asks the sources again for the values that a server rejected. Returns whether one has changed.
    pub async fn renew(&self, rejected: &Versions) -> bool {
        let mut has_changed = false;
        for (reference, rejected) in self.references.iter().zip(rejected) {
            match self.credentials.renew(reference, *rejected).await {
                Ok(secret) => has_changed |= secret.version() != *rejected,
                Err(error) => tracing::warn!(%error, "a rejected secret is not renewed"),
            }
        }
        has_changed
    }

    /// When the first lease must be renewed; `None` if no value has one.
    pub async fn lease_due(&self) -> Option<Instant> {
        let mut first = None;
        for reference in &*self.references {
            let due = self.credentials.lease_due(reference).await;
            first = [first, due].into_iter().flatten().min();
        }
        first
    }

    /// The endpoint with the values in the environment of its process, or in the credentials of its
    /// service. The headers of MCP servers get theirs with every request.
    pub async fn fill(&self, endpoint: &Endpoint) -> Result<FilledEndpoint, SecretError> {
        let mut filled = FilledEndpoint(endpoint.clone());
        for text in filled.texts_mut() {
            if let Ok(template) = Template::parse(text)
                && Template::has_reference(text)
            {
                *text = template.fill(&self.credentials).await?.text.to_string();
            }
        }
        Ok(filled)
    }
}

/// An endpoint with the values of secrets, which are zeroized when it is dropped.
pub struct FilledEndpoint(Endpoint);

impl FilledEndpoint {
    /// The texts that may name secrets, and that are needed when it is opened.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        match &mut self.0 {
            Endpoint::Stdio(command) => command.env.values_mut().collect(),
            Endpoint::OpenApi(service) => {
                let access = &mut service.access;
                let credentials = access.auth.values_mut().flat_map(Credential::texts_mut);
                access.headers.values_mut().chain(credentials).collect()
            }
            Endpoint::Http(_) | Endpoint::Sse(_) | Endpoint::Functions(_) => Vec::new(),
        }
    }
}

impl Deref for FilledEndpoint {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.0
    }
}

impl Drop for FilledEndpoint {
    fn drop(&mut self) {
        self.texts_mut().into_iter().for_each(Zeroize::zeroize);
    }
}
