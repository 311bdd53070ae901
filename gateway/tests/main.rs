//! The gateway against real and misbehaving servers: one binary, one module per subject.

mod calls;
mod fault;
mod fleet;
mod misbehaving;
mod orphans;
mod support;
