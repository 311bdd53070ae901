//! Ops that search, describe and call tools, and that read resources and prompts.
//!
//! Answers enter JavaScript as text, which `js/` parses with the original `JSON.parse`: a malformed
//! or huge answer never becomes a partially built object.

use std::cell::RefCell;
use std::rc::Rc;

use deno_core::{OpState, op2};
use pml_protocol::{Failure, Request, ResourceRequest, ToolResult};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::broker_client::{BrokerClient, BrokerGone};

/// Why an op has no answer.
#[derive(Debug, thiserror::Error, deno_error::JsError)]
pub enum ToolOpError {
    #[class(inherit)]
    #[error(transparent)]
    Gone(#[from] BrokerGone),
    #[class(type)]
    #[error("the arguments of {tool} are not JSON: {source}")]
    Arguments {
        tool: String,
        source: serde_json::Error,
    },
    #[class(type)]
    #[error("the answer could not be passed on: {0}")]
    Answer(#[from] serde_json::Error),
}

/// The answer as JavaScript parses it.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Envelope<'a> {
    Value(&'a RawValue),
    Failure(&'a Failure),
}

/// Sends a request to the broker and returns its answer as the JSON text of an [`Envelope`].
pub(crate) async fn ask(
    state: Rc<RefCell<OpState>>,
    request: Request,
) -> Result<String, ToolOpError> {
    let broker = state.borrow().borrow::<Rc<dyn BrokerClient>>().clone();
    let answer: ToolResult = broker.ask(request).await?;
    Ok(match &answer {
        Ok(value) => serde_json::to_string(&Envelope::Value(value))?,
        Err(failure) => serde_json::to_string(&Envelope::Failure(failure))?,
    })
}

/// Searches tools. A threshold of NaN means the default.
#[op2]
#[string]
pub async fn op_search_tools(
    state: Rc<RefCell<OpState>>,
    #[string] query: String,
    limit: u32,
    threshold: f64,
) -> Result<String, ToolOpError> {
    let threshold = (!threshold.is_nan()).then_some(threshold);
    ask(
        state,
        Request::Search {
            query,
            limit,
            threshold,
        },
    )
    .await
}

/// Calls a tool with arguments as JSON text.
#[op2]
#[string]
pub async fn op_call_tool(
    state: Rc<RefCell<OpState>>,
    #[string] tool: String,
    #[string] args: String,
) -> Result<String, ToolOpError> {
    let args = RawValue::from_string(args).map_err(|source| ToolOpError::Arguments {
        tool: tool.clone(),
        source,
    })?;
    ask(state, Request::call(&tool, args)).await
}

/// Describes a tool.
#[op2]
#[string]
pub async fn op_describe_tool(
    state: Rc<RefCell<OpState>>,
    #[string] tool: String,
) -> Result<String, ToolOpError> {
    ask(state, Request::Describe { tool }).await
}

/// Lists the resources of a server.
#[op2]
#[string]
pub async fn op_list_resources(
    state: Rc<RefCell<OpState>>,
    #[string] server: String,
) -> Result<String, ToolOpError> {
    let request = ResourceRequest::ListResources;
    ask(state, Request::Resource { server, request }).await
}

/// Reads a resource of a server.
#[op2]
#[string]
pub async fn op_read_resource(
    state: Rc<RefCell<OpState>>,
    #[string] server: String,
    #[string] uri: String,
) -> Result<String, ToolOpError> {
    let request = ResourceRequest::ReadResource { uri };
    ask(state, Request::Resource { server, request }).await
}

/// Lists the prompts of a server.
#[op2]
#[string]
pub async fn op_list_prompts(
    state: Rc<RefCell<OpState>>,
    #[string] server: String,
) -> Result<String, ToolOpError> {
    let request = ResourceRequest::ListPrompts;
    ask(state, Request::Resource { server, request }).await
}

/// Gets a prompt of a server, with arguments as JSON text.
#[op2]
#[string]
pub async fn op_get_prompt(
    state: Rc<RefCell<OpState>>,
    #[string] server: String,
    #[string] name: String,
    #[string] args: String,
) -> Result<String, ToolOpError> {
    let args = RawValue::from_string(args).map_err(|source| ToolOpError::Arguments {
        tool: name.clone(),
        source,
    })?;
    let request = ResourceRequest::GetPrompt { name, args };
    ask(state, Request::Resource { server, request }).await
}
