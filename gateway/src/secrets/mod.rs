//! Credentials of the configuration, replaced by value in everything that leaves the gateway.
//!
//! A script, a model, a log, an error and a recording see `${TOKEN}` where a server sent the value of
//! that variable. [`Secrets`] collects the values when the configuration is read: expanded variables,
//! headers, `env`, user names, passwords and queries of addresses; access tokens are added when they
//! are used. [`rule`] says which values count as secrets: a result must not lose every `true`.

mod collect;
mod encodings;
mod escapes;
mod hide;
mod rule;

pub use hide::Secrets;
pub(crate) use hide::shown_origin;
