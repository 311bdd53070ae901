//! How a request to a server ended.

use std::time::Duration;

/// How a request to a server ended, for the metrics.
#[derive(Debug, Clone, Copy)]
pub struct CallEnd<'a> {
    /// The method of MCP.
    pub method: &'static str,
    /// The tool (`server:tool`); for other requests the server.
    pub tool: &'a str,
    /// `pipe` or `tcp`.
    pub transport: Option<&'static str>,
    /// Why it failed, as one word.
    pub error: Option<&'static str>,
    /// From its dispatch to its answer.
    pub took: Duration,
    /// How often it was sent.
    pub attempts: u32,
    /// Whether the cache answered.
    pub is_cached: bool,
    /// How long it waited for a permit of its run and for the limits of its server.
    pub slot_wait: Duration,
    /// How long it waited for a person, if one was asked.
    pub person_wait: Option<Duration>,
}

impl<'a> CallEnd<'a> {
    /// A request that was answered at once.
    pub fn new(method: &'static str, tool: &'a str) -> Self {
        Self {
            method,
            tool,
            transport: None,
            error: None,
            took: Duration::ZERO,
            attempts: 1,
            is_cached: false,
            slot_wait: Duration::ZERO,
            person_wait: None,
        }
    }
}
