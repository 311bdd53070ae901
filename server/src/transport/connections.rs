//! The open connections of the HTTP server, bounded so that workers and MCP servers keep file
//! descriptors.
//!
//! Connections without an authenticated request so far have a small share of their own. A new
//! connection makes room there by closing the oldest one, of the address that has the most. So
//! strangers close each other's connections, and never that of a client with a token.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// A connection without an authenticated request is not closed earlier, so that a client can send
/// its first request however many others connect meanwhile.
const MIN_AGE: Duration = Duration::from_millis(20);

/// How many connections may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections without an authenticated request so far.
    pub unauthenticated: usize,
    /// Connections with one.
    pub authenticated: usize,
    /// Connections with one, of one address.
    pub per_address: usize,
}

impl ConnectionLimits {
    /// A quarter of the file descriptors that the process may have, and 1,024 at most.
    pub fn for_descriptors(descriptors: usize) -> Self {
        let total = (descriptors / 4).clamp(16, 1_024);
        let unauthenticated = total / 4;
        let authenticated = total - unauthenticated;
        Self {
            unauthenticated,
            authenticated,
            per_address: authenticated / 4 * 3,
        }
    }
}

/// All open connections.
#[derive(Debug)]
pub struct Connections {
    limits: ConnectionLimits,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    open: HashMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    /// `None` for a Unix socket, whose peers are of one user.
    address: Option<IpAddr>,
    opened_at: Instant,
    state: State,
    evicted: CancellationToken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unauthenticated,
    Idle(Instant),
    Busy,
}

/// One open connection. Dropping it frees its place.
#[derive(Debug)]
pub struct Connection {
    all: Arc<Connections>,
    id: u64,
    evicted: CancellationToken,
}

impl Connections {
    pub fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            table: Mutex::default(),
        })
    }

    /// Adds a connection. If there are too many unauthenticated ones, one of them is closed; the
    /// error is how long to wait before one may be.
    pub fn open(self: &Arc<Self>, address: Option<IpAddr>) -> Result<Connection, Duration> {
        let address = address.map(network_of);
        let mut table = self.lock();
        let now = Instant::now();
        if table.count(|entry| entry.state == State::Unauthenticated) >= self.limits.unauthenticated
            && let Some((id, opened_at)) = table.oldest_of_the_most()
        {
            let age = now - opened_at;
            if age < MIN_AGE {
                return Err(MIN_AGE - age);
            }
            table.evict(id);
        }
        let id = table.next;
        table.next += 1;
        let evicted = CancellationToken::new();
        let entry = Entry {
            address,
            opened_at: now,
            state: State::Unauthenticated,
            evicted: evicted.clone(),
        };
        table.open.insert(id, entry);
        Ok(Connection {
            all: self.clone(),
            id,
            evicted,
        })
    }

    /// Closes the unauthenticated connections: the process has no file descriptor left.
    pub fn evict_unauthenticated(&self) {
        let mut table = self.lock();
        table.open.retain(|_, entry| {
            let is_kept = entry.state != State::Unauthenticated;
            if !is_kept {
                entry.evicted.cancel();
            }
            is_kept
        });
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn count(&self, is_counted: impl Fn(&Entry) -> bool) -> usize {
        self.open.values().filter(|entry| is_counted(entry)).count()
    }

    /// The oldest unauthenticated connection of the address that has the most of them.
    fn oldest_of_the_most(&self) -> Option<(u64, Instant)> {
        let mut by_address: HashMap<Option<IpAddr>, (usize, Instant, u64)> = HashMap::new();
        for (id, entry) in &self.open {
            if entry.state != State::Unauthenticated {
                continue;
            }
            let group = by_address
                .entry(entry.address)
                .or_insert((0, entry.opened_at, *id));
            group.0 += 1;
            if entry.opened_at < group.1 {
                (group.1, group.2) = (entry.opened_at, *id);
            }
        }
        let most = by_address.into_values().max_by_key(|group| group.0)?;
        Some((most.2, most.1))
    }

    /// The connection that has been idle longest, of those that `is_candidate` accepts.
    fn longest_idle(&self, is_candidate: impl Fn(&Entry) -> bool) -> Option<u64> {
        let idle = self
            .open
            .iter()
            .filter_map(|(id, entry)| match entry.state {
                State::Idle(since) if is_candidate(entry) => Some((since, *id)),
                _ => None,
            });
        idle.min().map(|(_, id)| id)
    }

    fn evict(&mut self, id: u64) {
        if let Some(entry) = self.open.remove(&id) {
            entry.evicted.cancel();
        }
    }
}

impl Connection {
    /// Notes an authenticated request, which lasts until the guard is dropped. For a connection that
    /// had none before, one that is idle makes room if there are too many; `None` if all are busy.
    pub fn begin_request(self: &Arc<Self>) -> Option<ActiveRequest> {
        let mut table = self.all.lock();
        let entry = table.open.get(&self.id)?;
        if entry.state == State::Unauthenticated {
            let (limits, address) = (self.all.limits, entry.address);
            let is_authenticated = |entry: &Entry| entry.state != State::Unauthenticated;
            let is_of_address = |entry: &Entry| address.is_some() && entry.address == address;
            let of_address = table.count(|entry| is_authenticated(entry) && is_of_address(entry));
            if of_address >= limits.per_address {
                let idle = table.longest_idle(is_of_address)?;
                table.evict(idle);
            } else if table.count(is_authenticated) >= limits.authenticated {
                let idle = table.longest_idle(|_| true)?;
                table.evict(idle);
            }
        }
        table.open.get_mut(&self.id)?.state = State::Busy;
        Some(ActiveRequest(self.clone()))
    }

