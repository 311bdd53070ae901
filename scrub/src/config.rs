//! The `pml.scrub` section of the configuration file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::policy::glob_matches;

/// All settings of the scrubber. By default personal data and secrets are redacted, and secrets and
/// payment cards are never restored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ScrubConfig {
    /// What is replaced where no rule names the detector or the kind.
    pub profile: Profile,
    /// Findings below this confidence are ignored, from 0 to 1.
    pub min_confidence: f32,
    /// Whether names of people, places and organisations are found in running text too, by a model. If it is
    /// missing, the profiles `strict` and `hipaa` do so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<bool>,
    /// `false` makes every placeholder one-way, overriding every rule.
    pub reversible: bool,
    /// The most values that a [`PlaceholderMap`](crate::PlaceholderMap) stores. Past that,
    /// placeholders have no number and cannot be restored.
    pub max_entries: usize,
    /// Rules by detector (`email`) or by kind in lower case (`github_token`).
    pub detectors: BTreeMap<String, Rule>,
    /// Rules for certain tools. Of the entries that match a tool, the last one wins.
    pub tools: Vec<ToolRules>,
    /// Values that are never replaced.
    pub allow: AllowList,
    /// The operator's own kinds of private data.
    pub patterns: Vec<CustomPattern>,
    /// By destination, the servers whose values it may receive besides its own. A destination is a
    /// server or a tool id, in which `*` matches any run of characters.
    pub restore: BTreeMap<String, Vec<String>>,
}

impl Default for ScrubConfig {
    fn default() -> Self {
        Self {
            profile: Profile::Default,
            min_confidence: 0.5,
            entities: None,
            reversible: true,
            max_entries: 10_000,
            detectors: BTreeMap::new(),
            tools: Vec::new(),
            allow: AllowList::default(),
            patterns: Vec::new(),
            restore: BTreeMap::new(),
        }
    }
}

impl ScrubConfig {
    /// Whether any rule has the action `ask`.
    pub(crate) fn asks(&self) -> bool {
        let rules = self.tools.iter().map(|tool| &tool.detectors);
        let mut rules = rules.chain([&self.detectors]).flat_map(BTreeMap::values);
        let mut patterns = self.patterns.iter();
        rules.any(|rule| rule.policy() == Some(Action::Ask))
            || patterns.any(|pattern| pattern.policy == Some(Action::Ask))
    }
}

/// A choice of detectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Passwords, keys and tokens only; personal data stays.
    SecretsOnly,
    /// Personal data and secrets, without dates, ages and URLs.
    #[default]
    Default,
    /// Every detector, with dates, ages, URLs, and names in running text.
    Strict,
    /// The identifiers on HIPAA's list, with names and places in running text: as `Strict`.
    Hipaa,
}

/// The action for a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Replaces it by a numbered placeholder: `[EMAIL_1]`.
    Redact,
    /// Hides all but the last four characters: `****4242`.
    Mask,
    /// Replaces it by a keyed hash: `[EMAIL#5f2b8c01d3aa]`. Equal values have equal hashes within
    /// one process.
    Hash,
    /// Leaves it as it is.
    Allow,
    /// A person decides, once per kind and session, whether the values are shown or redacted. Where no person
    /// can be asked, the whole text or value is rejected.
    Ask,
    /// Rejects the whole text or value.
    Block,
}

/// A rule for one detector: the bare action, or the action with `reversible`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Rule {
    /// The action alone.
    Action(Action),
    /// The action, `reversible`, or both.
    Detailed(DetailedRule),
}

/// The long form of a [`Rule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailedRule {
    /// The action; the default of the detector if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Action>,
    /// Whether a placeholder in a tool's arguments is replaced by its value.
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

/// Rules for the tools whose id matches a glob such as `crm:*`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRules {
    /// A tool id, in which `*` matches any run of characters.
    pub tool: String,
    /// Rules by detector or kind; `*` matches all others.
    pub detectors: BTreeMap<String, Rule>,
}

/// Values that are known to be harmless.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AllowList {
    /// Exact values, compared case-insensitively.
    pub values: Vec<String>,
    /// Domains whose e-mail addresses and URLs stay, with their subdomains.
    pub domains: Vec<String>,
    /// Regular expressions, in the syntax of the Rust `regex` crate, that match a whole value.
    pub patterns: Vec<String>,
    /// Hashes of exact values, as `pml scrub --explain` prints them: for values that should not stand in a
    /// configuration.
    pub fingerprints: Vec<String>,
    /// Places in the results of tools where values stay.
    pub places: Vec<AllowedPlace>,
}

/// A place where values stay. What is missing matches everything.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AllowedPlace {
    /// A tool id, in which `*` matches any run of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A JSON pointer such as `/items/*/id`, in which `*` matches any run of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// A kind, as placeholders show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl AllowedPlace {
    pub(crate) fn allows(&self, kind: crate::Kind, tool: Option<&str>, pointer: &str) -> bool {
        let is_kind = self
            .kind
            .as_deref()
            .is_none_or(|k| k.eq_ignore_ascii_case(kind.as_str()));
        let of_tool = |glob: &String| tool.is_some_and(|tool| glob_matches(glob, tool));
        is_kind
            && self.tool.as_ref().is_none_or(of_tool)
            && self
                .pointer
                .as_ref()
                .is_none_or(|glob| glob_matches(glob, pointer))
    }
}

/// A kind of private data that the operator defines, such as an employee number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomPattern {
    /// The kind, as placeholders show it: `EMPLOYEE_ID`.
    pub name: String,
    /// A regular expression in the syntax of the Rust `regex` crate.
    pub regex: String,
    /// The action; `redact` if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Action>,
    /// Whether placeholders are reversible; `true` if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
}
