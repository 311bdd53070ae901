//! The memory of what all servers send over HTTP, counted while it is read.
//!
//! There are three totals for the process, and every server has a fair share of each ([`FairBudget`]):
//! one server alone gets half, and what it holds leaves as much to the others.
//!
//! | total | what | reserved |
//! |---|---|---|
//! | 64 MiB | bodies and events of up to 256 KiB | while they are read |
//! | 96 MiB | longer ones | while they are read; 16 MiB each, or their `Content-Length` |
//! | 192 MiB | values parsed from texts over 128 KiB, as estimated | until the call has its result |
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

/// The most that is reserved for the values of one text. Estimates of many small values are high, and a
/// text needs to find room beside those of others.
const MAX_VALUES: usize = 64 * 1024 * 1024;

/// The totals of the process.
static TOTALS: Totals = Totals::new();

#[derive(Debug)]
struct Totals {
    short_texts: FairBudget<Arc<str>>,
    long_texts: FairBudget<Arc<str>>,
    values: FairBudget<Arc<str>>,
}

impl Totals {
    const fn new() -> Self {
        Self {
            short_texts: FairBudget::new(64 * 1024 * 1024),
            long_texts: FairBudget::new(96 * 1024 * 1024),
            values: FairBudget::new(192 * 1024 * 1024),
        }
    }
}

/// The memory of parsed values.
pub type ValueMemory = Reservation<Arc<str>>;

/// There was no room in time.
#[derive(Debug, thiserror::Error)]
#[error("the server's other answers hold its share of the memory: call again later")]
pub struct NoRoom;

/// What one server may hold.
#[derive(Debug, Clone)]
pub struct ServerShare {
    server: Arc<str>,
    totals: &'static Totals,
}

impl ServerShare {
    pub fn new(server: &str) -> Self {
        Self::of(server, &TOTALS)
    }

    fn of(server: &str, totals: &'static Totals) -> Self {
        let server = server.into();
        Self { server, totals }
    }

    /// The name of the server.
    pub fn server(&self) -> &str {
        &self.server
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
        wait(
            self.totals
                .values
                .reserve(&self.server, bytes.min(MAX_VALUES)),
        )
        .await
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
        let ServerShare { server, totals } = &self.share;
        let reserved = match bytes <= SHORT {
            true => {
                wait(
                    totals
                        .short_texts
                        .reserve(server, SHORT.min(most).max(bytes)),
                )
                .await?
            }
            false => wait(totals.long_texts.reserve(server, most.max(bytes))).await?,
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

    #[tokio::test(start_paused = true)]
    async fn a_server_cannot_take_the_memory_of_the_bodies_of_others() {
        // Other tests use the totals of the process at the same time.
        let totals: &'static Totals = Box::leak(Box::new(Totals::new()));
        let (greedy, other) = (
            ServerShare::of("greedy", totals),
            ServerShare::of("other", totals),
        );
        let mut held = Vec::new();
        for _ in 0..3 {
            let mut text = greedy.text();
            text.cover(100, BODY).await.unwrap();
            text.cover(SHORT + 1, BODY).await.unwrap();
            held.push(text);
        }
        let mut fourth = greedy.text();
        assert!(fourth.cover(SHORT, BODY).await.is_ok(), "a short one");
        assert!(fourth.cover(SHORT + 1, BODY).await.is_err());
        let mut text = other.text();
        let began = tokio::time::Instant::now();
        assert!(text.cover(BODY, BODY).await.is_ok());
        assert_eq!(began.elapsed(), Duration::ZERO);
        drop(text);
        held.pop();
        assert!(fourth.cover(SHORT + 1, BODY).await.is_ok());
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
