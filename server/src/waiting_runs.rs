//! Runs that wait for an approval, and their resumption when somebody has answered.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pml_protocol::{RunId, TenantId};
use pml_store::{
    ApprovalFilter, ApprovalState, EntryState, JournalEntry, Store, StoreError, StoredApproval,
};
use tokio::sync::Notify;

use crate::resume::{Resumed, resume_run};
use crate::state::ServerState;

/// How often the store is asked for answers while runs wait. Other processes record them.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The runs of this server that wait for an approval, or did.
#[derive(Default)]
pub struct WaitingRuns {
    runs: Mutex<HashMap<RunKey, WaitingRun>>,
    added: Notify,
}

type RunKey = (TenantId, RunId);

/// A run that waits or is being executed again.
#[derive(Debug, Clone, Default)]
struct WaitingRun {
    is_waiting: bool,
    /// The answers with which it was resumed: it is not resumed for them a second time.
    used: HashSet<String>,
}

impl WaitingRuns {
    /// A run has been suspended.
    pub fn add(&self, tenant: &TenantId, id: &RunId) {
        let key = (tenant.clone(), id.clone());
        self.lock().entry(key).or_default().is_waiting = true;
        self.added.notify_one();
    }

    /// A run has ended.
    pub fn remove(&self, tenant: &TenantId, id: &RunId) {
        self.lock().remove(&(tenant.clone(), id.clone()));
    }

    fn waiting(&self) -> Vec<(RunKey, WaitingRun)> {
        let runs = self.lock();
        let waiting = runs.iter().filter(|(_, run)| run.is_waiting);
        waiting
            .map(|(key, run)| (key.clone(), run.clone()))
            .collect()
    }

    fn set_waiting(&self, key: &RunKey, is_waiting: bool) {
        if let Some(run) = self.lock().get_mut(key) {
            run.is_waiting = is_waiting;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunKey, WaitingRun>> {
        // Entries are added and removed in one step each.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resumes runs whose approvals are answered or have expired, until the server ends. Those that an
/// earlier server left are resumed at the start, and come here if they wait still.
pub async fn resume_answered_runs(state: ServerState) {
    let Some(runs) = state.durable_runs().cloned() else {
        return;
    };
    loop {
        let waiting = runs.waiting().waiting();
        tokio::select! {
            () = state.closing().cancelled() => return,
            () = runs.waiting().added.notified(), if waiting.is_empty() => continue,
            () = tokio::time::sleep(POLL_INTERVAL), if !waiting.is_empty() => {}
        }
        for (key, run) in waiting {
            match new_answers(runs.store(), &key, &run.used).await {
                Ok(answers) if answers.is_empty() => {}
                Ok(answers) => {
                    runs.waiting().set_waiting(&key, false);
                    tokio::spawn(resume(state.clone(), key, answers));
                }
                Err(error) => tracing::warn!(run = %key.1, %error, "approvals cannot be read"),
            }
        }
    }
}

/// The approvals of a run with an answer that it does not know yet: their calls are still to be sent.
async fn new_answers(
    store: &Store,
    (tenant, id): &RunKey,
    used: &HashSet<String>,
) -> Result<Vec<String>, StoreError> {
    let filter = ApprovalFilter {
        states: vec![
            ApprovalState::Allowed,
            ApprovalState::Denied,
            ApprovalState::Expired,
        ],
        run: Some(id.clone()),
        ..ApprovalFilter::default()
    };
    let mut answered = store.approvals(tenant, &filter).await?;
    answered.retain(|approval| approval.asked.number > 0 && !used.contains(&approval.id));
    if answered.is_empty() {
        return Ok(Vec::new());
    }
    let journal = store.journal(tenant, id).await?;
    let to_be_sent = |approval: &StoredApproval| {
        let is_it = |entry: &&JournalEntry| entry.number == approval.asked.number;
        let entry = journal.iter().find(is_it);
        entry.is_some_and(|entry| entry.state == EntryState::Resend)
    };
    answered.retain(to_be_sent);
    Ok(answered.into_iter().map(|approval| approval.id).collect())
}

async fn resume(state: ServerState, key: RunKey, answers: Vec<String>) {
    let Some(runs) = state.durable_runs() else {
        return;
    };
    let (tenant, id) = &key;
    let tracked = state.tasks().resumed(id);
    match resume_run(&state, runs, tenant, id, tracked).await {
        Resumed::Executed => {
            if let Some(run) = runs.waiting().lock().get_mut(&key) {
                run.used.extend(answers);
            }
        }
        // Another process has it, and may leave it waiting.
        Resumed::Owned => runs.waiting().set_waiting(&key, true),
        Resumed::Ended => runs.waiting().remove(tenant, id),
    }
}
