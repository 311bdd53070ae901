//! Singapore: NRIC and FIN, company numbers (UEN), passport.

use super::{Family, Id, any};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("SG_NRIC_FIN"),
        family: Family::National,
        layouts: &[("A9999999A", 0.9)],
        check: nric,
        words: &["nric", "fin", "identity card"],
    },
    Id {
        // With a context word, a mistyped number is redacted too.
        kind: Kind::new("SG_NRIC_FIN"),
        family: Family::National,
        layouts: &[("A9999999A", 0.0)],
        check: |text| b"STFGM".contains(&text.as_bytes()[0]),
        words: &["nric", "fin", "identity card", "identification"],
    },
    Id {
        kind: Kind::new("SG_UEN"),
        family: Family::Tax,
        layouts: &[("99999999A", 0.5), ("999999999A", 0.6), ("A99AA9999A", 0.8)],
        check: uen,
        words: &["uen", "unique entity"],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("A9999999A", 0.1)],
        check: any,
        words: &["passport"],
    },
];

fn nric(text: &str) -> bool {
    let bytes = text.as_bytes();
    let sum = checksum::weighted(&checksum::digits(&text[1..8]), &[2, 7, 6, 5, 4, 3, 2]);
    let (letters, offset) = match bytes[0] {
        b'S' => (b"JZIHGFEDCBA", 0),
        b'T' => (b"JZIHGFEDCBA", 4),
        b'F' => (b"XWUTRQPNMLK", 0),
        b'G' => (b"XWUTRQPNMLK", 4),
        b'M' => (b"XWUTRQPNJLK", 3),
        _ => return false,
    };
    letters[((sum + offset) % 11) as usize] == bytes[8]
}

/// Businesses, local companies (whose numbers begin with the year) and other entities each have
/// their own weights and letters.
fn uen(text: &str) -> bool {
    let last = text.as_bytes()[text.len() - 1];
    let digits = checksum::digits(&text[..text.len() - 1]);
    let letter = |letters: &[u8], sum: u32| letters[(sum % 11) as usize] == last;
    match (text.len(), text.as_bytes()[0]) {
        (9, _) => {
            let sum = checksum::weighted(&digits, &[10, 4, 9, 3, 8, 2, 7, 1]);
            letter(b"XMKECAWLJDB", sum)
        }
        (_, b'0'..=b'9') => {
            let sum = checksum::weighted(&digits, &[10, 8, 6, 4, 9, 7, 5, 3, 1]);
            matches!(&text[..2], "18" | "19" | "20") && letter(b"ZKCMDNERGWH", sum)
        }
        (_, first) => {
            const ALPHABET: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWX0123456789";
            let values = text.bytes().take(9).map(|b| {
                let index = ALPHABET.iter().position(|symbol| *symbol == b);
                index.unwrap_or_default() as u32
            });
            let values: Vec<u32> = values.collect();
            let sum = checksum::weighted(&values, &[4, 3, 5, 3, 10, 2, 2, 5, 7]);
            matches!(first, b'R' | b'S' | b'T') && letter(ALPHABET, sum + 6)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn singapore_numbers_are_checked() {
        cases::check(
            "SG_NRIC_FIN",
            &[
                ("S1234567D", "S1234567D"),
                ("F1234567N", "F1234567N"),
                ("NRIC: T1234567Z", "T1234567Z"),
            ],
            &["S1234567A", "A1234567D"],
        );
        cases::check(
            "SG_UEN",
            &[
                ("UEN 201434292D", "201434292D"),
                ("201434292D", "201434292D"),
                ("uen T01FC6132D", "T01FC6132D"),
                ("uen 00192200M", "00192200M"),
            ],
            &[
                "uen 201434292E",
                "uen 991434292D",
                "uen T01FC6132E",
                "uen 00192200X",
            ],
        );
    }
}
