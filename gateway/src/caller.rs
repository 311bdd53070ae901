//! On whose behalf a gateway is used.

use std::sync::Arc;
use std::time::SystemTime;

use pml_guards::GuardName;
use pml_policy::authorize::Requester;
use pml_tokens::{Capability, TokenError};

use crate::gateway::Gateway;
use crate::policy::{Refusal, RefusalKind};

/// Who calls, and the tokens that bound what they may do: all of them have to permit it.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub requester: Requester,
    pub capabilities: Vec<Capability>,
}

impl Gateway {
    /// The same servers, for a principal. Runs that it begins belong to the principal.
    #[must_use]
    pub fn acting_for(&self, tenant: &str, principal: &str) -> Self {
        self.calling(Caller {
            requester: Requester::named(tenant, principal),
            ..Caller::clone(&self.1)
        })
    }

    /// The same servers for the holder of a token: its principal, which sees and calls what the token
    /// permits, and never more than this gateway does.
    #[must_use]
    pub fn with_capability(&self, capability: Capability) -> Self {
        let grant = capability.token().grant();
        let requester = Requester::named(grant.tenant(), grant.principal());
        let mut capabilities = self.1.capabilities.clone();
        capabilities.push(capability);
        self.calling(Caller {
            requester,
            capabilities,
        })
    }

    /// The token that bounds what this gateway does; the last one, if there are several.
    pub fn capability(&self) -> Option<&Capability> {
        self.1.capabilities.last()
    }

    /// The names of all tokens that bound what this gateway does, and of those that they were made from.
    pub fn holder_names(&self) -> Vec<String> {
        let capabilities = self.1.capabilities.iter();
        capabilities.flat_map(Capability::names).collect()
    }

    /// Whether some tools are hidden from this caller besides those that `pml.policy` denies.
    pub fn hides_tools(&self) -> bool {
        !self.1.capabilities.is_empty() || self.has_policy_file()
    }

    fn calling(&self, caller: Caller) -> Self {
        Self(self.0.clone(), Arc::new(caller))
    }
}

impl Caller {
    /// The user of this machine.
    pub fn local() -> Self {
        Self {
            requester: Requester::local(),
            capabilities: Vec::new(),
        }
    }

    /// Why a token does not permit a tool, or the resources or prompts of a server, now.
    pub fn refusal(&self, id: &str) -> Option<Refusal> {
        if self.capabilities.is_empty() {
            return None;
        }
        let now = SystemTime::now();
        let invalid = self
            .capabilities
            .iter()
            .find_map(|capability| capability.check(now).err());
        if let Some(error) = invalid {
            return Some(denied(id, &error));
        }
        let denying = self
            .capabilities
            .iter()
            .find(|capability| !capability.permits(id))?;
        let message = format!(
            "`{id}` may not be called: the capability token `{denying}` does not permit it; use another tool, or ask for a token with this one"
        );
        Some(Refusal::permanent(RefusalKind::Denied, message))
    }

    /// Counts a call for every token.
    pub fn spend_call(&self, id: &str) -> Result<(), Refusal> {
        Capability::spend_call(&self.capabilities).map_err(|error| spent(id, &error))
    }

    /// Whether a token has a number of calls.
    pub fn counts_calls(&self) -> bool {
        let mut capabilities = self.capabilities.iter();
        capabilities.any(|capability| capability.token().call_budgets().next().is_some())
    }

    /// Whether `calls` more calls could be counted.
    pub fn has_calls(&self, id: &str, calls: u32) -> Result<(), Refusal> {
        let mut capabilities = self.capabilities.iter();
        capabilities.try_for_each(|token| token.has_calls(calls).map_err(|error| spent(id, &error)))
    }
}

fn denied(id: &str, error: &TokenError) -> Refusal {
    Refusal::permanent(
        RefusalKind::Denied,
        format!("`{id}` may not be called: {error}"),
    )
}

fn spent(id: &str, error: &TokenError) -> Refusal {
    let kind = match error {
        TokenError::Spent { .. } => RefusalKind::Calls,
        _ => RefusalKind::Denied,
    };
    Refusal::permanent(kind, format!("`{id}` was not called: {error}")).of(GuardName::Limits)
}
