//! What each session has done, for guards.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pml_guards::History;
use pml_protocol::SessionId;

/// Sessions that are remembered. The one that was silent longest is forgotten first.
const MAX_SESSIONS: usize = 1_024;

/// The histories of the sessions of a gateway.
#[derive(Debug, Default)]
pub(crate) struct SessionHistories(Mutex<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    /// With the number of the last use.
    histories: HashMap<SessionId, (u64, History)>,
    uses: u64,
}

impl SessionHistories {
    /// The history of a session, which is empty at first.
    pub fn of(&self, session: SessionId) -> History {
        // A map is changed in steps that are each whole.
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.uses += 1;
        let used = sessions.uses;
        if let Some((last, history)) = sessions.histories.get_mut(&session) {
            *last = used;
            return history.clone();
        }
        if sessions.histories.len() >= MAX_SESSIONS {
            let oldest = sessions.histories.iter().min_by_key(|(_, (last, _))| *last);
            if let Some(oldest) = oldest.map(|(session, _)| *session) {
                sessions.histories.remove(&oldest);
            }
        }
        let history = History::default();
        sessions.histories.insert(session, (used, history.clone()));
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_keeps_its_history_while_it_is_used() {
        let sessions = SessionHistories::default();
        let kept = SessionId::random();
        sessions.of(kept).succeeded("db:backup");
        let remembers = |session| format!("{:?}", sessions.of(session)).contains("db:backup");
        for _ in 0..MAX_SESSIONS + 10 {
            assert!(!remembers(SessionId::random()));
            assert!(remembers(kept));
        }
        for _ in 0..MAX_SESSIONS {
            sessions.of(SessionId::random());
        }
        assert!(!remembers(kept), "it was silent longest");
    }
}
