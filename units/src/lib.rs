//! Durations and sizes as people write them: one grammar for configuration files and flags.
//!
//! A value is a number and a unit, for example `250ms`, `1.5s` or `64m`. A bare number is accepted
//! only where the caller names the unit it stands for: `mcpServers.*.timeout` is in milliseconds in
//! every MCP client ([`millis_or_text`]), and flags have a documented default unit
//! ([`HumanDuration::parse_with_default`], [`ByteSize::parse_with_default`]).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod duration;
mod error;
mod number;
mod size;

pub use duration::{DurationUnit, HumanDuration, millis_or_text};
pub use error::UnitError;
pub use size::{ByteSize, SizeUnit};
