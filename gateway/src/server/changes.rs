//! Keeping the list of a server's tools current while the server changes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use tokio::time::Instant;

use super::connection::Connection;
use super::lifecycle::Server;
use super::tools;
use crate::registry::{ToolNews, ToolSet};

/// Several changes in a row are answered with one listing.
const CHANGE_SETTLES: Duration = Duration::from_millis(20);
/// A server that announces changes without changing anything is asked ever less often, until this.
const LONGEST_SETTLING: Duration = Duration::from_secs(5);
/// Changes that far apart are no storm.
const CALM: Duration = Duration::from_secs(10);
/// Callers wait for a new listing; one that hangs must not take them with it.
const LISTING_PATIENCE: Duration = Duration::from_secs(5);
/// News that nobody asks for is not kept for ever.
const MAX_NEWS: usize = 1000;

impl Server {
    pub(super) fn take_in(&self, listed: &[serde_json::Value]) {
        let tools = Arc::new(ToolSet::read(&self.config.name, listed, &self.config.tools));
        let before = self
            .tools
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(tools.clone());
        let news = match &before {
            // The first listing is no news to anyone, but an index has to know of it.
            None => Vec::new(),
            Some(before) => {
                let news = tools.news(before);
                if news.is_empty() {
                    return;
                }
                news
            }
        };
        for item in &news {
            tracing::info!(tool = %item.tool, change = ?item.change, "a server changed its tools");
        }
        self.tell(news);
        self.surroundings
            .generation
            .send_modify(|generation| *generation += 1);
    }

    fn tell(&self, news: Vec<ToolNews>) {
        let mut told = self
            .surroundings
            .news
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        told.extend(news);
        let too_old = told.len().saturating_sub(MAX_NEWS);
        told.drain(..too_old);
    }

    pub(super) async fn relist(&self, connection: &Connection) {
        let _listing = self.listing.lock().await;
        if !self.changed.stale.load(Ordering::Acquire) {
            return;
        }
        // Before the listing, not after: a change during it must not be forgotten.
        self.changed.stale.store(false, Ordering::Release);
        let unlisted = Unlisted(&self.changed.stale);
        let listing = tokio::time::timeout(LISTING_PATIENCE, tools::list(&connection.peer)).await;
        std::mem::forget(unlisted);
        match listing {
            Ok(Ok(listed)) => self.take_in(&listed),
            Ok(Err(error)) => {
                tracing::warn!(server = %self.config.name, %error, "tools could not be listed again");
            }
            Err(_) => {
                tracing::warn!(server = %self.config.name, "no answer to a new listing of tools");
            }
        }
    }

    /// Lists the tools again whenever the server says they changed, until the connection ends.
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
            // Without a session, changes are only told to those who listen.
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            subscription = connection.peer.listen(filter).await.ok();
        }
        // Holding the connection here would keep it alive for ever.
        let connection = Arc::downgrade(&connection);
        let (mut settling, mut listed) = (CHANGE_SETTLES, Instant::now());
        loop {
            let told = async {
                match &mut subscription {
                    Some(subscription) => match subscription.next().await {
                        Ok(Some(_)) => {}
                        Ok(None) | Err(_) => std::future::pending().await,
                    },
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.changed.told.notified() => {}
                () = told => self.changed.tell(),
                () = self.surroundings.shutdown.cancelled() => return,
                () = tokio::time::sleep(Duration::from_secs(5)) => {
                    match connection.upgrade() {
                        Some(connection) if !connection.closed() => continue,
                        _ => return,
                    }
                }
            }
            if listed.elapsed() > CALM {
                settling = CHANGE_SETTLES;
            }
            tokio::time::sleep(settling).await;
            let Some(connection) = connection.upgrade() else {
                return;
            };
            let before = self.known_tools();
            self.relist(&connection).await;
            listed = Instant::now();
            let is_same = match (before, self.known_tools()) {
                (Some(before), Some(now)) => now.news(&before).is_empty(),
                _ => false,
            };
            settling = if is_same {
                (settling * 2).min(LONGEST_SETTLING)
            } else {
                CHANGE_SETTLES
            };
        }
    }
}

/// A change that is being listed. Whoever waits for the listing may lose patience; dropped with it,
/// the change is there for the next.
struct Unlisted<'a>(&'a AtomicBool);

impl Drop for Unlisted<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
