//! The gateway against real and misbehaving servers: one binary, one module per subject.

mod calls;
mod conformance;
mod effects;
mod fleet;
mod guards;
mod hostile;
#[allow(dead_code, reason = "the tests of the whole program need more of it")]
mod installed;
mod misbehaving;
mod openapi;
mod openapi_documents;
mod orphans;
mod processes;
mod real_servers;
mod secrets;
mod sessions;
mod stateless;
mod support;
