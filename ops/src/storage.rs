//! `store` and `load`: values that a session keeps between scripts. `checkpoint`: values that a run
//! keeps over a resume.

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

/// Keeps a value over a resume, or returns the one that is kept if `value` is none. `clock_ms` is the
/// virtual clock of the script, negative if it has none.
#[op2]
#[string]
pub async fn op_checkpoint(
    state: Rc<RefCell<OpState>>,
    #[string] key: String,
    #[string] value: Option<String>,
    clock_ms: f64,
) -> Result<String, ToolOpError> {
    let value = value
        .map(RawValue::from_string)
        .transpose()
        .map_err(|source| ToolOpError::Arguments {
            tool: "checkpoint".to_owned(),
            source,
        })?;
    let clock_ms = (clock_ms >= 0.0).then_some(clock_ms);
    let request = Request::Checkpoint {
        key,
        value,
        clock_ms,
    };
    ask(state, request).await
}
