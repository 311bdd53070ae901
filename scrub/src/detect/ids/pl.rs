//! Poland: PESEL, NIP, REGON, identity card, passport.

use super::{Family, Id, varied};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("PL_PESEL"),
        family: Family::National,
        layouts: &[("99999999999", 0.6)],
        check: pesel,
        words: &["pesel"],
    },
    Id {
        kind: Kind::new("PL_NIP"),
        family: Family::Tax,
        layouts: &[
            ("999-999-99-99", 0.7),
            ("999-99-99-999", 0.7),
            ("9999999999", 0.1),
            ("pl9999999999", 0.8),
        ],
        check: nip,
        words: &["nip", "podatkowej", "vat"],
    },
    Id {
        kind: Kind::new("PL_REGON"),
        family: Family::Tax,
        layouts: &[("999999999", 0.1)],
        check: regon,
        words: &["regon"],
    },
    Id {
        kind: Kind::new("PL_ID_CARD"),
        family: Family::National,
        layouts: &[("AAA?999999", 0.3)],
        check: |text| document(text, &[7, 3, 1, 9, 7, 3, 1, 7, 3]),
        words: &["dowód", "dowod", "dowodu", "identity card", "id card"],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("AA?9999999", 0.2)],
        check: |text| document(text, &[7, 3, 9, 1, 7, 3, 1, 7, 3]),
        words: &["passport", "paszport", "paszportu"],
    },
];

fn pesel(text: &str) -> bool {
    let digits = checksum::digits(text);
    // The century is added to the month: 80 for the 1800s, then 0, 20, 40, 60.
    let month = digits[2] * 10 + digits[3];
    let century = [1900, 2000, 2100, 2200, 1800][(month / 20) as usize % 5];
    let year = century + digits[0] * 10 + digits[1];
    let sum = checksum::weighted(&digits[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    checksum::is_date(year, month % 20, digits[4] * 10 + digits[5])
        && (10 - sum % 10) % 10 == digits[10]
}

fn nip(text: &str) -> bool {
    let digits = checksum::digits(text);
    varied(text.trim_start_matches("PL"))
        && checksum::weighted(&digits[..9], &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == digits[9]
}

fn regon(text: &str) -> bool {
    let digits = checksum::digits(text);
    varied(text)
        && checksum::weighted(&digits[..8], &[8, 9, 2, 3, 4, 5, 6, 7]) % 11 % 10 == digits[8]
}

fn document(text: &str, weights: &[u32]) -> bool {
    let sum: u32 = text
        .bytes()
        .zip(weights)
        .map(|(b, w)| {
            w * if b.is_ascii_digit() {
                u32::from(b - b'0')
            } else {
                u32::from(b - b'A') + 10
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn polish_numbers_are_checked() {
        cases::check(
            "PL_PESEL",
            &[
                ("44051401359", "44051401359"),
                ("PESEL: 02070803628", "02070803628"),
            ],
            &["44051401358", "44151401359"],
        );
        cases::check(
            "PL_NIP",
            &[("NIP 123-456-32-18", "123-456-32-18")],
            &["NIP 123-456-32-19"],
        );
        cases::check(
            "PL_REGON",
            &[("REGON 123456785", "123456785")],
            &["REGON 123456784", "123456785"],
        );
        cases::check(
            "PL_ID_CARD",
            &[("dowód ABA300000", "ABA300000")],
            &["dowód ABA300001"],
        );
    }
}
