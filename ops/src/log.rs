//! The sink of `console.*`.

use std::rc::Rc;

use deno_core::{OpState, op2};

use crate::broker::{Broker, Level};

/// Sends one line on. `false` tells the console that the run has logged its share.
#[op2(fast)]
pub fn op_log(state: &mut OpState, level: u32, #[string] text: String) -> bool {
    let level = match level {
        0 => Level::Debug,
        2 => Level::Info,
        3 => Level::Warn,
        4 => Level::Error,
        _ => Level::Log,
    };
    state.borrow::<Rc<dyn Broker>>().log(level, text)
}
