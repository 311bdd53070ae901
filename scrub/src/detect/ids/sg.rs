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
        // Announced, it is worth hiding also when it was mistyped.
        kind: Kind::new("SG_NRIC_FIN"),
        family: Family::National,
        layouts: &[("A9999999A", 0.2)],
        check: |text| b"STFGM".contains(&text.as_bytes()[0]),
        words: &["nric", "fin"],
    },
    Id {
        kind: Kind::new("SG_UEN"),
        family: Family::Tax,
        layouts: &[("99999999A", 0.1), ("999999999A", 0.2), ("A99AA9999A", 0.4)],
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

fn uen(text: &str) -> bool {
    let bytes = text.as_bytes();
    match (text.len(), bytes[0]) {
        (9, _) => true,
        (_, b'1' | b'2') => matches!(&text[..2], "18" | "19" | "20"),
        (_, first) => matches!(first, b'R' | b'S' | b'T'),
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
                ("uen T08LL0001A", "T08LL0001A"),
            ],
            &["201434292D", "uen 991434292D"],
        );
    }
}
