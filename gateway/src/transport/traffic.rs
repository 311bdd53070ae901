//! Counters of one stdio connection, as far as they explain a failure.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rmcp::model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};

use super::body_memory::ValueMemory;
use super::held_results::HeldResults;
use crate::secrets::Secrets;

const QUOTED_BYTES: usize = 120;

/// What went over the pipes of a server.
#[derive(Debug)]
pub struct Traffic {
    skipped: AtomicU64,
    strays: AtomicU64,
    last_skipped: Mutex<String>,
    /// The largest request id that was given to the pipe.
    last_sent: AtomicI64,
    ended: AtomicBool,
    secrets: Secrets,
    /// Large responses that no call has read yet.
    pub held: HeldResults,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            skipped: AtomicU64::new(0),
            strays: AtomicU64::new(0),
            last_skipped: Mutex::default(),
            last_sent: AtomicI64::new(-1),
            ended: AtomicBool::new(false),
            secrets: Secrets::default(),
            held: HeldResults::default(),
        }
    }
}

impl Traffic {
    /// Counters whose quotations hold no secret.
    pub fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            ..Self::default()
        }
    }

    /// Lines on standard output that were not JSON-RPC messages.
    pub fn skipped_lines(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// The latest such line, shortened.
    pub fn last_skipped(&self) -> String {
        self.last_skipped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Responses with an id that no request waits for: sent twice, too late, or wrong.
    pub fn strays(&self) -> u64 {
        self.strays.load(Ordering::Relaxed)
    }

    /// Whether the request was ever given to the pipe. `false` is certain: a request that was still
    /// queued when the server ended cannot have had an effect.
    pub fn may_have_been_sent(&self, id: &RequestId) -> bool {
        match id {
            RequestId::Number(id) => *id <= self.last_sent.load(Ordering::Acquire),
            RequestId::String(_) => true,
        }
    }

    /// Keeps the memory of a large message over HTTP until its call has the result. Other messages are
    /// small, or bounded where they are read.
    pub(super) fn hold_values(&self, message: &ServerJsonRpcMessage, memory: ValueMemory) {
        if let JsonRpcMessage::Response(response) = message
            && let RequestId::Number(id) = response.id
            && matches!(
                response.result,
                ServerResult::CallToolResult(_) | ServerResult::CustomResult(_)
            )
        {
            self.held.reserve(id, memory);
        }
    }

    /// Whether the server's output has ended.
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(super) fn count_skipped(&self, line: &[u8]) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
        *self
            .last_skipped
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = self.shorten(line);
    }

    /// The beginning of a line, for messages. A secret at the cut is replaced, not cut.
    pub(super) fn shorten(&self, line: &[u8]) -> String {
        self.secrets.beginning(line, QUOTED_BYTES)
    }

    pub(super) fn count_stray(&self) {
        self.strays.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn mark_sent(&self, id: i64) {
        self.last_sent.fetch_max(id, Ordering::AcqRel);
    }

    pub(super) fn mark_ended(&self) {
        self.ended.store(true, Ordering::Release);
    }
}
