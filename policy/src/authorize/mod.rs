//! The decision function: who may do what with which tool.
//!
//! [`PolicyEngine::decide`] answers every question: list, search, type generation, check, dry run and
//! call. The policies are [Cedar](https://docs.cedarpolicy.com): those of a policy file, and those that
//! the globs of `pml.policy` compile to.
//!
//! ```
//! use pml_policy::authorize::*;
//!
//! let file = PolicyFile::parse("policy.cedar".as_ref(), r#"
//!     @id("readers")
//!     permit(principal, action in Action::"call", resource) when { resource.effect == "read" };
//! "#)?;
//! let engine = PolicyEngine::new(Some(file), &GlobRules::default());
//! let tool = ToolFacts { id: "fs:read_file".into(), effect: "read".into(), hints: Hints::default() };
//! let local = Requester::local();
//! let list = Query { requester: &local, action: Action::List, resource: Resource::Tool(&tool), context: None };
//! assert!(engine.decide(&list).is_permitted());
//! # Ok::<(), PolicyFileError>(())
//! ```
//!
//! - [`PolicyFile`]: the file, parsed and checked.
//! - [`PolicyEngine`]: the decision function, with its cache.
//! - [`Decision`]: the answer, with the policies that decided.
//! - [`schema`]: the Cedar schema, generated from the tools.
//! - [`Expectations`]: a file of expected decisions, for `pml policy test`.

mod arguments;
mod decision;
mod engine;
#[cfg(test)]
mod engine_tests;
mod entities;
mod error;
mod expectations;
mod glob_rules;
mod policy_file;
mod query;
pub mod schema;
mod timestamp;
mod validate;

pub use decision::{DecidingPolicy, Decision, PolicyOrigin, Verdict};
pub use engine::PolicyEngine;
pub use error::{Mistake, PolicyFileError};
pub use expectations::{Difference, Expectation, Expectations, ExpectationsError, Expected};
pub use glob_rules::GlobRules;
pub use policy_file::PolicyFile;
pub use query::{Action, CallContext, Hints, OfferKind, Query, Requester, Resource, ToolFacts};
pub use validate::validate;
