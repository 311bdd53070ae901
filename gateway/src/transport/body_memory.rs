//! The memory of what all servers send over HTTP, counted while it is read.
//!
//! There are three totals for the process, and every server has a fair share of each ([`FairBudget`]):
//! one server alone gets half, and what it holds leaves as much to the others.
//!
//! | total | what | reserved |
//! |---|---|---|
//! | 64 MiB | bodies and events of up to 256 KiB | while they are read |
//! | 128 MiB | longer ones | while they are read; 16 MiB each, or their `Content-Length` |
//! | 384 MiB | values parsed from texts over 128 KiB, as estimated | until the call has its result |
//!
//! What finds no room waits. A text that waits for more holds only bytes of a smaller kind, so texts
//! never wait for each other in a circle.

use std::sync::Arc;
use std::time::Duration;

use pml_fair_budget::{FairBudget, Reservation};

/// Shorter texts are not counted: the number of requests under way bounds them.
const UNCOUNTED: usize = 16 * 1024;
/// The longest text of the first total.
const SHORT: usize = 256 * 1024;
/// How long a text waits for room.
const MAX_WAIT: Duration = Duration::from_secs(20);

static SHORT_TEXTS: FairBudget<Arc<str>> = FairBudget::new(64 * 1024 * 1024);
static LONG_TEXTS: FairBudget<Arc<str>> = FairBudget::new(128 * 1024 * 1024);
static VALUES: FairBudget<Arc<str>> = FairBudget::new(384 * 1024 * 1024);

/// The memory of parsed values.
pub type ValueMemory = Reservation<Arc<str>>;

/// There was no room in time.
#[derive(Debug, thiserror::Error)]
#[error("the server's other answers hold its share of the memory: call again later")]
pub struct NoRoom;

/// What one server may hold.
#[derive(Debug, Clone)]
pub struct ServerShare(Arc<str>);

impl ServerShare {
    pub fn new(server: &str) -> Self {
        Self(server.into())
    }

    /// The memory of a text that is about to be read.
    pub fn text(&self) -> TextMemory {
        TextMemory {
            share: self.clone(),
            reserved: None,
        }
    }

    /// Reserves the memory of values before they are parsed.
    pub async fn values(&self, bytes: usize) -> Result<ValueMemory, NoRoom> {
        wait(VALUES.reserve(&self.0, bytes)).await
    }
}

/// The memory of a text that is being read.
#[derive(Debug)]
pub struct TextMemory {
    share: ServerShare,
    reserved: Option<Reservation<Arc<str>>>,
}

impl TextMemory {
    /// Waits until there is room for `bytes` of a text that has `most` at the end.
    ///
    /// # Errors
    /// There is none in time.
    pub async fn cover(&mut self, bytes: usize, most: usize) -> Result<(), NoRoom> {
        let covered = self.reserved.as_ref().map_or(UNCOUNTED, Reservation::bytes);
        if bytes <= covered {
            return Ok(());
        }
        let owner = &self.share.0;
        let reserved = match bytes <= SHORT {
            true => wait(SHORT_TEXTS.reserve(owner, SHORT.min(most).max(bytes))).await?,
            false => wait(LONG_TEXTS.reserve(owner, most.max(bytes))).await?,
        };
        self.reserved = Some(reserved);
        Ok(())
    }
}

async fn wait<T>(reserve: impl Future<Output = T>) -> Result<T, NoRoom> {
    tokio::time::timeout(MAX_WAIT, reserve)
        .await
        .map_err(|_| NoRoom)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: usize = 16 * 1024 * 1024;

    // One test: the totals are values of the process, which other tests use at the same time.
    #[tokio::test(start_paused = true)]
    async fn a_server_cannot_take_the_memory_of_the_bodies_of_others() {
        let (greedy, other) = (ServerShare::new("greedy"), ServerShare::new("other"));
        let mut held = Vec::new();
        for _ in 0..4 {
            let mut text = greedy.text();
            text.cover(100, BODY).await.unwrap();
            text.cover(SHORT + 1, BODY).await.unwrap();
            held.push(text);
        }
        let mut fifth = greedy.text();
        assert!(fifth.cover(SHORT, BODY).await.is_ok(), "a short one");
        assert!(fifth.cover(SHORT + 1, BODY).await.is_err());
        let mut text = other.text();
        let began = tokio::time::Instant::now();
        assert!(text.cover(BODY, BODY).await.is_ok());
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
