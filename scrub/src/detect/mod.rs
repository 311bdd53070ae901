//! The detectors: one file each, with the formats it knows and its table of cases.

mod email;

use std::ops::Range;

use crate::scan::Scan;

/// What makes a detector look at a place of the text.
pub(crate) enum Trigger {
    /// One of these words, whatever its case. The check gets the word's number and place.
    Literals(
        fn() -> &'static [&'static str],
        fn(&mut Scan<'_>, usize, Range<usize>),
    ),
    /// The first byte of a word with a digit in it, or of the short word before it, where at
    /// least four digits follow closely.
    Number(fn(&mut Scan<'_>, usize)),
    /// A long unbroken token.
    Blob(fn(&mut Scan<'_>, Range<usize>)),
    /// An `@`.
    AtSign(fn(&mut Scan<'_>, usize)),
    /// A `:` or `-` between hexadecimal digits, or the first of `::`.
    HexPair(fn(&mut Scan<'_>, usize)),
}

/// What a detector does when the configuration says nothing about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Default {
    /// Redacted, and put back for tools that are called with the placeholder.
    Reversible,
    /// Redacted for good: a secret, or a number that is as good as money.
    OneWay,
    /// Left alone unless the operator asks: too much of ordinary text is of this kind.
    Off,
}

pub(crate) struct Detector {
    /// The name in the configuration.
    pub(crate) name: &'static str,
    /// The kinds it reports, for checking the configuration.
    pub(crate) kinds: fn() -> Vec<crate::Kind>,
    pub(crate) default: Default,
    pub(crate) triggers: &'static [Trigger],
}

/// Every detector there is.
pub(crate) static DETECTORS: &[&Detector] = &[&email::DETECTOR];

/// The names that `detectors` in the configuration may use, besides single kinds.
pub fn detector_names() -> impl Iterator<Item = &'static str> {
    DETECTORS.iter().map(|d| d.name)
}
