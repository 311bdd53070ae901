//! Numbers that authorities give out, one file per country: how each is written, how it is checked
//! and which words announce it.

mod au;
mod br;
mod de;
mod elsewhere;
mod es;
mod europe;
mod fr;
mod india;
mod it;
mod kr;
mod pl;
mod plates;
mod register;
mod sg;
mod uk;
mod us;

use std::sync::LazyLock;

use super::{Default, Detector, Trigger};
use crate::Kind;
use crate::boundary::stands_alone;
use crate::scan::Scan;

/// What an id is for; each family is one detector of the configuration.
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
    /// How it is written, and the confidence when no word announces it. In a layout `9` is a digit,
    /// `A` a letter, `X` either, `?` an optional separator, a small letter itself in either case,
    /// and every other character itself.
    layouts: &'static [(&'static str, f32)],
    /// Whether the letters and digits, in capitals and without separators, can be right.
    check: fn(&str) -> bool,
    words: &'static [&'static str],
}

/// The confidence in an id that a word announces.
const ANNOUNCED: f32 = 0.92;
/// At least this much in an id that is the whole of a text: nothing else there says otherwise.
const WHOLE: f32 = 0.55;
/// Digits alone say that only from this many on: shorter numbers count and order everything.
const WHOLE_DIGITS: usize = 11;

const COUNTRIES: &[&[Id]] = &[
    au::IDS,
    br::IDS,
    de::IDS,
    elsewhere::IDS,
    es::IDS,
    europe::IDS,
    fr::IDS,
    india::IDS,
    it::IDS,
    kr::IDS,
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
            default: Default::Reversible,
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
pub(super) use plates::DETECTOR as PLATES;
pub(super) use register::DETECTOR as REGISTER;

/// A layout with its id, ready to be tried, and what rules it out at a glance.
struct Entry {
    layout: &'static [u8],
    alone: f32,
    id: &'static Id,
    /// How many letters and digits it has.
    size: usize,
}

/// Numbers that begin with more digits are tried as if they had this many.
const MAX_LEAD: usize = 20;

impl Entry {
    fn new(layout: &'static str, alone: f32, id: &'static Id) -> Self {
        let layout = layout.as_bytes();
        Self {
            layout,
            alone,
            id,
            size: layout.iter().filter(|b| b.is_ascii_alphanumeric()).count(),
        }
    }

    /// Whether it can be written with exactly so many digits at its beginning.
    fn begins_with(&self, digits: usize) -> bool {
        let lead = self.layout.iter().take_while(|b| b.is_ascii_digit());
        let lead = lead.count();
        let open = matches!(self.layout.get(lead), Some(b'?' | b'X'));
        digits == lead || (open && digits > lead)
    }
}

/// The layouts of a family by the number of digits that stand at the beginning, the shortest first.
type Table = [Vec<Entry>; MAX_LEAD + 1];

static TABLES: LazyLock<[Table; 6]> = LazyLock::new(|| {
    let mut tables: [Table; 6] = std::array::from_fn(|_| std::array::from_fn(|_| Vec::new()));
    for id in COUNTRIES.iter().flat_map(|ids| ids.iter()) {
        for (layout, alone) in id.layouts {
            for (digits, entries) in tables[id.family as usize].iter_mut().enumerate() {
                let entry = Entry::new(layout, *alone, id);
                if entry.begins_with(digits) {
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
    for entry in &TABLES[family as usize][scan.lead.min(MAX_LEAD)] {
        if entry.size > scan.reach {
            break;
        }
        let Some(end) = matches(entry.layout, scan.bytes, start) else {
            continue;
        };
        let id = entry.id;
        if !stands_alone(scan.bytes, start, end) || !(id.check)(&compact(&scan.text[start..end])) {
            continue;
        }
        let confidence = if scan.near(start, end, id.words) {
            ANNOUNCED
        } else if scan.is_whole(start, end) && tells(&scan.text[start..end], entry.alone) {
            entry.alone.max(WHOLE)
        } else {
            entry.alone
        };
        scan.found(id.kind, start, end, confidence);
    }
}

/// Whether a text that is nothing but this is an id rather than a count or a time.
fn tells(text: &str, alone: f32) -> bool {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    alone > 0.0 && (!digits || (text.len() >= WHOLE_DIGITS && !is_time(text)))
}

/// Milliseconds since 1970, from 2010 to 2040.
fn is_time(text: &str) -> bool {
    let is_now = |n: u64| (1_262_304_000_000..2_208_988_800_000).contains(&n);
    text.len() == 13 && text.parse().is_ok_and(is_now)
}

/// The end of a stretch that is written as the layout says.
pub(super) fn matches(layout: &[u8], bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for sign in layout {
        let byte = bytes.get(at).copied();
        let fits = match sign {
            b'9' => byte?.is_ascii_digit(),
            b'A' => byte?.is_ascii_alphabetic(),
            b'X' => byte?.is_ascii_alphanumeric(),
            b'?' => {
                if !matches!(byte?, b' ' | b'-' | b'.' | b'/' | b':' | b'_') {
                    continue;
                }
                true
            }
            b'a'..=b'z' => byte?.eq_ignore_ascii_case(sign),
            _ => byte? == *sign,
        };
        if !fits {
            return None;
        }
        at += 1;
    }
    Some(at)
}

fn compact(text: &str) -> String {
    let mut compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    compact.make_ascii_uppercase();
    compact
}

/// For ids that have a form but no check digit.
fn any(_: &str) -> bool {
    true
}

/// Not all the same digit: nobody has such a number, but forms are filled with it.
fn varied(text: &str) -> bool {
    text.bytes().any(|b| b != text.as_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_says_what_may_stand_where() {
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
