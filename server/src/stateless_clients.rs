//! The sessions of clients that speak a revision of MCP without sessions.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_protocol::{FairShareKey, Principal};

use crate::client_session::ClientSession;

/// How many sessions are kept; the least recently used one makes room (LRU), first of those whose
/// handle was never brought back.
const MAX_SESSIONS: usize = 64;
const SESSION_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// The shares of the workers that clients without a session have together.
const SHARES: usize = 64;
/// A longer text is not a handle of ours.
const MAX_HANDLE_BYTES: usize = 64;

/// Sessions by handle. In the revision of 2026-07-28 requests have no session. The first answer to a
/// client gives it a random handle, and requests that bring the handle back share a session. A client
/// cannot choose a handle, one that brings none shares nothing with any other, and a handle is of no
/// use to another principal.
pub struct StatelessClients {
    sessions: Mutex<HashMap<String, Entry>>,
    /// By the hash of the client's name. A client that begins a session with every request has no
    /// larger share of the workers than one that does not.
    shares: [FairShareKey; SHARES],
    keys: RandomState,
}

impl Default for StatelessClients {
    fn default() -> Self {
        Self {
            sessions: Mutex::default(),
            shares: std::array::from_fn(|_| FairShareKey::new()),
            keys: RandomState::new(),
        }
    }
}

/// What a request without a session says about its client. It is compared and hashed, never kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StatelessClient {
    /// Whose token the request has.
    pub principal: Principal,
    /// The name in the client's `clientInfo`.
    pub program: String,
    /// `pml/session` in `_meta`.
    pub handle: Option<String>,
}

struct Entry {
    session: Arc<ClientSession>,
    used_at: Instant,
    /// The client has brought the handle back.
    is_claimed: bool,
}

impl StatelessClients {
    /// The session of a handle that an answer to the same principal gave.
    pub fn find(&self, handle: &str, principal: &Principal) -> Option<Arc<ClientSession>> {
        if handle.len() > MAX_HANDLE_BYTES {
            return None;
        }
        let mut sessions = self.lock();
        expire(&mut sessions);
        let entry = sessions.get_mut(handle)?;
        if entry.session.principal() != principal {
            return None;
        }
        entry.used_at = Instant::now();
        entry.is_claimed = true;
        Some(entry.session.clone())
    }

    /// The share of the workers that a client has.
    pub fn fair_share(&self, client: &StatelessClient) -> FairShareKey {
        let hash = self.keys.hash_one((&client.principal, &client.program));
        self.shares[hash as usize % SHARES].clone()
    }

    /// Keeps a session, and returns its new handle; `None` if the operating system provides no
    /// randomness for it.
    pub fn keep(&self, session: Arc<ClientSession>) -> Option<String> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).ok()?;
        let handle: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut sessions = self.lock();
        expire(&mut sessions);
        if sessions.len() >= MAX_SESSIONS {
            let rank = |(_, entry): &(&String, &Entry)| (entry.is_claimed, entry.used_at);
            let oldest = sessions.iter().min_by_key(rank);
            if let Some(oldest) = oldest.map(|(handle, _)| handle.clone()) {
                sessions.remove(&oldest);
            }
        }
        let entry = Entry {
            session,
            used_at: Instant::now(),
            is_claimed: false,
        };
        sessions.insert(handle.clone(), entry);
        Some(handle)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn expire(sessions: &mut HashMap<String, Entry>) {
    sessions.retain(|_, entry| entry.used_at.elapsed() < SESSION_LIFETIME);
}
