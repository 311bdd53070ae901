//! One run: the gateway behind `searchTools`, `describeTool` and `callTool`.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use pml_gateway::policy::approval::Approval;
use pml_gateway::{CallError, RunScope, Tool};
use pml_runtime::{Answer, Failure, Offer, ToolHit, ToolHost};
use pml_search::Query;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::approval::{self, Decision, Gate};
use crate::session::Session;
use crate::told::Outlet;

/// A run and its share of the gateway. Dropping it ends its calls; the servers stay.
pub struct Run {
    session: Session,
    scope: RunScope,
    asks: Option<Asks>,
}

/// Somebody who can be asked about a call, and the way to tell them about it.
struct Asks {
    gate: Arc<Gate>,
    outlet: Outlet,
}

impl Run {
    pub(crate) fn new(session: Session, scope: RunScope) -> Self {
        Self {
            session,
            scope,
            asks: None,
        }
    }

    pub(crate) fn asking(self, gate: Arc<Gate>, outlet: Outlet) -> Self {
        Self {
            asks: Some(Asks { gate, outlet }),
            ..self
        }
    }

    /// Calls one tool as a script would, without one. The arguments may hold placeholders.
    pub async fn call_tool(&self, tool: &str, args: Value) -> Result<Value, Failure> {
        let raw = to_json(&args)?;
        self.admit(tool, &raw).await?;
        self.call_with(tool, args).await
    }

    async fn call_with(&self, tool: &str, mut args: Value) -> Result<Value, Failure> {
        self.restore(&mut args, tool);
        let answer = self.session.gateway().call(&self.scope, tool, args).await;
        let value = answer.map_err(failure)?.value;
        self.session.observed().note(tool, &value);
        self.session.succeeded(tool);
        Ok(value)
    }

    /// Everything about a call but the call: whether it would be sent. The answer is the output
    /// schema of its tool, if it has one.
    pub async fn rehearse(&self, tool: &str, args: &RawValue) -> Result<Option<Value>, Failure> {
        let args = parse(args)?;
        let gateway = self.session.gateway();
        let tool = gateway.check_call(&self.scope, tool, args).await;
        Ok(tool.map_err(failure)?.output_schema.clone())
    }

    /// Whether the person who may be asked about it allows it.
    async fn approve(&self, needed: Approval, what: &str, details: &str) -> Result<(), Failure> {
        let can_ask = self.asks.as_ref().is_some_and(|asks| asks.gate.can_ask());
        match (needed, &self.asks) {
            (Approval::NotNeeded, _) => Ok(()),
            (_, Some(asks)) if can_ask => {
                let what = asks.outlet.text(what);
                let details = asks.outlet.beginning(details, approval::SHOWN_CHARS);
                asks.gate.admit(&what, details).await
            }
            (Approval::IfPossible, _) => Ok(()),
            (Approval::Needed, _) => Err(approval::refused(what, Decision::CannotAsk)),
        }
    }

    /// Puts back what was replaced by a placeholder: on the way to a server, and nowhere else.
    fn restore(&self, args: &mut Value, tool: &str) {
        if let Some(names) = self.session.names() {
            names.restore_args(args, tool);
        }
    }
}

type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl ToolHost for Run {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        Box::pin(async move {
            let query = Query::new(query, limit, threshold)
                .map_err(|error| Failure::new("arguments", error.to_string()))?;
            let found = self.session.find(&query).await;
            found
                .iter()
                .map(|found| hit(&found.tool, found.score))
                .collect()
        })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            let tool = self
                .session
                .gateway()
                .describe(tool)
                .await
                .map_err(failure)?;
            to_json(&Description {
                server: tool.id.server(),
                name: tool.id.tool(),
                tool: &tool,
            })
        })
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            let (gateway, scope) = (self.session.gateway(), &self.scope);
            let (id, wanted) = match offer {
                Offer::ListResources => (format!("{server}:resources"), "the list"),
                Offer::ReadResource { uri } => (format!("{server}:resources"), uri.as_str()),
                Offer::ListPrompts => (format!("{server}:prompts"), "the list"),
                Offer::GetPrompt { name, .. } => (format!("{server}:prompts"), name.as_str()),
            };
            self.approve(gateway.approval_of_resources(&id), &id, wanted)
                .await?;
            let answer = match offer {
                Offer::ListResources => gateway.list_resources(scope, server).await,
                Offer::ReadResource { uri } => gateway.read_resource(scope, server, uri).await,
                Offer::ListPrompts => gateway.list_prompts(scope, server).await,
                Offer::GetPrompt { name, args } => {
                    let args: Map<String, Value> =
                        serde_json::from_str(args.get()).map_err(|error| {
                            Failure::new(
                                "arguments",
                                format!("the arguments are no object: {error}"),
                            )
                        })?;
                    gateway.get_prompt(scope, server, name, args).await
                }
            };
            to_json(&answer.map_err(failure)?)
        })
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(async move { to_json(&self.call_with(tool, parse(args)?).await?) })
    }

    fn admit<'a>(
        &'a self,
        tool: &'a str,
        args: &'a RawValue,
    ) -> HostFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let gateway = self.session.gateway();
            // What is not known is not called: it might be one to ask about.
            let known = gateway.describe(tool).await.map_err(failure)?;
            self.approve(gateway.approval(&known), tool, args.get())
                .await
        })
    }

    fn pauses(&self) -> Option<watch::Receiver<bool>> {
        self.asks.as_ref().map(|asks| asks.gate.waits())
    }

    fn store<'a>(&'a self, key: &'a str, value: &'a RawValue) -> HostFuture<'a, Answer> {
        let stored = self.session.storage().store(key, value.get());
        Box::pin(ready(match stored {
            Ok(()) => to_json(&Value::Null),
            Err(error) => Err(Failure::new("output", error.to_string())),
        }))
    }

    fn load<'a>(&'a self, key: &'a str) -> HostFuture<'a, Answer> {
        let loaded = self.session.storage().load(key);
        Box::pin(ready(match loaded {
            // It is JSON: it was stored as such.
            Ok(Some(json)) => RawValue::from_string(format!("[{json}]"))
                .map_err(|error| Failure::new("internal", error.to_string())),
            Ok(None) => to_json(&[(); 0]),
            Err(error) => Err(Failure::new("unknown", error.to_string())),
        }))
    }
}

fn parse(args: &RawValue) -> Result<Value, Failure> {
    serde_json::from_str(args.get())
        .map_err(|error| Failure::new("arguments", format!("the arguments are no JSON: {error}")))
}

/// What `describeTool` answers.
#[derive(Serialize)]
struct Description<'a> {
    server: &'a str,
    name: &'a str,
    #[serde(flatten)]
    tool: &'a Tool,
}

fn hit(tool: &Tool, score: f64) -> Result<ToolHit, Failure> {
    Ok(ToolHit {
        id: tool.id.to_string(),
        server: tool.id.server().to_owned(),
        name: tool.id.tool().to_owned(),
        description: Some(tool.description.clone()).filter(|text| !text.is_empty()),
        input_schema: Some(to_json(&tool.input_schema)?),
        score,
    })
}

fn to_json(value: &impl Serialize) -> Answer {
    to_raw_value(value)
        .map_err(|error| Failure::new("tool", format!("the answer is no JSON: {error}")))
}

fn failure(error: CallError) -> Failure {
    Failure {
        kind: error.kind.as_str().to_owned(),
        message: error.message,
        retryable: error.retryable,
        retry_after_ms: error.retry_after_ms,
    }
}
