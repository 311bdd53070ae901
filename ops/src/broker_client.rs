//! The worker's connection to the broker, as the ops see it.

use std::future::Future;
use std::pin::Pin;

use pml_protocol::{Level, Request, ToolResult};

/// The broker has closed the connection; the run is over.
#[derive(Debug, thiserror::Error, deno_error::JsError)]
#[class(generic)]
#[error("the run has ended")]
pub struct BrokerGone;

/// A future of the answer to a request.
pub type AnswerFuture = Pin<Box<dyn Future<Output = Result<ToolResult, BrokerGone>>>>;

/// The worker's end of the connection to the broker. The runtime implements it over a socket; the
/// trait keeps sockets out of this crate, so that the snapshot is built without one.
///
/// ```
/// use pml_ops::{AnswerFuture, BrokerClient, BrokerGone};
/// use pml_protocol::{Level, Request};
///
/// /// The client of a worker whose broker has gone.
/// struct Disconnected;
///
/// impl BrokerClient for Disconnected {
///     fn ask(&self, _: Request) -> AnswerFuture {
///         Box::pin(async { Err(BrokerGone) })
///     }
///
///     fn log(&self, _: Level, _: String) -> bool {
///         false
///     }
/// }
/// ```
pub trait BrokerClient {
    /// Sends a request and returns a future of its answer.
    fn ask(&self, request: Request) -> AnswerFuture;

    /// Sends one line of the console. `false` means that the log is full.
    fn log(&self, level: Level, text: String) -> bool;
}
