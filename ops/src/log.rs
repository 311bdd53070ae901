//! Sends the lines of `console.*` to the broker.

use std::rc::Rc;

use deno_core::{OpState, op2};
use pml_protocol::Level;

use crate::broker_client::BrokerClient;

/// Sends one line. `false` means that the log is full.
#[op2(fast)]
pub fn op_log(state: &mut OpState, level: u32, #[string] text: String) -> bool {
    let level = match level {
        0 => Level::Debug,
        2 => Level::Info,
        3 => Level::Warn,
        4 => Level::Error,
        _ => Level::Log,
    };
    state.borrow::<Rc<dyn BrokerClient>>().log(level, text)
}
