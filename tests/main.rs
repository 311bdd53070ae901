//! End-to-end tests through the `pml` binary or a pool of its workers.

mod support;

mod check;
mod command;
mod console;
mod contributing;
mod crate_graph;
mod demo;
mod durable;
mod effects;
mod examples;
mod faults;
mod gateway;
mod hostile;
mod limits;
mod lock;
mod packaging;
mod policy;
mod replay;
mod script_api;
mod scrubbing;
mod search;
mod secrets;
mod security_page;
mod serve;
mod shapes;
mod surface;
mod testing;
mod tools;
mod trust;
mod types;
mod typings;
mod walls;
mod web;
mod workflow;
