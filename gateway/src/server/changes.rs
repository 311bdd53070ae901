//! Keeps a server's tool list current while the server changes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pml_policy::lock::{Quarantine, ToolPin};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::backoff;
use super::connection::Connection;
use super::lifecycle::Server;
use crate::ToolId;
use crate::call::{CallError, CallErrorKind, unavailable_error};
use crate::registry::{Pins, ToolChange, ToolChangeKind, ToolSet};

/// Debounce: several changes in a row cause one listing.
const DEBOUNCE: Duration = Duration::from_millis(20);
/// The pause before the next listing doubles with every listing, up to this: a server may announce
/// changes without any, or change its tools all the time.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Listings without a pause: a server may well change its tools a few times in a row.
const FREE_LISTINGS: u32 = 4;
/// Tools that the log names after a change.
const LOGGED_TOOLS: usize = 5;
/// The pause is reset when the last listing is older than this.
const CALM: Duration = Duration::from_secs(10);
/// Callers wait for a new listing, so a listing that hangs is given up after this.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a call should wait that was refused because other tools are announced.
const STALE_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause before a failed listing is tried again.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(5);
/// How often a connection without news is checked for its end.
const CONNECTION_CHECK: Duration = Duration::from_secs(5);

/// Whether the tool list is older than the server's last `tools/list_changed`.
#[derive(Debug, Default)]
pub(crate) struct ToolsChanged {
    stale: AtomicBool,
    announced: Notify,
    retry: Mutex<Retry>,
}

/// Failed and recent listings, and when the next one may be tried.
#[derive(Debug, Default)]
struct Retry {
    failures: u32,
    recent: RecentListings,
    not_before: Option<Instant>,
}

impl ToolsChanged {
    /// The server announced a change.
    pub fn announce(&self) {
        self.mark_stale();
        self.announced.notify_one();
    }

    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    /// The tools are about to be listed for a new connection.
    pub fn reset(&self) {
        self.stale.store(false, Ordering::Release);
        *self.retry() = Retry::default();
    }

    /// Takes the change, if there is one and it may be listed now. Called before the listing, not
    /// after it: a change that is announced meanwhile must not be lost.
    fn begin_listing(&self) -> Option<PendingChange<'_>> {
        if self.retry_in()? > Duration::ZERO {
            return None;
        }
        self.stale.store(false, Ordering::Release);
        Some(PendingChange {
            changed: self,
            is_listed: false,
        })
    }

    /// How long until a change may be listed; `None` without a change.
    fn retry_in(&self) -> Option<Duration> {
        self.is_stale().then(|| {
            let not_before = self.retry().not_before;
            not_before.map_or(Duration::ZERO, |at| {
                at.saturating_duration_since(Instant::now())
            })
        })
    }

    fn mark_stale(&self) {
        self.stale.store(true, Ordering::Release);
    }

    fn retry(&self) -> std::sync::MutexGuard<'_, Retry> {
        self.retry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A change that is being listed. Dropped before [`PendingChange::listed`], as when its caller is
/// cancelled, it leaves the tools stale for the next caller.
struct PendingChange<'a> {
    changed: &'a ToolsChanged,
    is_listed: bool,
}

impl PendingChange<'_> {
    /// Until the pause is over, callers use this list, whatever the server announces.
    fn listed(mut self) {
        let mut retry = self.changed.retry();
        retry.failures = 0;
        let pause = retry.recent.count();
        retry.not_before = pause.map(|pause| Instant::now() + pause);
        drop(retry);
        self.is_listed = true;
    }

    /// The tools stay stale. Until the next try, callers use the old list and do not wait.
    fn failed(self) {
        let mut retry = self.changed.retry();
        retry.failures += 1;
        let pause = backoff::pause(retry.failures).min(MAX_RETRY_PAUSE);
        retry.not_before = Some(Instant::now() + pause);
    }
}

impl Drop for PendingChange<'_> {
    fn drop(&mut self) {
        if !self.is_listed {
            self.changed.mark_stale();
        }
    }
}

impl Server {
    /// Replaces the tool list. If it differs from the one before, answers of the old tools leave
    /// the cache and search indexes are notified.
    pub(super) async fn set_tools(&self, listed: Vec<serde_json::Value>) {
        let Some(tools) = self.read_tools(listed).await.map(Arc::new) else {
            tracing::error!(server = %self.config.name, "reading the list of tools panicked");
            return;
        };
        let before = self
            .tools
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(tools.clone());
        if let Some(before) = &before {
            let changes = tools.changes_since(before);
            if changes.is_empty() {
                return;
            }
            log_changes(&self.config.name, &changes);
            self.forget_cached_answers();
        }
        log_refused(&self.config.name, &tools);
        self.context
            .generation
            .send_modify(|generation| *generation += 1);
    }

