//! Errors: an invalid configuration, data that the policy blocks, or a fault of the scrubber.

use crate::Kind;

/// An invalid `pml.scrub` section of the configuration, reported when it is loaded.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A rule for a detector or kind that does not exist.
    #[error(
        "unknown detector `{name}` in `{key}`: use one of {known}, or the kind that a placeholder \
         shows, in lower case."
    )]
    UnknownDetector {
        /// The configuration key of the rule.
        key: String,
        /// The unknown name.
        name: String,
        /// The names of the detectors, separated by commas.
        known: String,
    },
    /// A pattern name that is malformed or already a built-in kind.
    #[error(
        "invalid pattern name `{0}`: expected 2 to 32 capital letters, digits and underscores that \
         start with a letter and differ from every built-in kind."
    )]
    PatternName(String),
    /// A pattern that does not compile, or is too large when compiled.
    #[error("invalid regular expression in the pattern `{name}`: {source}")]
    Pattern {
        /// The name of the pattern.
        name: String,
        /// The reason.
        #[source]
        source: Box<regex::Error>,
    },
    /// A pattern that matches the empty string.
    #[error(
        "the pattern `{0}` matches an empty text and would match everywhere: make it require at \
         least one character."
    )]
    EmptyPattern(String),
    /// A threshold outside 0 to 1.
    #[error(
        "invalid `minConfidence` {0}: expected a number from 0 (every candidate) to 1 (certain \
         ones only)."
    )]
    Confidence(f32),
    /// An empty string in a list, which would match everything.
    #[error("empty entry in `{key}`: remove it, or it would match everything.")]
    EmptyEntry {
        /// The configuration key of the list.
        key: String,
    },
    /// A tool in the place of a server whose values a destination may receive.
    #[error(
        "`{name}` in `{key}` is a tool, but values are known by their server: write `{}`.",
        .name.split(':').next().unwrap_or_default()
    )]
    RestoreFromTool {
        /// The configuration key of the list.
        key: String,
        /// The entry.
        name: String,
    },
    /// An allowed fingerprint that is none.
    #[error(
        "invalid fingerprint `{0}` in `pml.scrub.allow.fingerprints`: expected the 16 hexadecimal digits \
         that `pml scrub --explain` prints."
    )]
    Fingerprint(String),
    /// The operating system provided no randomness for the hash key.
    #[error("cannot read a random key for `hash` from the operating system: {0}. Try again.")]
    Random(getrandom::Error),
}

/// The reason why a text or value is not released.
#[derive(Debug, thiserror::Error)]
pub enum ScrubError {
    /// The policy blocks a kind that the text or value contains.
    #[error(
        "The result contains {kind} data, which the policy blocks{}: leave it out of the result, or \
         ask the operator to change `pml.scrub` for `{detector}`.",
        .tool.as_ref().map(|t| format!(" for the tool `{t}`")).unwrap_or_default()
    )]
    Blocked {
        /// The blocked kind.
        kind: Kind,
        /// The detector that found it.
        detector: String,
        /// The tool that returned it, if it came directly from one.
        tool: Option<String>,
    },
    /// The policy asks a person about a kind that the text or value contains, and there is no answer.
    #[error(
        "The result contains {kind} data, about which the policy asks a person, and no person has answered: \
         leave it out of the result, or ask the operator to change `pml.scrub` for `{detector}`."
    )]
    Undecided {
        /// The kind.
        kind: Kind,
        /// The detector that found it.
        detector: String,
    },
    /// A fault in the scrubber itself.
    #[error(
        "The text could not be checked for private data, because the scrubber of pml failed on it, so \
         nothing of it is shown: leave out parts of the result, and report the position that pml \
         printed to standard error."
    )]
    Panicked,
}
