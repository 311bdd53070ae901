//! Tasks of MCP 2025-11-25, which rmcp does not have.

use std::collections::HashSet;
use std::time::Duration;

use pml_store::StoredApproval;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientResult, CustomNotification, CustomRequest,
    CustomResult, ErrorCode, RequestMetaObject, ServerNotification, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::approval_form::{self, FormAnswer};
use super::legacy_wire::{CALL_TOOL, CANCEL_TASK, GET_TASK, LIST_TOOLS, REVISION};
use super::running_tasks::MAX_PER_SESSION;
use super::stored_tasks::StoredTasks;
use super::task_run::{TaskStart, drive};
use super::task_view::{TaskState, TaskView};
use crate::handler::{Handler, can_ask, is_stateless};
use crate::tool_descriptions;
use crate::tool_reply::refusal;
use crate::tools;

/// How often a task is read that another process executes, while a client waits for its result.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

impl Handler {
    /// Handles a request about tasks; `None` for any other.
    pub(crate) async fn legacy_request(
        &self,
        request: &CustomRequest,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CustomResult, ErrorData>> {
        if is_stateless(context) || self.state().durable_runs().is_none() {
            return None;
        }
        let has_tasks = context
            .protocol_version()
            .is_some_and(|version| version.as_str() == REVISION);
        let params = request.params.clone().unwrap_or_else(|| json!({}));
        let handled = match request.method.as_str() {
            LIST_TOOLS => self.list_legacy_tools(params, context, has_tasks).await,
            CALL_TOOL if has_tasks => self.create_legacy_task(params, context).await,
            // The client was not told that there are tasks, so this is an ordinary call.
            CALL_TOOL => self.call_legacy_tool(params, context).await,
            GET_TASK if has_tasks => self.legacy_task(&params, context).await,
            CANCEL_TASK if has_tasks => self.cancel_legacy_task(&params, context).await,
            "tasks/result" if has_tasks => self.legacy_result(&params, context).await,
            "tasks/list" if has_tasks => self.list_legacy_tasks(&params, context).await,
            _ => return None,
        };
        Some(handled.map(CustomResult::new))
    }

    async fn list_legacy_tools(
        &self,
        params: Value,
        context: &RequestContext<RoleServer>,
        has_tasks: bool,
    ) -> Result<Value, ErrorData> {
        let params = Some(serde_json::from_value(params).map_err(|_| wrong_params())?);
        let listed = self.own_tools(params, context.clone()).await?;
        let mut listed = legacy(json!(listed));
        let tools = listed["tools"].as_array_mut().into_iter().flatten();
        for tool in tools.filter(|tool| has_tasks && tool["name"] == tool_descriptions::EXECUTE) {
            tool["execution"] = json!({ "taskSupport": "optional" });
        }
        Ok(listed)
    }

    async fn call_legacy_tool(
        &self,
        params: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let request = serde_json::from_value(params).map_err(|_| wrong_params())?;
        match self.run_tool(request, context.clone()).await? {
            CallToolResponse::Complete(result) => Ok(legacy(json!(result))),
            // A client with a session is asked with requests of their own, and is given no task.
            _ => Err(wrong_params()),
        }
    }

    async fn create_legacy_task(
        &self,
        params: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let requested_ttl = requested_ttl(&params["task"])?;
        let mut request: CallToolRequestParams =
            serde_json::from_value(params).map_err(|_| wrong_params())?;
        if request.name != tool_descriptions::EXECUTE {
            let message = "only execute_code can be a task; call the other tools without `task`";
            return Err(refusal(ErrorCode::METHOD_NOT_FOUND, message.into()));
        }
        let (session, _) = self.session(None, context);
        let tasks = StoredTasks::new(self.state(), session.clone()).ok_or_else(wrong_params)?;
        if let Err(mistake) = tools::check_execute_arguments(request.arguments.clone()) {
            return Err(tasks.refused(ErrorCode::INVALID_PARAMS, &mistake).await);
        }
        let start = TaskStart {
            ttl_ms: tasks.ttl_ms(requested_ttl),
            at_once: true,
        };
        let mut task = self.start(&mut request, context, &session, Some(start))?;
        let Some(run) = task.begun().await else {
            let message = "the script could not be started";
            return Err(refusal(ErrorCode::INTERNAL_ERROR, message.into()));
        };
        let Some(tracked) = self.state().tasks().track(run.id(), session.id()) else {
            let message = format!(
                "too many tasks run: at most {MAX_PER_SESSION} of a session; wait until one ends, or cancel one"
            );
            return Err(tasks.refused(ErrorCode::INVALID_REQUEST, &message).await);
        };
        if let Err(error) = run.detach().await {
            return Err(tasks.unreadable(&error).await);
        }
        let mut created = tasks.get(run.id().as_str()).await?.to_legacy();
        // A script of a millisecond may have ended: a task begins as `working` all the same.
        created["status"] = json!(TaskState::Working.as_str());
        created["statusMessage"] = json!("the script runs");
        let (peer, id) = (context.peer.clone(), run.id().to_string());
        tokio::spawn(async move {
            drive(task, tracked).await;
            notify_status(&peer, &tasks, &id).await;
        });
        Ok(json!({ "task": created }))
    }

    async fn legacy_task(
        &self,
        params: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let tasks = self.tasks_of(context)?;
        Ok(tasks.get(task_id(params)?).await?.to_legacy())
    }

    async fn cancel_legacy_task(
        &self,
        params: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let tasks = self.tasks_of(context)?;
        Ok(tasks.cancel(task_id(params)?).await?.to_legacy())
    }

    async fn list_legacy_tasks(
        &self,
        params: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let cursor = match &params["cursor"] {
            Value::Null => None,
            Value::String(cursor) => Some(cursor.as_str()),
            _ => return Err(wrong_params()),
        };
        let (tasks, next) = self.tasks_of(context)?.list(cursor).await?;
        let tasks: Vec<Value> = tasks.iter().map(TaskView::to_legacy).collect();
        let mut page = json!({ "tasks": tasks });
        if let Some(next) = next {
            page["nextCursor"] = json!(next);
        }
        Ok(page)
    }

    /// Waits until a task has ended. If the task waits for approval, the person at the client is asked
    /// meanwhile.
    async fn legacy_result(
        &self,
        params: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let id = task_id(params)?;
        let tasks = self.tasks_of(context)?;
        let mut ended = self.state().tasks().ended();
        let mut asked = HashSet::new();
        loop {
            ended.mark_unchanged();
            let view = tasks.get(id).await?;
            if view.state.is_ended() {
                return legacy_reply(&tasks, &view).await;
            }
            let unasked = |approval: &&StoredApproval| {
                !asked.contains(&approval.id) && tasks.may_answer(approval)
            };
            let question = view.approvals.iter().find(unasked);
            if let Some(approval) = question.filter(|_| can_ask(context)) {
                asked.insert(approval.id.clone());
                if let Some(answer) = self.ask_about(approval, &tasks, context).await {
                    tasks.answer(approval, answer).await?;
                }
                continue;
            }
            tokio::select! {
                _ = ended.changed() => {}
                () = tokio::time::sleep(LOOK_INTERVAL) => {}
                () = self.cannot_reply(context) => return Err(interrupted()),
            }
        }
    }

    /// Asks the person at the client about an approval, until somebody has answered it.
    async fn ask_about(
        &self,
        approval: &StoredApproval,
        tasks: &StoredTasks,
        context: &RequestContext<RoleServer>,
    ) -> Option<FormAnswer> {
        let form = approval_form::form_of(approval)?;
        let mut meta = RequestMetaObject::new();
        meta.insert(
            RELATED_TASK.to_owned(),
            json!({ "taskId": approval.asked.run }),
        );
        let options = PeerRequestOptions::no_options().with_meta(meta);
        let request = ServerRequest::ElicitRequest(form);
        let sent = context
            .peer
            .send_cancellable_request(request, options)
            .await;
        let mut open = sent.ok()?;
        loop {
            let answered = tokio::select! {
                answer = &mut open.rx => match answer {
                    Ok(Ok(ClientResult::ElicitResult(result))) => {
                        return Some(approval_form::parsed_answer(&result));
                    }
                    _ => return None,
                },
                () = self.cannot_reply(context) => true,
                () = tokio::time::sleep(LOOK_INTERVAL) => {
                    let view = tasks.get(approval.asked.run.as_str()).await.ok()?;
                    !view.approvals.iter().any(|other| other.id == approval.id)
                }
            };
            if answered {
                let reason = "the answer is not needed any more".to_owned();
                let _ = open.cancel(Some(reason)).await;
                return None;
            }
        }
    }

    /// Returns when the request is cancelled, or its client or this server ends.
    async fn cannot_reply(&self, context: &RequestContext<RoleServer>) {
        tokio::select! {
            () = context.ct.cancelled() => {}
            () = self.input_ended().cancelled() => {}
            () = self.state().closing().cancelled() => {}
        }
    }
}

async fn legacy_reply(tasks: &StoredTasks, view: &TaskView) -> Result<Value, ErrorData> {
    if view.state == TaskState::Cancelled {
        let message = format!("task {} was cancelled", view.run.id);
        return Err(tasks.refused(ErrorCode::INTERNAL_ERROR, &message).await);
    }
    let reply = tasks.reply(&view.run).await?;
    let mut result = legacy(json!(reply.into_result(None)));
    result["_meta"][RELATED_TASK] = json!({ "taskId": view.run.id });
    Ok(result)
}

/// Tells the client that began a task where it stands now.
async fn notify_status(peer: &Peer<RoleServer>, tasks: &StoredTasks, id: &str) {
    if let Ok(view) = tasks.get(id).await {
        let status = CustomNotification::new("notifications/tasks/status", Some(view.to_legacy()));
        // The client may have disconnected.
        let status = ServerNotification::CustomNotification(status);
        let _ = peer.send_notification(status).await;
    }
}

/// A result as it was before `resultType`.
fn legacy(mut result: Value) -> Value {
    if let Some(fields) = result.as_object_mut() {
        fields.remove("resultType");
    }
    result
}

fn task_id(params: &Value) -> Result<&str, ErrorData> {
    params["taskId"].as_str().ok_or_else(wrong_params)
}

fn requested_ttl(task: &Value) -> Result<Option<u64>, ErrorData> {
    let ttl = task.as_object().map(|task| task.get("ttl"));
    match ttl {
        Some(None | Some(Value::Null)) => Ok(None),
        // A ttl of 0.5 ms or of -1 is shorter than any that a task has.
        Some(Some(Value::Number(ms))) => Ok(ms.as_f64().map(|ms| ms as u64)),
        Some(Some(_)) | None => {
            let message = "`task` must be an object, and its `ttl` a number of milliseconds";
            Err(refusal(ErrorCode::INVALID_PARAMS, message.into()))
        }
    }
}

fn wrong_params() -> ErrorData {
    let message = "the parameters do not fit the method";
    refusal(ErrorCode::INVALID_PARAMS, message.into())
}

fn interrupted() -> ErrorData {
    let message = "the request was cancelled, or the server is shutting down; the task goes on: ask for its result again";
    refusal(ErrorCode::INTERNAL_ERROR, message.into())
}
