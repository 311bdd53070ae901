//! Disables built-in ops of deno_core that a script must never call.
//!
//! No code passes them to a script. But proving that needs a review of all JavaScript in the snapshot;
//! with the ops replaced, a review of this list is enough.

use deno_core::{OpDecl, op2};

/// Ops of deno_core that are replaced by one that throws. `op_eval_context`, `op_load_ext_script` and
/// similar ops are needed while the snapshot is built; the runtime disables them in other ways (no code
/// generation from strings, an empty table of lazy sources).
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

/// Thrown by a refused op.
#[derive(Debug, thiserror::Error, deno_error::JsError)]
#[class(type)]
#[error("this operation does not exist in a pml script")]
struct Refused;

#[op2(fast)]
fn op_refused() -> Result<(), Refused> {
    Err(Refused)
}

/// Replaces the implementation of a refused op and keeps its name: the snapshot and the runtime must
/// have the same ops in the same order.
pub(crate) fn refuse(op: OpDecl) -> OpDecl {
    if REFUSED_OPS.contains(&op.name) {
        op.with_implementation_from(&op_refused())
    } else {
        op
    }
}
