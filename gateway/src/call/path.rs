//! The steps of a call: policy, budget, tool lookup, schema, cache, then attempts until a response.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_guards::GuardName;
use pml_nearest::{nearest, typos_of};
use pml_policy::authorize::Action;
use pml_protocol::{EffectClass, RunContext};
use serde::Serialize;
use serde_json::{Map, Value};

use super::arguments::CallArguments;
use super::before_send::{BeforeSend, CallOptions};
use super::child::ChildPipelines;
use super::dispatch::{FailedAttempt, ToolCall};
use super::error::{CallError, CallErrorKind};
use super::progress::ProgressListener;
use super::scope::RunScope;
use crate::ToolId;
use crate::caller::Caller;
use crate::config::Endpoint;
use crate::effects::Effect;
use crate::gateway::Inner;
use crate::guarded::{GuardPass, Guarding};
use crate::policy::breaker::Outcome;
use crate::policy::retry::Failure;
use crate::printable;
use crate::registry::Tool;
use crate::server::{Connection, Server, Unavailable};

/// Of one call, unless the server's configuration or the run sets another.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const NEAREST: usize = 3;
/// Bytes of an unknown id that an error message repeats.
const MAX_SHOWN: usize = 256;
/// How long a call of an unknown server waits for the tools of all servers, counted from when they
/// were first listed: a server that hangs at its start delays the first such call, not all of them.
const LIST_ALL_TIMEOUT: Duration = Duration::from_secs(5);
/// A retry whose server asks for a longer pause is left to the caller.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(5);
/// Values, or kilobytes of text, of arguments that are copied for each attempt.
const COPIED_VALUES: usize = 1_000;
/// A server that let a call time out must answer a ping within this, or it is restarted.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallValue {
    /// The plain value that `tools.server.tool(args)` returns.
    pub value: Value,
    /// The time of the call, queueing included.
    pub took: Duration,
    /// Whether the value came from the cache.
    pub cached: bool,
}

/// A call that passed every check before dispatch.
struct PreparedCall {
    server: Arc<Server>,
    tool: Arc<Tool>,
    arguments: Value,
    effect: Effect,
    /// The script chose the idempotency key.
    has_own_key: bool,
}

impl PreparedCall {
    /// Asks the guards about the call.
    async fn guard<'a>(
        &mut self,
        inner: &'a Inner,
        scope: &'a RunScope,
        is_dry_run: bool,
    ) -> Result<GuardPass<'a>, CallError> {
        let guarding = Guarding {
            id: self.tool.id.as_str(),
            tool: Some(&self.tool),
            effect: self.effect.class,
            chosen_key: self
                .effect
                .key_argument
                .as_deref()
                .filter(|_| !self.has_own_key),
            is_dry_run,
        };
        let pass = inner.guard(scope, guarding, &mut self.arguments).await?;
        if pass.is_repaired() {
            self.check_repaired(inner, scope).await?;
        }
        Ok(pass)
    }

    /// Checks arguments again that a guard has changed. The error does not quote them: they are restored.
    async fn check_repaired(&mut self, inner: &Inner, scope: &RunScope) -> Result<(), CallError> {
        let repaired = std::mem::take(&mut self.arguments);
        let checks = &self.server.slow_checks;
        let checked = self.tool.check_arguments(repaired, checks).await;
        self.arguments = checked.map_err(|_| {
            let id = self.tool.id.as_str();
            let message = format!(
                "`{id}` was not called: a guard has repaired its arguments, and they do not fit its schema any more; leave out what the guard repairs"
            );
            CallError::permanent(CallErrorKind::Arguments, id, message)
        })?;
        let args = self.arguments.as_object();
        inner.check_tool(
            scope.caller(),
            Action::Call,
            &self.tool,
            args,
            scope.labels(),
        )
    }
}

