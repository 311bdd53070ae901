//! The tasks of one client in the store.

use std::sync::Arc;

use pml_approvals::AnswerError;
use pml_hosts::journal::{DurableSpec, unknown_calls};
use pml_protocol::{Outcome, RunId, TenantId};
use pml_reply::ReplyScrubber;
use pml_store::{
    ApprovalFilter, ApprovalState, RunFilter, RunState, StoreError, StoredApproval, StoredRun,
    UnixMs,
};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;

use super::approval_form::FormAnswer;
use super::running_tasks::Resumption;
use super::task_view::{TaskState, TaskView};
use super::timestamp::unix_ms;
use crate::client_session::ClientSession;
use crate::durable_runs::DurableRuns;
use crate::resume::resume_run;
use crate::state::ServerState;
use crate::tool_reply::{ToolReply, refusal};

/// Tasks on one page of a list.
const PAGE: usize = 50;
/// The shortest time that a task can be read.
const MIN_TTL_MS: u64 = 1000;
/// How many things that a task waits for its message names.
const MAX_NAMED: usize = 3;

/// The tasks of one client: runs of its principal that this server, or an earlier one with the same
/// configuration, began as tasks. Tasks of others do not exist for it.
pub struct StoredTasks {
    state: ServerState,
    runs: Arc<DurableRuns>,
    tenant: TenantId,
    session: Arc<ClientSession>,
}

impl StoredTasks {
    /// The tasks of a client; `None` if the server has no store.
    pub fn new(state: &ServerState, session: Arc<ClientSession>) -> Option<Self> {
        Some(Self {
            state: state.clone(),
            runs: state.durable_runs()?.clone(),
            tenant: TenantId::local(),
            session,
        })
    }

    /// How long a task can be read: what the client asks for, and at most as long as the store keeps
    /// runs that have ended.
    pub fn ttl_ms(&self, requested: Option<u64>) -> u64 {
        let retention = self.runs.store().retention();
        let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let longest = ms(retention.cold).max(MIN_TTL_MS);
        requested
            .unwrap_or_else(|| ms(retention.hot))
            .clamp(MIN_TTL_MS, longest)
    }

    /// A task.
    ///
    /// # Errors
    ///
    /// -32602 for a task that the client does not have, or not any more.
    pub async fn get(&self, id: &str) -> Result<TaskView, ErrorData> {
        let run = self.run(id).await?;
        self.view(run).await
    }

    /// A run of the client, whether it began as a task or not.
    ///
    /// # Errors
    ///
    /// -32602 for a run that the client does not have, or not any more.
    pub async fn get_run(&self, id: &str) -> Result<TaskView, ErrorData> {
        match self.find(id).await? {
            Some(run) => self.view(run).await,
            None => {
                let message = "there is no such run: the id is wrong, the run was deleted, or it is another client's";
                Err(refusal(ErrorCode::INVALID_PARAMS, message.into()))
            }
        }
    }

    /// A page of the tasks, the newest first, and the cursor of the next page.
    ///
    /// # Errors
    ///
    /// -32602 for a cursor that no page gave.
    pub async fn list(
        &self,
        cursor: Option<&str>,
    ) -> Result<(Vec<TaskView>, Option<String>), ErrorData> {
        let after = match cursor.map(parse_cursor) {
            None => None,
            Some(Some(after)) => Some(after),
            Some(None) => {
                let message = "there is no such cursor; use the `nextCursor` of the page before";
                return Err(refusal(ErrorCode::INVALID_PARAMS, message.into()));
            }
        };
        let filter = RunFilter {
            origin: Some(self.runs.origin().to_owned()),
            tasks_of: Some(self.session.principal().as_str().to_owned()),
            after,
            limit: PAGE + 1,
            ..RunFilter::default()
        };
        let runs = self.runs.store().runs(&self.tenant, &filter).await;
        let mut runs = match runs {
            Ok(runs) => runs,
            Err(error) => return Err(self.unreadable(&error).await),
        };
        let has_more = runs.len() > PAGE;
        runs.truncate(PAGE);
        let last = runs.last().map(|run| format!("{}-{}", run.created, run.id));
        let mut tasks = Vec::new();
        for run in runs.into_iter().filter(|run| !is_expired(run)) {
            tasks.push(self.view(run).await?);
        }
        Ok((tasks, last.filter(|_| has_more)))
    }

