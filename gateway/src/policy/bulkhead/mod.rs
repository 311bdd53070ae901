//! How many calls run at once: per server, and per group of tools.
//!
//! A call takes a slot in every compartment that covers it and waits in line for each, first
//! come first served. Waiting is not the call's own time: [`Bulkhead::enter`] returns when the
//! call may be sent, and only then does the caller start its clock. [`Slots::waited`] tells how
//! long that was.
//!
//! Slots are taken from the narrow compartments to the wide one, always in the same order, so
//! two calls can never wait for each other, and a call that waits for a busy group holds no
//! slot of its server meanwhile.

mod compartment;
mod config;

pub use compartment::{Bulkhead, Slots};
pub use config::BulkheadConfig;
