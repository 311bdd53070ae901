//! Resources and prompts of servers.
//!
//! The policy treats them as two more tools of a server, `server:resources` and `server:prompts`.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use pml_policy::authorize::OfferKind;
use pml_protocol::EffectClass;
use rmcp::model::{
    ErrorCode, GetPromptRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::{Map, Value};

use crate::Gateway;
use crate::call::{CallError, CallErrorKind, RunScope};
use crate::guarded::Guarding;
use crate::listing_budget::ListingBudget;
use crate::transport::{TOO_LARGE, without_paths};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Bounds a server that returns a new cursor with every page.
const MAX_PAGES: usize = 1000;

impl Gateway {
    /// Lists the resources of a server.
    ///
    /// # Errors
    /// As [`Gateway::call`].
    pub async fn list_resources(&self, scope: &RunScope, server: &str) -> Result<Value, CallError> {
        let listed = self.send(
            scope,
            server,
            Asked::listing("resources"),
            async |peer, _| {
                // A server without the capability has no resources; that is not an error.
                if peer
                    .peer_info()
                    .is_some_and(|info| info.capabilities.resources.is_none())
                {
                    return Ok(Value::Array(Vec::new()));
                }
                let pages = pages(|cursor| {
                    let peer = peer.clone();
                    async move {
                        let page = peer.list_resources(cursor).await?;
                        Ok((page.resources, page.next_cursor))
                    }
                    .boxed()
                });
                Ok(json(pages.await?))
            },
        );
        let listed = listed.await?;
        Ok(self.offered(server, "resources", "uri", listed))
    }

    /// The contents of a resource.
    ///
    /// # Errors
    /// As [`Gateway::call`].
    pub async fn read_resource(
        &self,
        scope: &RunScope,
        server: &str,
        uri: &str,
    ) -> Result<Value, CallError> {
        let wanted = Wanted::one("resources", uri);
        let asked = Asked {
            wanted,
            arguments: serde_json::json!({ "uri": uri }),
        };
        self.send(scope, server, asked, async |peer, arguments| {
            let uri = arguments["uri"].as_str().unwrap_or(uri);
            let params = ReadResourceRequestParams::new(uri);
            Ok(json(peer.read_resource(params).await?.contents))
        })
        .await
    }

    /// Lists the prompts of a server.
    ///
    /// # Errors
    /// As [`Gateway::call`].
    pub async fn list_prompts(&self, scope: &RunScope, server: &str) -> Result<Value, CallError> {
        let listed = self.send(scope, server, Asked::listing("prompts"), async |peer, _| {
            if peer
                .peer_info()
                .is_some_and(|info| info.capabilities.prompts.is_none())
            {
                return Ok(Value::Array(Vec::new()));
            }
            let pages = pages(|cursor| {
                let peer = peer.clone();
                async move {
                    let page = peer.list_prompts(cursor).await?;
                    Ok((page.prompts, page.next_cursor))
                }
                .boxed()
            });
            Ok(json(pages.await?))
        });
        let listed = listed.await?;
        Ok(self.offered(server, "prompts", "name", listed))
    }

    /// A prompt, rendered with `arguments`.
    ///
    /// # Errors
    /// As [`Gateway::call`].
    pub async fn get_prompt(
        &self,
        scope: &RunScope,
        server: &str,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, CallError> {
        let wanted = Wanted::one("prompts", name);
        let asked = Asked {
            wanted,
            arguments: Value::Object(arguments),
        };
        self.send(scope, server, asked, async |peer, arguments| {
            let mut params = GetPromptRequestParams::new(name);
            params.arguments = match arguments {
                Value::Object(fields) => Some(fields),
                _ => None,
            };
            Ok(json(peer.get_prompt(params).await?))
        })
        .await
    }

    /// The items of a listing that the entry of the server offers; `key` holds their name.
    fn offered(&self, server: &str, kind: &str, key: &str, mut listed: Value) -> Value {
        if let (Some(server), Value::Array(items)) = (self.inner().servers.get(server), &mut listed)
        {
            items.retain(|item| server.config.offers(kind, item[key].as_str()));
        }
        listed
    }

    /// Sends one request without secrets in its answer.
    async fn send(
        &self,
        scope: &RunScope,
        name: &str,
        asked: Asked<'_>,
        request: impl AsyncFnOnce(Peer<RoleClient>, Value) -> Result<Value, ServiceError>,
    ) -> Result<Value, CallError> {
        let secrets = self.inner().secrets();
        let answer = self.send_admitted(scope, name, asked, request).await;
        let mut value = answer.map_err(|error| error.hidden(secrets))?;
        secrets.hide_value(&mut value);
        Ok(value)
    }

    /// Sends one request under the rules of a tool call: it costs one call of the budget, is admitted
    /// by the policy, has a time limit and ends with its run.
    async fn send_admitted(
        &self,
        scope: &RunScope,
        name: &str,
        asked: Asked<'_>,
        request: impl AsyncFnOnce(Peer<RoleClient>, Value) -> Result<Value, ServiceError>,
    ) -> Result<Value, CallError> {
        let Asked {
            wanted,
            mut arguments,
        } = asked;
        let inner = self.inner();
        let Some(server) = inner.servers.get(name) else {
            let names: Vec<&str> = self.servers().collect();
            return Err(CallError::permanent(
                CallErrorKind::Unknown,
                name,
                format!(
                    "there is no server `{}`; there are: {}",
                    crate::printable(name),
                    names.join(", ")
                ),
            ));
        };
        let kind = wanted.kind;
        let id = format!("{name}:{kind}");
        let refuse = |refusal| CallError::refused(&id, refusal);
        inner.policy().filter.verdict(&id).map_err(refuse)?;
        inner.check_offer(scope, name, wanted.offer(), wanted.name)?;
        if !server.config.offers(kind, wanted.name) {
            return Err(CallError::permanent(
                CallErrorKind::Denied,
                &id,
                format!(
                    "the configuration of server `{name}` does not offer this of its {kind}: a list of allowed tools covers tools alone; add `\"{kind}\": true` or a list of patterns to its entry"
                ),
            ));
        }
        scope.spend(&id)?;
        let guarding = Guarding {
            id: &id,
            tool: None,
            effect: EffectClass::Read,
            chosen_key: None,
            is_dry_run: false,
        };
        let pass = inner.guard(scope, guarding, &mut arguments).await?;
        let leased = server
            .lease()
            .await
            .map_err(|unavailable| crate::call::unavailable_error(name, server, unavailable))?;
        if let Some(quarantine) = server.quarantine() {
            return Err(CallError::quarantined(&id, quarantine));
        }
        let Some(session) = leased.connection().mcp() else {
            // A source without them has none to list; that is not an error.
            return match wanted.name {
                None => Ok(Value::Array(Vec::new())),
                Some(_) => Err(has_none(name, kind)),
            };
        };
        let admission = inner
            .policy()
            .admit(&id, scope.budget(), true)
            .await
            .map_err(refuse)?;
        let limit = admission.time_limit(server.config.timeout.unwrap_or(DEFAULT_TIMEOUT));
        // The other two branches drop the request, which cancels it at the server.
        let answer = tokio::select! {
            answer = request(session.peer.clone(), arguments) => answer,
            () = tokio::time::sleep(limit) => {
                return Err(CallError::transient(
                    CallErrorKind::Timeout,
                    name,
                    format!("server `{name}` did not answer within {:.1} s", limit.as_secs_f64()),
                    None,
                ));
            }
            () = scope.ended().cancelled() => {
                return Err(CallError::permanent(CallErrorKind::Cancelled, name, "the run has ended"));
            }
        };
        let answer = answer.map_err(|error| match error {
            ServiceError::McpError(error) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                has_none(name, kind)
            }
            ServiceError::McpError(error) if error.code == TOO_LARGE => CallError::permanent(
                CallErrorKind::Output,
                name,
                format!("server `{name}`: {}", error.message),
            ),
            ServiceError::McpError(error) => {
                CallError::permanent(CallErrorKind::Tool, name, error.message.into_owned())
            }
            error => CallError::permanent(
                CallErrorKind::Protocol,
                name,
                format!("server `{name}`: {}", without_paths(&error.to_string())),
            ),
        });
        let mut value = answer?;
        pass.answered(&mut value).await?;
        Ok(value)
    }
}

fn has_none(server: &str, kind: &str) -> CallError {
    let message = format!("server `{server}` has no {kind}");
    CallError::permanent(CallErrorKind::Tool, server, message)
}

/// A request with its arguments, which guards look at.
struct Asked<'a> {
    wanted: Wanted<'a>,
    arguments: Value,
}

