//! Number plates of vehicles, where a word announces one: alone they look like anything else.

use std::ops::Range;

use super::super::{Default, Detector, Trigger};
use super::matches;
use crate::Kind;
use crate::boundary::{is_word, stands_alone};
use crate::scan::Scan;

const PLATE: Kind = Kind::new("VEHICLE_PLATE");

pub(crate) static DETECTOR: Detector = Detector {
    name: "vehicle_plate",
    kinds: || vec![PLATE],
    default: Default::Reversible,
    triggers: &[Trigger::Literals(|| WORDS, check)],
};

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "kennzeichen", "kfz", "plate", "plaka", "car reg", "vehicle reg", "vehicle_reg", "vehicle registration",
    "registration number", "number plate", "vehicles", "targa", "matricula", "immatriculation",
];

/// How far after the word plates may stand.
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
        let ends = LAYOUTS
            .iter()
            .filter_map(|layout| matches(layout.as_bytes(), scan.bytes, at));
        let best = ends
            .filter(|end| {
                stands_alone(scan.bytes, at, *end)
                    && is_plate(&scan.text[at..*end], scan.key_end > 0)
            })
            .max();
        match best {
            Some(end) => {
                scan.found(PLATE, at, end, 0.8);
                at = end;
            }
            None => at = scan.run(at, is_word),
        }
    }
}

/// A plate's letters are all of one case. Small ones are only taken below a JSON key: in a sentence
/// they are words.
fn is_plate(text: &str, keyed: bool) -> bool {
    let small = text.bytes().any(|b| b.is_ascii_lowercase());
    let capital = text.bytes().any(|b| b.is_ascii_uppercase());
    // British plates of the current scheme never have I, Q or Z, nor the years 00 and 35 to 50.
    let compact: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let bytes = compact.as_bytes();
    let current = compact.len() == 7
        && bytes[..2]
            .iter()
            .chain(&bytes[4..])
            .all(u8::is_ascii_alphabetic);
    let year = compact.get(2..4).and_then(|y| y.parse::<u32>().ok());
    let british = !current
        || (!matches!(year, Some(0 | 1 | 35..=50 | 85..))
            && !compact.to_ascii_uppercase().contains(['I', 'Q', 'Z']));
    // A Turkish plate begins with a province from 01 to 81.
    let province = !bytes[..2].iter().all(u8::is_ascii_digit)
        || bytes
            .get(2..4)
            .is_some_and(|b| b.iter().all(u8::is_ascii_digit))
        || matches!(compact[..2].parse(), Ok(1..=81));
    small != capital && (capital || keyed) && british && province
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn plates_are_found_after_a_word_that_announces_them() {
        cases::check(
            "VEHICLE_PLATE",
            &[
                ("Kennzeichen: HH-AB 1234", "HH-AB 1234"),
                ("number plate AB51 ABC", "AB51 ABC"),
                ("Plaka 34 ABC 123", "34 ABC 123"),
                ("plate KJA-999PZ", "KJA-999PZ"),
                ("vehicle registration: KA53ME3456", "KA53ME3456"),
            ],
            &[
                "HH-AB 1234",
                "template AB51 ABC",
                "plate AB00 ABC",
                "number plate is in the box of 12",
            ],
        );
    }
}
