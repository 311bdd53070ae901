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
        Trigger::Number(check_indian),
    ],
};

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "kennzeichen", "kfz", "plate", "plaka", "car reg", "vehicle reg", "vehicle_reg", "vehicle registration",
    "registration number", "number plate", "vehicles", "targa", "matricula", "immatriculation",
];

/// How far after the word a plate may be, in bytes.
const REACH: usize = 48;

/// United Kingdom (four schemes), India (also the national series `BH`), Nigeria, Turkey, France and Italy,
/// Spain, South Korea.
#[rustfmt::skip]
const LAYOUTS: &[&str] = &[
    "AA99?AAA", "A999?AAA", "A99?AAA", "A9?AAA", "AAA?999A", "AAA?99A", "AAA?9A",
    "AA?99?AA?9999", "AA?99?A?9999", "AA?99?AAA?9999", "AA?9?AA?9999", "AA?9?A?9999", "AA?99?9999", "AA?9A?AA?9999",
    "AA?9999", "99?bh?9999?AA", "99?bh?9999?A",
    "AAA?999?AA", "AA?999?AAA",
    "99?AAA?9999", "99?AAA?999", "99?AAA?99", "99?AA?9999", "99?AA?999", "99?AA?99", "99?A?99999", "99?A?9999",
    "99?A?999", "99?A?99",
    "AA?999?AA", "9999?AAA",
];

/// Indian plates in full, which need no context: `KA 01 AB 1234`.
const INDIAN: &[&str] = &["AA?99?AA?9999", "99?bh?9999?AA"];

/// The states and union territories of India.
#[rustfmt::skip]
const INDIAN_STATES: [&str; 40] = [
    "AN", "AP", "AR", "AS", "BR", "CG", "CH", "DD", "DL", "DN", "GA", "GJ", "HP", "HR", "JH", "JK", "KA", "KL", "LA",
    "LD", "MH", "ML", "MN", "MP", "MZ", "NL", "OD", "OR", "PB", "PY", "RJ", "SK", "TG", "TN", "TR", "TS", "UA", "UK",
    "UP", "WB",
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
            at = end;
        } else {
            at = scan.run(at, is_word);
        }
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

/// An Indian plate in full, with separators between its parts.
fn check_indian(scan: &mut Scan<'_>, at: usize) {
    let ends = INDIAN
        .iter()
        .filter_map(|layout| matches(layout.as_bytes(), scan.bytes, at));
    let Some(end) = ends.filter(|end| stands_alone(scan.bytes, at, *end)).max() else {
        return;
    };
    let text = &scan.text[at..end];
    let separated = text.bytes().filter(|b| matches!(b, b' ' | b'-')).count() >= 2;
    let upper = !text.bytes().any(|b| b.is_ascii_lowercase());
    let state = INDIAN_STATES.contains(&&text[..2]) || text.as_bytes()[0].is_ascii_digit();
    if separated && upper && state {
        scan.add(PLATE, at, end, 0.6);
    }
}

/// The end of a German plate: a district of one to three letters, one or two letters, up to four
/// digits without a leading zero, and `E` or `H` for an electric or a historic car.
fn german(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let letters = |at: usize, most: usize| {
        let rest = scan.text.get(at..)?.chars().take(most);
        let letters = rest.take_while(|c| c.is_ascii_alphabetic() || "ÄÖÜäöü".contains(*c));
        let (count, bytes) = letters.fold((0, 0), |(n, bytes), c| (n + 1, bytes + c.len_utf8()));
        (count > 0).then_some((count, at + bytes))
    };
    let is_separator = |b: u8| matches!(b, b' ' | b'-' | b':' | b'.');
    let (district, at) = letters(start, 3)?;
    let first = scan.run_at_most(at, 2, is_separator);
    let (series, at) = if first > at {
        letters(first, 2)?
    } else {
        (0, at)
    };
    let second = scan.run_at_most(at, 1, is_separator);
    let digits = scan.run_at_most(second, 5, |b| b.is_ascii_digit());
    let count = digits - second;
    let suffix =
        usize::from(matches!(scan.at(digits), b'E' | b'H') && !is_word(scan.at(digits + 1)));
    // A word before the plate of another country is not a district.
    let parts = scan.text.get(start..digits)?;
    let lower = parts.bytes().any(|b| b.is_ascii_lowercase());
    if lower && parts.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    // Without a separator after the district, its letters and the next are one run.
    let letters = district + series;
    let fits = (1..=4).contains(&count) && scan.at(second) != b'0' && letters >= 2;
    (fits && letters + count <= 8 && (series > 0 || second > at && count >= 2))
        .then_some(digits + suffix)
}

fn longest_match(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let ends = LAYOUTS
        .iter()
        .filter_map(|layout| matches(layout.as_bytes(), scan.bytes, at));
    ends.chain(german(scan, at))
        .filter(|end| stands_alone(scan.bytes, at, *end))
        .max()
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
    let compact: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    let compact = compact.to_ascii_uppercase();
    let bytes = compact.as_bytes();
    if bytes.len() < 2 || !compact.is_char_boundary(2) {
        return lower != upper && (upper || keyed);
    }
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
                ("Kennzeichen: M-XY 123E", "M-XY 123E"),
                ("Kennzeichen MÜ-AB 12", "MÜ-AB 12"),
                ("plate ABC-123DE", "ABC-123DE"),
                ("plate ABC 123 DE", "ABC 123 DE"),
                ("it is KA-01-AB-1234 here", "KA-01-AB-1234"),
                ("plate 22 BH 1234 AA", "22 BH 1234 AA"),
                ("vehicle registration MH 12 1234", "MH 12 1234"),
            ],
            &[
                "to HH-AB 1234",
                "plate O123 BCD",
                "plate 99 ABC 123",
                "Kennzeichen BXYZ AB 1234",
                "template AB51 ABC",
                "plate AB00 ABC",
                "it is XX-01-AB-1234 here",
                "number plate is in the box of 12",
            ],
        );
    }
}
