//! A verified token in use.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::call_counters::CallCounters;
use crate::error::TokenError;
use crate::revocation_list::RevocationList;
use crate::root_key::RootPublicKey;
use crate::signed_token::SignedToken;
use crate::token_id::TokenId;
use crate::verified_token::VerifiedToken;

/// The tenant that is not named.
const LOCAL: &str = "local";

/// Whether a principal is the holder of a capability token: [`Capability::name`].
pub fn is_capability_name(principal: &str) -> bool {
    // The names in tokens, and those of plain bearer tokens, have none.
    principal.contains('@')
}

/// What verifies tokens: the pinned root keys, and the files of a data folder.
#[derive(Debug, Clone)]
pub struct CapabilityStore {
    keys: Arc<[RootPublicKey]>,
    revocations: Arc<RevocationList>,
    counters: Arc<CallCounters>,
}

/// A token in use. It can expire or be revoked at any time, so each use asks again.
#[derive(Clone)]
pub struct Capability {
    token: Arc<VerifiedToken>,
    revocations: Arc<RevocationList>,
    counters: Arc<CallCounters>,
}

impl CapabilityStore {
    /// The folder for tokens within the data folder of a user.
    pub fn folder(data: &Path) -> PathBuf {
        data.join("tokens")
    }

    /// The root key within that folder.
    pub fn root_key(folder: &Path) -> PathBuf {
        folder.join("root.key")
    }

    /// A store that accepts tokens of these root keys.
    pub fn new(folder: &Path, keys: Vec<RootPublicKey>) -> Self {
        Self {
            keys: keys.into(),
            revocations: Arc::new(RevocationList::at(folder.join("revoked"))),
            counters: Arc::new(CallCounters::at(folder.join("calls"))),
        }
    }

    /// Whether there is a key, so that some token may be valid.
    pub fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The token, if it is valid now.
    ///
    /// # Errors
    /// It is forged, damaged, expired or revoked.
    pub fn open(&self, token: &SignedToken) -> Result<Capability, TokenError> {
        let capability = self.verify(token)?;
        capability.check(SystemTime::now())?;
        Ok(capability)
    }

    /// The token, if its signatures are right, whether it is valid now or not.
    ///
    /// # Errors
    /// It is forged or damaged.
    pub fn verify(&self, token: &SignedToken) -> Result<Capability, TokenError> {
        Ok(Capability {
            token: Arc::new(token.verify(&self.keys)?),
            revocations: self.revocations.clone(),
            counters: self.counters.clone(),
        })
    }

    /// The revoked tokens.
    pub fn revocations(&self) -> &RevocationList {
        &self.revocations
    }

    /// The calls that tokens have made.
    pub fn counters(&self) -> &CallCounters {
        &self.counters
    }
}

impl Capability {
    /// What the token says.
    pub fn token(&self) -> &VerifiedToken {
        &self.token
    }

    /// `ci@3f9a0c1b2d4e5f60718293a4b5c6d7e8`: its principal, and which token it is, with the tenant before it
    /// where that is not `local`. Two tokens have two names, also if a holder tries many blocks.
    pub fn name(&self) -> String {
        self.to_string()
    }

    /// Whether the token is valid at a time.
    ///
    /// # Errors
    /// [`TokenError::Expired`], [`TokenError::Revoked`], or the list of revoked tokens cannot be read.
    pub fn check(&self, now: SystemTime) -> Result<(), TokenError> {
        if let Some(at) = self.token.expires() {
            let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
            if now.as_secs() > at {
                return Err(TokenError::Expired { at });
            }
        }
        match self.revocations.revoked(self.token.ids())? {
            Some(id) => Err(TokenError::Revoked { id }),
            None => Ok(()),
        }
    }

    /// Whether the token permits to call a tool. [`Capability::check`] says whether it is valid.
    pub fn permits(&self, id: &str) -> bool {
        self.token.permits(id)
    }

    /// Counts a call for all these tokens, or for none of them. A block that several of them have counts it
    /// once.
    ///
    /// # Errors
    /// [`TokenError::Spent`] if one has no call left, or its counter cannot be used.
    pub fn spend_call(all: &[Self]) -> Result<(), TokenError> {
        let Some(first) = all.first() else {
            return Ok(());
        };
        let budgets = all.iter().flat_map(|one| one.token.call_budgets());
        first.counters.spend(budgets)
    }

    /// The names of this token and of all that it was made from.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.token.ids().iter().map(|id| self.name_of(*id))
    }

    fn name_of(&self, id: TokenId) -> String {
        let grant = self.token.grant();
        let tenant = match grant.tenant() {
            LOCAL => String::new(),
            tenant => format!("{tenant}/"),
        };
        format!("{tenant}{}@{}", grant.principal(), id)
    }

    /// Whether `calls` more calls could be counted.
    ///
    /// # Errors
    /// As [`Capability::spend_call`].
    pub fn has_calls(&self, calls: u32) -> Result<(), TokenError> {
        for budget in self.token.call_budgets() {
            let made = self.counters.made(budget.id)?;
            if made.saturating_add(calls.into()) > budget.calls.into() {
                return Err(TokenError::Spent {
                    limit: budget.calls,
                });
            }
        }
        Ok(())
    }

    /// Whether two are the same token.
    pub fn is_same(&self, other: &Self) -> bool {
        self.token.id() == other.token.id()
    }

    /// What the token is revoked by.
    pub fn id(&self) -> TokenId {
        self.token.id()
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name_of(self.token.id()))
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Capability({self})")
    }
}
