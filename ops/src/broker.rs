//! What a script may ask of the broker, and what comes back.

use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A question of the script. Arguments and results stay JSON text on their way: nobody between
/// the script and the gateway has a reason to take them apart.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    Search {
        query: String,
        limit: u32,
        threshold: Option<f64>,
    },
    Call {
        tool: String,
        args: Box<RawValue>,
    },
    Describe {
        tool: String,
    },
    Offer {
        server: String,
        offer: Offer,
    },
    /// What a test file tells whoever runs it, and asks of it. The two know what it means; nobody
    /// in between has a reason to.
    Harness {
        message: Box<RawValue>,
    },
    /// Keep a value for later scripts of the same session.
    Store {
        key: String,
        value: Box<RawValue>,
    },
    /// Give back what stands under a key or a handle: a list of one, or an empty one.
    Load {
        key: String,
    },
}

/// What a server has besides tools.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    ListResources,
    ReadResource { uri: String },
    ListPrompts,
    GetPrompt { name: String, args: Box<RawValue> },
}

/// Why a request was not answered with a value. The script sees it as `ToolError`, or as the
/// `error` of `callTool`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct Failure {
    pub kind: String,
    pub message: String,
    pub retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl Failure {
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            retryable: false,
            retry_after_ms: None,
        }
    }
}

/// JSON text, or the reason why there is none.
pub type Answer = Result<Box<RawValue>, Failure>;

/// How a line of `console.*` was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Debug,
    Log,
    Info,
    Warn,
    Error,
}

/// The broker has closed the connection; the run is over.
#[derive(Debug, thiserror::Error, deno_error::JsError)]
#[class(generic)]
#[error("the run has ended")]
pub struct BrokerGone;

/// The worker's end of the connection. One implementation lives in the runtime; the trait keeps
/// this crate free of sockets, so that the snapshot can be built without any.
pub trait Broker {
    /// Sends a request and waits for its answer.
    fn ask(&self, request: Request) -> Pin<Box<dyn Future<Output = Result<Answer, BrokerGone>>>>;

    /// Passes on one line of the console. `false` means that the run may log no more.
    fn log(&self, level: Level, text: String) -> bool;
}
