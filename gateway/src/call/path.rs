//! The way of a call: allowed? paid for? known? valid? cached? then attempts until it is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_nearest::{nearest, typo_of};
use serde::Serialize;
use serde_json::{Map, Value};

use super::dispatch::{Attempt, Request, dispatch};
use super::error::{CallError, CallErrorKind};
use super::scope::RunScope;
use crate::ToolId;
use crate::gateway::Inner;
use crate::policy::breaker::Outcome;
use crate::policy::retry::Failure;
use crate::registry::Tool;
use crate::server::{Connection, Server, Unavailable};

/// For one call, unless the server's configuration or the run says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const NEAREST: usize = 3;
/// Bytes of an id that are told again to whoever made it up.
const MAX_SHOWN: usize = 256;
/// How long an id that names no server waits to learn the ids of every server, counted from when
/// they were first asked: one that hangs at its start holds up the first mistake, not each of them.
const GUESS_PATIENCE: Duration = Duration::from_secs(5);
/// A server that wants a longer pause than this is told to the caller instead.
const WAITED_FOR: Duration = Duration::from_secs(5);
/// A server that let a call run out of time must answer a ping within this, or it is restarted.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallValue {
    /// Unwrapped: what `tools.server.tool(args)` answers.
    pub value: Value,
    /// From asking to answer, waiting included.
    pub took: Duration,
    /// Whether the operator's cache answered.
    pub cached: bool,
}

/// A call that may be sent.
struct Prepared {
    server: Arc<Server>,
    tool: Arc<Tool>,
    arguments: Value,
}

impl Inner {
    pub(crate) async fn call(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: Value,
    ) -> Result<CallValue, CallError> {
        let began = Instant::now();
        let answer = |value, cached| CallValue {
            value,
            took: began.elapsed(),
            cached,
        };
        let Prepared {
            server,
            tool,
            arguments,
        } = self.prepare(scope, id, arguments).await?;
        if let Some(known) = self.policy().cache.get(id, &arguments) {
            return Ok(answer(Value::clone(&known), true));
        }
        let cached_as = self.policy().cache.covers(id).then(|| arguments.clone());
        let epoch = server.cache_epoch();
        let value = self
            .attempt_until_answered(scope, &server, &tool.id, arguments)
            .await?;
        if let Some(arguments) = cached_as {
            let size = serde_json::to_string(&value).map_or(0, |text| text.len());
            self.policy()
                .cache
                .put(id, &arguments, Arc::new(value.clone()), size);
            // The server restarted or changed its tools meanwhile: the answer may be out of date.
            if server.cache_epoch() != epoch {
                self.policy().cache.forget_server(&server.config.name);
            }
        }
        Ok(answer(value, false))
    }

    /// Everything that happens to a call before it is sent, and nothing after: a refusal is the
    /// one that the call would have met.
    pub(crate) async fn rehearse(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: Value,
    ) -> Result<Arc<Tool>, CallError> {
        let prepared = self.prepare(scope, id, arguments).await?;
        let admitted = self.policy().admit(id, scope.budget()).await;
        // An admission that is dropped unfinished says nothing about the server.
        drop(admitted.map_err(|refusal| CallError::refused(id, refusal))?);
        Ok(prepared.tool)
    }

    /// Allowed? paid for? known? valid?
    async fn prepare(
        &self,
        scope: &RunScope,
        id: &str,
        arguments: Value,
    ) -> Result<Prepared, CallError> {
        let refuse = |refusal| CallError::refused(id, refusal);
        if scope.ended().is_cancelled() {
            return Err(CallError::lasting(
                CallErrorKind::Cancelled,
                id,
                "the run has ended",
            ));
        }
        self.policy().filter.verdict(id).map_err(refuse)?;
        scope.budget().spend_call(id).map_err(refuse)?;
        let (server, tool) = self.resolve(id).await?;
        let arguments = object(id, arguments)?;
        tool.check_arguments(&arguments).map_err(|mistake| {
            CallError::lasting(
                CallErrorKind::Arguments,
                id,
                format!(
                    "the arguments of `{id}` do not fit its schema, and nothing was sent: {mistake}"
                ),
            )
        })?;
        Ok(Prepared {
            server,
            tool,
            arguments,
        })
    }

    /// The server and the tool behind an id, or an error with the nearest ids.
    pub(crate) async fn resolve(&self, id: &str) -> Result<(Arc<Server>, Arc<Tool>), CallError> {
        let parsed = id.parse::<ToolId>().ok();
        let named = parsed.and_then(|id| Some((self.servers.get(id.server())?, id)));
        let Some((server, parsed)) = named else {
            // Somebody guesses: worth the start of every server, to know the ids that exist.
            let patience = GUESS_PATIENCE.saturating_sub(self.since_all_asked());
            self.list(None, patience).await;
            return Err(self.unknown(id));
        };
        let tools = server
            .current_tools()
            .await
            .map_err(|unavailable| unavailable_error(id, server, unavailable))?;
        match tools.get(parsed.tool()) {
            Some(tool) => Ok((server.clone(), tool.clone())),
            None => Err(self.unknown(id)),
        }
    }

    /// Whether the id names a server that is not there, nor one like it.
    fn names_no_server(&self, id: &str) -> bool {
        let known = || self.servers.keys().map(String::as_str);
        id.split_once(':').is_some_and(|(server, _)| {
            !self.servers.contains_key(server) && typo_of(server, known()).is_none()
        })
    }

