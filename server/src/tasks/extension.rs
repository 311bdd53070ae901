//! The extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CreateTaskResult, DetailedTask, ErrorCode, GetTaskResult, InputRequest, InputRequests,
    InputResponses, JsonObject, MetaObject, Task, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::approval_form;
use super::stored_tasks::StoredTasks;
use super::task_run::{TaskStart, drive};
use super::task_view::{TaskState, TaskView};
use super::timestamp::{iso8601, unix_ms};
use crate::client_session::ClientSession;
use crate::handler::{Handler, can_ask};
use crate::tool_descriptions;
use crate::tool_reply::{SESSION, refusal};
use crate::tool_task::ToolTask;

/// How long a script may run before its client gets a task instead of the result. A client that polls
/// reads the result of a short script later than one that waits.
pub const DIRECT_REPLY_TIME: Duration = Duration::from_secs(1);

/// Whether the client of a request can handle a task in the place of a result.
pub fn accepts_task(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    capabilities.is_some_and(|capabilities| capabilities.supports_tasks())
}

impl Handler {
    /// How a call begins that may become a task; `None` for one that cannot.
    pub(crate) fn task_start(
        &self,
        tool: &str,
        session: &Arc<ClientSession>,
        context: &RequestContext<RoleServer>,
    ) -> Option<TaskStart> {
        let can_be_task = [tool_descriptions::EXECUTE, tool_descriptions::WORKFLOW];
        if !can_be_task.contains(&tool) || !accepts_task(context) {
            return None;
        }
        let tasks = StoredTasks::new(self.state(), session.clone())?;
        Some(TaskStart {
            ttl_ms: tasks.ttl_ms(None),
            at_once: false,
        })
    }

    /// Lets a call go on as a task. `Err` with the call if it has ended, too many tasks run, or the
    /// store cannot be written: then its client waits for the reply.
    pub(crate) async fn detach(
        &self,
        task: ToolTask,
        session: &Arc<ClientSession>,
    ) -> Result<CreateTaskResult, ToolTask> {
        let (Some(run), Some(tasks)) = (
            task.run().cloned(),
            StoredTasks::new(self.state(), session.clone()),
        ) else {
            return Err(task);
        };
        let Some(tracked) = self.state().tasks().track(run.id(), session.id()) else {
            return Err(task);
        };
        match run.detach().await {
            Ok(true) => {}
            Ok(false) => return Err(task),
            Err(error) => {
                tracing::warn!(run = %run.id(), %error, "a task cannot be stored");
                return Err(task);
            }
        }
        let handle = task.session_handle().map(str::to_owned);
        tokio::spawn(drive(task, tracked));
        let task = match tasks.get(run.id().as_str()).await {
            Ok(view) => view.to_task(),
            // It is in the store, and the client can ask again.
            Err(_) => {
                let now = iso8601(unix_ms());
                Task::new(run.id().as_str(), TaskStatus::Working, now.clone(), now)
            }
        };
        let mut created = CreateTaskResult::new(task);
        created.meta = session_meta(handle.as_deref());
        Ok(created)
    }

    /// `tasks/get`
    pub(crate) async fn extension_task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let tasks = self.tasks_of(context)?;
        let view = tasks.get(id).await?;
        let payload = match view.state {
            TaskState::Working => TaskPayload::Working,
            TaskState::Cancelled => TaskPayload::Cancelled,
            TaskState::InputRequired => TaskPayload::InputRequired {
                input_requests: match can_ask(context) {
                    true => inputs(&tasks, &view),
                    false => InputRequests::new(),
                },
            },
            TaskState::Completed | TaskState::Failed => self.result_payload(&view, context).await?,
        };
        Ok(GetTaskResult::new(DetailedTask::new(
            view.to_task(),
            payload,
        )))
    }

    /// `tasks/update`: answers of the person at the client. Answers to what is not asked are ignored.
    pub(crate) async fn answer_inputs(
        &self,
        id: &str,
        responses: &InputResponses,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tasks = self.tasks_of(context)?;
        let view = tasks.get(id).await?;
        if !can_ask(context) {
            return Ok(());
        }
        for approval in &view.approvals {
            let response = responses.get(&approval_form::key_of(approval));
            if let Some(answer) = response.and_then(approval_form::answer_of) {
                tasks.answer(approval, answer).await?;
            }
        }
        Ok(())
    }

    /// `tasks/cancel`: a task that has ended stays as it is.
    pub(crate) async fn cancel_extension_task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tasks = self.tasks_of(context)?;
        match tasks.get(id).await?.state.is_ended() {
            true => Ok(()),
            false => tasks.cancel(id).await.map(drop),
        }
    }

    /// The result of a task that has ended, in the session of the request.
    async fn result_payload(
        &self,
        view: &TaskView,
        context: &RequestContext<RoleServer>,
    ) -> Result<TaskPayload, ErrorData> {
        let client = self.stateless_client(context)?;
        let (session, handle) = self.session(client.as_ref(), context);
        let tasks = StoredTasks::new(self.state(), session).ok_or_else(no_tasks)?;
        Ok(match tasks.reply(&view.run).await {
            Ok(reply) => TaskPayload::Completed {
                result: object(json!(reply.into_result(handle.as_deref()))),
            },
            Err(error) => TaskPayload::Failed {
                error: object(json!(error)),
            },
        })
    }

    /// The tasks of the client of a request. Asking for them begins no session.
    pub(crate) fn tasks_of(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<StoredTasks, ErrorData> {
        let known = self.known_session(self.stateless_client(context)?.as_ref(), context);
        let new = || Arc::new(self.state().new_session(&self.client_of(context)));
        let session = known.map_or_else(new, |known| known.0);
        StoredTasks::new(self.state(), session).ok_or_else(no_tasks)
    }
}

/// The error of a server without a store.
fn no_tasks() -> ErrorData {
    let message = "there are no tasks: the server keeps no runs (`pml.runs.durable`)";
    refusal(ErrorCode::METHOD_NOT_FOUND, message.into())
}

/// What the person at the client is asked.
fn inputs(tasks: &StoredTasks, view: &TaskView) -> InputRequests {
    let approvals = view.approvals.iter();
    let own = approvals.filter(|approval| tasks.may_answer(approval));
    let forms = own.filter_map(|approval| {
        let form = approval_form::form_of(approval)?;
        Some((
            approval_form::key_of(approval),
            InputRequest::Elicitation(form),
        ))
    });
    forms.collect()
}

fn session_meta(handle: Option<&str>) -> Option<MetaObject> {
    let handle = handle?;
    let mut meta = MetaObject::new();
    meta.insert(SESSION.to_owned(), json!(handle));
    Some(meta)
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
