//! Replaces the process of a stdio server, or an open OpenAPI service, whose secrets have changed, and any
//! server that an operator restarts: new requests go to the new one, and the old one ends when its last
//! request is answered.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, InFlight};
use super::lifecycle::{Server, Unavailable};
use crate::config::Endpoint;
use crate::transport::StderrTail;

/// How often a process that is drained is looked at, and how long it may take: longer than any call.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);
const MAX_DRAIN: Duration = Duration::from_secs(3_600);
/// How often a request looks again for a connection with the current secrets, while they change.
const MAX_ROUNDS: usize = 4;
/// How often the leases of a server are looked at, if none is due sooner, and at most.
const LEASE_CHECK: Duration = Duration::from_secs(60);
const MIN_LEASE_CHECK: Duration = Duration::from_millis(200);

impl Server {
    /// A connection for one request, which it stays open for. Its process has the current values of
    /// the server's secrets.
    pub async fn lease(self: &Arc<Self>) -> Result<InFlight, Unavailable> {
        for _ in 0..MAX_ROUNDS {
            self.replace_outdated().await?;
            let connection = self.connection().await?;
            if let Some(leased) = self.begin_on(&connection) {
                return Ok(leased);
            }
        }
        Ok(self.connection().await?.begin())
    }

    /// Begins a request, unless the connection has been replaced meanwhile. A replaced one is drained:
    /// it may end at any time.
    fn begin_on(&self, connection: &Arc<Connection>) -> Option<InFlight> {
        self.with_live(|live| Arc::ptr_eq(live, connection).then(|| connection.begin()))
    }

    /// Starts a new process if a secret of the running one has changed.
    async fn replace_outdated(self: &Arc<Self>) -> Result<(), Unavailable> {
        if self.credentials.references().is_empty() {
            return Ok(());
        }
        let Some(live) = self.live().filter(|_| self.is_filled_at_start()) else {
            return Ok(());
        };
        let versions = self.credentials.versions().await;
        let versions = versions.map_err(|error| self.without_secret(error))?;
        if live.secret_versions == versions {
            return Ok(());
        }
        let _turn = self.replacing.lock().await;
        if !self.is_live(&live) {
            return Ok(());
        }
        let (pause, last) = {
            let history = self.history();
            (history.pause_left(), history.last_error.clone())
        };
        if let Some(error) = last.filter(|_| !pause.is_zero()) {
            let retry_after = Some(pause);
            return Err(Unavailable { error, retry_after });
        }
        tracing::info!(server = %self.config.name, "a secret has changed: the process is replaced");
        self.replace(live).await
    }

    /// Starts a new process in the place of the running one, also where its failures would have it wait.
    pub async fn restart(self: &Arc<Self>) -> Result<(), Unavailable> {
        let _turn = self.replacing.lock().await;
        self.history().forget_failures();
        match self.live() {
            Some(live) => self.replace(live).await,
            None => self.connection().await.map(drop),
        }
    }

    /// Opens a new connection in the place of `live`, which goes on if that fails.
    async fn replace(self: &Arc<Self>, live: Arc<Connection>) -> Result<(), Unavailable> {
        let began = Instant::now();
        let stderr = StderrTail::new(self.context.secrets.clone());
        let opened = self.open_in_time(&stderr).await;
        let replacement = opened.map_err(|error| {
            let error = error.hidden(&self.context.secrets);
            self.history().failed(error.clone());
            Unavailable {
                retry_after: error.is_transient().then(|| self.history().pause_left()),
                error,
            }
        })?;
        self.history().stderr = stderr;
        self.went_live(replacement, began.elapsed());
        tokio::spawn(drain(live, self.context.shutdown.clone()));
        Ok(())
    }

    /// Whether the values of secrets are put in when it is opened, and not with every request.
    fn is_filled_at_start(&self) -> bool {
        match &self.config.endpoint {
            Ok(Endpoint::Stdio(_) | Endpoint::OpenApi(_)) => true,
            Ok(Endpoint::Http(_) | Endpoint::Sse(_) | Endpoint::Functions(_)) | Err(_) => false,
        }
    }

    fn without_secret(&self, error: pml_credentials::SecretError) -> Unavailable {
        let error = crate::transport::StartError::Secret(error).hidden(&self.context.secrets);
        Unavailable {
            retry_after: error.is_transient().then_some(LEASE_CHECK),
            error,
        }
    }

    /// A server answered that a credential is not valid. Asks the sources of its secrets again; `true`
    /// if one has changed, so that the same request may succeed now.
    pub async fn credentials_rejected(self: &Arc<Self>, connection: &Connection) -> bool {
        !self.credentials.references().is_empty()
            && self.is_filled_at_start()
            && self.credentials.renew(&connection.secret_versions).await
    }

    /// Renews the leases of the server's secrets while `connection` uses them. A process whose secret
    /// could not be renewed is replaced before the lease ends.
    pub(super) async fn follow_leases(self: Arc<Self>, connection: Arc<Connection>) {
        let connection = Arc::downgrade(&connection);
        loop {
            let due = self.credentials.lease_due().await;
            let pause = due.map_or(LEASE_CHECK, |due| {
                due.saturating_duration_since(Instant::now())
                    .clamp(MIN_LEASE_CHECK, LEASE_CHECK)
            });
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.context.shutdown.cancelled() => return,
            }
            match connection.upgrade() {
                Some(connection) if !connection.closed() && self.is_live(&connection) => {}
                _ => return,
            }
            if due.is_none_or(|due| due > Instant::now()) {
                continue;
            }
            if let Err(unavailable) = self.replace_outdated().await {
                let error = unavailable.error;
                tracing::warn!(server = %self.config.name, %error, "a secret is not renewed");
            }
        }
    }
}

/// Ends a connection when it has no request any more.
async fn drain(connection: Arc<Connection>, shutdown: CancellationToken) {
    let began = Instant::now();
    while connection.busy()
        && !connection.closed()
        && began.elapsed() < MAX_DRAIN
        && !shutdown.is_cancelled()
    {
        tokio::time::sleep(DRAIN_INTERVAL).await;
    }
    connection.close().await;
}
