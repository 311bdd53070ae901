//! The shared database: a pool of connections, one task that writes, one that renews leases.
//!
//! Connections are encrypted where the URL asks for it (`tls.rs`).

mod database;
mod errors;
mod open;
mod tls;
mod transaction;
mod writer;

pub(crate) use database::Postgres;
pub(crate) use tls::ServerUrl;
