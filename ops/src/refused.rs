//! Built-in ops with reach that no script of ours has any business with.
//!
//! Nothing hands them to a script, but "unreachable" is a claim about every line of JavaScript
//! in the snapshot. Replacing them makes it a claim about this list.

use deno_core::{OpDecl, op2};

/// Ops of deno_core that are replaced by one that throws. `op_eval_context`,
/// `op_load_ext_script` and their kind are needed while the snapshot is made, and are closed by
/// the runtime's own rules (no code from strings, an empty table of lazy sources) instead.
pub const REFUSED_OPS: &[&str] = &[
    "op_cancel_read",
    "op_close",
    "op_is_terminal",
    "op_panic",
    "op_pipe",
    "op_print",
    "op_read",
    "op_read_all",
    "op_read_sync",
    "op_resources",
    "op_set_format_exception_callback",
    "op_set_promise_hooks",
    "op_shutdown",
    "op_try_close",
    "op_wasm_streaming_feed",
    "op_wasm_streaming_set_url",
    "op_write",
    "op_write_all",
    "op_write_sync",
    "op_write_type_error",
];

#[derive(Debug, thiserror::Error, deno_error::JsError)]
#[class(type)]
#[error("this operation does not exist in a pml script")]
struct Refused;

#[op2(fast)]
fn op_refused() -> Result<(), Refused> {
    Err(Refused)
}

/// Takes the place of a dangerous op, under its old name: the snapshot and the runtime must
/// count the same ops in the same order.
pub(crate) fn refuse(op: OpDecl) -> OpDecl {
    if REFUSED_OPS.contains(&op.name) {
        op.with_implementation_from(&op_refused())
    } else {
        op
    }
}
