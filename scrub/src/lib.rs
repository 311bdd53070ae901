//! Detects personal data and secrets in text and JSON bound for a model, and replaces them.
//!
//! A [`Scrubber`] is the compiled configuration and is shared. A [`PlaceholderMap`] belongs to one
//! client session: it records which value became `[EMAIL_1_k3f9]`, so that equal values get equal
//! placeholders and a tool's arguments get the values back, where the model wrote the placeholder and
//! the value came from the tool's server. The output is a [`Scrubbed`], a type that only this crate
//! can construct.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod allowed;
mod boundary;
mod byte_search;
mod checksum;
mod config;
mod confusables;
mod context;
mod decisions;
mod decode;
mod detect;
mod entities;
mod error;
mod explain;
mod guard;
mod gzip;
mod json;
mod kind;
mod known_values;
mod literals;
mod normalize;
mod origins;
mod overlap;
mod placeholder;
mod placeholder_map;
mod policy;
mod prefilter;
mod replace;
mod report;
mod restore;
mod restore_policy;
mod restored_values;
mod saved;
mod scan;
mod scrubbed;
mod scrubber;
mod separators;
mod shared_placeholders;
mod written;

#[cfg(test)]
mod cases;

pub use config::{
    Action, AllowList, AllowedPlace, CustomPattern, DetailedRule, Profile, Rule, ScrubConfig,
    ToolRules,
};
pub use detect::detector_names;
pub use error::{ConfigError, ScrubError};
pub use explain::Explanation;
pub use kind::Kind;
pub use origins::{Origin, RunOrigins};
pub use placeholder_map::PlaceholderMap;
pub use report::{Finding, Place, Report};
pub use restore::{ForeignValue, RestoreRefusal};
pub use saved::SavedPlaceholder;
pub use scrubbed::Scrubbed;
pub use scrubber::Scrubber;
pub use shared_placeholders::{PlaceholderTurn, SharedPlaceholders};
pub use written::WrittenPlaceholders;
