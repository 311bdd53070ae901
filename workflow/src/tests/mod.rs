//! Tests of the crate as a whole: plans in, reports out.

pub(crate) mod fake;
mod hostile;
mod notations;
mod properties;
mod running;
mod schema;
mod shown;
mod slots;
