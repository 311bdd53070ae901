//! Messages of a test file to `pml test`, and of the virtual clock to its host.

use std::cell::RefCell;
use std::rc::Rc;

use deno_core::{OpState, op2};
use pml_protocol::Request;
use serde_json::value::RawValue;

use crate::tools::{ToolOpError, ask};

/// Sends a message to the test harness.
#[op2]
#[string]
pub async fn op_harness(
    state: Rc<RefCell<OpState>>,
    #[string] message: String,
) -> Result<String, ToolOpError> {
    let message = RawValue::from_string(message)?;
    ask(state, Request::Harness { message }).await
}
