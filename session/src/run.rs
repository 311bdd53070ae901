//! One run: the gateway behind `searchTools`, `describeTool` and `callTool`.

use std::future::Future;
use std::pin::Pin;

use pml_gateway::{CallError, RunScope, Tool};
use pml_runtime::{Answer, Failure, Offer, ToolHit, ToolHost};
use pml_search::Query;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::session::Session;

/// A run and its share of the gateway. Dropping it ends its calls; the servers stay.
pub struct Run {
    session: Session,
    scope: RunScope,
}

impl Run {
    pub(crate) fn new(session: Session, scope: RunScope) -> Self {
        Self { session, scope }
    }

    /// Everything about a call but the call: whether it would be sent. The answer is the output
    /// schema of its tool, if it has one.
    pub async fn rehearse(&self, tool: &str, args: &RawValue) -> Result<Option<Value>, Failure> {
        let args = parse(args)?;
        let gateway = self.session.gateway();
        let tool = gateway.rehearse(&self.scope, tool, args).await;
        Ok(tool.map_err(failure)?.output_schema.clone())
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
        Box::pin(async move {
            let mut args = parse(args)?;
            self.restore(&mut args, tool);
            let answer = self.session.gateway().call(&self.scope, tool, args).await;
            let value = answer.map_err(failure)?.value;
            let json = to_json(&value);
            self.session.observed().note(tool, &value);
            json
        })
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
