//! Answers of the decision function.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// The answer itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It may be done.
    Permit,
    /// It may be done if a person approves it.
    Ask,
    /// It may not be done.
    Deny,
}

impl Verdict {
    /// The name in expectations and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permit => "permit",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Where a policy stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PolicyOrigin {
    /// In the policy file.
    File {
        /// The name of the file.
        file: String,
        /// The line where it begins, from 1.
        line: usize,
    },
    /// It was compiled from a key of the configuration, such as `pml.policy.deny`.
    Configuration {
        /// The key.
        key: &'static str,
        /// The glob; `None` for a whole list.
        #[serde(skip_serializing_if = "Option::is_none")]
        glob: Option<String>,
    },
    /// It is part of pml.
    BuiltIn,
}

/// A policy that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecidingPolicy {
    /// Its `@id`, or a number such as `policy0`.
    pub id: String,
    /// Where it stands.
    pub origin: PolicyOrigin,
    /// Its `@message`, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl fmt::Display for DecidingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            PolicyOrigin::File { file, line } => write!(f, "`{}` ({file}:{line})", self.id),
            PolicyOrigin::Configuration { key, glob } => match glob {
                Some(glob) => write!(f, "`{key}: {glob}`"),
                None => write!(f, "`{key}`"),
            },
            PolicyOrigin::BuiltIn => write!(f, "`{}`", self.id),
        }
    }
}

/// An answer, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The answer.
    pub verdict: Verdict,
    /// The policies that decided. Empty for a denial because nothing permits it.
    pub by: Arc<[DecidingPolicy]>,
    /// The error of a policy, which denies whatever the others say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether another context could have another answer.
    pub depends_on_context: bool,
}

impl Decision {
    /// Whether it may be done, with approval or without.
    pub fn is_permitted(&self) -> bool {
        self.verdict != Verdict::Deny
    }

    /// Why a call of `id` by `requester` is denied, in one sentence.
    pub fn denial(&self, id: &str, requester: &str) -> String {
        if let Some(error) = &self.error {
            return format!(
                "`{id}` may not be called: a policy cannot be evaluated ({error}); pass other arguments, or ask the operator to correct the policy"
            );
        }
        let Some(policy) = self.by.first() else {
            return format!(
                "`{id}` may not be called: no policy permits it to `{requester}`; use another tool, or ask the operator to permit it"
            );
        };
        match &policy.origin {
            PolicyOrigin::Configuration {
                key: "pml.policy.allow",
                ..
            } => format!(
                "`{id}` may not be called: it is not among the tools the operator's policy allows; use another tool"
            ),
            PolicyOrigin::Configuration {
                glob: Some(glob), ..
            } => format!(
                "`{id}` may not be called: the operator's policy denies `{glob}`; use another tool"
            ),
            _ => match &policy.message {
                Some(message) => {
                    format!("`{id}` may not be called: the policy {policy} forbids it: {message}")
                }
                None => format!(
                    "`{id}` may not be called: the policy {policy} forbids it; use another tool"
                ),
            },
        }
    }
}
