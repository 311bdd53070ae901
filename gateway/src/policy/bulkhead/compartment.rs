//! Compartments and their slots.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pml_guards::GuardName;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::config::BulkheadConfig;
use crate::policy::globs::{ToolGlob, server_of};
use crate::policy::refusal::{Refusal, RefusalKind};

/// Principals whose compartments are kept when they have no call.
const MAX_PRINCIPALS: usize = 10_000;

/// Keeps a busy server or group of tools from using the capacity of the others.
#[derive(Debug)]
pub struct Bulkhead {
    config: BulkheadConfig,
    tools: Vec<(ToolGlob, Arc<Compartment>)>,
    /// Filled at a server's first call. Only configured servers have an entry, so a script cannot
    /// grow this map.
    servers: Mutex<HashMap<String, Arc<Compartment>>>,
    /// Filled at a principal's first call. Those without a call are dropped when they are many.
    principals: Mutex<HashMap<String, Arc<Compartment>>>,
}

/// The slots of one call. Dropping them frees them for the next call.
#[derive(Debug)]
#[must_use = "dropping the slots frees them for the next call"]
pub struct Slots {
    _permits: Vec<OwnedSemaphorePermit>,
    waited: Duration,
}

impl Slots {
    /// Those of a call that takes none.
    pub fn none() -> Self {
        Self {
            _permits: Vec::new(),
            waited: Duration::ZERO,
        }
    }

    /// How long the call queued, which does not count towards its time limit.
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

#[derive(Debug)]
struct Compartment {
    /// For messages: `server ...` or `tools ...`.
    name: String,
    size: NonZeroU32,
    /// tokio's semaphore is fair: waiters get permits in the order of arrival.
    slots: Arc<Semaphore>,
    waiting: AtomicU32,
}

impl Compartment {
    fn new(name: String, size: NonZeroU32) -> Arc<Self> {
        let permits = usize::try_from(size.get())
            .unwrap_or(Semaphore::MAX_PERMITS)
            .min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            name,
            size,
            slots: Arc::new(Semaphore::new(permits)),
            waiting: AtomicU32::new(0),
        })
    }

    async fn enter(&self, id: &str, queue: u32) -> Result<OwnedSemaphorePermit, Refusal> {
        // Queued calls come first: `try_acquire` fails while another call waits for the last slot.
        if let Ok(permit) = self.slots.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let _place = Place::take(&self.waiting, queue).ok_or_else(|| self.full(id, queue))?;
        self.slots
            .clone()
            .acquire_owned()
            .await
            // The semaphore is never closed; if it were, the call would be refused.
            .map_err(|_| self.full(id, queue))
    }

    fn is_busy(&self) -> bool {
        self.slots.available_permits() < self.size.get() as usize
    }

    fn full(&self, id: &str, queue: u32) -> Refusal {
        Refusal::transient(
            RefusalKind::Calls,
            format!(
                "`{id}` was not called: {} already runs {} calls and {queue} more are waiting; make fewer calls at once or try again later",
                self.name, self.size
            ),
            None,
        )
        .of(GuardName::Concurrency)
    }
}

/// A place in the queue. Dropping it, also when the call is cancelled, frees it.
struct Place<'a>(&'a AtomicU32);

