//! Access to HTTP servers that ask for a login (OAuth 2.1).
//!
//! [`OAuth::login`] takes a person through the browser once: it discovers the authorization
//! server, registers `pml` there, and exchanges the code that comes back to a port of this
//! machine. [`OAuth::bearer_for`] then answers with a token that is good now, refreshing it when
//! needed. Tokens lie in files only their owner can read, and several `pml` processes can share
//! them: whoever refreshes holds a lock, and the others use what it got.
//!
//! The protocol itself (discovery, registration, PKCE, resource indicators, issuer checks) is
//! rmcp's.

mod access;
mod error;
mod lock;
mod login;
mod metadata;
mod record;
mod redirect;
mod store;

#[cfg(test)]
mod tests;

pub use access::OAuth;
pub use error::OAuthError;
pub use login::{ClientIdentity, LoggedIn, LoginOptions};
pub use store::TokenStore;
