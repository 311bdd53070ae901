//! Concurrency limits: per server, and per group of tools.
//!
//! A call takes a slot in every compartment that covers it and queues for each, first come first
//! served. Queueing does not count towards the call's time limit: [`Bulkhead::enter`] returns when the
//! call may be sent, and the caller starts its clock then. [`Slots::waited`] is the time in the queue.
//!
//! Slots are taken from the narrow compartments to the wide one, always in the same order, so two
//! calls cannot deadlock, and a call that queues for a busy group holds no slot of its server.

mod compartment;
mod config;

pub use compartment::{Bulkhead, Slots};
pub use config::BulkheadConfig;
