//! `store` and `load`: values that a session keeps between scripts.

use std::cell::RefCell;
use std::rc::Rc;

use deno_core::{OpState, op2};
use pml_protocol::Request;
use serde_json::value::RawValue;

use crate::tools::{ToolOpError, ask};

/// Stores a value, given as JSON text.
#[op2]
#[string]
pub async fn op_store_value(
    state: Rc<RefCell<OpState>>,
    #[string] key: String,
    #[string] value: String,
) -> Result<String, ToolOpError> {
    let value = RawValue::from_string(value).map_err(|source| ToolOpError::Arguments {
        tool: "store".to_owned(),
        source,
    })?;
    ask(state, Request::Store { key, value }).await
}

/// Loads a stored value.
#[op2]
#[string]
pub async fn op_load_value(
    state: Rc<RefCell<OpState>>,
    #[string] key: String,
) -> Result<String, ToolOpError> {
    ask(state, Request::Load { key }).await
}
