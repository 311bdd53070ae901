//! The deno_core extension of a pml worker: everything a script can reach outside its isolate.
//!
//! The extension knows two things only: the JavaScript of `js/`, and a [`Broker`] to which it
//! hands requests. How those travel is the runtime's business.

mod broker;
mod entropy;
mod extension;
mod harness;
mod log;
mod refused;
mod storage;
mod tools;
mod web;

pub use broker::{Answer, Broker, BrokerGone, Failure, Level, Offer, Request};
pub use extension::{MODULE_SPECIFIER, TEST_MODULE_SPECIFIER, extensions};
pub use refused::REFUSED_OPS;
