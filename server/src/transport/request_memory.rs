//! The memory of large requests over HTTP.
//!
//! There are two totals for the process, and every client has a fair share of each ([`FairBudget`]): one
//! client alone gets half. What finds no room waits, and is refused after ten seconds.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use pml_fair_budget::{FairBudget, Reservation};
use pml_gateway::json_size;
use pml_gateway::off_loop::off_loop;

use super::guarded_body::GuardedBody;
use super::jsonrpc::{MAX_MESSAGE_BYTES, MAX_PARSED_BYTES};

/// Shorter requests are not counted: the number of connections bounds them.
const SMALL_REQUEST: usize = 64 * 1024;
/// How long the body of a request may take to arrive: 8 MiB at 1.1 Mbit/s.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a request waits for memory.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// A message is parsed to values twice, here and by rmcp.
const COPIES: usize = 2;

/// Bodies while they are read.
static BODIES: FairBudget<Arc<str>> = FairBudget::new(64 * 1024 * 1024);
/// What is parsed from them, as estimated, until the response ends.
static VALUES: FairBudget<Arc<str>> = FairBudget::new(192 * 1024 * 1024);

/// Why a request is not read.
#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    TooLarge,
    TooSlow,
    NoMemory,
}

/// The body of a request, and its memory.
#[derive(Debug)]
pub struct ReadRequest {
    pub bytes: Bytes,
    memory: Option<Reservation<Arc<str>>>,
}

impl ReadRequest {
    /// Reads the body of a request of `client`. `announced` is its `Content-Length`.
    pub async fn read(
        body: Body,
        announced: Option<usize>,
        client: &Arc<str>,
    ) -> Result<Self, Unread> {
        let most = announced.unwrap_or(MAX_MESSAGE_BYTES);
        if most > MAX_MESSAGE_BYTES {
            return Err(Unread::TooLarge);
        }
        let _room = match most > SMALL_REQUEST {
            true => Some(reserve(&BODIES, client, most).await?),
            false => None,
        };
        let bytes = to_bytes(body, MAX_MESSAGE_BYTES);
        let bytes = match tokio::time::timeout(BODY_TIMEOUT, bytes).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(_)) => return Err(Unread::TooLarge),
            Err(_) => return Err(Unread::TooSlow),
        };
        if bytes.len() <= SMALL_REQUEST {
            let memory = None;
            return Ok(Self { bytes, memory });
        }
        let values = off_loop(client, bytes.len(), || json_size::parsed_bytes(&bytes));
        // What is too large is refused when it is parsed.
        let values = values.min(MAX_PARSED_BYTES);
        let memory = reserve(&VALUES, client, values * COPIES).await?;
        Ok(Self {
            bytes,
            memory: Some(memory),
        })
    }

    /// Whether its handling takes long.
    pub fn is_large(&self) -> bool {
        self.memory.is_some()
    }

    /// The body of the response, which holds the memory of the request until it ends.
    pub fn held_by(self, response: Body) -> Body {
        match self.memory {
            Some(memory) => GuardedBody::guard(response, memory),
            None => response,
        }
    }
}

async fn reserve(
    budget: &'static FairBudget<Arc<str>>,
    client: &Arc<str>,
    bytes: usize,
) -> Result<Reservation<Arc<str>>, Unread> {
    tokio::time::timeout(MAX_WAIT, budget.reserve(client, bytes))
        .await
        .map_err(|_| Unread::NoMemory)
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: the totals are values of the process.
    #[tokio::test(start_paused = true)]
    async fn a_client_with_large_requests_waits_for_itself_and_not_the_others() {
        let (greedy, other): (Arc<str>, Arc<str>) = ("greedy".into(), "other".into());
        let body = || Body::from(format!("[{}0]", "0,".repeat(300_000)));
        let mut held = Vec::new();
        let refused = loop {
            match ReadRequest::read(body(), None, &greedy).await {
                Ok(request) => held.push(request),
                Err(refused) => break refused,
            }
        };
        assert_eq!(refused, Unread::NoMemory);
        assert!((1..5).contains(&held.len()), "{}", held.len());
        assert!(held.iter().all(ReadRequest::is_large));
        let small = ReadRequest::read(Body::from("{}"), Some(2), &greedy).await;
        assert!(!small.unwrap().is_large());
        assert!(ReadRequest::read(body(), None, &other).await.is_ok());
        held.pop();
        assert!(ReadRequest::read(body(), None, &greedy).await.is_ok());
        let announced = Some(MAX_MESSAGE_BYTES + 1);
        let refused = ReadRequest::read(body(), announced, &other).await;
        assert_eq!(refused.unwrap_err(), Unread::TooLarge);
    }
}