impl Inner {
    pub(crate) async fn call(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: CallArguments,
        options: CallOptions<'_>,
    ) -> Result<CallValue, CallError> {
        let began = Instant::now();
        let answer = |value, cached| CallValue {
            value,
            took: began.elapsed(),
            cached,
        };
        self.begin(scope, id)?;
        if !options.is_speculative {
            scope.spend(id)?;
        }
        let mut prepared = self.prepare(scope, id, arguments, options).await?;
        let pass = prepared.guard(self, scope, false).await?;
        if options.is_speculative
            && scope
                .request()
                .is_some_and(|run| !run.notes().guards().is_empty())
        {
            // What guards say belongs to the call that the script makes.
            return Err(not_speculated(id));
        }
        if let Some(known) = self.policy().cache.get(id, &prepared.arguments) {
            if let Some(request) = options.request {
                request.notes().mark_cached();
            }
            pass.answered_by_cache();
            return Ok(answer(Value::clone(&known), true));
        }
        // What a function read along the way is no part of its answer.
        let is_cached = self.policy().cache.covers(id) && !self.is_function(&prepared.tool.id);
        let cached_as = is_cached.then(|| prepared.arguments.clone());
        let server = prepared.server.clone();
        let epoch = server.cache_epoch();
        let mut value = self
            .attempt_until_answered(scope, prepared, options)
            .await?;
        pass.answered(&mut value).await?;
        if let Some(arguments) = cached_as {
            let size = serde_json::to_string(&value).map_or(0, |text| text.len());
            self.policy()
                .cache
                .put(id, &arguments, Arc::new(value.clone()), size);
            // The server restarted or changed its tools meanwhile: the answer may be outdated.
            if server.cache_epoch() != epoch {
                self.policy().cache.forget_server(&server.config.name);
            }
        }
        Ok(answer(value, false))
    }

    /// Runs the checks of a call without sending it. The error is the one that the call would have
    /// got.
    pub(crate) async fn check_call(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: CallArguments,
        version: Option<&str>,
    ) -> Result<Arc<Tool>, CallError> {
        let options = CallOptions {
            version,
            ..CallOptions::default()
        };
        self.begin(scope, id)?;
        scope.predict_spending(id)?;
        let mut prepared = self.prepare(scope, id, arguments, options).await?;
        prepared.guard(self, scope, true).await?;
        let admitted = self
            .policy()
            .admit(id, scope.budget(), self.takes_slots(&prepared.tool.id))
            .await;
        // An admission that is dropped unfinished does not count for the circuit breaker.
        drop(admitted.map_err(|refusal| CallError::refused(id, refusal))?);
        Ok(prepared.tool)
    }

    /// What is checked before the tool is looked up, so that a denied tool stays hidden.
    fn begin(&self, scope: &RunScope, id: &str) -> Result<(), CallError> {
        if scope.ended().is_cancelled() {
            return Err(CallError::permanent(
                CallErrorKind::Cancelled,
                id,
                "the run has ended",
            ));
        }
        self.check_id(scope.caller(), id)
    }

    /// Checks policy, tool and arguments.
    async fn prepare(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: CallArguments,
        options: CallOptions<'_>,
    ) -> Result<PreparedCall, CallError> {
        let caller = scope.caller();
        let (server, tool) = self.resolve(caller, id).await?;
        self.check_tool(caller, Action::Call, &tool, None, scope.labels())?;
        let effect = self.effects.class_of(&tool, &server.config);
        if options.is_speculative && !self.is_unchanged_read(&tool, &effect) {
            return Err(not_speculated(id));
        }
        let earlier = match options.version {
            Some(version) => server.earlier_version(&tool, version)?,
            None => None,
        };
        let mut arguments = arguments;
        if self.guards.coerces(id) {
            arguments.convert(|arguments| self.coerce(scope, &tool, arguments));
        }
        let has_own_key = arguments.has_own_key(&effect);
        let checked = arguments
            .checked(id, &tool, &effect, &server.slow_checks)
            .await;
        let arguments = match earlier {
            Some(earlier) => checked.map_err(|error| earlier.explain(&tool, error))?,
            None => checked?,
        };
        // The policy decides about the values that are sent, not about the placeholders of a script.
        let args = arguments.as_object();
        self.check_tool(caller, Action::Call, &tool, args, scope.labels())?;
        Ok(PreparedCall {
            server,
            tool,
            arguments,
            effect,
            has_own_key,
        })
    }

