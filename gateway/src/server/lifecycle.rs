//! Starts a server once for all callers that wait, and notices its end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use pml_credentials::Credentials;
use pml_policy::lock::LockFile;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::changes::ToolsChanged;
use super::connection::Connection;
use super::credentials::ServerCredentials;
use super::start_history::StartHistory;
use crate::config::ServerConfig;
use crate::policy::Policy;
use crate::registry::{SlowChecks, ToolSet};
use crate::secrets::Secrets;
use crate::source::{self, FunctionSources, Opening};
use crate::transport::{Login, StartError, StderrTail, TransportContext};

/// A pause up to this is waited for; a longer one is an error with `retry_after`.
const MAX_PAUSE_WAITED: Duration = Duration::from_secs(1);
/// A start that takes longer than this gives its permit back.
const START_PERMIT_TIME: Duration = Duration::from_secs(2);
const QUOTED_LINES: usize = 5;

/// State that all servers of a gateway share.
pub(crate) struct ServerContext {
    pub transports: TransportContext,
    pub secrets: Secrets,
    /// Resolves the references of the configuration.
    pub credentials: Credentials,
    /// What is pinned, if there is a lock file.
    pub lock: Option<Arc<LockFile>>,
    /// Opens the entries with functions.
    pub functions: Option<Arc<dyn FunctionSources>>,
    pub policy: Policy,
    /// Bounds how many servers start at the same time.
    pub start_permits: Semaphore,
    pub shutdown: CancellationToken,
    /// Counts up whenever the tools of any server changed.
    pub generation: watch::Sender<u64>,
}

/// Why there is no connection at the moment.
#[derive(Debug, Clone)]
pub(crate) struct Unavailable {
    pub error: StartError,
    pub retry_after: Option<Duration>,
}

type Starting = Shared<BoxFuture<'static, Result<Arc<Connection>, StartError>>>;

enum Slot {
    Idle,
    Starting(Starting),
    Live(Arc<Connection>),
}

pub(crate) struct Server {
    pub config: ServerConfig,
    pub(super) context: Arc<ServerContext>,
    /// The secrets that its entry names.
    pub credentials: ServerCredentials,
    login: Option<Login>,
    slot: Mutex<Slot>,
    /// Held while the process is replaced.
    pub(super) replacing: tokio::sync::Mutex<()>,
    pub(super) tools: RwLock<Option<Arc<ToolSet>>>,
    /// What the server said of itself when it was started last.
    pub(super) instructions: Mutex<Option<String>>,
    /// Held while the tools are being listed. Callers that wait for it find them current.
    pub(super) listing: tokio::sync::Mutex<()>,
    pub(super) changed: Arc<ToolsChanged>,
    /// The turns of calls whose arguments take long to check.
    pub slow_checks: SlowChecks,
    history: Mutex<StartHistory>,
    /// Counts how often the cached answers of this server were discarded.
    cache_epoch: AtomicU64,
}

impl Server {
    pub fn new(config: ServerConfig, context: Arc<ServerContext>, login: Option<Login>) -> Self {
        let credentials = ServerCredentials::new(context.credentials.clone(), &config.references);
        Self {
            config,
            context,
            credentials,
            login,
            slot: Mutex::new(Slot::Idle),
            replacing: tokio::sync::Mutex::new(()),
            tools: RwLock::new(None),
            instructions: Mutex::new(None),
            listing: tokio::sync::Mutex::new(()),
            changed: Arc::default(),
            slow_checks: SlowChecks::default(),
            history: Mutex::new(StartHistory::default()),
            cache_epoch: AtomicU64::new(0),
        }
    }

    /// The connection, started if there is none. All callers that wait share one start, and it
    /// goes on when they stop waiting.
    pub async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, Unavailable> {
        loop {
            let starting = match self.step() {
                Step::Ready(connection) => return Ok(connection),
                Step::Wait(starting) => starting,
                Step::Pause(pause, _) if pause <= MAX_PAUSE_WAITED => {
                    tokio::time::sleep(pause).await;
                    continue;
                }
                Step::Pause(pause, error) => {
                    return Err(Unavailable {
                        error,
                        retry_after: Some(pause),
                    });
                }
                Step::Refuse(error) => {
                    return Err(Unavailable {
                        error,
                        retry_after: None,
                    });
                }
            };
            return starting.await.map_err(|error| Unavailable {
                retry_after: error.is_transient().then(|| self.history().pause_left()),
                error,
            });
        }
    }