impl Asked<'_> {
    fn listing(kind: &'static str) -> Self {
        Self {
            wanted: Wanted::any(kind),
            arguments: Value::Null,
        }
    }
}

/// What a request is about.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    /// `resources` or `prompts`.
    kind: &'static str,
    /// The URI or the name, if it is about one of them.
    name: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn any(kind: &'static str) -> Self {
        Self { kind, name: None }
    }

    fn offer(self) -> OfferKind {
        match self.kind {
            "prompts" => OfferKind::Prompts,
            _ => OfferKind::Resources,
        }
    }

    fn one(kind: &'static str, name: &'a str) -> Self {
        let name = Some(name);
        Self { kind, name }
    }
}

type Page<T> = Result<(Vec<T>, Option<String>), ServiceError>;

/// All items of a paginated list. A repeated or empty cursor ends it.
async fn pages<T: serde::Serialize>(
    page: impl Fn(Option<PaginatedRequestParams>) -> BoxFuture<'static, Page<T>>,
) -> Result<Vec<T>, ServiceError> {
    let mut all = Vec::new();
    let mut budget = ListingBudget::default();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let wanted = cursor
            .clone()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let (items, next) = page(wanted).await?;
        for item in items {
            budget.count(&item)?;
            all.push(item);
        }
        let next = next.filter(|next| !next.is_empty());
        if next.is_none() || next == cursor {
            break;
        }
        cursor = next;
    }
    Ok(all)
}

fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}
