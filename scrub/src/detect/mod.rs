//! The detectors: one file each, with the formats it recognises and its table of test cases.
//!
//! To add a detector:
//!
//! 1. Write `detect/<name>.rs` with a `static DETECTOR: Detector` and a test that calls
//!    `cases::check` with texts that match and texts that only look alike.
//! 2. Add its `mod` line below and its entry to [`DETECTORS`]; the compiler warns about an entry
//!    that is missing there.
//! 3. Choose `default_policy`, and `repeats`: if the detector needs a word near the value, anything
//!    but [`Repeats::FoundByDetector`], or the value stays visible where that word is missing.
//! 4. Add a `[[bin]]` to `scrub/fuzz/Cargo.toml` (a test fails without it) and run it for a minute.
//! 5. Document in `scrub/README.md` under "Limits" what the detector does not find.

mod address;
mod base64;
mod birth_date;
mod calling_codes;
mod card;
mod command_line;
mod crypto_wallet;
mod date;
mod date_mention;
mod email;
pub(crate) mod entities;
mod entropy;
mod given_names;
mod iban;
mod ids;
mod ip;
mod jwt;
mod labelled_secret;
mod mac;
mod name;
mod opt_in;
mod phone;
mod postal_code;
mod private_key;
mod provider_secret;
mod randomness;
mod sample_value;
pub(crate) mod url_credentials;
mod us_ssn;

use std::fmt;
use std::ops::Range;

use crate::scan::Scan;

/// Checks a literal: gets its index in the detector's list and its range in the text.
pub(crate) type LiteralCheck = fn(&mut Scan<'_>, usize, Range<usize>);

/// Checks the text at a byte offset.
pub(crate) type OffsetCheck = fn(&mut Scan<'_>, usize);

/// Checks a whole token.
pub(crate) type TokenCheck = fn(&mut Scan<'_>, Range<usize>);

/// The condition under which the prefilter calls a detector.
pub(crate) enum Trigger {
    /// One of these words, in any case.
    Literals(fn() -> &'static [&'static str], LiteralCheck),
    /// The first byte of a word with a digit in it, or of the short word before it, where at
    /// least four digits follow closely. Timestamps are left out.
    Number(OffsetCheck),
    /// As `Number`, and the first byte of a timestamp too.
    NumberOrTimestamp(OffsetCheck),
    /// A long unbroken token.
    Token(TokenCheck),
    /// An `@`.
    AtSign(OffsetCheck),
    /// The first byte of a short text that has no key and is one value and nothing else.
    WholeText(OffsetCheck),
    /// The first byte of a word with a digit in it, followed by a word of three characters of which
    /// the first is a digit: `SW1A 1AA`.
    TwoPartCode(OffsetCheck),
    /// The first digit of a word of three to six that may be a postal code with its town or state:
    /// `10115 Berlin`, `IL 62704`.
    PostalCode(OffsetCheck),
    /// A `/` between digits.
    Slash(OffsetCheck),
    /// A `:` or `-` between hexadecimal digits, the first of `::`, or the first of two dots with
    /// four letters before and between them.
    HexSeparator(OffsetCheck),
}

/// The policy for a detector's findings when the configuration does not name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefaultPolicy {
    /// Redacted, and restored in the arguments of tools that are called with the placeholder.
    Reversible,
    /// Redacted and never restored: a secret, or a number that is as good as money.
    OneWay,
    /// Allowed unless the operator turns the detector on: too much ordinary text is of this kind.
    Off,
}

/// How further occurrences of a value, in the same reply and later in the session, are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Not searched for: the detector recognises the value by its form and finds every occurrence
    /// itself, or the values are too ordinary to search for.
    FoundByDetector,
    /// The detector needs a word near the value. Once found, a value with a digit in it, or a long
    /// one, is searched for.
    SearchedIfDigits,
    /// The same for values of several words.
    SearchedIfSeveralWords,
    /// The part after the first colon is searched for: the password in `user:password`.
    SearchedAfterColon,
}

/// One entry of the detector table.
pub(crate) struct Detector {
    /// The name in the configuration.
    pub(crate) name: &'static str,
    /// The kinds it reports, for validating the configuration.
    pub(crate) kinds: fn() -> Vec<crate::Kind>,
    pub(crate) default_policy: DefaultPolicy,
    pub(crate) repeats: Repeats,
    pub(crate) triggers: &'static [Trigger],
}

impl fmt::Debug for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All built-in detectors.
pub(crate) static DETECTORS: &[&Detector] = &[
    &email::DETECTOR,
    &phone::DETECTOR,
    &card::DETECTOR,
    &us_ssn::DETECTOR,
    &iban::DETECTOR,
    &ids::BANK,
    &ids::NATIONAL,
    &ids::PASSPORT,
    &ids::TAX,
    &ids::HEALTH,
    &ids::DRIVER,
    &ids::VEHICLE_PLATE,
    &ids::COMMERCIAL_REGISTER,
    &ip::DETECTOR,
    &mac::DETECTOR,
    &url_credentials::DETECTOR,
    &jwt::DETECTOR,
    &private_key::DETECTOR,
    &provider_secret::DETECTOR,
    &labelled_secret::DETECTOR,
    &command_line::DETECTOR,
    &entropy::DETECTOR,
    &base64::DETECTOR,
    &crypto_wallet::DETECTOR,
    &birth_date::DETECTOR,
    &address::DETECTOR,
    &name::DETECTOR,
    &postal_code::DETECTOR,
    &date_mention::DETECTOR,
    &opt_in::AGE,
    &opt_in::URL,
    &entities::DETECTOR,
];

/// The detector of every pattern in the configuration. It is not in [`DETECTORS`]: the scrubber
/// matches the patterns itself.
pub(crate) static CUSTOM: Detector = Detector {
    name: "custom",
    kinds: Vec::new,
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[],
};

/// The names of the detectors, as `detectors` in the configuration uses them.
pub fn detector_names() -> impl Iterator<Item = &'static str> {
    DETECTORS.iter().map(|d| d.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_detector_has_its_own_name() {
        let mut names: Vec<_> = detector_names().chain([CUSTOM.name]).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