    fn unknown(&self, id: &str) -> CallError {
        let tools = self.known_tools();
        let ids: Vec<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
        let near = nearest(id, ids.iter().copied(), NEAREST);
        let id = &id[..id.floor_char_boundary(MAX_SHOWN)];
        let message = if self.servers.is_empty() {
            format!(
                "there is no tool `{id}`: no MCP server is configured; add one to .mcp.json in the working folder"
            )
        } else if near.is_empty() || self.names_no_server(id) {
            let servers: Vec<&str> = self.servers.keys().map(String::as_str).collect();
            format!(
                "there is no tool `{id}`; ids are `server:tool`, and the servers are: {}",
                servers.join(", ")
            )
        } else {
            format!(
                "there is no tool `{id}`; the nearest are `{}`: search for tools instead of guessing",
                near.join("`, `")
            )
        };
        CallError::lasting(CallErrorKind::Unknown, id, message)
    }

    async fn attempt_until_answered(
        &self,
        scope: &RunScope,
        server: &Arc<Server>,
        tool: &ToolId,
        arguments: Value,
    ) -> Result<Value, CallError> {
        let ended =
            || CallError::lasting(CallErrorKind::Cancelled, tool.as_str(), "the run has ended");
        let mut attempts = self.policy().retry.begin(tool.as_str());
        loop {
            let failed = tokio::select! {
                done = self.attempt(scope, server, tool, &arguments) => match done {
                    Ok(value) => return Ok(value),
                    Err(failed) => failed,
                },
                () = scope.ended().cancelled() => return Err(ended()),
            };
            let Some(delay) = attempts.after(failed.failure) else {
                return Err(failed.error);
            };
            let asked = Duration::from_millis(failed.error.retry_after_ms.unwrap_or(0));
            if asked > WAITED_FOR {
                return Err(failed.error);
            }
            let delay = delay.max(asked);
            tracing::debug!(%tool, ?delay, error = %failed.error, "trying a call again");
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = scope.ended().cancelled() => return Err(ended()),
            }
        }
    }

    async fn attempt(
        &self,
        scope: &RunScope,
        server: &Arc<Server>,
        tool: &ToolId,
        arguments: &Value,
    ) -> Result<Value, Attempt> {
        let refused = |error| Attempt {
            error,
            failure: Failure::Answered,
            unhealthy: false,
        };
        let Ok(_turn) = scope.turns().acquire().await else {
            return Err(refused(CallError::lasting(
                CallErrorKind::Cancelled,
                tool.as_str(),
                "the run has ended",
            )));
        };
        let admission = self
            .policy()
            .admit(tool.as_str(), scope.budget())
            .await
            .map_err(|refusal| refused(CallError::refused(tool.as_str(), refusal)))?;
        let connection = match server.connection().await {
            Ok(connection) => connection,
            Err(unavailable) => {
                admission.finish(Outcome::Failed);
                let failure = match unavailable.retry_after {
                    // The pause between starts is longer than any wait of ours: no use in trying.
                    Some(pause) if pause > Duration::from_secs(1) => Failure::Answered,
                    Some(_) => Failure::NeverSent,
                    None => Failure::Answered,
                };
                return Err(Attempt {
                    error: unavailable_error(tool.as_str(), server, unavailable),
                    failure,
                    unhealthy: true,
                });
            }
        };
        // Of a server's own limit and the run's, the lower one; the default where neither is set.
        let own = match (server.config.timeout, scope.tool_timeout()) {
            (Some(own), Some(asked)) => own.min(asked),
            (own, asked) => own.or(asked).unwrap_or(DEFAULT_TIMEOUT),
        };
        let request = Request {
            tool,
            arguments: match arguments {
                Value::Object(map) => map.clone(),
                _ => Map::new(),
            },
            limit: admission.time_limit(own),
            progress: scope.progress(tool),
        };
        match dispatch(&connection, request).await {
            Ok(value) => {
                connection.prove();
                admission.finish(Outcome::Answered);
                Ok(value)
            }
            Err(attempt) => {
                if attempt.unhealthy {
                    admission.finish(Outcome::Failed);
                    look_after(server, connection);
                } else {
                    connection.prove();
                    admission.finish(Outcome::Answered);
                }
                Err(attempt)
            }
        }
    }
}

/// After a call that went wrong: a dead connection is cleared away, and one that may hang is
/// asked for a sign of life, unless others still wait for it.
fn look_after(server: &Arc<Server>, connection: Arc<Connection>) {
    if connection.closed() {
        server.retire(&connection, "the connection ended during a call");
        return;
    }
    let server = server.clone();
    tokio::spawn(async move {
        if connection.ping(SIGN_OF_LIFE).await.is_none() && !connection.busy() {
            server.retire(&connection, "it no longer answered");
        }
    });
}

fn object(id: &str, arguments: Value) -> Result<Value, CallError> {
    match arguments {
        Value::Object(_) => Ok(arguments),
        // A tool without input is called with nothing at all.
        Value::Null => Ok(Value::Object(Map::new())),
        other => Err(CallError::lasting(
            CallErrorKind::Arguments,
            id,
            format!(
                "the arguments of `{id}` must be an object, not {}",
                kind_of(&other)
            ),
        )),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

pub(crate) fn unavailable_error(id: &str, server: &Server, unavailable: Unavailable) -> CallError {
    let message = format!(
        "server `{}` is not usable: {}",
        server.config.name, unavailable.error
    );
    match unavailable.retry_after {
        Some(after) if unavailable.error.passes() => {
            CallError::passing(CallErrorKind::Unavailable, id, message, Some(after))
        }
        _ => CallError::lasting(CallErrorKind::Unavailable, id, message),
    }
}
