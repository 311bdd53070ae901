//! Detects personal data and secrets in text and JSON bound for a model, and replaces them.
//!
//! A [`Scrubber`] is the compiled configuration and is shared. A [`PlaceholderMap`] belongs to one
//! client session: it records which value became `[EMAIL_1]`, so that equal values get equal
//! placeholders and a tool's arguments get the values back. The output is a [`Scrubbed`], a type
//! that only this crate can construct.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod boundary;
mod byte_search;
mod checksum;
mod config;
mod confusables;
mod context;
mod decode;
mod detect;
mod error;
mod guard;
mod json;
mod kind;
mod known_values;
mod literals;
mod normalize;
mod overlap;
mod placeholder;
mod placeholder_map;
mod policy;
mod prefilter;
mod replace;
mod report;
mod scan;
mod scrubbed;
mod scrubber;
mod separators;

#[cfg(test)]
mod cases;

pub use config::{Action, AllowList, CustomPattern, DetailedRule, Rule, ScrubConfig, ToolRules};
pub use detect::detector_names;
pub use error::{ConfigError, ScrubError};
pub use kind::Kind;
pub use placeholder_map::{PlaceholderMap, SharedPlaceholders};
pub use report::{Finding, Place, Report};
pub use scrubbed::Scrubbed;
pub use scrubber::Scrubber;
