//! Numbers issued by authorities, one file per country: the layouts, check and context words of
//! each.

mod au;
mod br;
mod commercial_register;
mod de;
mod es;
mod europe;
mod fr;
mod india;
mod it;
mod kr;
mod other_countries;
mod pl;
mod sg;
mod uk;
mod us;
mod vehicle_plate;

use std::sync::LazyLock;

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::boundary::stands_alone;
use crate::scan::Scan;

/// The purpose of an id; each family is one detector in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    National,
    Passport,
    Tax,
    Health,
    Driver,
    Bank,
}

/// One kind of id.
struct Id {
    kind: Kind,
    family: Family,
    /// Each layout with the confidence without a context word. In a layout `9` is a digit, `A` a
    /// letter, `X` either, `?` an optional separator, a lower-case letter itself in either case,
    /// and every other character itself.
    layouts: &'static [(&'static str, f32)],
    /// Whether the letters and digits, in upper case and without separators, are valid.
    check: fn(&str) -> bool,
    /// The context words.
    words: &'static [&'static str],
}

/// The confidence in an id with a context word.
const WITH_CONTEXT: f32 = 0.92;
/// The minimum confidence in an id that is the whole text.
const WHOLE_TEXT: f32 = 0.55;
/// Digits alone get it only if they are at least this many: shorter numbers count and order things.
const MIN_WHOLE_TEXT_DIGITS: usize = 11;

const COUNTRIES: &[&[Id]] = &[
    au::IDS,
    br::IDS,
    de::IDS,
    es::IDS,
    europe::IDS,
    fr::IDS,
    india::IDS,
    it::IDS,
    kr::IDS,
    other_countries::IDS,
    pl::IDS,
    sg::IDS,
    uk::IDS,
    us::IDS,
];

