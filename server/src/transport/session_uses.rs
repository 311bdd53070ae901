//! Who owns each session over HTTP, and when it was last used.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use pml_protocol::Principal;
use rmcp::transport::streamable_http_server::session::SessionId;

/// A session without a request for this long may be closed to make room for another.
const EVICTABLE_AFTER: Duration = Duration::from_secs(60);

/// Whose each session is, and when it had its last request, for LRU eviction.
#[derive(Default)]
pub struct SessionUses(HashMap<SessionId, SessionUse>);

struct SessionUse {
    /// Who began it.
    owner: Principal,
    seen_at: Instant,
}

impl SessionUses {
    /// Notes who began a session. Later responses of the session change nothing.
    pub fn begin(&mut self, session: SessionId, owner: Principal) {
        self.0.entry(session).or_insert_with(|| SessionUse {
            owner,
            seen_at: Instant::now(),
        });
    }

    /// Notes a request of `principal`; returns whether the session is its own.
    pub fn note(&mut self, session: &SessionId, principal: &Principal) -> bool {
        match self.0.get_mut(session) {
            Some(known) if known.owner == *principal => {
                known.seen_at = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Forgets the sessions that are not `open` any more.
    pub fn retain(&mut self, open: &HashSet<SessionId>) {
        self.0.retain(|session, _| open.contains(session));
    }

    /// The least recently used of the `open` sessions, if it may be closed. A session without a
    /// request so far has only begun.
    pub fn evictable(&mut self, open: &HashSet<SessionId>) -> Option<SessionId> {
        self.retain(open);
        let (session, last) = self.0.iter().min_by_key(|(_, last)| last.seen_at)?;
        (last.seen_at.elapsed() > EVICTABLE_AFTER).then(|| session.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_session_makes_room() {
        let open: HashSet<SessionId> = ["a", "b", "c"].map(SessionId::from).into();
        let long_ago = Instant::now().checked_sub(EVICTABLE_AFTER * 2).unwrap();
        let mut uses = SessionUses::default();
        for session in ["a", "b", "c", "gone"] {
            uses.begin(session.into(), Principal::local());
        }
        assert_eq!(uses.evictable(&open), None, "all have only begun");
        assert_eq!(uses.0.len(), 3);
        uses.0.get_mut("b").unwrap().seen_at = long_ago;
        assert_eq!(uses.evictable(&open), Some("b".into()));
        assert!(uses.note(&"b".into(), &Principal::local()));
        assert_eq!(uses.evictable(&open), None);
    }

    #[test]
    fn a_session_is_used_by_its_owner_only() {
        let mut uses = SessionUses::default();
        let (owner, other) = (Principal::named("one"), Principal::named("other"));
        uses.begin("a".into(), owner.clone());
        assert!(uses.note(&"a".into(), &owner));
        assert!(!uses.note(&"a".into(), &other));
        assert!(!uses.note(&"b".into(), &owner), "it has not begun");
    }
}
