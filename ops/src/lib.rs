//! The deno_core extension of a pml worker: everything that a script can reach outside its isolate.
//!
//! The extension consists of the JavaScript in `js/` and of ops that pass requests to a
//! [`BrokerClient`], which the runtime implements over a socket.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod broker_client;
mod entropy;
mod extension;
mod harness;
mod log;
mod refused;
mod storage;
mod tools;
mod web;
mod workflow;

pub use broker_client::{AnswerFuture, BrokerClient, BrokerGone};
pub use entropy::SeededEntropy;
pub use extension::{MODULE_SPECIFIER, TEST_MODULE_SPECIFIER, extensions};
pub use refused::REFUSED_OPS;
