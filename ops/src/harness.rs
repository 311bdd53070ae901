//! What a test file says to `pml test`, and a world of its own about its clock.

use std::cell::RefCell;
use std::rc::Rc;

use deno_core::{OpState, op2};
use serde_json::value::RawValue;

use crate::broker::Request;
use crate::tools::{ToolOpError, ask};

#[op2]
#[string]
pub async fn op_harness(
    state: Rc<RefCell<OpState>>,
    #[string] message: String,
) -> Result<String, ToolOpError> {
    let message = RawValue::from_string(message)?;
    ask(state, Request::Harness { message }).await
}
