//! The configuration key `pml.labels`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tool_glob::ToolGlob;

/// The `pml.labels` key of the configuration file.
///
/// ```jsonc
/// {
///   "mode": "enforce",                                  // or "observe" (default), "off"
///   "sources": { "web:*": "untrusted", "crm:*": ["trusted", "private"] },
///   "sinks": { "mail:send": ["trusted", "public"], "log:*": "any" }
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabelsConfig {
    /// What happens to a call whose run has read what the tool must not get.
    pub mode: LabelMode,
    /// What the results of tools are.
    pub sources: BTreeMap<ToolGlob, Words<SourceWord>>,
    /// What tools accept.
    pub sinks: BTreeMap<ToolGlob, Words<SinkWord>>,
}

impl LabelsConfig {
    /// The patterns of all rules, with the key that they are below.
    pub fn globs(&self) -> impl Iterator<Item = (&'static str, &ToolGlob)> {
        let sources = self.sources.keys().map(|glob| ("sources", glob));
        sources.chain(self.sinks.keys().map(|glob| ("sinks", glob)))
    }
}

/// What happens to a call whose run has read what the tool must not get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelMode {
    /// Nothing is tracked.
    Off,
    /// It is sent and reported.
    #[default]
    Observe,
    /// It is refused.
    Enforce,
}

/// One word, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Words<W> {
    /// One.
    One(W),
    /// Several.
    Several(Vec<W>),
}

impl<W: PartialEq> Words<W> {
    pub(super) fn contains(&self, word: &W) -> bool {
        match self {
            Self::One(one) => one == word,
            Self::Several(all) => all.contains(word),
        }
    }
}

/// What a result is. What a rule does not say has its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceWord {
    /// Only trusted people write it.
    Trusted,
    /// Anybody may have written it: web pages, mails, issues.
    Untrusted,
    /// Everybody may read it.
    Public,
    /// It is private to its server.
    Private,
}

/// What a tool accepts. A rule replaces the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SinkWord {
    /// Nothing that somebody untrusted may have written.
    Trusted,
    /// Nothing that is private to another server.
    Public,
    /// Everything.
    Any,
}
