//! The shape under the `pml.scrub` key of the configuration file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything an operator can set. The default suits a cautious team: personal data and secrets
/// are redacted, secrets and payment cards are never put back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ScrubConfig {
    /// Findings below this confidence are ignored, from 0 to 1.
    pub min_confidence: f32,
    /// `false` makes every placeholder one-way, whatever a detector says.
    pub reversible: bool,
    /// How many different values a session remembers. Past that, placeholders have no number
    /// and cannot be put back.
    pub max_entries: usize,
    /// What to do, by detector (`email`) or by kind in lower case (`github_token`).
    pub detectors: BTreeMap<String, Rule>,
    /// What to do for certain tools. Of the entries that fit a tool, the last one wins.
    pub tools: Vec<ToolRules>,
    /// What is never touched.
    pub allow: AllowList,
    /// The operator's own kinds of private data.
    pub patterns: Vec<CustomPattern>,
}

impl Default for ScrubConfig {
    fn default() -> Self {
        Self {
            min_confidence: 0.5,
            reversible: true,
            max_entries: 10_000,
            detectors: BTreeMap::new(),
            tools: Vec::new(),
            allow: AllowList::default(),
            patterns: Vec::new(),
        }
    }
}

/// What happens to a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// A numbered placeholder: `[EMAIL_1]`.
    Redact,
    /// All but the last four letters and digits are hidden: `****4242`.
    Mask,
    /// A keyed hash: `[EMAIL#5f2b8c01d3aa]`; equal values look equal within one process.
    Hash,
    /// It stays as it is.
    Allow,
    /// The whole text or value is refused.
    Block,
}

/// A rule for one detector: the bare action, or the action with `reversible`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Rule {
    Action(Action),
    Detailed(DetailedRule),
}

/// The long form of a [`Rule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailedRule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Action>,
    /// Whether a placeholder may be turned back into the value for a tool's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
}

impl Rule {
    pub(crate) fn policy(self) -> Option<Action> {
        match self {
            Self::Action(action) => Some(action),
            Self::Detailed(rule) => rule.policy,
        }
    }

    pub(crate) fn reversible(self) -> Option<bool> {
        match self {
            Self::Action(_) => None,
            Self::Detailed(rule) => rule.reversible,
        }
    }
}

/// Rules for the tools whose id fits a glob such as `crm:*`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRules {
    /// A tool id, `*` standing for any run of characters.
    pub tool: String,
    /// By detector or kind; `*` is every one that is not named.
    pub detectors: BTreeMap<String, Rule>,
}

/// What is known to be harmless.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AllowList {
    /// Exact values, compared without regard to case.
    pub values: Vec<String>,
    /// Domains; e-mail addresses and URLs at them, and at their subdomains, stay.
    pub domains: Vec<String>,
}

/// A kind of private data that only the operator knows, such as an employee number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomPattern {
    /// The kind, as placeholders show it: `EMPLOYEE_ID`.
    pub name: String,
    /// What it looks like, in the syntax of the Rust `regex` crate.
    pub regex: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Action>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
}
