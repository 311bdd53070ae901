//! The shared database: a pool of connections, one task that writes, one that renews leases.
//!
//! Connections are not encrypted: use a Unix socket, a private network or a tunnel.

mod database;
mod errors;
mod open;
mod transaction;
mod writer;

pub(crate) use database::Postgres;
