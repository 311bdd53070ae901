//! The gateway against real and misbehaving servers: one binary, one module per subject.

mod calls;
mod conformance;
mod fault;
mod fleet;
mod installed;
mod misbehaving;
mod orphans;
mod real_servers;
mod stateless;
mod support;
