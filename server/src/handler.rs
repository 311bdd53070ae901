//! The MCP requests that a client may send, and what handles them.

#![expect(deprecated, reason = "clients of 2025-11-25 still ask for logs")]

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use axum::http::request::Parts;
use pml_hosts::{ApprovalRequest, Decision, IfUnasked};
use pml_telemetry::Telemetry;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ElicitRequest, ErrorCode,
    GetTaskParams, GetTaskResult, Implementation, InputRequest, InputRequiredResult, JsonObject,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    SetLevelRequestMethod, SetLevelRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID,
    UpdateTaskParams,
};
use rmcp::service::{ElicitationMode, NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::catch_panics::{catch_panics, panicked};
use crate::client_identity::ClientIdentity;
use crate::client_session::ClientSession;
use crate::elicitation::{self, OpenElicitation};
use crate::log_context::LogContext;
use crate::notice_pace::NoticePace;
use crate::notifications::{Notifications, Subscriber, report_anomalies, severity_number};
use crate::operation::Operation;
use crate::pending_approvals::RequestFingerprint;
use crate::state::ServerState;
use crate::stateless_clients::StatelessClient;
use crate::tasks::{DIRECT_REPLY_TIME, TaskStart};
use crate::tool_descriptions;
use crate::tool_reply::{SESSION, refusal};
use crate::tool_task::{TaskEvent, ToolTask};
use crate::tools::{self, ToolCall};

/// The key of the elicitation in an `input_required` reply.
const APPROVAL: &str = "approval";

/// The `pml/session` of a client that wants a session of its own.
const NEW_SESSION: &str = "new";

/// Methods of MCP: a request that names one and still cannot be parsed has wrong parameters.
const METHODS: [&str; 12] = [
    "initialize",
    "server/discover",
    "tools/call",
    "tools/list",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
];

/// Handles the requests of one connection, or one request of the stateless revision.
pub struct Handler {
    state: ServerState,
    /// Requests of a connection share a session; stateless requests share one by its handle.
    connected: bool,
    own: Arc<OnceLock<Arc<ClientSession>>>,
    /// The client has closed its end of the connection, and will answer nothing.
    input_ended: CancellationToken,
    /// Ends the task that notifies the client of changes, together with the connection.
    change_task: OnceLock<DropGuard>,
}

impl Handler {
    /// For requests of several clients over one endpoint.
    pub fn new(state: ServerState) -> Self {
        Self::with(state, false, CancellationToken::new())
    }

    /// For one client. `input_ended` is cancelled when the client will answer nothing any more.
    pub fn connected(state: ServerState, input_ended: CancellationToken) -> Self {
        Self::with(state, true, input_ended)
    }

    fn with(state: ServerState, connected: bool, input_ended: CancellationToken) -> Self {
        Self {
            state,
            connected,
            input_ended,
            own: Arc::default(),
            change_task: OnceLock::new(),
        }
    }

    /// What all connections share.
    pub(crate) fn state(&self) -> &ServerState {
        &self.state
    }

    /// Cancelled when the client will answer nothing any more.
    pub(crate) fn input_ended(&self) -> &CancellationToken {
        &self.input_ended
    }

    /// The session of a request that calls a tool, and the handle that its reply gives.
    pub(crate) fn session(
        &self,
        client: Option<&StatelessClient>,
        context: &RequestContext<RoleServer>,
    ) -> (Arc<ClientSession>, Option<String>) {
        if let Some(known) = self.known_session(client, context) {
            return known;
        }
        let clients = self.state.stateless_clients();
        let session = self.state.new_session(&self.client_of(context));
        let session = match client {
            Some(client) => session.with_fair_share(clients.fair_share(client)),
            None => session,
        };
        let session = Arc::new(session);
        let handle = clients.keep(session.clone());
        (session, handle)
    }

    /// The session that a request belongs to; `None` for a client without one.
    pub(crate) fn known_session(
        &self,
        client: Option<&StatelessClient>,
        context: &RequestContext<RoleServer>,
    ) -> Option<(Arc<ClientSession>, Option<String>)> {
        let new = || Arc::new(self.state.new_session(&self.client_of(context)));
        let own = || self.own.get_or_init(new).clone();
        let Some(client) = client else {
            return Some((own(), None));
        };
        match client.handle.as_deref() {
            None => self.connected.then(|| (own(), None)),
            Some(NEW_SESSION) => None,
            Some(handle) => {
                let clients = self.state.stateless_clients();
                let session = clients.find(handle, &client.principal)?;
                Some((session, Some(handle.to_owned())))
            }
        }
    }

    /// The tools of this server.
    pub(crate) async fn own_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            let message = "there is no such cursor; the list of tools has one page";
            return Err(refusal(ErrorCode::INVALID_PARAMS, message.into()));
        }
        self.state.first_listing().await;
        let known = self.known_session(self.stateless_client(&context)?.as_ref(), &context);
        // A listing keeps nothing, so it begins no session.
        let new = || Arc::new(self.state.new_session(&self.client_of(&context)));
        let session = known.map_or_else(new, |known| known.0);
        let (gateway, limits) = (session.gateway(), self.state.limits());
        let mut tools = tool_descriptions::tools(session.replies(), gateway, limits).await;
        if self.state.has_workflow_tool() {
            tools.push(tool_descriptions::workflow());
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    /// Runs a tool, or resumes one that waited for approval.
    pub(crate) async fn run_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = self.stateless_client(&context)?;
        let pending = self.state.pending_approvals();
        let fingerprint = client
            .as_ref()
            .map(|client| pending.fingerprint(client, &request));
        let mut session = None;
        let task = match (request.request_state.take(), fingerprint) {
            (Some(token), Some(fingerprint)) => {
                let responses = request.input_responses.take().unwrap_or_default();
                let decision = responses.get(APPROVAL).and_then(elicitation::decision_of);
                let resumed = decision
                    .ok_or("the `inputResponses` hold no answer to `approval`")
                    .and_then(|decision| pending.resume(&token, fingerprint, decision));
                resumed.map_err(|why| refusal(ErrorCode::INVALID_PARAMS, why.into()))?
            }
            _ => {
                let (own, handle) = self.session(client.as_ref(), &context);
                let start = client
                    .as_ref()
                    .and_then(|_| self.task_start(&request.name, &own, &context));
                let task = self.start(&mut request, &context, &own, start)?;
                session = Some(own);
                task.with_session_handle(handle)
            }
        };
        match fingerprint {
            Some(fingerprint) => {
                let stateless = (fingerprint, session);
                self.finish_stateless(task, stateless, &context).await
            }
            None => self.finish_connected(task, &context).await,
        }
    }

    /// Notifies a subscriber when the list of tools changes.
    async fn report_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.state.gateway().changes();
        let mut known = tool_descriptions::common_roster(self.state.gateway());
        let mut pace = NoticePace::default();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.state.closing().cancelled() => return Ok(()),
                changed = changes.changed() => if changed.is_err() {
                    return Ok(());
                },
            }
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.state.closing().cancelled() => return Ok(()),
                () = pace.wait() => {}
            }
            let roster = tool_descriptions::common_roster(self.state.gateway());
            if roster != known && context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
            known = roster;
        }
    }

    pub(crate) fn start(
        &self,
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        session: &Arc<ClientSession>,
        task: Option<TaskStart>,
    ) -> Result<ToolTask, ErrorData> {
        let in_flight = self.state.begin_call().ok_or_else(|| {
            refusal(
                ErrorCode::INTERNAL_ERROR,
                "the server is shutting down".into(),
            )
        })?;
        let notifications = Notifications::to(Subscriber {
            peer: context.peer.clone(),
            session: session.clone(),
            progress: context.meta.get_progress_token(),
            log_level: log_level(context, session),
        });
        // The client of a task waits for no reply, so it cannot be asked with it.
        let can_ask = can_ask(context);
        let is_asked_later = can_ask && task.is_some_and(|task| task.at_once);
        let operation = self
            .state
            .telemetry()
            .map(|telemetry| Operation::begin(telemetry, &request.name, session, context));
        let trace = operation.as_ref().and_then(Operation::trace);
        let ids = LogContext::new(session.id(), trace.clone());
        let call = ToolCall {
            trace,
            state: self.state.clone(),
            session: session.clone(),
            arguments: request.arguments.take(),
            notifications,
            can_ask: can_ask && !is_asked_later,
            // Over standard input and output the client was started by its user. An address is open
            // to everything that can reach it.
            if_unasked: match self.connected && !is_asked_later {
                true => IfUnasked::Send,
                false => IfUnasked::Refuse,
            },
            task,
        };
        Ok(match &*request.name {
            tool_descriptions::EXECUTE => ToolTask::start(in_flight, |events| {
                ids.scope(Operation::observe(operation, tools::execute(call, events)))
            }),
            tool_descriptions::CALL => ToolTask::start(in_flight, |events| {
                ids.scope(Operation::observe(operation, tools::call(call, events)))
            }),
            tool_descriptions::SEARCH => ToolTask::start(in_flight, |_| {
                ids.scope(Operation::observe(operation, tools::search(call)))
            }),
            tool_descriptions::WORKFLOW if self.state.has_workflow_tool() => {
                ToolTask::start(in_flight, |events| {
                    ids.scope(Operation::observe(operation, tools::workflow(call, events)))
                })
            }
            _ => {
                return Err(refusal(
                    ErrorCode::INVALID_PARAMS,
                    "there is no such tool; the tools are execute_code, search_tools and call_tool"
                        .into(),
                ));
            }
        })
    }

    /// Waits for the reply over a connection. The client is asked for approval with requests of its
    /// own (elicitation).
    async fn finish_connected(
        &self,
        mut task: ToolTask,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut next = None;
        loop {
            let event = match next.take() {
                Some(event) => event,
                None => next_event(&mut task, context).await?,
            };
            match event {
                TaskEvent::Begun(_) => {}
                TaskEvent::Done(reply) => return Ok(reply.into_result(None).into()),
                TaskEvent::NeedsApproval(request, mut answer) => {
                    let (decision, event) = tokio::select! {
                        elicited = self.elicit(&request, &mut task, context) => elicited?,
                        // Somebody else has answered.
                        () = answer.closed() => continue,
                    };
                    let _ = answer.send(decision);
                    next = event;
                }
            }
        }
    }

    /// Asks the client for approval, until it answers or the task does not need the answer any more;
    /// then the event that the task had instead is returned as well.
    async fn elicit(
        &self,
        request: &ApprovalRequest,
        task: &mut ToolTask,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Decision, Option<TaskEvent>), ErrorData> {
        let time = self.state.gateway().approval_time();
        let mut elicitation = OpenElicitation::send(&context.peer, request, time).await;
        tokio::select! {
            decision = elicitation.decision() => Ok((decision, None)),
            () = context.ct.cancelled() => Ok((Decision::NoAnswer, None)),
            () = self.input_ended.cancelled() => Ok((Decision::NoAnswer, None)),
            event = task.next() => Ok((Decision::NoAnswer, Some(event.ok_or_else(panicked)?))),
        }
    }

    /// Waits for the reply to a request without a connection. If approval is needed, the reply is
    /// `input_required`, and the client comes back with the answer. If the script takes long, the reply is
    /// a task, where the client can handle one.
    async fn finish_stateless(
        &self,
        mut task: ToolTask,
        (fingerprint, session): (RequestFingerprint, Option<Arc<ClientSession>>),
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let time = self.state.gateway().approval_time();
        let mut direct_time = pin!(tokio::time::sleep(DIRECT_REPLY_TIME));
        let mut may_detach = session.is_some();
        loop {
            let event = tokio::select! {
                event = next_event(&mut task, context) => event?,
                () = &mut direct_time, if may_detach => {
                    may_detach = false;
                    let Some(session) = &session else { continue };
                    match self.detach(task, session).await {
                        Ok(created) => return Ok(CallToolResponse::Task(created)),
                        Err(direct) => task = direct,
                    }
                    continue;
                }
            };
            let (request, answer) = match event {
                TaskEvent::Begun(_) => continue,
                TaskEvent::Done(reply) => {
                    return Ok(reply.into_result(task.session_handle()).into());
                }
                TaskEvent::NeedsApproval(request, answer) => (request, answer),
            };
            let Some(request) = elicitation::elicit_request(&request) else {
                let _ = answer.send(Decision::NotAsked);
                continue;
            };
            match self.state.suspend(task, answer, fingerprint, time) {
                Ok(token) => return Ok(input_required(request, token).into()),
                Err((suspended, answer)) => {
                    let _ = answer.send(Decision::NotAsked);
                    task = suspended;
                }
            }
        }
    }
}

