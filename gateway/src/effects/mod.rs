//! Effect classes: what a call of a tool does to the world.
//!
//! [`EffectRules`] is the one place that decides the [`EffectClass`](pml_protocol::EffectClass) of a
//! tool. Retries, approvals and durable runs all ask it.

mod config;
mod first_seen;
mod precedence;
mod reconcile;
mod rules;

pub use config::{EffectRule, EffectsConfig};
pub(crate) use first_seen::FirstSeen;
pub use reconcile::{Reconcile, UnresolvedReference};
pub use rules::{Effect, EffectRules, EffectSource};
