//! How a request to a server ended.

use std::time::Duration;

/// How a request to a server ended, for the metrics.
#[derive(Debug, Clone, Copy)]
pub struct CallEnd<'a> {
    /// The method of MCP.
    pub method: &'static str,
    /// The tool (`server:tool`); for other requests the server.
    pub tool: &'a str,
    /// Who made the request.
    pub principal: &'a str,
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
    /// Whether it was sent before the script made it.
    pub speculation: Speculated,
    /// What it cost, if it was sent and the operator named a cost.
    pub cost: Option<f64>,
    /// What guards said: the guard and its verdict.
    pub guards: &'a [(String, &'static str)],
    /// How long it waited for a permit of its run and for the limits of its server.
    pub slot_wait: Duration,
    /// How long it waited for a person, if one was asked.
    pub person_wait: Option<Duration>,
}

/// What speculation had to do with a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Speculated {
    /// Nothing.
    #[default]
    No,
    /// It was made ahead of the script.
    Ahead,
    /// The script made it, and got the answer of one that was made ahead.
    Taken,
}

impl<'a> CallEnd<'a> {
    /// A request that was answered at once.
    pub fn new(method: &'static str, tool: &'a str) -> Self {
        Self {
            method,
            tool,
            principal: "",
            transport: None,
            error: None,
            took: Duration::ZERO,
            attempts: 1,
            is_cached: false,
            speculation: Speculated::No,
            cost: None,
            guards: &[],
            slot_wait: Duration::ZERO,
            person_wait: None,
        }
    }
}
