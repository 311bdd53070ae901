//! The guards, a file each.

mod contract;
mod effect;
mod output;
mod preconditions;
mod provenance;
mod references;
mod retry;
mod runaway;
mod saturation;
mod schema;
mod sensitive;
mod shape;
mod time;

pub(crate) use contract::ContractGuard;
pub(crate) use effect::EffectGuard;
pub(crate) use output::OutputGuard;
pub(crate) use preconditions::PreconditionsGuard;
pub(crate) use provenance::ProvenanceGuard;
pub(crate) use references::ReferencesGuard;
pub(crate) use retry::RetryGuard;
pub(crate) use runaway::RunawayGuard;
pub(crate) use saturation::SaturationGuard;
pub(crate) use schema::SchemaGuard;
pub(crate) use sensitive::SensitiveGuard;
pub(crate) use shape::ShapeGuard;
pub(crate) use time::TimeGuard;