/// The next event of a task, unless the request is cancelled.
async fn next_event(
    task: &mut ToolTask,
    context: &RequestContext<RoleServer>,
) -> Result<TaskEvent, ErrorData> {
    tokio::select! {
        event = task.next() => event.ok_or_else(panicked),
        () = context.ct.cancelled() => {
            Err(refusal(ErrorCode::INTERNAL_ERROR, "the request was cancelled".into()))
        }
    }
}

/// The lowest severity that the client wants, of this request or of its session.
fn log_level(context: &RequestContext<RoleServer>, session: &ClientSession) -> Option<u8> {
    let requested = context.meta.log_level().map(severity_number);
    requested.or_else(|| session.log_level())
}

fn input_required(request: ElicitRequest, token: String) -> InputRequiredResult {
    let requests = [(APPROVAL.to_owned(), InputRequest::Elicitation(request))];
    InputRequiredResult::new(Some(requests.into()), Some(token))
}

impl Handler {
    /// Who sent a request: the owner of its token, or the local user.
    pub(crate) fn client_of(&self, context: &RequestContext<RoleServer>) -> ClientIdentity {
        let http = context.extensions.get::<Parts>();
        http.and_then(|parts| parts.extensions.get::<ClientIdentity>())
            .cloned()
            .unwrap_or_else(ClientIdentity::local)
            .behind(self.state.gateway())
    }