fn kinds(family: Family) -> Vec<Kind> {
    let all = COUNTRIES.iter().flat_map(|ids| ids.iter());
    let mut kinds: Vec<_> = all
        .filter(|id| id.family == family)
        .map(|id| id.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

macro_rules! family {
    ($detector:ident, $family:ident, $name:literal) => {
        pub(super) static $detector: Detector = Detector {
            name: $name,
            kinds: || kinds(Family::$family),
            default_policy: DefaultPolicy::Reversible,
            repeats: Repeats::SearchedIfDigits,
            triggers: &[Trigger::Number(|scan, at| check(scan, at, Family::$family))],
        };
    };
}

family!(NATIONAL, National, "national_id");
family!(PASSPORT, Passport, "passport");
family!(TAX, Tax, "tax_id");
family!(HEALTH, Health, "health_id");
family!(DRIVER, Driver, "driver_license");
family!(BANK, Bank, "bank_account");
pub(super) use commercial_register::DETECTOR as COMMERCIAL_REGISTER;
pub(super) use vehicle_plate::DETECTOR as VEHICLE_PLATE;

/// A layout with its id, and the properties that exclude it cheaply.
struct Entry {
    layout: &'static [u8],
    /// The confidence without a context word.
    base_confidence: f32,
    id: &'static Id,
    /// The number of its letters and digits.
    size: usize,
}

/// Numbers with more leading digits are looked up as if they had this many.
const MAX_LEADING_DIGITS: usize = 20;

impl Entry {
    fn new(layout: &'static str, base_confidence: f32, id: &'static Id) -> Self {
        let layout = layout.as_bytes();
        Self {
            layout,
            base_confidence,
            id,
            size: layout.iter().filter(|b| b.is_ascii_alphanumeric()).count(),
        }
    }

    /// Whether it matches a number with exactly this many leading digits.
    fn begins_with_digits(&self, digits: usize) -> bool {
        let lead = self.layout.iter().take_while(|b| b.is_ascii_digit());
        let lead = lead.count();
        let open = matches!(self.layout.get(lead), Some(b'?' | b'X'));
        digits == lead || (open && digits > lead)
    }
}

/// The layouts of a family by the number of leading digits, the shortest first.
type Table = [Vec<Entry>; MAX_LEADING_DIGITS + 1];

static TABLES: LazyLock<[Table; 6]> = LazyLock::new(|| {
    let mut tables: [Table; 6] = std::array::from_fn(|_| std::array::from_fn(|_| Vec::new()));
    for id in COUNTRIES.iter().flat_map(|ids| ids.iter()) {
        for (layout, base_confidence) in id.layouts {
            for (digits, entries) in tables[id.family as usize].iter_mut().enumerate() {
                let entry = Entry::new(layout, *base_confidence, id);
                if entry.begins_with_digits(digits) {
                    entries.push(entry);
                }
            }
        }
    }
    for entries in tables.iter_mut().flatten() {
        entries.sort_by_key(|entry| entry.size);
    }
    tables
});

fn check(scan: &mut Scan<'_>, start: usize, family: Family) {
    for entry in &TABLES[family as usize][scan.leading_digits.min(MAX_LEADING_DIGITS)] {
        if entry.size > scan.number_chars {
            break;
        }
        let Some(end) = matches(entry.layout, scan.bytes, start) else {
            continue;
        };
        let id = entry.id;
        if !stands_alone(scan.bytes, start, end) || !(id.check)(&compact(&scan.text[start..end])) {
            continue;
        }
        let confidence = if scan.has_word_near(start, end, id.words) {
            WITH_CONTEXT
        } else if scan.is_whole_text(start, end)
            && identifies(&scan.text[start..end], entry.base_confidence)
        {
            entry.base_confidence.max(WHOLE_TEXT)
        } else {
            entry.base_confidence
        };
        scan.add(id.kind, start, end, confidence);
    }
}

/// Whether a whole text of this form is an id rather than a count or a time.
fn identifies(text: &str, base_confidence: f32) -> bool {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    base_confidence > 0.0
        && (!digits || (text.len() >= MIN_WHOLE_TEXT_DIGITS && !is_unix_millis(text)))
}

/// Milliseconds since 1970, from 2010 to 2040.
fn is_unix_millis(text: &str) -> bool {
    let is_now = |n: u64| (1_262_304_000_000..2_208_988_800_000).contains(&n);
    text.len() == 13 && text.parse().is_ok_and(is_now)
}

/// The end of the match of a layout at `start`.
pub(super) fn matches(layout: &[u8], bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for symbol in layout {
        let byte = bytes.get(at).copied();
        let fits = match symbol {
            b'9' => byte?.is_ascii_digit(),
            b'A' => byte?.is_ascii_alphabetic(),
            b'X' => byte?.is_ascii_alphanumeric(),
            b'?' => {
                if !matches!(byte?, b' ' | b'-' | b'.' | b'/' | b':' | b'_') {
                    continue;
                }
                true
            }
            b'a'..=b'z' => byte?.eq_ignore_ascii_case(symbol),
            _ => byte? == *symbol,
        };
        if !fits {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// The letters and digits, in upper case.
fn compact(text: &str) -> String {
    let mut compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    compact.make_ascii_uppercase();
    compact
}

/// The check of ids without a check digit.
fn any(_: &str) -> bool {
    true
}

/// Whether the characters are not all the same: such numbers are not issued, but forms are filled
/// with them.
fn varied(text: &str) -> bool {
    text.bytes().any(|b| b != text.as_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_matches_each_character_class() {
        for (layout, text, end) in [
            ("99-A", "12-x", Some(4)),
            ("99?A", "12x", Some(3)),
            ("99?A", "12-x", Some(4)),
            ("de99", "DE12", Some(4)),
            ("XX", "1a", Some(2)),
            ("99", "1", None),
            ("99", "1a", None),
            ("de99", "FR12", None),
        ] {
            assert_eq!(
                matches(layout.as_bytes(), text.as_bytes(), 0),
                end,
                "{layout} {text}"
            );
        }
    }

    #[test]
    fn every_id_has_a_layout_and_words_in_lower_case() {
        for id in COUNTRIES.iter().flat_map(|ids| ids.iter()) {
            assert!(
                !id.layouts.is_empty() && !id.words.is_empty(),
                "{}",
                id.kind
            );
            for word in id.words {
                assert_eq!(*word, word.to_lowercase(), "{}", id.kind);
            }
        }
    }
}
