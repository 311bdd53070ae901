//! The sessions of clients that speak a revision of MCP without sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_protocol::Principal;

use crate::client_session::ClientSession;

/// How many sessions are kept; the least recently used one makes room (LRU).
const MAX_SESSIONS: usize = 64;
const SESSION_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Sessions by client name. In the revision of 2026-07-28 requests have no session, so stored values
/// would be lost; here requests with the same [`ClientName`] share one. Sessions of different
/// principals (tokens) are never shared; among the requests of one principal the name keeps sessions
/// apart and is not a security boundary.
#[derive(Default)]
pub struct StatelessClients(Mutex<HashMap<ClientName, Entry>>);

/// What tells clients without a session apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClientName {
    /// Whose token the request has.
    pub principal: Principal,
    /// The name in the client's `clientInfo`.
    pub program: String,
    /// `pml/session` in `_meta`, for a program that is several clients.
    pub session: Option<String>,
}

struct Entry {
    session: Arc<ClientSession>,
    used_at: Instant,
}

impl StatelessClients {
    /// The session of a client; `new` makes it if there is none.
    pub fn session(
        &self,
        name: &ClientName,
        new: impl FnOnce() -> ClientSession,
    ) -> Arc<ClientSession> {
        let mut sessions = self.lock();
        let now = Instant::now();
        sessions.retain(|_, entry| now - entry.used_at < SESSION_LIFETIME);
        if let Some(entry) = sessions.get_mut(name) {
            entry.used_at = now;
            return entry.session.clone();
        }
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, entry)| entry.used_at);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                sessions.remove(&oldest);
            }
        }
        let session = Arc::new(new());
        let entry = Entry {
            session: session.clone(),
            used_at: now,
        };
        sessions.insert(name.clone(), entry);
        session
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClientName, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
