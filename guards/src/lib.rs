//! Guards: checks of single tool calls and of their answers.
//!
//! A [`Guard`] looks at a call with the arguments that are sent, and at its answer, and allows, warns,
//! repairs or blocks. [`Guards`] is the set that a configuration ([`GuardsConfig`], the key `pml.guards`)
//! puts in force; the gateway asks it about every call, whoever makes it. Each guard is a file in
//! `rules/`, and has a file in `tests/` that is named after what it stops and has a list of bypasses.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod call;
mod coerce;
mod config;
mod dns;
mod guard;
mod history;
mod in_flight;
mod level;
mod name;
mod network;
mod rules;
mod set;
mod settings;
mod walk;

pub use call::{Answer, GuardedCall};
pub use config::{GuardsConfig, GuardsError, Preset};
pub use guard::{Guard, InForce, Verdict};
pub use history::{CallKey, History};
pub use in_flight::{CallShape, InFlight, RunShape};
pub use level::Level;
pub use name::GuardName;
pub use set::{Blocked, Guards, Lookups};
