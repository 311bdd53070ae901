//! The detectors: one file each, with the formats it knows and its table of cases.

mod address;
mod birth_date;
mod calling_codes;
mod card;
mod date;
mod email;
mod encoded;
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
mod providers;
mod randomness;
mod url_credentials;
mod us_tax;
mod wallet;

use std::ops::Range;

use crate::scan::Scan;

/// Gets the number of the literal and where it stands.
pub(crate) type LiteralCheck = fn(&mut Scan<'_>, usize, Range<usize>);

/// Gets one place.
pub(crate) type PlaceCheck = fn(&mut Scan<'_>, usize);

/// Gets a whole token.
pub(crate) type RangeCheck = fn(&mut Scan<'_>, Range<usize>);

/// What makes a detector look at a place of the text.
pub(crate) enum Trigger {
    /// One of these words, whatever its case. The check gets the word's number and place.
    Literals(fn() -> &'static [&'static str], LiteralCheck),
    /// The first byte of a word with a digit in it, or of the short word before it, where at
    /// least four digits follow closely.
    Number(PlaceCheck),
    /// A long unbroken token.
    Blob(RangeCheck),
    /// An `@`.
    AtSign(PlaceCheck),
    /// The first byte of a short text that has no key and is one value and nothing else.
    Whole(PlaceCheck),
    /// The first byte of a word with a digit in it that a word of three follows, the first of them
    /// a digit: `SW1A 1AA`.
    Code(PlaceCheck),
    /// A `:` or `-` between hexadecimal digits, the first of `::`, or the first dot of two with four
    /// letters before and between.
    HexPair(PlaceCheck),
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
pub(crate) static DETECTORS: &[&Detector] = &[
    &email::DETECTOR,
    &phone::DETECTOR,
    &card::DETECTOR,
    &us_tax::DETECTOR,
    &iban::DETECTOR,
    &ids::BANK,
    &ids::NATIONAL,
    &ids::PASSPORT,
    &ids::TAX,
    &ids::HEALTH,
    &ids::DRIVER,
    &ids::PLATES,
    &ids::REGISTER,
    &ip::DETECTOR,
    &mac::DETECTOR,
    &url_credentials::DETECTOR,
    &jwt::DETECTOR,
    &private_key::DETECTOR,
    &providers::DETECTOR,
    &labelled_secret::DETECTOR,
    &entropy::DETECTOR,
    &encoded::DETECTOR,
    &wallet::DETECTOR,
    &birth_date::DETECTOR,
    &address::DETECTOR,
    &name::DETECTOR,
    &postal_code::DETECTOR,
    &opt_in::DATE,
    &opt_in::AGE,
    &opt_in::URL,
];

/// The names that `detectors` in the configuration may use, besides single kinds.
pub fn detector_names() -> impl Iterator<Item = &'static str> {
    DETECTORS.iter().map(|d| d.name)
}
