//! The tools of a run: the gateway behind `searchTools`, `describeTool` and `callTool`.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use pml_gateway::{CallError, Gateway, RunLimits, RunScope, StartError, Tool};
use pml_runtime::{Answer, Failure, Limits, Offer, ToolHit, ToolHost};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use crate::search;

/// How long the first search waits for a server that is not up yet. One that takes longer is
/// found by a later search.
const SEARCH_PATIENCE: Duration = Duration::from_secs(10);

/// One run and its share of the gateway. Dropping it ends its calls; the servers stay.
pub struct Session {
    gateway: Gateway,
    scope: RunScope,
    asked: OnceCell<()>,
    problems: OnceLock<Vec<(String, StartError)>>,
}

impl Session {
    /// `tool_timeout` is set where somebody asked for one: a server's own holds otherwise.
    pub fn new(gateway: Gateway, limits: &Limits, tool_timeout: Option<Duration>) -> Self {
        let scope = gateway.run(RunLimits {
            calls: Some(limits.calls),
            concurrent: Some(limits.concurrent_calls),
            tool_timeout,
            tool_time: None,
        });
        Self {
            gateway,
            scope,
            asked: OnceCell::new(),
            problems: OnceLock::new(),
        }
    }

    /// The limits for the runtime's side of this run. The gateway counts the time of a call from
    /// its dispatch; the runtime cannot see that moment and would count the start of the server
    /// and the wait in a queue as well.
    pub fn runtime_limits(limits: Limits) -> Limits {
        Limits {
            tool_ms: limits.wall_ms,
            ..limits
        }
    }

    /// The servers whose tools a search could not see, and why.
    pub fn problems(&self) -> &[(String, StartError)] {
        self.problems.get().map_or(&[], Vec::as_slice)
    }

    /// Asks every server for its tools, once in a run: afterwards the gateway follows them.
    async fn ask_all(&self) {
        self.asked
            .get_or_init(|| async {
                let listing = self.gateway.list(None, SEARCH_PATIENCE).await;
                // Set once, because the cell around it is.
                let _ = self.problems.set(listing.problems);
            })
            .await;
    }
}

type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl ToolHost for Session {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        Box::pin(async move {
            self.ask_all().await;
            let found = search::rank(query, self.gateway.tools());
            found
                .into_iter()
                .filter(|found| found.score >= threshold.unwrap_or(0.0))
                .take(limit as usize)
                .map(|found| hit(&found.tool, found.score))
                .collect()
        })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            let tool = self.gateway.describe(tool).await.map_err(failure)?;
            to_json(&Description {
                server: tool.id.server(),
                name: tool.id.tool(),
                tool: &tool,
            })
        })
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            let (gateway, scope) = (&self.gateway, &self.scope);
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
            let args: Value = serde_json::from_str(args.get()).map_err(|error| {
                Failure::new("arguments", format!("the arguments are no JSON: {error}"))
            })?;
            let answer = self.gateway.call(&self.scope, tool, args).await;
            to_json(&answer.map_err(failure)?.value)
        })
    }
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
