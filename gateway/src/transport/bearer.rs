//! Where an HTTP transport gets its access token from.

use futures::future::BoxFuture;

/// A source of bearer tokens for one server: it refreshes them when they are about to expire.
pub trait Bearer: Send + Sync + std::fmt::Debug {
    /// The token for the next request; `None` to send none.
    fn token(&self) -> BoxFuture<'_, Option<String>>;
}
