//! What all clients share: the workers, the servers, the limits, and the end of it all.

use std::sync::Arc;
use std::time::Duration;

use pml_gateway::Gateway;
use pml_runtime::{Limits, Pool};
use pml_scrub::Scrubber;
use pml_search::Search;
use pml_session::{ClientOptions, Decision};
use pml_typegen::Shape;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::guests::{Guest, Registry};
use crate::notebook::Notebook;
use crate::work::{COLLECT, Full, Mark, Parked, Work};

/// How long the first question about tools waits for servers that are still starting.
const FIRST_LOOK: Duration = Duration::from_secs(3);
/// How long a server may take to start in the background.
const START_PATIENCE: Duration = Duration::from_secs(120);

pub struct HouseOptions {
    pub pool: Pool,
    pub gateway: Gateway,
    pub search: Search,
    pub scrubber: Arc<Scrubber>,
    /// The most that a run may use; a client can only ask for less.
    pub limits: Limits,
    pub tool_timeout: Option<Duration>,
    /// How long running calls have when the server ends.
    pub drain: Duration,
    pub notebook: Arc<dyn Notebook>,
}

/// Everything behind the door. Cheap to clone.
#[derive(Clone)]
pub struct House(Arc<Parts>);

struct Parts {
    pool: Pool,
    gateway: Gateway,
    search: Search,
    scrubber: Arc<Scrubber>,
    limits: Limits,
    tool_timeout: Option<Duration>,
    drain: Duration,
    notebook: Arc<dyn Notebook>,
    closing: CancellationToken,
    active: watch::Sender<usize>,
    looked: watch::Sender<bool>,
    registry: Registry,
    parked: Parked,
}

impl House {
    /// Must be called inside the event loop. Starts every server in the background.
    pub fn open(options: HouseOptions) -> Self {
        let house = Self(Arc::new(Parts {
            pool: options.pool,
            gateway: options.gateway,
            search: options.search,
            scrubber: options.scrubber,
            limits: options.limits,
            tool_timeout: options.tool_timeout,
            drain: options.drain,
            notebook: options.notebook,
            closing: CancellationToken::new(),
            active: watch::Sender::new(0),
            looked: watch::Sender::new(false),
            registry: Registry::default(),
            parked: Parked::default(),
        }));
        let first = house.clone();
        tokio::spawn(async move {
            let listing = first.gateway().list(None, START_PATIENCE).await;
            for (server, problem) in &listing.problems {
                tracing::warn!(%server, %problem, "a server cannot be used");
            }
            tracing::info!(tools = listing.tools.len(), "the servers are up");
            first.0.looked.send_replace(true);
            let notebook = first.0.notebook.clone();
            let kept = move || notebook.tools_listed(&listing.tools, &listing.problems);
            tokio::task::spawn_blocking(kept);
        });
        house
    }

    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    pub fn gateway(&self) -> &Gateway {
        &self.0.gateway
    }

    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(crate) fn notebook(&self) -> &dyn Notebook {
        &*self.0.notebook
    }

    /// Writes down what results looked like. Nobody waits for it.
    pub(crate) fn learn(&self, observed: Vec<(String, Shape)>) {
        if !observed.is_empty() {
            let notebook = self.0.notebook.clone();
            tokio::task::spawn_blocking(move || notebook.results_seen(observed));
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.0.registry
    }

    pub(crate) fn parked(&self) -> &Parked {
        &self.0.parked
    }

    /// Keeps work until its client comes back, or the time for that is up.
    pub(crate) fn park(
        &self,
        work: Work,
        answer: oneshot::Sender<Decision>,
        of: Mark,
        time: Duration,
    ) -> Result<String, Full> {
        let word = self.parked().park(work, answer, of, time)?;
        let (house, late) = (self.clone(), word.clone());
        tokio::spawn(async move {
            tokio::time::sleep(time + COLLECT).await;
            house.parked().forget(&late);
        });
        Ok(word)
    }

    pub(crate) fn new_guest(&self) -> Guest {
        Guest::new(ClientOptions {
            gateway: self.0.gateway.clone(),
            search: self.0.search.clone(),
            scrubber: self.0.scrubber.clone(),
            tool_timeout: self.0.tool_timeout,
        })
    }

    /// Returns when the servers have been asked for their tools, or after a moment.
    pub(crate) async fn first_look(&self) {
        let mut looked = self.0.looked.subscribe();
        let _ = tokio::time::timeout(FIRST_LOOK, looked.wait_for(|looked| *looked)).await;
    }

    /// Counts a call that is under way; `None` when no more are taken.
    pub(crate) fn enter(&self) -> Option<Stay> {
        if self.0.closing.is_cancelled() {
            return None;
        }
        self.0.active.send_modify(|active| *active += 1);
        Some(Stay(self.clone()))
    }

    /// How long calls that are under way have to end.
    pub(crate) fn drain(&self) -> Duration {
        self.0.drain
    }

    /// No more calls are taken from now on.
    pub fn close(&self) {
        self.0.closing.cancel();
        self.parked().forget_all();
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// Returns when the calls that were under way have ended, or their time is up.
    pub async fn drained(&self) {
        let mut active = self.0.active.subscribe();
        let quiet = active.wait_for(|active| *active == 0);
        if tokio::time::timeout(self.0.drain, quiet).await.is_err() {
            let left = *self.0.active.borrow();
            tracing::warn!(calls = left, "calls were cut off: their time to end was up");
        }
    }
}

/// A call that is under way.
pub(crate) struct Stay(House);

impl Drop for Stay {
    fn drop(&mut self) {
        self.0.0.active.send_modify(|active| *active -= 1);
    }
}
