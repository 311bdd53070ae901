//! India: Aadhaar, PAN, GSTIN, passport, voter id.

use super::{Family, Id, varied};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("IN_AADHAAR"),
        family: Family::National,
        layouts: &[
            ("9999 9999 9999", 0.65),
            ("9999-9999-9999", 0.6),
            ("9999?9999?9999", 0.3),
        ],
        check: aadhaar,
        words: &["aadhaar", "aadhar", "adhaar", "uidai", "uid", "आधार"],
    },
    Id {
        kind: Kind::new("IN_PAN"),
        family: Family::Tax,
        layouts: &[("AAAAA9999A", 0.7)],
        // The fourth letter is the status of the holder.
        check: |text| b"ABCEFGHJKLPT".contains(&text.as_bytes()[3]),
        words: &["pan", "permanent account", "income tax"],
    },
    Id {
        // With a context word, a mistyped number is redacted too.
        kind: Kind::new("IN_PAN"),
        family: Family::Tax,
        layouts: &[("AAAAA9999A", 0.3), ("AAAAA?9999?A", 0.1)],
        check: |text| varied(&text[5..9]),
        words: &[
            "pan",
            "permanent account",
            "income tax",
            "in_pan",
            "pan card",
        ],
    },
    Id {
        kind: Kind::new("IN_GSTIN"),
        family: Family::Tax,
        layouts: &[("99AAAAA9999AXzX", 0.85)],
        check: gstin,
        words: &["gst", "gstin"],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("A9999999", 0.1), ("A99?99999", 0.1)],
        check: passport,
        words: &["passport", "in_passport"],
    },
    Id {
        kind: Kind::new("IN_VOTER"),
        family: Family::National,
        layouts: &[("AAA9999999", 0.2)],
        check: varied,
        words: &["voter", "epic", "election"],
    },
];

fn aadhaar(text: &str) -> bool {
    let reversed: String = text.chars().rev().collect();
    matches!(text.as_bytes()[0], b'2'..=b'9')
        && text != reversed
        && checksum::verhoeff(&checksum::digits(text))
}

/// The number of the state, the holder's PAN, an entity number, Z and a check character.
fn gstin(text: &str) -> bool {
    let state = text[..2].parse::<u32>().unwrap_or_default();
    matches!(state, 1..=37 | 97) && text.as_bytes()[12] != b'0'
}

fn passport(text: &str) -> bool {
    let bytes = text.as_bytes();
    !b"QXZ".contains(&bytes[0]) && bytes[1] != b'0' && bytes[7] != b'0'
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn indian_numbers_follow_their_rules() {
        cases::check(
            "IN_AADHAAR",
            &[
                ("3675 9834 6016", "3675 9834 6016"),
                ("Aadhaar: 367598346016", "367598346016"),
            ],
            &["3675 9834 6015", "1675 9834 6016"],
        );
        cases::check(
            "IN_PAN",
            &[
                ("ABCPE1234F", "ABCPE1234F"),
                ("PAN: ABCXE1234F", "ABCXE1234F"),
            ],
            &["to ABCXE1234F", "ABCPE12345"],
        );
        cases::check(
            "IN_GSTIN",
            &[("27ABCPE1234F1Z5", "27ABCPE1234F1Z5")],
            &["45ABCPE1234F1Z5"],
        );
        cases::check(
            "PASSPORT",
            &[("passport J8369854", "J8369854")],
            &["to J8369854"],
        );
        cases::check(
            "IN_VOTER",
            &[("voter id XGZ1234567", "XGZ1234567")],
            &["to XGZ1234567"],
        );
    }
}
