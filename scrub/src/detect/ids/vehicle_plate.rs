//! Vehicle number plates, after a context word or as a whole text: within a sentence they look like
//! other codes.

use std::ops::Range;

use super::super::{DefaultPolicy, Detector, Repeats, Trigger};
use super::matches;
use crate::Kind;
use crate::boundary::{is_word, stands_alone};
use crate::scan::Scan;

const PLATE: Kind = Kind::new("VEHICLE_PLATE");

pub(crate) static DETECTOR: Detector = Detector {
    name: "vehicle_plate",
    kinds: || vec![PLATE],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[
        Trigger::Literals(|| WORDS, check),
        Trigger::WholeText(whole_text),
    ],
};

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "kennzeichen", "kfz", "plate", "plaka", "car reg", "vehicle reg", "vehicle_reg", "vehicle registration",
    "registration number", "number plate", "vehicles", "targa", "matricula", "immatriculation",
];

/// How far after the word a plate may be, in bytes.
const REACH: usize = 48;

/// Germany, United Kingdom (four schemes), India, Nigeria, Turkey, France and Italy, Spain.
#[rustfmt::skip]
const LAYOUTS: &[&str] = &[
    "A?AA?9999", "A?AA?999", "A?AA?99", "AA?AA?9999", "AA?AA?999", "AA?A?9999", "AA?A?999", "AAA?AA?999",
    "AAA?A?999", "AAA?AA?99", "AAA?A?9999", "A?A?9999", "A?A?999", "A?AA?9",
    "AA99?AAA", "A999?AAA", "A99?AAA", "A9?AAA", "AAA?999A", "AAA?99A", "AAA?9A",
    "AA99?AA?9999", "AA99?A?9999", "AA9999", "AA9?AA?9999",
    "AAA-999AA",
    "99?AAA?9999", "99?AAA?999", "99?AAA?99", "99?AA?9999", "99?AA?999", "99?AA?99", "99?A?99999", "99?A?9999",
    "99?A?999", "99?A?99",
    "AA?999?AA", "9999?AAA",
];

fn check(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    if is_word(scan.before(hit.start)) && !scan.bytes[hit.start].is_ascii_uppercase() {
        return;
    }
    let limit = scan.bytes.len().min(hit.end + REACH);
    let mut at = hit.end;
    while at < limit {
        if !is_word(scan.bytes[at]) || is_word(scan.before(at)) {
            at += 1;
            continue;
        }
        let Some(end) = longest_match(scan, at).filter(|_| !continues(scan, hit.end, at)) else {
            at = scan.run(at, is_word);
            continue;
        };
        if is_plate(&scan.text[at..end], scan.key_end > 0) {
            scan.add(PLATE, at, end, 0.8);
        }
        at = end;
    }
}

/// A whole text needs at least this many letters and digits.
const MIN_WHOLE_TEXT: usize = 6;

fn whole_text(scan: &mut Scan<'_>, start: usize) {
    let Some(end) = longest_match(scan, start).filter(|end| scan.is_whole_text(start, *end)) else {
        return;
    };
    let text = &scan.text[start..end];
    let size = text.bytes().filter(u8::is_ascii_alphanumeric).count();
    if size >= MIN_WHOLE_TEXT - usize::from(text.contains(' ')) && is_plate(text, false) {
        scan.add(PLATE, start, end, 0.55);
    }
}

fn longest_match(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let ends = LAYOUTS
        .iter()
        .filter_map(|layout| matches(layout.as_bytes(), scan.bytes, at));
    ends.filter(|end| stands_alone(scan.bytes, at, *end)).max()
}

/// Whether a short upper-case word right before `at` makes it the second part of something longer.
fn continues(scan: &Scan<'_>, word_end: usize, at: usize) -> bool {
    let gap = at.saturating_sub(1);
    let start = scan.run_back(gap, |b| b.is_ascii_uppercase());
    scan.before(at) == b' ' && start >= word_end && (1..=4).contains(&(gap - start))
}

/// A plate's letters are all of one case. Lower case counts only below a JSON key: in a sentence it
/// is a word.
fn is_plate(text: &str, keyed: bool) -> bool {
    let lower = text.bytes().any(|b| b.is_ascii_lowercase());
    let upper = text.bytes().any(|b| b.is_ascii_uppercase());
    let compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let compact = compact.to_ascii_uppercase();
    let bytes = compact.as_bytes();
    // A Turkish plate begins with a province from 01 to 81.
    let province = !bytes[..2].iter().all(u8::is_ascii_digit)
        || bytes
            .get(2..4)
            .is_some_and(|b| b.iter().all(u8::is_ascii_digit))
        || matches!(compact[..2].parse(), Ok(1..=81));
    lower != upper && (upper || keyed) && province && may_be_british(bytes)
}

/// Whether a plate in a British layout is valid. The current scheme (`AB51 ABC`) has no I, Q or Z
/// in the area, no I or Q at the end and not every year; the earlier ones (`A123 BCD`, `ABC 123D`)
/// have no I, O, Q, U or Z for the year.
fn may_be_british(plate: &[u8]) -> bool {
    let shape: String = plate
        .iter()
        .map(|b| if b.is_ascii_digit() { '9' } else { 'A' })
        .collect();
    let year = |b: u8| !b"IOQUZ".contains(&b);
    match shape.as_str() {
        "AA99AAA" => {
            let number = u32::from(plate[2] - b'0') * 10 + u32::from(plate[3] - b'0');
            !matches!(number, 0 | 1 | 35..=50 | 85..)
                && !plate[..2].iter().any(|b| b"IQZ".contains(b))
                && !plate[4..].iter().any(|b| b"IQ".contains(b))
        }
        "A9AAA" | "A99AAA" | "A999AAA" => year(plate[0]),
        "AAA9A" | "AAA99A" | "AAA999A" => year(plate[plate.len() - 1]),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn plates_are_found_after_a_context_word() {
        cases::check(
            "VEHICLE_PLATE",
            &[
                ("Kennzeichen: HH-AB 1234", "HH-AB 1234"),
                ("number plate AB51 ABC", "AB51 ABC"),
                ("Plaka 34 ABC 123", "34 ABC 123"),
                ("plate KJA-999PZ", "KJA-999PZ"),
                ("vehicle registration: KA53ME3456", "KA53ME3456"),
                ("vehicles seen: BD62XYZ", "BD62XYZ"),
                ("HH-AB 1234", "HH-AB 1234"),
            ],
            &[
                "to HH-AB 1234",
                "plate O123 BCD",
                "plate 99 ABC 123",
                "Kennzeichen BXYZ AB 1234",
                "template AB51 ABC",
                "plate AB00 ABC",
                "number plate is in the box of 12",
            ],
        );
    }
}
