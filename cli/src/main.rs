//! `pml`: every tool of every MCP server, through one sandboxed script.

mod command;
mod completions;
mod exit;
mod paint;
mod run;

use std::process::ExitCode;

fn main() -> ExitCode {
    // First of all: a worker must start V8 before anything else happens in its process.
    pml_runtime::worker::run_if_requested();
    command::run()
}
