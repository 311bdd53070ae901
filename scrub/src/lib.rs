//! Finds personal data and secrets in what is about to leave for a model, and replaces them.
//!
//! A [`Scrubber`] is the compiled configuration and is shared. A [`Session`] belongs to one
//! conversation: it remembers which value became `[EMAIL_1]`, so the same value keeps its name
//! and can be put back into a tool's arguments. What comes out is a [`Scrubbed`], a type that
//! only this crate can make.

mod boundary;
mod checksum;
mod config;
mod context;
mod decode;
mod detect;
mod echo;
mod error;
mod fold;
mod json;
mod kind;
mod literals;
mod lookalike;
mod overlap;
mod placeholder;
mod policy;
mod prefilter;
mod replace;
mod report;
mod scan;
mod scrubbed;
mod scrubber;
mod session;
mod skip;

#[cfg(test)]
mod cases;

pub use config::{Action, AllowList, CustomPattern, DetailedRule, Rule, ScrubConfig, ToolRules};
pub use detect::detector_names;
pub use error::{ConfigError, ScrubError};
pub use kind::Kind;
pub use report::{Finding, Place, Report};
pub use scrubbed::Scrubbed;
pub use scrubber::Scrubber;
pub use session::Session;
