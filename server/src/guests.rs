//! The clients that are connected, and those that come back without a connection.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_runtime::Party;
use pml_session::{Client, ClientOptions, Outlet};

/// Clients without a session of the protocol that are remembered.
const MAX_REMEMBERED: usize = 64;
const REMEMBERED_FOR: Duration = Duration::from_secs(60 * 60);

/// One client: its session, its share of the workers, and what it wants to hear.
pub struct Guest {
    pub client: Client,
    pub party: Party,
    log_level: AtomicU8,
}

/// The client has not asked for logs.
const SILENT: u8 = u8::MAX;

impl Guest {
    pub fn new(options: ClientOptions) -> Self {
        Self {
            client: Client::new(options),
            party: Party::new(),
            log_level: AtomicU8::new(SILENT),
        }
    }

    pub fn outlet(&self) -> &Outlet {
        self.client.outlet()
    }

    /// The lowest severity the client wants to hear of, as a number; none if it did not ask.
    pub fn log_level(&self) -> Option<u8> {
        let level = self.log_level.load(Ordering::Relaxed);
        (level != SILENT).then_some(level)
    }

    pub fn set_log_level(&self, level: u8) {
        self.log_level.store(level, Ordering::Relaxed);
    }
}

/// The revision of 2026-07-28 has no sessions: every request stands for itself. What a client
/// stored would be lost, so requests that bear the same name are taken as one client. Whoever may
/// connect at all is one principal (one token, or this machine), so the name keeps clients apart and
/// guards nothing.
#[derive(Default)]
pub struct Registry(Mutex<HashMap<Name, Remembered>>);

/// What a client without a session is told apart by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name {
    pub program: String,
    /// For a program that is several clients.
    pub session: Option<String>,
}

struct Remembered {
    guest: Arc<Guest>,
    seen: Instant,
}

impl Registry {
    pub fn guest(&self, name: &Name, new: impl FnOnce() -> Guest) -> Arc<Guest> {
        let mut known = self.lock();
        let now = Instant::now();
        known.retain(|_, remembered| now - remembered.seen < REMEMBERED_FOR);
        if let Some(remembered) = known.get_mut(name) {
            remembered.seen = now;
            return remembered.guest.clone();
        }
        if known.len() >= MAX_REMEMBERED {
            let oldest = known.iter().min_by_key(|(_, remembered)| remembered.seen);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                known.remove(&oldest);
            }
        }
        let guest = Arc::new(new());
        let remembered = Remembered {
            guest: guest.clone(),
            seen: now,
        };
        known.insert(name.clone(), remembered);
        guest
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Remembered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
