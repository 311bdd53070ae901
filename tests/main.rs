//! End-to-end tests: everything here goes through the `pml` binary or a pool of its workers.

mod support;

mod check;
mod command;
mod console;
mod demo;
mod faults;
mod gateway;
mod hostile;
mod limits;
mod scrubbing;
mod shapes;
mod surface;
mod tools;
mod types;
mod typings;
mod walls;
mod web;
mod workspace;
