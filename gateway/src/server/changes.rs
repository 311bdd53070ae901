//! Keeps a server's tool list current while the server changes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::backoff;
use super::connection::Connection;
use super::lifecycle::Server;
use super::tools;
use crate::registry::ToolSet;

/// Debounce: several changes in a row cause one listing.
const DEBOUNCE: Duration = Duration::from_millis(20);
/// The debounce doubles, up to this, for a server that announces changes without any.
const MAX_DEBOUNCE: Duration = Duration::from_secs(5);
/// The debounce is reset when the last listing is older than this.
const CALM: Duration = Duration::from_secs(10);
/// Callers wait for a new listing, so a listing that hangs is given up after this.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);
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

/// Failed listings in a row, and when the next one may be tried.
#[derive(Debug, Default)]
struct Retry {
    failures: u32,
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
    fn listed(mut self) {
        *self.changed.retry() = Retry::default();
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
    pub(super) fn set_tools(&self, listed: &[serde_json::Value]) {
        let listed = self.context.secrets.hidden_values(listed);
        let tools = Arc::new(ToolSet::read(
            &self.config.name,
            &listed,
            &self.config.tools,
        ));
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
            for change in &changes {
                tracing::info!(tool = %change.tool, kind = ?change.kind, "a server changed its tools");
            }
            self.forget_cached_answers();
        }
        self.context
            .generation
            .send_modify(|generation| *generation += 1);
    }

    pub(super) async fn relist(&self, connection: &Connection) {
        let _listing = self.listing.lock().await;
        let Some(change) = self.changed.begin_listing() else {
            return;
        };
        let listing = tokio::time::timeout(LIST_TIMEOUT, tools::list(&connection.peer)).await;
        match listing {
            Ok(Ok(listed)) => {
                change.listed();
                self.set_tools(&listed);
            }
            Ok(Err(error)) => {
                let error = error.to_string();
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
        let stateless = !connection.info.protocol_version.has_initialize();
        let announces = connection
            .info
            .capabilities
            .tools
            .as_ref()
            .is_some_and(|tools| tools.list_changed == Some(true));
        let mut subscription = None;
        if stateless && announces {
            // Without a session, changes are only sent to subscribers.
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            subscription = connection.peer.listen(filter).await.ok();
        }
        // A strong reference would keep the connection open for ever.
        let connection = Arc::downgrade(&connection);
        let (mut debounce, mut listed) = (DEBOUNCE, Instant::now());
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
            if listed.elapsed() > CALM {
                debounce = DEBOUNCE;
            }
            tokio::time::sleep(debounce).await;
            let Some(connection) = connection.upgrade() else {
                return;
            };
            let before = self.known_tools();
            self.relist(&connection).await;
            listed = Instant::now();
            let is_same = match (before, self.known_tools()) {
                (Some(before), Some(now)) => now.changes_since(&before).is_empty(),
                _ => false,
            };
            debounce = if is_same {
                (debounce * 2).min(MAX_DEBOUNCE)
            } else {
                DEBOUNCE
            };
        }
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
