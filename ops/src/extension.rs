//! The ops and the files of `js/` that make up the extension.

use deno_core::Extension;

use crate::entropy::{op_random_continue, op_random_fill};
use crate::harness::op_harness;
use crate::log::op_log;
use crate::refused::refuse;
use crate::storage::{op_checkpoint, op_load_value, op_store_value};
use crate::tools::{
    op_call_tool, op_describe_tool, op_get_prompt, op_list_prompts, op_list_resources,
    op_read_resource, op_search_tools,
};
use crate::web::web;
use crate::workflow::{op_run_workflow, op_stream_close, op_stream_next, op_stream_open};

/// The specifier that `import … from "pml"` resolves to: a module in the snapshot. Its scheme is the
/// only one that a script may import and whose modules may import extension files.
pub const MODULE_SPECIFIER: &str = "node:pml";

/// The specifier that `import … from "pml/test"` resolves to in test files.
pub const TEST_MODULE_SPECIFIER: &str = "node:pml/test";

deno_core::extension!(
    pml,
    deps = [deno_webidl, deno_web],
    ops = [
        op_search_tools,
        op_call_tool,
        op_describe_tool,
        op_list_resources,
        op_read_resource,
        op_list_prompts,
        op_get_prompt,
        op_harness,
        op_store_value,
        op_load_value,
        op_checkpoint,
        op_run_workflow,
        op_stream_open,
        op_stream_next,
        op_stream_close,
        op_log,
        op_random_fill,
        op_random_continue,
    ],
    esm_entry_point = "ext:pml/90_start.js",
    esm = [
        dir "../js",
        "10_web.js",
        "20_console.js",
        "30_serialize.js",
        "35_random.js",
        "38_tool_promise.js",
        "39_requests.js",
        "39_tool_calls.js",
        "40_tools.js",
        "41_harness.js",
        "42_timers.js",
        "43_batch.js",
        "45_virtual_clock.js",
        "46_storage.js",
        "47_checkpoint.js",
        "48_workflow.js",
        "49_stream.js",
        "node:pml" = "50_module.js",
        "55_errors.js",
        "60_result.js",
        "70_equality.js",
        "71_diff.js",
        "72_expect.js",
        "73_mocks.js",
        "74_declare.js",
        "75_snapshots.js",
        "76_test_environment.js",
        "77_run_tests.js",
        "node:pml/test" = "78_test_module.js",
        "90_start.js",
    ],
    middleware = refuse,
);

/// All extensions of a worker, in order. The snapshot refers to ops by index, so it must be built with
/// the same list.
pub fn extensions() -> Vec<Extension> {
    vec![deno_webidl::deno_webidl::init(), web(), pml::init()]
}
