//! The circuit breaker of a server, and the set of all breakers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::config::BreakerConfig;
use super::window::Window;
use crate::policy::globs::server_of;
use crate::policy::refusal::{Refusal, RefusalKind};

/// The outcome of a call for the health of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The server responded, also with an error of the tool.
    Answered,
    /// The server could not be reached, broke the protocol or timed out.
    Failed,
}

/// The state of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// Calls pass.
    Closed,
    /// Calls are refused.
    Open,
    /// Only probes pass.
    HalfOpen,
}

/// The breakers of all servers.
#[derive(Debug)]
pub struct Breakers {
    config: Arc<BreakerConfig>,
    /// Filled at a server's first call. Only configured servers have an entry, so a script cannot
    /// grow this map.
    circuits: Mutex<HashMap<String, Arc<Mutex<Circuit>>>>,
}

impl Breakers {
    /// The share of failed calls that opens a breaker; `None` if they are switched off.
    pub fn opens_at(&self) -> Option<f64> {
        self.config.enabled.then(|| self.config.failed.get())
    }

    /// Closed breakers with one configuration.
    pub fn new(config: &BreakerConfig) -> Self {
        Self {
            config: Arc::new(config.clone()),
            circuits: Mutex::new(HashMap::new()),
        }
    }

    /// Checks the breaker before a call queues, without counting the call.
    ///
    /// # Errors
    /// The breaker is open.
    pub fn check(&self, id: &str) -> Result<(), Refusal> {
        let circuit = self.circuit(server_of(id));
        let circuit = lock(&circuit);
        match circuit.open_until(Instant::now()) {
            Some(left) => Err(open_refusal(id, left)),
            None => Ok(()),
        }
    }

    /// Admits a call at the moment it is sent. The ticket reports its outcome.
    ///
    /// # Errors
    /// The breaker is open, or half open with all probes in flight.
    pub fn admit(&self, id: &str) -> Result<Ticket, Refusal> {
        let circuit = self.circuit(server_of(id));
        let now = Instant::now();
        let round = lock(&circuit)
            .admit(&self.config, now)
            .map_err(|left| open_refusal(id, left))?;
        Ok(Ticket {
            config: self.config.clone(),
            circuit,
            round,
            sent_at: now,
            open: true,
        })
    }

    /// The state of a server's breaker.
    pub fn state(&self, server: &str) -> BreakerState {
        let circuit = self.circuit(server);
        let circuit = lock(&circuit);
        match circuit.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { .. } if circuit.open_until(Instant::now()).is_some() => {
                BreakerState::Open
            }
            Phase::Open { .. } | Phase::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    /// Closes the breaker of a server that was started anew, and forgets the calls that it counted.
    pub fn reset(&self, server: &str) {
        // The outcomes of calls under way are counted by the circuit that admitted them.
        lock(&self.circuits).remove(server);
    }

    fn circuit(&self, server: &str) -> Arc<Mutex<Circuit>> {
        let mut circuits = lock(&self.circuits);
        if let Some(circuit) = circuits.get(server) {
            return circuit.clone();
        }
        let circuit = Arc::new(Mutex::new(Circuit::new(&self.config)));
        circuits.insert(server.to_owned(), circuit.clone());
        circuit
    }
}

fn open_refusal(id: &str, left: Duration) -> Refusal {
    let server = server_of(id);
    Refusal::transient(
        RefusalKind::Tool,
        format!(
            "`{id}` was not called: server `{server}` keeps failing and gets no calls for a while; try again later or use another server"
        ),
        Some(left),
    )
}

/// An admitted call. Dropped without [`Ticket::close`], as when a run is cancelled, it does not count.
#[derive(Debug)]
#[must_use = "a breaker counts only tickets that are closed"]
pub struct Ticket {
    config: Arc<BreakerConfig>,
    circuit: Arc<Mutex<Circuit>>,
    round: u64,
    sent_at: Instant,
    open: bool,
}

impl Ticket {
    /// Reports the outcome of the call. Its duration counts from the admission.
    pub fn close(mut self, outcome: Outcome) {
        self.open = false;
        let now = Instant::now();
        let took = now.saturating_duration_since(self.sent_at);
        let slow = self.config.slow_call.is_some_and(|slow| took >= slow.get());
        lock(&self.circuit).end(
            &self.config,
            self.round,
            outcome == Outcome::Failed,
            slow,
            now,
        );
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.open {
            lock(&self.circuit).forget(self.round);
        }
    }
}

#[derive(Debug)]
struct Circuit {
    phase: Phase,
    window: Window,
    /// Counts phase changes, so that a call of one phase is not mistaken for a probe of the next.
    round: u64,
    /// How often it opened since it was last closed; decides how long it stays open.
    opened: u32,
}

#[derive(Debug)]
enum Phase {
    Closed,
    Open { until: Instant },
    HalfOpen { running: u32, succeeded: u32 },
}

impl Circuit {
    fn new(config: &BreakerConfig) -> Self {
        Self {
            phase: Phase::Closed,
            window: Window::new(config.window.get(), Instant::now()),
            round: 0,
            opened: 0,
        }
    }

    fn open_until(&self, now: Instant) -> Option<Duration> {
        match self.phase {
            Phase::Open { until } if until > now => Some(until - now),
            _ => None,
        }
    }

    /// The round of the admitted call, or how long calls are refused.
    fn admit(&mut self, config: &BreakerConfig, now: Instant) -> Result<u64, Duration> {
        if let Some(left) = self.open_until(now) {
            return Err(left);
        }
        if let Phase::Open { .. } = self.phase {
            self.enter(Phase::HalfOpen {
                running: 0,
                succeeded: 0,
            });
        }
        if let Phase::HalfOpen { running, succeeded } = &mut self.phase {
            if *running + *succeeded >= config.probes.get() {
                // The probes are in flight; how long they take is unknown.
                return Err(config.open_for.get());
            }
            *running += 1;
        }
        Ok(self.round)
    }

    fn end(&mut self, config: &BreakerConfig, round: u64, failed: bool, slow: bool, now: Instant) {
        if round != self.round {
            return;
        }
        match &mut self.phase {
            Phase::Closed => {
                self.window.record(failed, slow, now);
                let counts = self.window.counts(now);
                let decided = config.enabled
                    && counts.calls >= config.min_calls.get()
                    && (config.failed.reached(counts.failed, counts.calls)
                        || config.slow.reached(counts.slow, counts.calls));
                if decided {
                    self.open(config, now);
                }
            }
            Phase::HalfOpen { running, succeeded } => {
                *running = running.saturating_sub(1);
                if failed || slow {
                    self.open(config, now);
                } else {
                    *succeeded += 1;
                    if *succeeded >= config.probes.get() {
                        self.opened = 0;
                        self.window = Window::new(config.window.get(), now);
                        self.enter(Phase::Closed);
                    }
                }
            }
            Phase::Open { .. } => {}
        }
    }

    /// A probe was cancelled: another may take its place.
    fn forget(&mut self, round: u64) {
        if let Phase::HalfOpen { running, .. } = &mut self.phase
            && round == self.round
        {
            *running = running.saturating_sub(1);
        }
    }

    fn open(&mut self, config: &BreakerConfig, now: Instant) {
        let factor = 1u32.checked_shl(self.opened.min(20)).unwrap_or(u32::MAX);
        let open_for = config
            .open_for
            .get()
            .saturating_mul(factor)
            .min(config.max_open_for.get().max(config.open_for.get()));
        self.opened = self.opened.saturating_add(1);
        self.enter(Phase::Open {
            until: now + open_for,
        });
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.round += 1;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "circuit_tests.rs"]
mod tests;
