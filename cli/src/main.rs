//! `pml`: every tool of every MCP server, through one sandboxed script.

// The doc comments of arguments are help texts, not Markdown.
#![allow(rustdoc::bare_urls, rustdoc::broken_intra_doc_links)]

mod add;
mod allocator;
mod amounts;
mod annotation_trust;
mod approval_setup;
mod approvals;
mod audit;
mod audit_setup;
mod audit_sinks;
mod call;
mod call_batch;
mod capability;
mod check;
mod command;
mod command_groups;
mod completions;
mod config;
mod confirm;
mod control;
mod demo_server;
mod diagnostics;
mod doctor;
mod exit;
mod functions;
mod index;
mod init;
mod interrupt;
mod learn;
mod lock;
mod login;
mod logout;
mod model;
mod observed_calls;
mod panic_hook;
mod policy;
mod progress;
mod remove;
mod resume;
mod run;
mod runs;
mod scrub;
mod search;
mod search_setup;
mod secrets;
mod serve;
mod servers;
mod store_setup;
mod style;
mod suggest;
mod suspensions;
mod telemetry_setup;
mod test;
mod token;
mod tool_cache;
mod tool_rules;
mod tools;
mod trust;
mod types;
mod value_scrubber;
mod workflow;

fn main() {
    // First of all: a worker must start V8 before anything else happens in its process.
    pml_runtime::worker::run_if_requested();
    // The worker of `pml run` starts while this process reads its command line and configuration.
    let worker = run::is_requested().then(run::fork_worker).flatten();
    allocator::return_large_blocks();
    // While there is one thread, and before any server: servers could read it.
    pml_runtime::hide_environment();
    panic_hook::install();
    command::run(worker).leave()
}