    /// The connection if there is one, without starting anything.
    pub fn live(&self) -> Option<Arc<Connection>> {
        match &*self.slot() {
            Slot::Live(connection) if !connection.closed() => Some(connection.clone()),
            _ => None,
        }
    }

    /// Whether this connection is the one that requests are sent to.
    pub(super) fn is_live(&self, connection: &Arc<Connection>) -> bool {
        self.with_live(|live| Arc::ptr_eq(live, connection).then_some(()))
            .is_some()
    }

    /// Runs `f` on the connection that requests are sent to. It is not replaced meanwhile.
    pub(super) fn with_live<T>(&self, f: impl FnOnce(&Arc<Connection>) -> Option<T>) -> Option<T> {
        match &*self.slot() {
            Slot::Live(connection) => f(connection),
            Slot::Idle | Slot::Starting(_) => None,
        }
    }

    /// The tools as last listed; `None` before the first start.
    pub fn known_tools(&self) -> Option<Arc<ToolSet>> {
        self.tools
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The current tools. Starts the server if it never ran, and lists the tools again after a
    /// change.
    pub async fn current_tools(self: &Arc<Self>) -> Result<Arc<ToolSet>, Unavailable> {
        if let Some(tools) = self.known_tools() {
            if !self.changed.is_stale() {
                return Ok(tools);
            }
            if let Some(connection) = self.live() {
                self.relist(&connection).await;
                return Ok(self.known_tools().unwrap_or(tools));
            }
        }
        self.connection().await?;
        Ok(self.known_tools().unwrap_or_default())
    }

    /// Drops `connection` after it was lost or found dead, and stops its process.
    pub fn retire(self: &Arc<Self>, connection: &Arc<Connection>, reason: &str) {
        let mut slot = self.slot();
        if !matches!(&*slot, Slot::Live(live) if Arc::ptr_eq(live, connection)) {
            return;
        }
        *slot = Slot::Idle;
        drop(slot);
        self.history().lost(
            reason.to_owned(),
            connection.age(),
            connection.has_answered(),
        );
        let connection = connection.clone();
        tokio::spawn(async move { connection.close().await });
    }

    /// Stops the server for good. The shutdown of the context keeps it from being started again.
    pub async fn stop(&self) {
        let slot = std::mem::replace(&mut *self.slot(), Slot::Idle);
        match slot {
            Slot::Idle => {}
            Slot::Live(connection) => connection.close().await,
            Slot::Starting(starting) => {
                if let Ok(connection) = starting.await {
                    connection.close().await;
                }
            }
        }
    }

    /// Discards the cached answers of this server.
    pub(super) fn forget_cached_answers(&self) {
        self.cache_epoch.fetch_add(1, Ordering::AcqRel);
        self.context.policy.cache.forget_server(&self.config.name);
    }

    /// Grows whenever cached answers are discarded. An answer to a call of an earlier epoch must not
    /// stay in the cache.
    pub fn cache_epoch(&self) -> u64 {
        self.cache_epoch.load(Ordering::Acquire)
    }

    pub fn history(&self) -> std::sync::MutexGuard<'_, StartHistory> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(self: &Arc<Self>) -> Step {
        let mut slot = self.slot();
        match &*slot {
            Slot::Live(connection) if !connection.closed() => {
                return Step::Ready(connection.clone());
            }
            Slot::Starting(starting) => return Step::Wait(starting.clone()),
            Slot::Live(lost) => {
                self.history().lost(
                    "the connection ended".to_owned(),
                    lost.age(),
                    lost.has_answered(),
                );
                let lost = lost.clone();
                tokio::spawn(async move { lost.close().await });
                *slot = Slot::Idle;
            }
            Slot::Idle => {}
        }
        if self.context.shutdown.is_cancelled() {
            return Step::Refuse(StartError::ShuttingDown);
        }
        if self.config.disabled {
            return Step::Refuse(StartError::Disabled);
        }
        let (pause, last) = {
            let history = self.history();
            (history.pause_left(), history.last_error.clone())
        };
        if !pause.is_zero() {
            let error = last.unwrap_or_else(|| StartError::Handshake {
                reason: "it keeps ending right after its start".to_owned(),
                stderr: Vec::new(),
            });
            return Step::Pause(pause, error);
        }
        let starting = self.clone().start().boxed().shared();
        tokio::spawn(starting.clone());
        *slot = Slot::Starting(starting.clone());
        Step::Wait(starting)
    }