    /// The server and the tool behind an id, or an error with the nearest ids.
    pub(crate) async fn resolve(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<(Arc<Server>, Arc<Tool>), CallError> {
        let parsed = id.parse::<ToolId>().ok();
        let named = parsed.and_then(|id| Some((self.servers.get(id.server())?, id)));
        let Some((server, parsed)) = named else {
            // Every server is started, so that the error can suggest an existing id.
            let timeout = LIST_ALL_TIMEOUT.saturating_sub(self.since_all_listed());
            self.list(caller, None, timeout).await;
            return Err(self.unknown(caller, id));
        };
        let tools = server
            .current_tools()
            .await
            .map_err(|unavailable| unavailable_error(id, server, unavailable))?;
        match tools.get(parsed.tool()) {
            Some(tool) => match tool.quarantine {
                None => Ok((server.clone(), tool.clone())),
                Some(quarantine) => Err(CallError::quarantined(tool.id.as_str(), quarantine)),
            },
            None => match tools.refusal(parsed.tool()) {
                Some(refused) => Err(CallError::permanent(
                    CallErrorKind::Unavailable,
                    id,
                    format!(
                        "the tool `{}` cannot be used: {}",
                        refused.tool, refused.reason
                    ),
                )),
                None => Err(self.unknown(caller, id)),
            },
        }
    }

    /// Whether the id names a server that does not exist and is not a typo of one.
    fn has_unknown_server(&self, id: &str) -> bool {
        let known = || self.servers.keys().map(String::as_str);
        id.split_once(':').is_some_and(|(server, _)| {
            !self.servers.contains_key(server) && typos_of(server, known()).is_empty()
        })
    }

    fn unknown(&self, caller: &Caller, id: &str) -> CallError {
        let tools = self.known_tools(caller);
        let ids: Vec<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
        let near = nearest(id, ids.iter().copied(), NEAREST);
        let id = shown_id(id);
        let shown = printable(id);
        let message = if self.servers.is_empty() {
            format!(
                "there is no tool `{shown}`: no MCP server is configured; add one to .mcp.json in the working folder"
            )
        } else if let Some(meant) = self.meant(id, &ids) {
            format!("there is no tool `{shown}`; write `{meant}`: ids are `server:tool`")
        } else if near.is_empty() || self.has_unknown_server(id) {
            let servers: Vec<&str> = self.servers.keys().map(String::as_str).collect();
            format!(
                "there is no tool `{shown}`; ids are `server:tool`, and the servers are: {}",
                servers.join(", ")
            )
        } else {
            format!(
                "there is no tool `{shown}`; the nearest are `{}`: search for tools instead of guessing",
                near.join("`, `")
            )
        };
        CallError::permanent(CallErrorKind::Unknown, id, message)
    }

    async fn attempt_until_answered(
        &self,
        scope: &RunScope,
        call: PreparedCall,
        options: CallOptions<'_>,
    ) -> Result<Value, CallError> {
        let tool = &call.tool.id;
        let ended =
            || CallError::permanent(CallErrorKind::Cancelled, tool.as_str(), "the run has ended");
        let is_repeatable = call.effect.is_repeatable(&call.arguments);
        let mut attempts = self.policy().retry.begin(tool.as_str(), is_repeatable);
        let mut sending = Sending {
            effect: &call.effect,
            before_send: options.before_send,
            request: options.request,
            speculated: options.is_speculative.then_some(&call.tool),
            progress: options.progress,
            children: options.children,
            renewal: Renewal::NotTried,
            arguments: SentArguments::new(call.arguments),
        };
        loop {
            let failed = tokio::select! {
                done = self.attempt(scope, &call.server, tool, &mut sending) => match done {
                    Ok(value) => return Ok(value),
                    Err(failed) => failed,
                },
                () = scope.ended().cancelled() => return Err(ended()),
            };
            if sending.arguments.is_sent() {
                return Err(failed.error);
            }
            if sending.renewal == Renewal::Renewed && is_repeatable {
                sending.renewal = Renewal::Used;
                continue;
            }
            let Some(delay) = attempts.after(failed.failure) else {
                return Err(failed.error);
            };
            let asked = Duration::from_millis(failed.error.retry_after_ms.unwrap_or(0));
            if asked > MAX_RETRY_PAUSE {
                return Err(failed.error);
            }
            let delay = delay.max(asked);
            let error = failed.error.hidden(self.secrets());
            tracing::debug!(%tool, ?delay, %error, "trying a call again");
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = scope.ended().cancelled() => return Err(ended()),
            }
        }
    }

    /// Whether a call has no effect, and its tool is the one that was first seen. A call of a function is
    /// never made ahead of time: it would make further calls.
    pub(crate) fn is_unchanged_read(&self, tool: &Tool, effect: &Effect) -> bool {
        effect.class == EffectClass::Read
            && !self.is_function(&tool.id)
            && self.first_seen.is_first(tool)
    }

    /// Whether a call takes slots. A function would hold those that its own calls wait for.
    fn takes_slots(&self, tool: &ToolId) -> bool {
        !self.is_function(tool)
    }