    /// Cancels a task, and the run that it is.
    ///
    /// # Errors
    ///
    /// -32602 for a task that the client does not have, or that has ended.
    pub async fn cancel(&self, id: &str) -> Result<TaskView, ErrorData> {
        let run = self.run(id).await?;
        match self.runs.store().cancel(&self.tenant, &run.id).await {
            Ok(_) if run.state != RunState::Cancelled => {}
            Ok(_) | Err(StoreError::Ended { .. }) => {
                let message =
                    format!("task {id} has ended; only a task that runs can be cancelled");
                return Err(self.refused(ErrorCode::INVALID_PARAMS, &message).await);
            }
            Err(error) => return Err(self.unreadable(&error).await),
        }
        self.state.tasks().cancel(&run.id);
        self.get(id).await
    }

    /// Whether the client's user may answer an approval.
    pub fn may_answer(&self, approval: &StoredApproval) -> bool {
        let by = self.session.principal().as_str();
        let rules = self.runs.approvals().rules();
        rules.may_answer(&approval.asked.tool, by)
    }

    /// Answers an approval that a task waits for. The server resumes the run soon after. A late answer
    /// changes nothing, and the task shows what somebody else has decided.
    ///
    /// # Errors
    ///
    /// If the client's user is none of the approvers, or the store cannot be written.
    pub async fn answer(
        &self,
        approval: &StoredApproval,
        answer: FormAnswer,
    ) -> Result<(), ErrorData> {
        let by = self.session.principal().as_str();
        let approvals = self.runs.approvals();
        let allow = answer != FormAnswer::Deny;
        let answering = async {
            let id = &approval.id;
            approvals.answer(&self.tenant, id, allow, by).await?;
            if answer == FormAnswer::AllowAll {
                approvals.allow_all(approval, by).await?;
            }
            Ok(())
        };
        let answered: Result<(), AnswerError> = answering.await;
        match answered {
            Ok(()) => Ok(()),
            Err(AnswerError::Store(error)) => Err(self.unreadable(&error).await),
            Err(error) => {
                let message = error.to_string();
                Err(self.refused(ErrorCode::INVALID_PARAMS, &message).await)
            }
        }
    }

    /// The reply of a run that has ended, as the direct reply would have been.
    ///
    /// # Errors
    ///
    /// If the stored run cannot be read.
    pub async fn reply(&self, run: &StoredRun) -> Result<ToolReply, ErrorData> {
        let bytes = run.outcome.as_deref().unwrap_or_default();
        let spec = DurableSpec::from_bytes(&run.spec).ok();
        let outcome: Option<Outcome> = serde_json::from_slice(bytes).ok();
        let (Some(spec), Some(outcome)) = (spec, outcome) else {
            let message = format!("the stored result of task {} cannot be read", run.id);
            return Err(self.refused(ErrorCode::INTERNAL_ERROR, &message).await);
        };
        let client_run = self.session.begin_run(&spec.script.written()).await;
        match self.runs.store().journal(&self.tenant, &run.id).await {
            Ok(entries) => client_run.receive_journaled(&entries),
            Err(error) => return Err(self.unreadable(&error).await),
        }
        let (bytes, limits) = (pml_reply::outcome_bytes(&outcome), spec.limits);
        let make =
            move |replies: &ReplyScrubber| ToolReply::run(&replies.outcome(outcome, &limits));
        Ok(client_run.replies().make(bytes, make).await)
    }

    /// A JSON-RPC error with a message that may hold the client's text.
    pub async fn refused(&self, code: ErrorCode, message: &str) -> ErrorData {
        refusal(code, self.session.replies().text(message).await)
    }

    /// The error of a store that does not work.
    pub async fn unreadable(&self, error: &StoreError) -> ErrorData {
        tracing::warn!(%error, "a task cannot be read or written");
        let message = format!("the store of tasks does not work: {error}");
        self.refused(ErrorCode::INTERNAL_ERROR, &message).await
    }

    /// The run of a task that the client has.
    async fn run(&self, id: &str) -> Result<StoredRun, ErrorData> {
        let found = self.find(id).await?;
        let message = match found.filter(|run| run.task_ttl.is_some()) {
            Some(run) if !is_expired(&run) => return Ok(run),
            Some(run) => format!(
                "task {} has expired: its ttl of {} ms has elapsed since it was created",
                run.id,
                run.task_ttl.unwrap_or_default()
            ),
            None => "there is no such task: the `taskId` is wrong, the task was deleted, or it is another client's".to_owned(),
        };
        Err(self.refused(ErrorCode::INVALID_PARAMS, &message).await)
    }

    /// A run of the client in the store.
    async fn find(&self, id: &str) -> Result<Option<StoredRun>, ErrorData> {
        let Ok(id) = id.trim().parse::<RunId>() else {
            return Ok(None);
        };
        match self.runs.store().run(&self.tenant, &id).await {
            Ok(found) => Ok(found.filter(|run| self.is_own(run))),
            Err(error) => Err(self.unreadable(&error).await),
        }
    }