    /// Reads the tools on another thread: each schema is measured. `None` if that panics.
    async fn read_tools(&self, mut listed: Vec<serde_json::Value>) -> Option<ToolSet> {
        let (name, filter) = (self.config.name.clone(), self.config.tools.clone());
        let secrets = self.context.secrets.clone();
        let pins = self.pins();
        let read = move || {
            listed.iter_mut().for_each(|tool| secrets.hide_value(tool));
            ToolSet::read(&name, &listed, &filter, pins.as_ref())
        };
        tokio::task::spawn_blocking(read).await.ok()
    }

    /// Checks directly before a call that its tool is as the lock file pins it.
    ///
    /// # Errors
    /// It is not, or the server has announced other tools that are not listed yet.
    pub async fn check_pin(self: &Arc<Self>, tool: &ToolId) -> Result<(), CallError> {
        if self.context.lock.is_none() {
            return Ok(());
        }
        let id = tool.as_str();
        let tools = self.current_tools().await;
        let tools = tools.map_err(|unavailable| unavailable_error(id, self, unavailable))?;
        if self.changed.is_stale() {
            let message = format!(
                "server `{}` has announced other tools, which could not be compared with pml.lock yet: call again later",
                self.config.name
            );
            let pause = Some(STALE_PAUSE);
            return Err(CallError::transient(
                CallErrorKind::Unavailable,
                id,
                message,
                pause,
            ));
        }
        match tools.get(tool.tool()).map(|tool| tool.quarantine) {
            Some(None) => Ok(()),
            Some(Some(quarantine)) => Err(CallError::quarantined(id, quarantine)),
            None => {
                let message = format!("`{id}` is gone: its server does not list it any more");
                Err(CallError::permanent(CallErrorKind::Unknown, id, message))
            }
        }
    }

    /// Why nothing of the server is used, although it runs.
    pub fn quarantine(&self) -> Option<Quarantine> {
        self.pins().and_then(|pins| pins.of_server())
    }