    /// Whether a tool is a function, whose call makes further calls.
    fn is_function(&self, tool: &ToolId) -> bool {
        let server = self.servers.get(tool.server());
        server.is_some_and(|server| matches!(server.config.endpoint, Ok(Endpoint::Functions(_))))
    }

    /// Checks the tool again directly before a speculative call is sent: its server may have announced
    /// other tools since.
    async fn check_unchanged(&self, server: &Arc<Server>, tool: &Tool) -> Result<(), CallError> {
        let id = tool.id.as_str();
        let tools = server.current_tools().await;
        let tools = tools.map_err(|unavailable| unavailable_error(id, server, unavailable))?;
        let now = tools.get(tool.id.tool());
        match now.is_some_and(|now| now.fingerprint == tool.fingerprint) {
            true => Ok(()),
            false => Err(not_speculated(id)),
        }
    }

    async fn attempt(
        &self,
        scope: &RunScope,
        server: &Arc<Server>,
        tool: &ToolId,
        sending: &mut Sending<'_>,
    ) -> Result<Value, FailedAttempt> {
        let refused = |error| FailedAttempt {
            error,
            failure: Failure::Answered,
            unhealthy: false,
        };
        let Ok(_permit) = scope.permits().acquire().await else {
            return Err(refused(CallError::permanent(
                CallErrorKind::Cancelled,
                tool.as_str(),
                "the run has ended",
            )));
        };
        let admission = self
            .policy()
            .admit(tool.as_str(), scope.budget(), self.takes_slots(tool))
            .await
            .map_err(|refusal| refused(CallError::refused(tool.as_str(), refusal)))?;
        if let Some(request) = sending.request {
            request.notes().add_server_wait(admission.waited());
        }
        let leased = match server.lease().await {
            Ok(leased) => leased,
            Err(unavailable) => {
                admission.finish(Outcome::Failed);
                let failure = match unavailable.retry_after {
                    // The pause before the next start is longer than the delays of retries.
                    Some(pause) if pause > Duration::from_secs(1) => Failure::Answered,
                    Some(_) => Failure::NeverSent,
                    None => Failure::Answered,
                };
                return Err(FailedAttempt {
                    error: unavailable_error(tool.as_str(), server, unavailable),
                    failure,
                    unhealthy: true,
                });
            }
        };
        let connection = leased.connection().clone();
        // The server may have been started anew, or have announced other tools, since the call was checked.
        if let Err(error) = server.check_pin(tool).await {
            return Err(refused(error));
        }
        if let Some(tool) = sending.speculated {
            self.check_unchanged(server, tool).await.map_err(refused)?;
        }
        if let Some(callback) = sending.before_send {
            // Dropping the admission frees its slots and does not count for the circuit breaker.
            callback
                .before_send(sending.effect)
                .await
                .map_err(refused)?;
            sending.before_send = None;
        }
        // The lower one of the server's limit and the run's; the default if neither is set.
        let own = match (server.config.timeout, scope.tool_timeout()) {
            (Some(own), Some(asked)) => own.min(asked),
            (own, asked) => own.or(asked).unwrap_or(DEFAULT_TIMEOUT),
        };
        let guard_limit = self.guards.time_limit(tool.as_str());
        let own = guard_limit.map_or(own, |limit| limit.min(own));
        let call = ToolCall {
            tool,
            arguments: sending.arguments.for_attempt(),
            limit: admission.time_limit(own),
            progress: scope.progress(tool, sending.progress),
            trace: sending.request.and_then(RunContext::trace),
            class: sending.effect.class,
            request: sending.request,
            children: sending.children,
        };
        if let Some(request) = sending.request {
            request.notes().count_attempt();
        }
        match connection.call(call).await {
            Ok(value) => {
                sending.attempt_ended();
                connection.mark_answered();
                admission.finish(Outcome::Answered);
                Ok(value)
            }
            Err(mut attempt) => {
                if attempt.error.kind == CallErrorKind::Timeout && guard_limit == Some(own) {
                    attempt.error.guard = Some(GuardName::Time);
                }
                if attempt.failure != Failure::Unanswered {
                    sending.attempt_ended();
                }
                if attempt.unhealthy {
                    admission.finish(Outcome::Failed);
                    retire_if_dead(server, connection.clone());
                } else {
                    connection.mark_answered();
                    admission.finish(Outcome::Answered);
                }
                if sending.renewal == Renewal::NotTried
                    && is_unauthorized(&attempt.error)
                    && server.credentials_rejected(&connection).await
                {
                    sending.renewal = Renewal::Renewed;
                }
                Err(attempt)
            }
        }
    }
}

