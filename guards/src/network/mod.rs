//! Stops URLs of addresses that must not be reached: server-side request forgery.

mod address;
mod guard;
mod named;
mod target;

pub(crate) use address::{Reach, reach_of_ip, reach_of_name};
pub(crate) use guard::{NamedHosts, NetworkGuard};
pub(crate) use target::{Found, Host, Target, find_target};
