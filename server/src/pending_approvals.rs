//! Tasks that wait for a client to come back with a person's answer.
//!
//! In the revision without sessions a server cannot send a request. It replies `input_required`, and
//! the client repeats its request with the answer and the `requestState` that it got.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_hosts::Decision;
use rmcp::model::CallToolRequestParams;
use tokio::sync::oneshot;

use crate::stateless_clients::StatelessClient;
use crate::tool_task::ToolTask;

/// Tasks with an open question. Each occupies a worker that other clients need.
const MAX_OPEN: usize = 12;
/// Of those, the tasks of one client.
const MAX_OPEN_PER_CLIENT: usize = 6;
/// Tasks that wait to be collected, finished ones included.
const MAX_PENDING: usize = 64;
/// How long a finished task waits to be collected, besides the time its question had.
pub const COLLECT_TIME: Duration = Duration::from_secs(60);

/// The tasks, by their resume token.
#[derive(Default)]
pub struct PendingApprovals {
    calls: Mutex<HashMap<String, PendingCall>>,
    keys: RandomState,
}

/// Keyed hash of client, tool and arguments. A resumed request must have the same fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestFingerprint {
    client: u64,
    request: u64,
}

struct PendingCall {
    task: ToolTask,
    fingerprint: RequestFingerprint,
    answer: oneshot::Sender<Decision>,
    /// Until when the person may answer.
    open_until: Instant,
    expires_at: Instant,
}

impl PendingApprovals {
    /// The fingerprint of a request.
    pub fn fingerprint(
        &self,
        client: &StatelessClient,
        request: &CallToolRequestParams,
    ) -> RequestFingerprint {
        RequestFingerprint {
            // Not the handle: a client may have got it between the question and the answer.
            client: self.keys.hash_one((&client.principal, &client.program)),
            request: self.keys.hash_one((&*request.name, &request.arguments)),
        }
    }

    /// Keeps a task until its client comes back, and returns the resume token; returns the task if
    /// there are too many.
    pub fn suspend(
        &self,
        task: ToolTask,
        answer: oneshot::Sender<Decision>,
        fingerprint: RequestFingerprint,
        time: Duration,
    ) -> Result<String, (ToolTask, oneshot::Sender<Decision>)> {
        let mut random = [0; 16];
        if getrandom::fill(&mut random).is_err() {
            return Err((task, answer));
        }
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut calls = self.lock();
        let now = Instant::now();
        calls.retain(|_, call| call.expires_at > now);
        let open = || calls.values().filter(|call| call.open_until > now);
        let of_client = open().filter(|call| call.fingerprint.client == fingerprint.client);
        if open().count() >= MAX_OPEN
            || of_client.count() >= MAX_OPEN_PER_CLIENT
            || calls.len() >= MAX_PENDING
        {
            return Err((task, answer));
        }
        let call = PendingCall {
            task,
            fingerprint,
            answer,
            open_until: now + time,
            expires_at: now + time + COLLECT_TIME,
        };
        calls.insert(token.clone(), call);
        Ok(token)
    }

    /// Takes the task of a resume token and hands it the decision; or why there is none.
    pub fn resume(
        &self,
        token: &str,
        fingerprint: RequestFingerprint,
        decision: Decision,
    ) -> Result<ToolTask, &'static str> {
        let mut calls = self.lock();
        let Entry::Occupied(call) = calls.entry(token.to_owned()) else {
            return Err("the run that waited for this answer is gone; begin anew");
        };
        if call.get().fingerprint != fingerprint {
            return Err("this requestState belongs to another request; repeat the one it answered");
        }
        let PendingCall { task, answer, .. } = call.remove();
        drop(calls);
        // If the time for an answer is up, the task has gone on by itself.
        let _ = answer.send(decision);
        Ok(task)
    }

    /// Ends the task of a resume token that was not collected.
    pub fn forget(&self, token: &str) {
        let forgotten = self.lock().remove(token);
        drop(forgotten);
    }

    /// Ends all tasks.
    pub fn forget_all(&self) {
        let forgotten = std::mem::take(&mut *self.lock());
        drop(forgotten);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, PendingCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
