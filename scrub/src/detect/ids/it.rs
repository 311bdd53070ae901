//! Italy: codice fiscale, partita IVA, identity card, passport, driving licence.

use super::{Family, Id, any};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("IT_FISCAL_CODE"),
        family: Family::National,
        layouts: &[("AAAAAAXXAXXAXXXA", 0.9)],
        check: fiscal_code,
        words: &["codice fiscale", "fiscal code", "fiscal_code", "cf"],
    },
    Id {
        // The pattern of letters and digits is unique, so a mistyped code is redacted too.
        kind: Kind::new("IT_FISCAL_CODE"),
        family: Family::National,
        layouts: &[("AAAAAA99A99A999A", 0.6)],
        check: |text| is_birth(text),
        words: &["codice fiscale", "fiscal code", "fiscal_code"],
    },
    Id {
        kind: Kind::new("IT_VAT_CODE"),
        family: Family::Tax,
        layouts: &[
            ("99999999999", 0.2),
            ("99999999?999", 0.2),
            ("it?99999999999", 0.75),
        ],
        check: vat,
        words: &["partita iva", "p.iva", "p. iva", "piva", "vat", "iva"],
    },
    Id {
        kind: Kind::new("IT_IDENTITY_CARD"),
        family: Family::National,
        layouts: &[("AA99999AA", 0.3), ("AA?9999999", 0.1), ("9999999AA", 0.1)],
        check: any,
        words: &[
            "carta d'identità",
            "carta di identità",
            "carta d'identita",
            "identity card",
            "identity_card",
            "cie",
        ],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("AA9999999", 0.1)],
        check: any,
        words: &["passport", "passaporto", "it_passport"],
    },
    Id {
        kind: Kind::new("DRIVER_LICENSE"),
        family: Family::Driver,
        layouts: &[
            ("AA9999999A", 0.3),
            ("u1XXXXXXXA", 0.4),
            ("AA?9999999?A", 0.1),
        ],
        check: |text| {
            text.bytes().filter(u8::is_ascii_digit).count() >= 4 && !text.starts_with("U1")
                || consonants(text)
        },
        words: &[
            "patente",
            "driving licence",
            "driving license",
            "driver's license",
            "guida",
            "driver license",
            "driver_license",
            "licenza",
        ],
    },
];

/// After `U1`, digits and consonants follow.
fn consonants(text: &str) -> bool {
    text.starts_with("U1") && text[2..9].bytes().all(|b| !b"AEIOQJKV".contains(&b))
}

/// The letters of the months, in their order.
const MONTHS: &[u8; 12] = b"ABCDEHLMPRST";

fn is_birth(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Letters replace digits if two people would have the same code.
    let digit = |b: u8| match b"LMNPQRSTUV".iter().position(|l| *l == b) {
        Some(value) => Some(value as u32),
        None => (b as char).to_digit(10),
    };
    let (Some(tens), Some(ones)) = (digit(bytes[9]), digit(bytes[10])) else {
        return false;
    };
    let positions = [6, 7, 12, 13, 14];
    let day = tens * 10 + ones;
    MONTHS.contains(&bytes[8])
        && matches!(day, 1..=31 | 41..=71)
        && positions.iter().all(|p| digit(bytes[*p]).is_some())
}

fn fiscal_code(text: &str) -> bool {
    /// The value of a character at an odd position.
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let value = |b: u8| {
        usize::from(if b.is_ascii_digit() {
            b - b'0'
        } else {
            b - b'A'
        })
    };
    let sum: u32 = text
        .bytes()
        .take(15)
        .enumerate()
        .map(|(i, b)| {
            if i % 2 == 0 {
                ODD[value(b)]
            } else {
                value(b) as u32
            }
        })
        .sum();
    is_birth(text) && text.as_bytes()[15] == b'A' + (sum % 26) as u8
}

fn vat(text: &str) -> bool {
    let digits = checksum::digits(text);
    let office = digits[7..10].iter().fold(0, |n, d| n * 10 + d);
    let known = matches!(office, 1..=100 | 120 | 121 | 888 | 999);
    known && digits[..7].iter().any(|d| *d != 0) && checksum::luhn(&digits)
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn italian_codes_check_their_last_character() {
        cases::check(
            "IT_FISCAL_CODE",
            &[
                ("RSSMRA85T10A562S", "RSSMRA85T10A562S"),
                ("cf rssmra85t10a562s", "rssmra85t10a562s"),
            ],
            &["RSSMRA85T90A562T", "ABCDEFGHIJKLMNOP", "RSSMRA85Z10A562S"],
        );
        cases::check(
            "IT_VAT_CODE",
            &[("P.IVA 12345670017", "12345670017")],
            &["P.IVA 12345670018", "00000000000", "to 12345670017"],
        );
        cases::check(
            "PASSPORT",
            &[("passaporto YA1234567", "YA1234567")],
            &["to YA1234567"],
        );
        cases::check(
            "IT_IDENTITY_CARD",
            &[("identity card CA12345AA", "CA12345AA")],
            &["to CA12345AA"],
        );
        cases::check(
            "DRIVER_LICENSE",
            &[("patente U1H12B345C", "U1H12B345C")],
            &["patente U1A12B345C"],
        );
    }
}
