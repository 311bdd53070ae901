//! What the layers and the gateway note about one request, for the layer that observes it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::guard_note::GuardNote;

/// Verdicts of guards that are kept of one request.
const MAX_GUARD_NOTES: usize = 32;

/// Notes about one request.
#[derive(Debug, Default)]
pub struct CallNotes {
    approved: OnceLock<Instant>,
    attempts: AtomicU32,
    is_unanswered: AtomicBool,
    server_wait_micros: AtomicU64,
    is_cached: AtomicBool,
    is_asked: AtomicBool,
    guards: Mutex<Vec<GuardNote>>,
}

impl CallNotes {
    /// A person is asked about the request.
    pub fn mark_asked(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
    }

    /// Whether a person was asked.
    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// The request is approved, or needs no approval, and waits for a permit. The first note stands.
    pub fn mark_approved(&self) {
        let _ = self.approved.set(Instant::now());
    }

    /// When the request was approved; `None` if it was not.
    pub fn approved_at(&self) -> Option<Instant> {
        self.approved.get().copied()
    }

    /// An attempt is handed to the server. Until it is known how that ended, the request may have its effect
    /// without an answer.
    pub fn count_attempt(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        self.is_unanswered.store(true, Ordering::Relaxed);
    }

    /// The attempt was answered, or certainly did not reach the server.
    pub fn attempt_ended(&self) {
        self.is_unanswered.store(false, Ordering::Relaxed);
    }

    /// Whether the request was handed to the server and no answer has come: it may have had its effect.
    pub fn is_unanswered(&self) -> bool {
        self.is_unanswered.load(Ordering::Relaxed)
    }

    /// How often the request was handed to the server.
    pub fn attempts(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed)
    }

    /// An attempt waited this long for the limits of its server.
    pub fn add_server_wait(&self, waited: Duration) {
        let micros = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
        self.server_wait_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// How long all attempts waited for the limits of the server.
    pub fn server_wait(&self) -> Duration {
        Duration::from_micros(self.server_wait_micros.load(Ordering::Relaxed))
    }

    /// A guard has warned, repaired or blocked. Beyond 32 verdicts they are dropped.
    pub fn add_guard(&self, note: GuardNote) {
        let mut guards = self.guard_notes();
        if guards.len() < MAX_GUARD_NOTES {
            guards.push(note);
        }
    }

    /// What guards said about the request, in their order.
    pub fn guards(&self) -> Vec<GuardNote> {
        self.guard_notes().clone()
    }

    fn guard_notes(&self) -> MutexGuard<'_, Vec<GuardNote>> {
        // Notes are only appended.
        self.guards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cache has answered.
    pub fn mark_cached(&self) {
        self.is_cached.store(true, Ordering::Relaxed);
    }

    /// Whether the cache has answered.
    pub fn is_cached(&self) -> bool {
        self.is_cached.load(Ordering::Relaxed)
    }
}
