//! Who a client is, and what its token permits.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use pml_gateway::Gateway;
use pml_protocol::{Principal, TenantId};
use pml_tokens::{Capability, is_capability_name};

/// How many tokens are remembered. Beyond, those that are not valid any more are forgotten.
const MAX_REMEMBERED: usize = 4096;

/// Who sent a request.
#[derive(Debug, Clone)]
pub struct ClientIdentity {
    principal: Principal,
    capability: Option<Capability>,
}

impl ClientIdentity {
    /// The user of this machine.
    pub fn local() -> Self {
        Self::named(Principal::local())
    }

    /// The owner of a plain bearer token.
    pub fn named(principal: Principal) -> Self {
        Self {
            principal,
            capability: None,
        }
    }

    /// The holder of a capability token. Each token is a principal of its own: a token that was made from
    /// another one, and may do less, reaches none of its sessions and runs.
    pub fn holding(capability: Capability) -> Self {
        Self {
            principal: Principal::named(&capability.name()),
            capability: Some(capability),
        }
    }

    /// The client that a gateway serves: where the gateway itself has a token, the local user is its
    /// holder.
    #[must_use]
    pub fn behind(self, gateway: &Gateway) -> Self {
        match gateway.capability() {
            Some(capability) if self.principal == Principal::local() => Self {
                principal: Principal::named(&capability.name()),
                capability: None,
            },
            _ => self,
        }
    }

    /// Its name, also in the store and in the audit log.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Whether the client has a capability token.
    pub fn is_holder(&self) -> bool {
        self.capability.is_some()
    }

    /// The gateway as the client sees it. Its runs are in the store of this user, under its name, which has
    /// the tenant of its token in it: `pml runs`, `pml approvals` and a restart find them there.
    pub fn reach(&self, gateway: Gateway) -> Gateway {
        if let Some(capability) = &self.capability {
            return gateway.with_capability(capability.clone());
        }
        match gateway.capability() {
            // The token of the gateway names the principal.
            Some(own) if own.name() == self.principal.as_str() => gateway,
            _ => gateway.acting_for(TenantId::local().as_str(), self.principal.as_str()),
        }
    }
}

/// The tokens that clients of this process had, by name: runs that wait for a person go on with the token
/// that they began with.
#[derive(Debug, Default)]
pub struct SeenCapabilities(Mutex<HashMap<String, Capability>>);

impl SeenCapabilities {
    /// Remembers the token of a client.
    pub fn note(&self, identity: &ClientIdentity) {
        let Some(capability) = &identity.capability else {
            return;
        };
        let mut seen = self.lock();
        if seen.len() >= MAX_REMEMBERED {
            let now = SystemTime::now();
            seen.retain(|_, capability| capability.check(now).is_ok());
        }
        if seen.len() < MAX_REMEMBERED {
            seen.insert(capability.name(), capability.clone());
        }
    }

    /// The client that began a run, if this process may act for it. The token of a run is kept nowhere, so
    /// after a restart its runs wait until the holder resumes them.
    pub fn owner_of_run(&self, principal: &str, gateway: &Gateway) -> Option<ClientIdentity> {
        let own = gateway.capability().map(Capability::name);
        if own.as_deref() == Some(principal) {
            return Some(ClientIdentity::named(Principal::named(principal)));
        }
        if is_capability_name(principal) {
            return self
                .lock()
                .get(principal)
                .cloned()
                .map(ClientIdentity::holding);
        }
        own.is_none()
            .then(|| ClientIdentity::named(Principal::named(principal)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Capability>> {
        // Entries are added and removed in one step each.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
