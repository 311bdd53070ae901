//! The layer that writes the audit log, and what else is recorded.

mod approver;
mod layer;
mod pending_call;
mod trail;

pub use layer::Audit;
pub use pending_call::{AnsweredBy, PendingCall};
pub use trail::{AuditTrail, RunEnd, ShowValue};