    /// The client of a request without a session; `None` for a client with one.
    pub(crate) fn stateless_client(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<StatelessClient>, ErrorData> {
        if !is_stateless(context) {
            return Ok(None);
        }
        let handle = match context.meta.get(SESSION) {
            None => None,
            Some(Value::String(handle)) => Some(handle.clone()),
            Some(_) => {
                let message = "the `pml/session` in `_meta` must be the text that an answer gave";
                return Err(refusal(ErrorCode::INVALID_PARAMS, message.into()));
            }
        };
        let program = context
            .client_info()
            .map_or_else(String::new, |client| client.name);
        Ok(Some(StatelessClient {
            principal: self.client_of(context).principal().clone(),
            program,
            handle,
        }))
    }
}

/// Whether the request is of the stateless revision (2026-07-28), in which it belongs to no session.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

pub(crate) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    if is_stateless(context) {
        return context.client_capabilities().is_some_and(|can| {
            can.elicitation
                .is_some_and(|how| how.form.is_some() || how.url.is_none())
        });
    }
    let modes = context.peer.supported_elicitation_modes();
    modes.contains(&ElicitationMode::Form)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        // The lists of prompts and resources are empty; some clients ask for them all the same.
        let mut capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_logging()
            .build();
        if self.state.durable_runs().is_some() {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        let mut info = Implementation::default();
        info.name = "pml".to_owned();
        info.title = Some("pml".to_owned());
        info.version = env!("CARGO_PKG_VERSION").to_owned();
        ServerConfig::new(capabilities)
            .with_server_info(info)
            .with_instructions(tool_descriptions::instructions(self.state.gateway()))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        catch_panics(self.own_tools(request, context)).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        catch_panics(self.run_tool(request, context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        catch_panics(self.extension_task(&request.task_id, &context)).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let UpdateTaskParams {
            task_id,
            input_responses,
            ..
        } = request;
        catch_panics(self.answer_inputs(&task_id, &input_responses, &context)).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        catch_panics(self.cancel_extension_task(&request.task_id, &context)).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Without sessions there is nothing to set: each request has its own level.
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        let (session, _) = self.session(None, &context);
        session.set_log_level(severity_number(request.level));
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (state, peer) = (self.state.clone(), context.peer);
        let connection_ended = CancellationToken::new();
        // A second `initialized` starts no second task.
        let guard = connection_ended.clone().drop_guard();
        if self.change_task.set(guard).is_err() {
            return;
        }
        if let Some(anomalies) = state.telemetry().and_then(Telemetry::anomalies) {
            let (peer, session) = (peer.clone(), self.own.clone());
            let reporting = report_anomalies(peer, session, anomalies);
            tokio::spawn(
                connection_ended
                    .clone()
                    .run_until_cancelled_owned(reporting),
            );
        }
        tokio::spawn(async move {
            let mut changes = state.gateway().changes();
            let mut known = tool_descriptions::common_roster(state.gateway());
            let mut pace = NoticePace::default();
            loop {
                tokio::select! {
                    () = connection_ended.cancelled() => return,
                    changed = changes.changed() => if changed.is_err() {
                        return;
                    },
                }
                tokio::select! {
                    () = connection_ended.cancelled() => return,
                    () = pace.wait() => {}
                }
                let roster = tool_descriptions::common_roster(state.gateway());
                if roster != known && peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
                known = roster;
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        catch_panics(self.report_changes(context)).await
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let about_tasks = self.legacy_request(&request, &context);
        if let Some(handled) = catch_panics(async { about_tasks.await.transpose() }).await? {
            return Ok(handled);
        }
        let method = request.method.as_str();
        let is_gone = is_stateless(&context) && method == "logging/setLevel";
        Err(if METHODS.contains(&method) && !is_gone {
            refusal(
                ErrorCode::INVALID_PARAMS,
                "the parameters do not fit the method".into(),
            )
        } else {
            refusal(
                ErrorCode::METHOD_NOT_FOUND,
                "there is no such method".into(),
            )
        })
    }
}
