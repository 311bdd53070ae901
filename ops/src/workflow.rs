//! `runWorkflow`: plans whose calls are those of the script. `streamTool`: calls whose results arrive in
//! parts.

use std::cell::RefCell;
use std::rc::Rc;

use deno_core::{OpState, op2};
use pml_protocol::{Request, StreamRequest};
use serde_json::value::RawValue;

use crate::tools::{ToolOpError, ask};

fn raw(json: String, what: &str) -> Result<Box<RawValue>, ToolOpError> {
    RawValue::from_string(json).map_err(|source| ToolOpError::Arguments {
        tool: what.to_owned(),
        source,
    })
}

/// Runs a plan with inputs, both as JSON text.
#[op2]
#[string]
pub async fn op_run_workflow(
    state: Rc<RefCell<OpState>>,
    #[string] plan: String,
    #[string] input: String,
) -> Result<String, ToolOpError> {
    let (plan, input) = (raw(plan, "runWorkflow")?, raw(input, "runWorkflow")?);
    ask(state, Request::Workflow { plan, input }).await
}

/// Begins a stream: the call of a tool with arguments as JSON text.
#[op2]
#[string]
pub async fn op_stream_open(
    state: Rc<RefCell<OpState>>,
    #[string] tool: String,
    #[string] args: String,
) -> Result<String, ToolOpError> {
    let args = raw(args, &tool)?;
    ask(state, Request::Stream(StreamRequest::Open { tool, args })).await
}

/// The next parts of a stream.
#[op2]
#[string]
pub async fn op_stream_next(
    state: Rc<RefCell<OpState>>,
    stream: u32,
) -> Result<String, ToolOpError> {
    ask(state, Request::Stream(StreamRequest::Next { stream })).await
}

/// Ends a stream that the script needs no more of.
#[op2]
#[string]
pub async fn op_stream_close(
    state: Rc<RefCell<OpState>>,
    stream: u32,
) -> Result<String, ToolOpError> {
    ask(state, Request::Stream(StreamRequest::Close { stream })).await
}