impl<'a> Place<'a> {
    fn take(waiting: &'a AtomicU32, queue: u32) -> Option<Self> {
        waiting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                (n < queue).then_some(n + 1)
            })
            .ok()
            .map(|_| Self(waiting))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Bulkhead {
    /// Empty compartments with the sizes of a configuration.
    pub fn new(config: &BulkheadConfig) -> Self {
        Self {
            config: config.clone(),
            tools: config
                .tools
                .iter()
                .map(|(glob, size)| {
                    let compartment = Compartment::new(format!("tools `{glob}`"), *size);
                    (glob.clone(), compartment)
                })
                .collect(),
            servers: Mutex::new(HashMap::new()),
            principals: Mutex::default(),
        }
    }

    /// Waits until the call may be sent.
    ///
    /// # Errors
    /// A queue is full.
    pub async fn enter(&self, id: &str) -> Result<Slots, Refusal> {
        self.enter_for(None, id).await
    }

    /// [`Bulkhead::enter`] for a call of a principal.
    ///
    /// # Errors
    /// A queue is full.
    pub async fn enter_for(&self, principal: Option<&str>, id: &str) -> Result<Slots, Refusal> {
        let start = Instant::now();
        let mut permits = Vec::with_capacity(1);
        if let Some(compartment) = principal.and_then(|principal| self.principal(principal)) {
            permits.push(compartment.enter(id, self.config.queue).await?);
        }
        for (glob, compartment) in &self.tools {
            if glob.matches(id) {
                permits.push(compartment.enter(id, self.config.queue).await?);
            }
        }
        let server = self.server(server_of(id));
        permits.push(server.enter(id, self.config.queue).await?);
        Ok(Slots {
            _permits: permits,
            waited: start.elapsed(),
        })
    }

    /// The compartments of a tool and their sizes, in the order in which a call enters them.
    pub fn sizes(&self, id: &str) -> Vec<(String, u32)> {
        let tools = self.tools.iter().filter(|(glob, _)| glob.matches(id));
        let tools =
            tools.map(|(_, compartment)| (compartment.name.clone(), compartment.size.get()));
        let server = server_of(id);
        let size = self.config.servers.get(server).copied();
        let size = size.unwrap_or(self.config.per_server).get();
        tools
            .chain([(format!("server `{server}`"), size)])
            .collect()
    }

    /// The calls at once of a principal, if they are limited.
    pub fn size_of_principal(&self, principal: &str) -> Option<u32> {
        let size = self.config.principals.get(principal).copied();
        size.or(self.config.per_principal).map(NonZeroU32::get)
    }

    fn principal(&self, name: &str) -> Option<Arc<Compartment>> {
        let size = NonZeroU32::new(self.size_of_principal(name)?)?;
        let mut principals = self
            .principals
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if principals.len() >= MAX_PRINCIPALS {
            // One that nothing else holds has neither a call nor one that waits.
            principals.retain(|_, compartment| {
                Arc::strong_count(compartment) > 1 || compartment.is_busy()
            });
        }
        let new = || Compartment::new(format!("principal `{name}`"), size);
        Some(
            principals
                .entry(name.to_owned())
                .or_insert_with(new)
                .clone(),
        )
    }

    fn server(&self, name: &str) -> Arc<Compartment> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compartment) = servers.get(name) {
            return compartment.clone();
        }
        let size = self.config.servers.get(name).copied();
        let compartment = Compartment::new(
            format!("server `{name}`"),
            size.unwrap_or(self.config.per_server),
        );
        servers.insert(name.to_owned(), compartment.clone());
        compartment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex as StdMutex;
    use tokio::time::{sleep, timeout};

    fn bulkhead(json: serde_json::Value) -> Arc<Bulkhead> {
        Arc::new(Bulkhead::new(&serde_json::from_value(json).unwrap()))
    }

    /// Lets spawned tasks run up to their next await.
    async fn settle() {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_calls_run_than_there_are_slots() {
        let bulkhead = bulkhead(serde_json::json!({"perServer": 4}));
        let running = Arc::new(AtomicU32::new(0));
        let most = Arc::new(AtomicU32::new(0));
        let start = Instant::now();
        let calls: Vec<_> = (0..20)
            .map(|_| {
                let (bulkhead, running, most) = (bulkhead.clone(), running.clone(), most.clone());
                tokio::spawn(async move {
                    let _slots = bulkhead.enter("api:slow").await.unwrap();
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    sleep(Duration::from_millis(100)).await;
                    running.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        for call in calls {
            call.await.unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), 4);
        assert_eq!(start.elapsed(), Duration::from_millis(500));
    }

    #[tokio::test(start_paused = true)]
    async fn a_principal_does_not_take_the_slots_of_another() {
        let bulkhead = bulkhead(serde_json::json!({
            "perPrincipal": 1, "principals": { "ci": 2 }, "queue": 0
        }));
        let _held = [
            bulkhead.enter_for(Some("ci"), "a:x").await.unwrap(),
            bulkhead.enter_for(Some("ci"), "b:x").await.unwrap(),
            bulkhead.enter_for(Some("eve"), "a:x").await.unwrap(),
        ];
        for principal in ["ci", "eve"] {
            let refused = bulkhead
                .enter_for(Some(principal), "c:x")
                .await
                .unwrap_err();
            assert!(
                refused
                    .message
                    .contains(&format!("principal `{principal}`")),
                "{refused}"
            );
            assert_eq!(refused.guard, Some(GuardName::Concurrency));
        }
        drop(bulkhead.enter_for(Some("acme/ci"), "a:x").await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stuck_server_does_not_take_the_slots_of_another() {
        let bulkhead = bulkhead(serde_json::json!({"perServer": 1}));
        let _stuck = bulkhead.enter("stuck:x").await.unwrap();
        assert!(
            timeout(Duration::from_secs(1), bulkhead.enter("stuck:x"))
                .await
                .is_err()
        );
        drop(bulkhead.enter("other:x").await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_calls_are_admitted_in_the_order_they_came() {
        let bulkhead = bulkhead(serde_json::json!({"servers": {"api": 1}}));
        let first = bulkhead.enter("api:x").await.unwrap();
        let order = Arc::new(StdMutex::new(Vec::new()));
        let mut calls = Vec::new();
        for n in 0..10 {
            let (bulkhead, order) = (bulkhead.clone(), order.clone());
            calls.push(tokio::spawn(async move {
                let _slots = bulkhead.enter("api:x").await.unwrap();
                order.lock().unwrap().push(n);
            }));
            settle().await;
        }
        drop(first);
        for call in calls {
            call.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn a_calls_own_time_limit_does_not_run_while_it_waits() {
        let bulkhead = bulkhead(serde_json::json!({"perServer": 1}));
        let calls: Vec<_> = (0..10)
            .map(|_| {
                let bulkhead = bulkhead.clone();
                tokio::spawn(async move {
                    let slots = bulkhead.enter("api:slow").await.unwrap();
                    let own = timeout(
                        Duration::from_millis(150),
                        sleep(Duration::from_millis(100)),
                    );
                    own.await.map(|()| slots.waited())
                })
            })
            .collect();
        let mut longest = Duration::ZERO;
        for call in calls {
            longest = longest.max(
                call.await
                    .unwrap()
                    .expect("the call ran into its time limit"),
            );
        }
        assert_eq!(longest, Duration::from_millis(900));
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_of_tools_is_limited_across_servers() {
        let bulkhead = bulkhead(serde_json::json!({"tools": {"*:write_*": 1}}));
        let _writing = bulkhead.enter("a:write_file").await.unwrap();
        assert!(
            timeout(Duration::from_secs(1), bulkhead.enter("b:write_row"))
                .await
                .is_err()
        );
        drop(bulkhead.enter("b:read_row").await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_group_holds_no_slot_of_the_server() {
        let bulkhead = bulkhead(serde_json::json!({"perServer": 2, "tools": {"a:write": 1}}));
        let _writing = bulkhead.enter("a:write").await.unwrap();
        let waiting = tokio::spawn({
            let bulkhead = bulkhead.clone();
            async move { bulkhead.enter("a:write").await.map(drop) }
        });
        settle().await;
        let read = timeout(Duration::from_secs(1), bulkhead.enter("a:read")).await;
        assert!(read.is_ok(), "the waiting write holds a slot");
        waiting.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_to_a_full_queue_is_refused_and_says_where() {
        let bulkhead = bulkhead(serde_json::json!({"perServer": 1, "queue": 0}));
        let running = bulkhead.enter("api:x").await.unwrap();
        let refusal = bulkhead.enter("api:x").await.unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Calls);
        assert!(refusal.retryable);
        assert!(
            refusal.message.contains("server `api`"),
            "{}",
            refusal.message
        );
        drop(running);
        assert!(bulkhead.enter("api:x").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_gives_up_waiting_frees_its_place_in_the_queue() {
        let bulkhead = bulkhead(serde_json::json!({"perServer": 1, "queue": 1}));
        let _running = bulkhead.enter("api:x").await.unwrap();
        for _ in 0..5 {
            let gave_up = timeout(Duration::from_millis(10), bulkhead.enter("api:x")).await;
            assert!(gave_up.is_err(), "refused instead of queued");
        }
    }
}
