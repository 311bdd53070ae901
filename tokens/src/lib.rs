//! Capability tokens: minted, attenuated offline, verified and revoked.
//!
//! A token says who calls (tenant and principal), which tools (globs), until when, and how many calls.
//! Its holder can make a token from it that may do less, without asking anyone, and give that to a
//! sub-agent. The format is [Biscuit](https://www.biscuitsec.org): a chain of signed blocks, the first of
//! which is signed with the root key.
//!
//! ```
//! use pml_tokens::{Grant, Restriction, RootKey, SignedToken};
//!
//! let key = RootKey::generate();
//! let grant = Grant::new("local", "ci", Restriction::to(["fs:*".parse()?]))?;
//! let token = SignedToken::mint(&key, &grant)?;
//! let weaker = token.attenuate(&Restriction::to(["fs:read_*".parse()?]))?;
//!
//! let verified = weaker.verify(&[key.public()])?;
//! assert!(verified.permits("fs:read_file"));
//! assert!(!verified.permits("fs:write_file"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`RootKey`], [`RootPublicKey`]: who signs tokens, and what verifies them.
//! - [`SignedToken`]: a token as text. [`VerifiedToken`]: what it says, after its signatures were checked.
//! - [`Capability`]: a verified token in use: not expired, not revoked, its calls counted.
//! - [`RevocationList`], [`CallCounters`]: the files of a data folder that outlive a process.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod call_counters;
mod capability;
mod datalog;
mod date;
mod error;
mod grant;
mod revocation_list;
mod root_key;
mod signed_token;
mod token_id;
mod verified_token;

pub use call_counters::CallCounters;
pub use capability::{Capability, CapabilityStore, is_capability_name};
pub use date::written as written_time;
pub use error::TokenError;
pub use grant::{Grant, Restriction};
pub use revocation_list::RevocationList;
pub use root_key::{RootKey, RootPublicKey};
pub use signed_token::{BlockText, SignedToken};
pub use token_id::TokenId;
pub use verified_token::{CallBudget, VerifiedToken};
