//! The protocol: what a client may ask, and who answers.

#![expect(deprecated, reason = "clients of 2025-11-25 still ask for logs")]

use std::sync::{Arc, OnceLock};

use pml_session::Decision;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorCode, Implementation, InputRequest,
    InputRequiredResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams,
    SubscriptionFilter,
};
use rmcp::service::{ElicitationMode, NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::approval::{self, Asked};
use crate::guests::{Guest, Name};
use crate::house::House;
use crate::notices::{Audience, Notices, severity_number};
use crate::reply::refusal;
use crate::work::{Mark, Step, Work};
use crate::{brief, tools};

/// The name of the one question that an answer can carry.
const APPROVAL: &str = "approval";

/// Where a request without a session says which client of its program it is from.
const SESSION: &str = "pml/session";

/// Methods of the protocol: a request that names one and still is not understood has wrong
/// parameters.
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

/// One connection, or one request where there are no connections.
pub struct Handler {
    house: House,
    /// Requests of a connection belong together; those without one are told apart by names.
    connected: bool,
    own: OnceLock<Arc<Guest>>,
    /// The client has said all that it will ever say.
    silence: CancellationToken,
    /// Ends with the connection the task that tells the client of changes.
    telling: OnceLock<DropGuard>,
}

impl Handler {
    /// For requests of several clients that come through the same door.
    pub fn new(house: House) -> Self {
        Self::with(house, false, CancellationToken::new())
    }

    /// For one client, which `silence` says will answer nothing any more.
    pub fn connected(house: House, silence: CancellationToken) -> Self {
        Self::with(house, true, silence)
    }

    fn with(house: House, connected: bool, silence: CancellationToken) -> Self {
        Self {
            house,
            connected,
            silence,
            own: OnceLock::new(),
            telling: OnceLock::new(),
        }
    }

    fn guest(&self, name: Option<&Name>) -> Arc<Guest> {
        let own = || self.own.get_or_init(|| Arc::new(self.house.new_guest()));
        match name {
            None => own().clone(),
            Some(name) if self.connected && name.session.is_none() => own().clone(),
            Some(name) => {
                let registry = self.house.registry();
                registry.guest(name, || self.house.new_guest())
            }
        }
    }

    fn start(
        &self,
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        guest: &Arc<Guest>,
    ) -> Result<Work, ErrorData> {
        let stay = self.house.enter().ok_or_else(|| {
            refusal(
                ErrorCode::INTERNAL_ERROR,
                "the server is shutting down".into(),
            )
        })?;
        let notices = Notices::to(Audience {
            peer: context.peer.clone(),
            guest: guest.clone(),
            progress: context.meta.get_progress_token(),
            log_level: self.log_level(context, guest),
        });
        let can_ask = can_ask(context);
        let arguments = request.arguments.take();
        let (house, guest) = (self.house.clone(), guest.clone());
        Ok(match &*request.name {
            brief::EXECUTE => Work::start(stay, |steps| {
                tools::execute(house, guest, arguments, notices, can_ask, steps)
            }),
            brief::CALL => Work::start(stay, |steps| {
                tools::call(house, guest, arguments, notices, can_ask, steps)
            }),
            brief::SEARCH => Work::start(stay, |_| tools::search(house, guest, arguments)),
            _ => {
                return Err(refusal(
                    ErrorCode::INVALID_PARAMS,
                    "there is no such tool; the tools are execute_code, search_tools and call_tool"
                        .into(),
                ));
            }
        })
    }

    fn log_level(&self, context: &RequestContext<RoleServer>, guest: &Guest) -> Option<u8> {
        let asked = context.meta.log_level().map(severity_number);
        asked.or_else(|| guest.log_level())
    }

    /// The answer, or a question that has to be answered first: with a mark, by another request.
    async fn finish(
        &self,
        mut work: Work,
        of: Option<Mark>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut heard = None;
        loop {
            let step = tokio::select! {
                step = next_step(&mut heard, &mut work) => step,
                () = context.ct.cancelled() => {
                    return Err(refusal(ErrorCode::INTERNAL_ERROR, "the request was cancelled".into()));
                }
            };
            match step {
                Some(Step::Done(reply)) => return Ok(reply.into_result().into()),
                Some(Step::Ask(question, answer)) => {
                    let time = self.house.gateway().approval_time();
                    if let Some(of) = of {
                        let Some(asked) = approval::request(&question) else {
                            let _ = answer.send(Decision::NotAsked);
                            continue;
                        };
                        match self.house.park(work, answer, of, time) {
                            Ok(word) => return Ok(input_required(asked, word).into()),
                            Err((back, answer)) => {
                                let _ = answer.send(Decision::NotAsked);
                                work = back;
                                continue;
                            }
                        }
                    }
                    let mut asked = Asked::ask(&context.peer, &question, time).await;
                    let decision = tokio::select! {
                        decision = asked.decision() => decision,
                        () = context.ct.cancelled() => Decision::NoAnswer,
                        () = self.silence.cancelled() => Decision::NoAnswer,
                        // The script has ended meanwhile, and nobody needs the answer.
                        step = work.next() => {
                            heard = Some(step);
                            Decision::NoAnswer
                        }
                    };
                    let _ = answer.send(decision);
                }
                None => {
                    return Err(refusal(
                        ErrorCode::INTERNAL_ERROR,
                        "the work broke down; this is a fault of pml".into(),
                    ));
                }
            }
        }
    }
}

/// What was heard while something else was waited for, or what comes next.
async fn next_step(heard: &mut Option<Option<Step>>, work: &mut Work) -> Option<Step> {
    match heard.take() {
        Some(step) => step,
        None => work.next().await,
    }
}

fn input_required(asked: rmcp::model::ElicitRequest, word: String) -> InputRequiredResult {
    let asked = [(APPROVAL.to_owned(), InputRequest::Elicitation(asked))];
    InputRequiredResult::new(Some(asked.into()), Some(word))
}

/// Who says to be asking, where requests stand for themselves.
fn name_of(context: &RequestContext<RoleServer>) -> Result<Option<Name>, ErrorData> {
    if !is_stateless(context) {
        return Ok(None);
    }
    let session = match context.meta.get(SESSION) {
        None => None,
        Some(Value::String(session)) => Some(session.clone()),
        Some(_) => {
            let told = "the `pml/session` in `_meta` must be a text";
            return Err(refusal(ErrorCode::INVALID_PARAMS, told.into()));
        }
    };
    let program = context
        .client_info()
        .map_or_else(String::new, |client| client.name);
    Ok(Some(Name { program, session }))
}

/// Whether the request stands for itself, as in the revision of 2026-07-28.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn can_ask(context: &RequestContext<RoleServer>) -> bool {
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
        // There are no prompts and no resources; the empty lists are there for those who ask.
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_logging()
            .build();
        let mut info = Implementation::default();
        info.name = "pml".to_owned();
        info.title = Some("pml".to_owned());
        info.version = env!("CARGO_PKG_VERSION").to_owned();
        ServerConfig::new(capabilities)
            .with_server_info(info)
            .with_instructions(brief::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            let told = "there is no such cursor; the list of tools has one page";
            return Err(refusal(ErrorCode::INVALID_PARAMS, told.into()));
        }
        self.house.first_look().await;
        let guest = self.guest(name_of(&context)?.as_ref());
        let tools = brief::tools(guest.outlet(), self.house.gateway(), self.house.limits());
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = name_of(&context)?;
        let parked = self.house.parked();
        let of = name.as_ref().map(|name| parked.mark(name, &request));
        let work = match (request.request_state.take(), of) {
            (Some(word), Some(of)) => {
                let said = request.input_responses.take().unwrap_or_default();
                let decision = said.get(APPROVAL).and_then(approval::decision_of);
                let resumed = decision
                    .ok_or("the `inputResponses` hold no answer to `approval`")
                    .and_then(|decision| parked.resume(&word, of, decision));
                resumed.map_err(|why| refusal(ErrorCode::INVALID_PARAMS, why.into()))?
            }
            _ => {
                let guest = self.guest(name.as_ref());
                self.start(&mut request, &context, &guest)?
            }
        };
        self.finish(work, of, &context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Without sessions there is nothing to set: a request says what it wants to hear.
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.guest(name_of(&context)?.as_ref())
            .set_log_level(severity_number(request.level));
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (house, peer) = (self.house.clone(), context.peer);
        let over = CancellationToken::new();
        // A client that says so again is told once all the same.
        if self.telling.set(over.clone().drop_guard()).is_err() {
            return;
        }
        tokio::spawn(async move {
            let mut changes = house.gateway().changes();
            let mut known = brief::roster(house.gateway());
            loop {
                tokio::select! {
                    () = over.cancelled() => return,
                    changed = changes.changed() => if changed.is_err() {
                        return;
                    },
                }
                let roster = brief::roster(house.gateway());
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
        let mut changes = self.house.gateway().changes();
        let mut known = brief::roster(self.house.gateway());
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.house.closing().cancelled() => return Ok(()),
                changed = changes.changed() => if changed.is_err() {
                    return Ok(());
                },
            }
            let roster = brief::roster(self.house.gateway());
            if roster != known && context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
            known = roster;
        }
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
