//! The gateway against real and misbehaving servers: one binary, one module per subject.

mod calls;
mod misbehaving;
mod support;