    /// What the server says of itself.
    pub fn instructions(&self) -> Option<String> {
        let instructions = self.instructions.lock();
        instructions.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_instructions(&self, instructions: Option<&str>) {
        let instructions = instructions.map(|text| self.context.secrets.hide(text).into_owned());
        *self
            .instructions
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = instructions;
    }

    /// A tool as it is pinned.
    pub fn pin(&self, tool: &str) -> Option<&ToolPin> {
        self.context.lock.as_ref()?.tool(&self.config.name, tool)
    }

    fn pins(&self) -> Option<Pins> {
        Some(Pins {
            lock: self.context.lock.clone()?,
            server: self.config.name.clone(),
            identity: self.config.identity.clone(),
            instructions: self.instructions(),
        })
    }

    pub(super) async fn relist(&self, connection: &Connection) {
        let _listing = self.listing.lock().await;
        let Some(change) = self.changed.begin_listing() else {
            return;
        };
        let listing = tokio::time::timeout(LIST_TIMEOUT, connection.source().list()).await;
        match listing {
            Ok(Ok(listed)) => {
                // A caller that is cancelled here leaves the change pending.
                self.set_tools(listed).await;
                change.listed();
            }
            Ok(Err(error)) => {
                let error = self.context.secrets.hide(&error);
                tracing::warn!(server = %self.config.name, %error, "tools could not be listed again");
                change.failed();
            }
            Err(_) => {
                tracing::warn!(server = %self.config.name, "no answer to a new listing of tools");
                change.failed();
            }
        }
    }

    /// Lists the tools again whenever the server announces a change, until the connection ends. A
    /// listing that failed is tried again.
    pub(super) async fn follow_changes(self: Arc<Self>, connection: Arc<Connection>) {
        let mut subscription = match connection.mcp() {
            Some(session) => session.tool_changes().await,
            None => None,
        };
        // A strong reference would keep the connection open for ever.
        let connection = Arc::downgrade(&connection);
        loop {
            let event = async {
                match &mut subscription {
                    Some(subscription) => match subscription.next().await {
                        Ok(Some(_)) => {}
                        Ok(None) | Err(_) => std::future::pending().await,
                    },
                    None => std::future::pending().await,
                }
            };
            let retry_in = self.changed.retry_in();
            tokio::select! {
                () = self.changed.announced.notified() => {}
                () = event => self.changed.announce(),
                () = self.context.shutdown.cancelled() => return,
                () = tokio::time::sleep(retry_in.unwrap_or(CONNECTION_CHECK)) => {
                    match connection.upgrade() {
                        Some(connection) if !connection.closed() => {
                            if retry_in.is_none() {
                                continue;
                            }
                        }
                        _ => return,
                    }
                }
            }
            tokio::time::sleep(DEBOUNCE).await;
            let Some(connection) = connection.upgrade() else {
                return;
            };
            self.relist(&connection).await;
        }
    }
}

/// How often the tools were listed without a calm time in between.
#[derive(Debug, Default)]
struct RecentListings {
    count: u32,
    last: Option<Instant>,
}

impl RecentListings {
    /// Counts a listing. Returns the pause before the next one.
    fn count(&mut self) -> Option<Duration> {
        if self.last.is_none_or(|last| last.elapsed() > CALM) {
            self.count = 0;
        }
        self.count = self.count.saturating_add(1);
        self.last = Some(Instant::now());
        let doublings = self.count.checked_sub(FREE_LISTINGS)?.min(16);
        Some((DEBOUNCE * 2_u32.pow(doublings)).min(MAX_PAUSE))
    }
}

/// Logs the changes of a listing in one line.
fn log_changes(server: &str, changes: &[ToolChange]) {
    let count = |kind| changes.iter().filter(|change| change.kind == kind).count();
    let first: Vec<&str> = changes
        .iter()
        .take(LOGGED_TOOLS)
        .map(|change| change.tool.tool())
        .map(|name| &name[..name.floor_char_boundary(64)])
        .collect();
    tracing::info!(
        %server,
        added = count(ToolChangeKind::Added),
        removed = count(ToolChangeKind::Removed),
        changed = count(ToolChangeKind::Changed),
        ?first,
        "a server changed its tools"
    );
}

/// Logs the tools that cannot be used in one line.
fn log_refused(server: &str, tools: &ToolSet) {
    let count = tools.refused().len();
    if let Some(first) = tools.refused().next() {
        tracing::warn!(%server, count, tool = ?first.tool, reason = %first.reason, "tools cannot be used; `pml doctor` names them");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failed_listing_leaves_the_tools_stale_and_is_tried_again_after_a_pause() {
        let changed = ToolsChanged::default();
        assert!(changed.begin_listing().is_none());
        changed.announce();
        changed.begin_listing().unwrap().failed();
        assert!(changed.is_stale());
        assert!(changed.begin_listing().is_none(), "callers do not wait");
        tokio::time::advance(changed.retry_in().unwrap()).await;
        changed.begin_listing().unwrap().listed();
        assert!(!changed.is_stale());
        assert_eq!(changed.retry_in(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_pause_between_tries_is_bounded() {
        let changed = ToolsChanged::default();
        changed.announce();
        for _ in 0..20 {
            tokio::time::advance(MAX_RETRY_PAUSE).await;
            changed.begin_listing().unwrap().failed();
        }
        assert!(changed.retry_in().unwrap() <= MAX_RETRY_PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_changes_its_tools_all_the_time_is_listed_less_and_less_often() {
        let (began, changed) = (Instant::now(), ToolsChanged::default());
        let mut listings = 0;
        while began.elapsed() < Duration::from_secs(60) {
            changed.announce();
            if let Some(change) = changed.begin_listing() {
                change.listed();
                listings += 1;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(listings < 30, "{listings}");
        changed.announce();
        tokio::time::sleep(CALM * 2).await;
        changed.begin_listing().unwrap().listed();
        changed.announce();
        assert!(changed.begin_listing().is_some(), "after a calm time");
    }

    #[test]
    fn a_change_whose_listing_is_cancelled_is_there_for_the_next_caller() {
        let changed = ToolsChanged::default();
        changed.announce();
        drop(changed.begin_listing());
        assert!(changed.begin_listing().is_some());
    }

    #[test]
    fn a_change_that_is_announced_during_a_listing_is_not_lost() {
        let changed = ToolsChanged::default();
        changed.announce();
        let listing = changed.begin_listing().unwrap();
        changed.announce();
        listing.listed();
        assert!(changed.is_stale());
    }
}