    /// Whether the connection had an authenticated request.
    pub fn is_authenticated(&self) -> bool {
        let table = self.all.lock();
        let entry = table.open.get(&self.id);
        entry.is_some_and(|entry| entry.state != State::Unauthenticated)
    }

    /// Returns when the connection has to make room for another one.
    pub async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.lock().open.remove(&self.id);
    }
}

/// An authenticated request whose response is not written yet.
#[derive(Debug)]
pub struct ActiveRequest(Arc<Connection>);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        if let Some(entry) = self.0.all.lock().open.get_mut(&self.0.id) {
            entry.state = State::Idle(Instant::now());
        }
    }
}

/// What counts as one address: a single host often has a whole /64 of IPv6.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(network.into())
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// How many file descriptors this process may open: the soft limit, as Linux shows it.
pub fn descriptor_limit() -> usize {
    const USUAL: usize = 1_024;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    match line.and_then(|line| line.split_whitespace().next()) {
        Some("unlimited") => usize::MAX,
        Some(soft) => soft.parse().unwrap_or(USUAL),
        None => USUAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        unauthenticated: 3,
        authenticated: 4,
        per_address: 3,
    };

    fn address(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, last]))
    }

    /// Opens a connection and waits as long as it takes.
    fn open(all: &Arc<Connections>, address: Option<IpAddr>) -> Arc<Connection> {
        loop {
            match all.open(address) {
                Ok(connection) => return Arc::new(connection),
                Err(time) => std::thread::sleep(time),
            }
        }
    }

    fn is_evicted(connection: &Connection) -> bool {
        connection.evicted.is_cancelled()
    }

    #[test]
    fn a_stranger_with_many_connections_loses_its_own_oldest() {
        let all = Connections::new(LIMITS);
        let client = open(&all, address(1));
        let stranger = [open(&all, address(2)), open(&all, address(2))];
        let _third = open(&all, address(2));
        assert!(is_evicted(&stranger[0]));
        assert!(!is_evicted(&stranger[1]) && !is_evicted(&client));
        let _fourth = open(&all, address(2));
        assert!(is_evicted(&stranger[1]) && !is_evicted(&client));
    }

    #[test]
    fn a_connection_has_time_for_its_first_request() {
        let all = Connections::new(LIMITS);
        let _open: Vec<_> = (0..3).map(|_| all.open(address(1)).unwrap()).collect();
        let wait = all.open(address(1)).unwrap_err();
        assert!(wait <= MIN_AGE);
    }

    #[test]
    fn strangers_close_no_connection_of_a_client() {
        let all = Connections::new(LIMITS);
        let client = open(&all, address(1));
        drop(client.begin_request().unwrap());
        for _ in 0..10 {
            open(&all, address(1));
        }
        let strangers: Vec<_> = (0..10).map(|_| open(&all, address(1))).collect();
        assert!(!is_evicted(&client));
        let closed = strangers.iter().filter(|one| is_evicted(one)).count();
        assert_eq!(closed, 7);
        all.evict_unauthenticated();
        assert!(strangers.iter().all(|one| is_evicted(one)));
        assert!(!is_evicted(&client) && client.is_authenticated());
    }

    #[test]
    fn an_idle_connection_makes_room_and_a_busy_one_does_not() {
        let all = Connections::new(LIMITS);
        let idle = open(&all, address(1));
        drop(idle.begin_request().unwrap());
        let busy = open(&all, address(1));
        let request = busy.begin_request().unwrap();
        let second = open(&all, address(1));
        let _second = second.begin_request().unwrap();
        // One address has its share; its idle connection makes room.
        let third = open(&all, address(1));
        let _third = third.begin_request().unwrap();
        assert!(is_evicted(&idle) && !is_evicted(&busy));
        let refused = open(&all, address(1));
        assert!(refused.begin_request().is_none(), "all of them are busy");
        // Another address still has room.
        let other = open(&all, address(2));
        assert!(other.begin_request().is_some());
        drop(request);
        assert!(refused.begin_request().is_some(), "one is idle now");
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let one: IpAddr = "2001:db8::1".parse().unwrap();
        let other: IpAddr = "2001:db8::ffff:2".parse().unwrap();
        assert_eq!(network_of(one), network_of(other));
        let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
        assert_eq!(Some(network_of(mapped)), address(1));
    }

    #[test]
    fn descriptors_are_left_for_workers_and_servers() {
        let limits = ConnectionLimits::for_descriptors(256);
        assert_eq!((limits.unauthenticated, limits.authenticated), (16, 48));
        let most = ConnectionLimits::for_descriptors(usize::MAX);
        assert_eq!(most.unauthenticated + most.authenticated, 1_024);
        assert!(descriptor_limit() > 0);
    }
}
