//! What can go wrong: a mistake in the configuration, or data that policy does not let out.

use crate::Kind;

/// A mistake in the `pml.scrub` part of the configuration, found when it is loaded.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "`{place}` names the detector `{name}`, which does not exist; use one of: {known}, or the \
         kind a placeholder shows, in lower case."
    )]
    UnknownDetector {
        place: String,
        name: String,
        known: String,
    },
    #[error(
        "The pattern name `{0}` cannot be used; choose 2 to 32 capital letters, digits and \
         underscores that start with a letter, and that no built-in kind has."
    )]
    PatternName(String),
    #[error("The pattern `{name}` is not a usable regular expression; correct it: {source}")]
    Pattern {
        name: String,
        #[source]
        source: Box<regex::Error>,
    },
    #[error(
        "The pattern `{0}` also matches an empty text and would fire everywhere; make it require \
         at least one character."
    )]
    EmptyPattern(String),
    #[error(
        "`minConfidence` is {0}; set it between 0 (everything that looks like it) and 1 (proof only)."
    )]
    Confidence(f32),
    #[error("`{place}` holds an empty entry; remove it, or it would match everything.")]
    EmptyEntry { place: String },
    #[error("The operating system gave no random key for `hash`: {0}. Try again.")]
    Random(getrandom::Error),
}

/// Why a text or value may not leave.
#[derive(Debug, thiserror::Error)]
pub enum ScrubError {
    #[error(
        "The result holds {kind} data, which the policy blocks{}; leave it out of the result, or \
         ask the operator to change `pml.scrub` for `{detector}`.",
        .tool.as_ref().map(|t| format!(" for the tool `{t}`")).unwrap_or_default()
    )]
    Blocked {
        kind: Kind,
        detector: String,
        tool: Option<String>,
    },
}