/// What the attempts of a call share.
struct Sending<'a> {
    effect: &'a Effect,
    /// The tool of a call that the script has not made yet.
    speculated: Option<&'a Arc<Tool>>,
    /// Runs before the first attempt that is sent, and is `None` from then on.
    before_send: Option<&'a dyn BeforeSend>,
    request: Option<&'a RunContext>,
    renewal: Renewal,
    progress: Option<&'a ProgressListener>,
    children: Option<&'a dyn ChildPipelines>,
    arguments: SentArguments,
}

impl Sending<'_> {
    fn attempt_ended(&self) {
        if let Some(request) = self.request {
            request.notes().attempt_ended();
        }
    }
}

fn not_speculated(id: &str) -> CallError {
    let message =
        "only calls without effects, of tools that did not change, are made ahead of time";
    CallError::permanent(CallErrorKind::Denied, id, message)
}

/// Whether the secrets of the server were renewed for this call, because it rejected them.
#[derive(PartialEq, Eq)]
enum Renewal {
    NotTried,
    Renewed,
    Used,
}

/// Whether the error of a tool says that its credential was rejected: the service behind a stdio server
/// answers 401, and the server has no other words for it than its text, or the OpenAPI service itself.
fn is_unauthorized(error: &CallError) -> bool {
    let mut words = error
        .message
        .split(|letter: char| !letter.is_ascii_alphanumeric());
    matches!(error.kind, CallErrorKind::Tool | CallErrorKind::Denied)
        && words.any(|word| word == "401" || word.eq_ignore_ascii_case("unauthorized"))
}

/// The arguments that attempts send. Small ones are kept for further attempts. Large ones are moved
/// into the first one that is sent: a copy would take many times their text, and a call that was sent
/// is rarely sent again.
struct SentArguments {
    arguments: Option<Map<String, Value>>,
    is_large: bool,
}

impl SentArguments {
    fn new(arguments: Value) -> Self {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let mut values_left = COPIED_VALUES;
        let is_large = !arguments
            .iter()
            .all(|(_, value)| is_small(value, &mut values_left));
        Self {
            arguments: Some(arguments),
            is_large,
        }
    }

    fn for_attempt(&mut self) -> Map<String, Value> {
        match self.is_large {
            true => self.arguments.take().unwrap_or_default(),
            false => self.arguments.clone().unwrap_or_default(),
        }
    }

    /// Whether they were moved into an attempt, so that there can be no further one.
    fn is_sent(&self) -> bool {
        self.arguments.is_none()
    }
}

/// Counts values and kilobytes, and stops at the limit.
fn is_small(value: &Value, left: &mut usize) -> bool {
    let cost = match value {
        Value::String(text) => 1 + text.len() / 1024,
        _ => 1,
    };
    let Some(rest) = left.checked_sub(cost) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| is_small(item, left)),
        Value::Object(fields) => fields.values().all(|field| is_small(field, left)),
        _ => true,
    }
}

/// After a failed call: retires a closed connection, and one that does not answer a ping unless other
/// calls still wait for it.
fn retire_if_dead(server: &Arc<Server>, connection: Arc<Connection>) {
    if connection.closed() {
        server.retire(&connection, "the connection ended during a call");
        return;
    }
    let server = server.clone();
    tokio::spawn(async move {
        if connection.ping(PING_TIMEOUT).await.is_none() && !connection.busy() {
            server.retire(&connection, "it no longer answers");
        }
    });
}

/// An id as an error shows it. One that is too long is not a tool, and its beginning could be the
/// first half of a secret, which would not be recognised when the error is scrubbed.
fn shown_id(id: &str) -> &str {
    match id.len() > MAX_SHOWN {
        true => "(an id of more than 256 bytes)",
        false => id,
    }
}

pub(crate) fn unavailable_error(id: &str, server: &Server, unavailable: Unavailable) -> CallError {
    let message = format!(
        "server `{}` is not usable: {}",
        server.config.name, unavailable.error
    );
    match unavailable.retry_after {
        Some(after) if unavailable.error.is_transient() => {
            CallError::transient(CallErrorKind::Unavailable, id, message, Some(after))
        }
        _ => CallError::permanent(CallErrorKind::Unavailable, id, message),
    }
}
