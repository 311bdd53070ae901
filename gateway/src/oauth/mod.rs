//! Logins to HTTP servers (OAuth 2.1).
//!
//! [`OAuth::login`] opens the browser once: it discovers the authorization server, registers `pml`
//! there, and exchanges the code that the browser brings to a loopback port. [`OAuth::bearer_for`] then
//! returns a valid token and refreshes it when needed. Tokens are in files with mode 0600, which several
//! `pml` processes can share: the process that refreshes a token holds a lock, and the others use the
//! new token.
//!
//! The protocol itself (discovery, registration, PKCE, resource indicators, issuer checks) is
//! rmcp's.

mod access;
mod endpoints;
mod error;
mod lock;
mod login;
mod login_record;
mod metadata;
mod redirect;
mod store;

#[cfg(test)]
mod tests;

pub use access::OAuth;
pub use endpoints::ConfirmHosts;
pub use error::OAuthError;
pub use login::{ClientIdentity, LoggedIn, LoginOptions};
pub use store::TokenStore;