    fn is_own(&self, run: &StoredRun) -> bool {
        run.principal == self.session.principal().as_str() && run.origin == self.runs.origin()
    }

    async fn view(&self, run: StoredRun) -> Result<TaskView, ErrorData> {
        let mut approvals = Vec::new();
        let (state, message) = match run.state {
            RunState::Done => (TaskState::Completed, "the script has ended".to_owned()),
            RunState::Failed => (
                TaskState::Failed,
                "the script failed; the result says why".to_owned(),
            ),
            RunState::Cancelled => (TaskState::Cancelled, "the task was cancelled".to_owned()),
            RunState::Running if run.is_owned => (TaskState::Working, "the script runs".to_owned()),
            RunState::Unknown => (TaskState::InputRequired, self.unknown(&run).await?),
            RunState::Running | RunState::Waiting => {
                approvals = self.open_approvals(&run.id).await?;
                match approvals.is_empty() {
                    true => self.resume(&run),
                    false => (TaskState::InputRequired, needed_approvals(&approvals)),
                }
            }
        };
        let message = self.session.replies().text(&message).await;
        Ok(TaskView {
            run,
            state,
            message,
            approvals,
        })
    }

    /// Resumes a run that no process executes and that waits for nobody.
    fn resume(&self, run: &StoredRun) -> (TaskState, String) {
        match self.state.tasks().resume(&run.id) {
            Resumption::Runs => (TaskState::Working, "the script runs".to_owned()),
            Resumption::Start(tracked) => {
                let (state, runs) = (self.state.clone(), self.runs.clone());
                let (tenant, id) = (self.tenant.clone(), run.id.clone());
                tokio::spawn(async move { resume_run(&state, &runs, &tenant, &id, tracked).await });
                let message = "the run was interrupted, and continues".to_owned();
                (TaskState::Working, message)
            }
            Resumption::GivenUp => (
                TaskState::InputRequired,
                format!(
                    "the run was interrupted: `pml resume {}` continues it",
                    run.id
                ),
            ),
        }
    }

    async fn open_approvals(&self, run: &RunId) -> Result<Vec<StoredApproval>, ErrorData> {
        let filter = ApprovalFilter {
            states: vec![ApprovalState::Open],
            run: Some(run.clone()),
            ..ApprovalFilter::default()
        };
        let open = self.runs.store().approvals(&self.tenant, &filter).await;
        match open {
            Ok(open) => Ok(open),
            Err(error) => Err(self.unreadable(&error).await),
        }
    }

    /// What a person has to settle.
    async fn unknown(&self, run: &StoredRun) -> Result<String, ErrorData> {
        let entries = match self.runs.store().journal(&self.tenant, &run.id).await {
            Ok(entries) => entries,
            Err(error) => return Err(self.unreadable(&error).await),
        };
        let (id, calls) = (&run.id, unknown_calls(&entries));
        let Some(first) = calls.first() else {
            return Ok(format!("`pml resume {id}` continues the run"));
        };
        let named = calls.iter().take(MAX_NAMED);
        let named: Vec<String> = named
            .map(|call| format!("{} ({})", call.call, call.tool))
            .collect();
        let calls = match calls.len() {
            1 => format!("call {} is", named.join(", ")),
            count => format!("{count} calls are, among them {},", named.join(", ")),
        };
        let number = first.call;
        Ok(format!(
            "the outcome of {calls} unknown: look whether it happened, then `pml runs settle {id} {number} --happened JSON`, `--send` or `--give-up`"
        ))
    }
}

fn needed_approvals(approvals: &[StoredApproval]) -> String {
    let named = approvals.iter().take(MAX_NAMED).map(|approval| {
        let (id, tool) = (&approval.id, &approval.asked.tool);
        format!("`pml approvals allow {id}` (or `deny`) for {tool}")
    });
    let named: Vec<String> = named.collect();
    let more = match approvals.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more (`pml approvals`)"),
    };
    format!("the run waits for approval: {}{more}", named.join(", "))
}

fn is_expired(run: &StoredRun) -> bool {
    let ttl = run.task_ttl.unwrap_or_default();
    run.created.saturating_add(ttl) <= unix_ms()
}

fn parse_cursor(cursor: &str) -> Option<(UnixMs, RunId)> {
    let (created, id) = cursor.split_once('-')?;
    Some((created.parse().ok()?, id.parse().ok()?))
}
