//! End-to-end tests: everything here goes through the `pml` binary or a pool of its workers.

mod support;

mod command;
mod console;
mod demo;
mod faults;
mod gateway;
mod hostile;
mod limits;
mod scrubbing;
mod search;
mod shapes;
mod surface;
mod tools;
mod typings;
mod walls;
mod web;
mod workspace;