    async fn start(self: Arc<Self>) -> Result<Arc<Connection>, StartError> {
        let began = Instant::now();
        let stderr = StderrTail::new(self.context.secrets.clone());
        self.history().stderr = stderr.clone();
        let opened = match self.open_in_time(&stderr).await {
            // The server itself may be fine.
            Err(StartError::Exited { killed: true, .. }) => self.open_in_time(&stderr).await,
            opened => opened,
        };
        let connection = match opened {
            Ok(connection) => connection,
            Err(error) => {
                let error = error.hidden(&self.context.secrets);
                self.history().failed(error.clone());
                *self.slot() = Slot::Idle;
                return Err(error);
            }
        };
        self.went_live(connection.clone(), began.elapsed());
        Ok(connection)
    }

    /// Sends requests to `connection` from now on.
    pub(super) fn went_live(self: &Arc<Self>, connection: Arc<Connection>, took: Duration) {
        self.history().started(took);
        // The new process may answer differently.
        self.forget_cached_answers();
        *self.slot() = Slot::Live(connection.clone());
        if !self.credentials.references().is_empty() {
            tokio::spawn(self.clone().follow_leases(connection.clone()));
        }
        tokio::spawn(self.clone().follow_changes(connection));
    }

    pub(super) async fn open_in_time(
        &self,
        stderr: &StderrTail,
    ) -> Result<Arc<Connection>, StartError> {
        let timeout = self.config.start_timeout;
        tokio::select! {
            opened = tokio::time::timeout(timeout, self.open(stderr)) => {
                opened.unwrap_or_else(|_| Err(StartError::TimedOut {
                    after: timeout,
                    stderr: stderr.last(QUOTED_LINES),
                }))
            }
            () = self.context.shutdown.cancelled() => Err(StartError::ShuttingDown),
        }
    }

    /// Opens the source and lists its tools.
    async fn open(&self, stderr: &StderrTail) -> Result<Arc<Connection>, StartError> {
        let endpoint = self
            .config
            .endpoint
            .as_ref()
            .map_err(|error| error.clone())?;
        let opening = async {
            // Before the values: a change in between is seen as one.
            let versions = self.credentials.versions().await?;
            let endpoint = self.credentials.fill(endpoint).await?;
            let opening = Opening {
                config: &self.config,
                context: &self.context,
                login: self.login.clone(),
                credentials: &self.credentials,
                changed: self.changed.clone(),
                stderr,
            };
            let source = source::open(&endpoint, opening).await?;
            self.changed.reset();
            self.set_instructions(source.info().instructions.as_deref());
            let listed = source.list().await.map_err(|reason| {
                handshake(&format!("its tools could not be listed: {reason}"), stderr)
            })?;
            self.set_tools(listed).await;
            Ok(Arc::new(Connection::new(source, versions)))
        };
        tokio::pin!(opening);
        {
            // A hanging server gives its permit back: a few of them would block all others.
            let _permit = self.context.start_permits.acquire().await;
            if let Ok(opened) = tokio::time::timeout(START_PERMIT_TIME, &mut opening).await {
                return opened;
            }
        }
        opening.await
    }
}

enum Step {
    Ready(Arc<Connection>),
    Wait(Starting),
    Pause(Duration, StartError),
    Refuse(StartError),
}

fn handshake(reason: &str, stderr: &StderrTail) -> StartError {
    StartError::Handshake {
        reason: reason.to_owned(),
        stderr: stderr.last(QUOTED_LINES),
    }
}
