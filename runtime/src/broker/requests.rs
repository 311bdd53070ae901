//! What a script asks for, each as a future that ends with the answer.

use std::sync::Arc;
use std::time::Duration;

use pml_ops::{Answer, Failure, Offer, Request};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::host::{HostFuture, ToolHost};

/// 500 characters, and at most 50 hits.
const MAX_QUERY_BYTES: usize = 2_000;
const MAX_HITS: u32 = 50;
pub const MAX_ID_BYTES: usize = 512;
const MAX_URI_BYTES: usize = 64 * 1024;

/// An answer on its way back to the worker.
pub struct Answered {
    pub id: u32,
    pub answer: Answer,
    /// Set for tool calls: the place in the list, and the time it took.
    pub call: Option<(usize, Duration)>,
    /// What the request took of the broker's memory.
    pub bytes: usize,
}

/// A tool call, and the turns that those of a run take.
pub struct Call {
    pub id: u32,
    /// Its place in the list of calls.
    pub index: usize,
    pub tool: String,
    pub args: Box<RawValue>,
    pub slots: Arc<Semaphore>,
    pub limit: Duration,
    pub bytes: usize,
}

impl Call {
    pub fn answer(self, host: Arc<dyn ToolHost>) -> HostFuture<'static, Answered> {
        Box::pin(async move {
            let (answer, time) = self.ask(&*host).await;
            Answered {
                id: self.id,
                answer,
                call: Some((self.index, time)),
                bytes: self.bytes,
            }
        })
    }

    /// Answers the call without making it.
    pub fn refuse(self, failure: Failure) -> HostFuture<'static, Answered> {
        Box::pin(std::future::ready(Answered {
            id: self.id,
            answer: Err(failure),
            call: Some((self.index, Duration::ZERO)),
            bytes: self.bytes,
        }))
    }

    async fn ask(&self, host: &dyn ToolHost) -> (Answer, Duration) {
        if let Some(failure) = malformed(&self.tool, &self.args) {
            return (Err(failure), Duration::ZERO);
        }
        if let Err(refused) = host.admit(&self.tool, &self.args).await {
            return (Err(refused), Duration::ZERO);
        }
        // The semaphore is never closed. A call that waits here has not begun, so its own time
        // has not either.
        let _slot = self.slots.acquire().await;
        let dispatched = Instant::now();
        let answer = timeout(self.limit, host.call(&self.tool, &self.args))
            .await
            .unwrap_or_else(|_| Err(too_slow(&self.tool, self.limit)));
        (answer, dispatched.elapsed())
    }
}

/// What a request takes of the broker's memory until it is answered.
pub fn size(request: &Request) -> usize {
    match request {
        Request::Search { query, .. } => query.len(),
        Request::Call { tool, args } => tool.len() + args.get().len(),
        Request::Describe { tool } => tool.len(),
        Request::Offer { server, offer } => server.len() + size_of_offer(offer),
        Request::Harness { message } => message.get().len(),
        Request::Store { key, value } => key.len() + value.get().len(),
        Request::Load { key } => key.len(),
    }
}

fn size_of_offer(offer: &Offer) -> usize {
    match offer {
        Offer::ListResources | Offer::ListPrompts => 0,
        Offer::ReadResource { uri } => uri.len(),
        Offer::GetPrompt { name, args } => name.len() + args.get().len(),
    }
}

/// Names are looked up, compared and told again; none is this long.
fn too_long(request: &Request) -> Option<Failure> {
    let fits = match request {
        Request::Describe { tool: name } | Request::Load { key: name } => {
            name.len() <= MAX_ID_BYTES
        }
        Request::Store { key, .. } => key.len() <= MAX_ID_BYTES,
        Request::Offer { server, offer } => {
            let wanted = match offer {
                Offer::ReadResource { uri } => uri.len() <= MAX_URI_BYTES,
                Offer::GetPrompt { name, .. } => name.len() <= MAX_ID_BYTES,
                Offer::ListResources | Offer::ListPrompts => true,
            };
            wanted && server.len() <= MAX_ID_BYTES
        }
        Request::Search { .. } | Request::Call { .. } | Request::Harness { .. } => true,
    };
    (!fits).then(|| {
        let message = format!("a name has at most {MAX_ID_BYTES} bytes, an address 64 KiB");
        Failure::new("arguments", message)
    })
}

/// Answers a request without looking at it.
pub fn refuse(id: u32, bytes: usize, failure: Failure) -> HostFuture<'static, Answered> {
    Box::pin(std::future::ready(Answered {
        id,
        answer: Err(failure),
        call: None,
        bytes,
    }))
}

/// Everything that is no tool call.
pub fn answer(host: Arc<dyn ToolHost>, id: u32, request: Request) -> HostFuture<'static, Answered> {
    let bytes = size(&request);
    if let Some(failure) = too_long(&request) {
        return refuse(id, bytes, failure);
    }
    Box::pin(async move {
        let answer = match request {
            Request::Search {
                mut query,
                limit,
                threshold,
            } => {
                // The script's side has checked these; a worker may say anything.
                query.truncate(query.floor_char_boundary(MAX_QUERY_BYTES));
                let limit = limit.clamp(1, MAX_HITS);
                match host.search(&query, limit, threshold).await {
                    Ok(hits) => to_raw_value(&hits)
                        .map_err(|error| Failure::new("internal", error.to_string())),
                    Err(failure) => Err(failure),
                }
            }
            Request::Offer { server, offer } => host.offer(&server, &offer).await,
            Request::Describe { tool } => host.describe(&tool).await,
            Request::Store { key, value } => host.store(&key, &value).await,
            Request::Load { key } => host.load(&key).await,
            Request::Harness { message } => host.harness(&message).await,
            Request::Call { tool, args } => host.call(&tool, &args).await,
        };
        Answered {
            id,
            answer,
            call: None,
            bytes,
        }
    })
}

/// A call that the script's side would not have let through.
fn malformed(tool: &str, args: &RawValue) -> Option<Failure> {
    let id_fits = !tool.is_empty() && tool.len() <= MAX_ID_BYTES;
    let is_object = args.get().trim_start().starts_with('{');
    (!id_fits || !is_object).then(|| {
        Failure::new(
            "tool",
            "a call needs a tool id such as server:tool and an object of named arguments",
        )
    })
}

fn too_slow(tool: &str, limit: Duration) -> Failure {
    Failure {
        retryable: true,
        ..Failure::new(
            "timeout",
            format!("{tool} did not answer within {} ms", limit.as_millis()),
        )
    }
}
