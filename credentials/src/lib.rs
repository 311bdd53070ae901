//! Secrets by reference: `${secret:file//run/secrets/token}` in a configuration names a secret, and
//! this crate gets its value when it is needed.
//!
//! A [`Template`] is a text with references. [`Credentials`] resolves them, keeps each value for a
//! time, follows the leases of Vault, and gets a value anew after it was rejected. Values are in
//! [`Secret`], which is zeroized when it is dropped and never printed.
//!
//! ```
//! use pml_credentials::Template;
//!
//! let header = Template::parse("Bearer ${secret:env/GITHUB_TOKEN}")?;
//! assert_eq!(header.references().map(ToString::to_string).collect::<Vec<_>>(), ["secret:env/GITHUB_TOKEN"]);
//! # Ok::<(), pml_credentials::ReferenceError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod cached;
mod credentials;
mod error;
mod provider;
mod reference;
mod secret;
mod settings;
mod template;

pub use credentials::{Credentials, NewClient, OnValue};
pub use error::SecretError;
pub use reference::{Reference, ReferenceError};
pub use secret::Secret;
pub use settings::{SecretSettings, VaultSettings};
pub use template::{Filled, Template};
