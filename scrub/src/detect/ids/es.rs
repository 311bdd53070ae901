//! Spain: NIF, NIE, CIF, passport, social security number.

use super::{Family, Id, any};
use crate::{Kind, checksum};

const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("ES_NIF"),
        family: Family::National,
        layouts: &[
            ("99999999A", 0.75),
            ("99999999-A", 0.85),
            ("9999999A", 0.3),
            ("9999999-A", 0.3),
        ],
        check: nif,
        words: &["nif", "dni", "documento nacional", "identidad", "cif"],
    },
    Id {
        kind: Kind::new("ES_NIE"),
        family: Family::National,
        layouts: &[
            ("A9999999A", 0.9),
            ("A-9999999-A", 0.9),
            ("A-9999999A", 0.9),
            ("A9999999-A", 0.9),
        ],
        check: nie,
        words: &["nie", "extranjero", "identificación de extranjero"],
    },
    Id {
        kind: Kind::new("ES_CIF"),
        family: Family::Tax,
        layouts: &[
            ("A99999999", 0.3),
            ("A-99999999", 0.4),
            ("A9999999A", 0.3),
            ("A-9999999-A", 0.4),
        ],
        check: cif,
        words: &["cif", "nif"],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("AAA999999", 0.2)],
        check: any,
        words: &["passport", "pasaporte", "es_passport"],
    },
    Id {
        kind: Kind::new("ES_NSS"),
        family: Family::National,
        layouts: &[("99/99999999/99", 0.7), ("99?99999999?99", 0.2)],
        check: nss,
        words: &["seguridad social", "nss", "afiliación", "afiliacion", "naf"],
    },
];

fn nif(text: &str) -> bool {
    let (number, letter) = text.split_at(text.len() - 1);
    let value = number
        .bytes()
        .fold(0, |n, b| n * 10 + usize::from(b - b'0'));
    letter.as_bytes()[0] == LETTERS[value % 23]
}

fn nie(text: &str) -> bool {
    let first = match text.as_bytes()[0] {
        b'X' => '0',
        b'Y' => '1',
        b'Z' => '2',
        _ => return false,
    };
    nif(&format!("{first}{}", &text[1..]))
}

fn cif(text: &str) -> bool {
    let digits = checksum::digits(&text[1..8]);
    let sum: u32 = digits
        .iter()
        .enumerate()
        .map(|(i, d)| {
            if i % 2 == 0 {
                d * 2 / 10 + d * 2 % 10
            } else {
                *d
            }
        })
        .sum();
    let control = (10 - sum % 10) % 10;
    let last = text.as_bytes()[8];
    b"ABCDEFGHJNPQRSUVW".contains(&text.as_bytes()[0])
        && (u32::from(last) == u32::from(b'0') + control || last == b"JABCDEFGHI"[control as usize])
}

fn nss(text: &str) -> bool {
    let digits = checksum::digits(text);
    let number = digits[..10]
        .iter()
        .fold(0u64, |n, d| n * 10 + u64::from(*d));
    let check = u64::from(digits[10] * 10 + digits[11]);
    (1..=53).contains(&(digits[0] * 10 + digits[1])) && number % 97 == check
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn spanish_ids_have_the_letter_of_their_number() {
        cases::check(
            "ES_NIF",
            &[
                ("DNI 12345678Z", "12345678Z"),
                ("12345678-Z", "12345678-Z"),
                ("nif: 1111111G", "1111111G"),
            ],
            &["12345678A", "DNI 1234567890Z"],
        );
        cases::check(
            "ES_NIE",
            &[("X1234567L", "X1234567L"), ("y-1234567-x", "y-1234567-x")],
            &["X1234567A", "W1234567L"],
        );
        cases::check(
            "ES_CIF",
            &[("CIF A58818501", "A58818501")],
            &["CIF A58818502", "A58818501"],
        );
        cases::check(
            "PASSPORT",
            &[("pasaporte AAA123456", "AAA123456")],
            &["to AAA123456", "pasaporte AA123456"],
        );
        cases::check(
            "ES_NSS",
            &[("28/12345678/40", "28/12345678/40")],
            &["28/12345678/41"],
        );
    }
}
