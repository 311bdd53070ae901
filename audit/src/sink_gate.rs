//! Refuses calls while a sink that must get every event is away.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::AuditError;

/// Whether all sinks that must get every event take them. Cheap to clone; clones are the same.
#[derive(Debug, Clone, Default)]
pub struct SinkGate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Read by every call.
    is_closed: AtomicBool,
    /// The sinks that are away, and the events that wait for them.
    away: Mutex<BTreeMap<String, u64>>,
}

impl SinkGate {
    /// Whether a call may be sent.
    ///
    /// # Errors
    ///
    /// A sink with [`WhileAway::Block`](crate::WhileAway::Block) is away, and too many events wait for it.
    pub fn check(&self) -> Result<(), AuditError> {
        if !self.0.is_closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.away().first_key_value() {
            None => Ok(()),
            Some((sink, waiting)) => Err(AuditError::SinkAway {
                sink: sink.clone(),
                waiting: *waiting,
            }),
        }
    }

    /// A sink is away, and this many events wait for it. Returns whether it was not before.
    pub(crate) fn close(&self, sink: &str, waiting: u64) -> bool {
        let mut away = self.away();
        let is_new = away.insert(sink.to_owned(), waiting).is_none();
        self.0.is_closed.store(true, Ordering::Relaxed);
        is_new
    }

    /// A sink takes events. Returns whether it was away.
    pub(crate) fn open(&self, sink: &str) -> bool {
        if !self.0.is_closed.load(Ordering::Relaxed) {
            return false;
        }
        let mut away = self.away();
        let was_away = away.remove(sink).is_some();
        self.0.is_closed.store(!away.is_empty(), Ordering::Relaxed);
        was_away
    }

    fn away(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.away.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_refused_until_every_sink_is_back() {
        let gate = SinkGate::default();
        assert!(gate.check().is_ok() && !gate.open("a"));
        assert!(gate.close("a", 7) && !gate.close("a", 9) && gate.close("b", 1));
        let error = gate.check().unwrap_err().to_string();
        assert!(error.contains("`a`") && error.contains("9 wait"), "{error}");
        assert!(gate.open("a"));
        assert!(gate.check().is_err());
        assert!(gate.open("b"));
        assert!(gate.check().is_ok());
    }
}
