//! United Kingdom: National Insurance, NHS, passport, driving licence, tax reference, bank account.

use super::{Family, Id, any, varied};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("UK_NINO"),
        family: Family::National,
        layouts: &[("AA?99?99?99?A", 0.8)],
        check: nino,
        words: &[
            "national insurance",
            "nino",
            "ni number",
            "insurance number",
        ],
    },
    Id {
        kind: Kind::new("UK_NHS"),
        family: Family::Health,
        layouts: &[
            ("999 999 9999", 0.5),
            ("999-999-9999", 0.5),
            ("999?999?9999", 0.2),
        ],
        check: nhs,
        words: &["nhs", "national health"],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("AA9999999", 0.1), ("999999999", 0.0)],
        check: varied,
        words: &["passport", "uk_passport"],
    },
    Id {
        kind: Kind::new("DRIVER_LICENSE"),
        family: Family::Driver,
        layouts: &[("XXXXX999999XXXAA", 0.85)],
        check: driver,
        words: &["driving licence", "driving_licence", "driver", "dvla"],
    },
    Id {
        kind: Kind::new("UK_UTR"),
        family: Family::Tax,
        layouts: &[("99999?99999", 0.1)],
        check: utr,
        words: &["utr", "unique taxpayer", "taxpayer reference"],
    },
    Id {
        kind: Kind::new("UK_SORT_CODE"),
        family: Family::Bank,
        layouts: &[("99-99-99", 0.1), ("99-99-99 99999999", 0.7)],
        check: any,
        words: &["sort code", "sortcode", "sort_code"],
    },
];

fn nino(text: &str) -> bool {
    let bytes = text.as_bytes();
    let never = ["BG", "GB", "NK", "KN", "TN", "NT", "ZZ"];
    !b"DFIQUV".contains(&bytes[0])
        && !b"DFIQUVO".contains(&bytes[1])
        && !never.contains(&&text[..2])
        && (b'A'..=b'D').contains(&bytes[8])
}

fn nhs(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]);
    varied(text) && (11 - sum % 11) % 11 == digits[9]
}

/// Surname, decade, month (plus 50 for women), day, year, initials and three check characters.
fn driver(text: &str) -> bool {
    let bytes = text.as_bytes();
    let two = |at: usize| u32::from(bytes[at] - b'0') * 10 + u32::from(bytes[at + 1] - b'0');
    let name = |b: &u8| b.is_ascii_uppercase() || *b == b'9';
    let surname = bytes[..5].iter().all(name) && bytes[0].is_ascii_uppercase();
    surname
        && matches!(two(6), 1..=12 | 51..=62)
        && (1..=31).contains(&two(8))
        && bytes[11..13].iter().all(name)
}

fn utr(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[1..], &[6, 7, 8, 9, 10, 5, 4, 3, 2]);
    digits[0] == [2, 1, 9, 8, 7, 6, 5, 4, 3, 2, 1][(sum % 11) as usize]
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn british_numbers_follow_their_rules() {
        cases::check(
            "UK_NINO",
            &[
                ("AB123456C", "AB123456C"),
                ("NI: AB 12 34 56 C", "AB 12 34 56 C"),
            ],
            &["BG123456C", "AB123456E", "DA123456A", "AO123456A"],
        );
        cases::check(
            "UK_NHS",
            &[
                ("NHS 943 476 5919", "943 476 5919"),
                ("nhs number 9434765919", "9434765919"),
            ],
            &["NHS 943 476 5918", "9434765919"],
        );
        cases::check(
            "DRIVER_LICENSE",
            &[("MORGA657054SM9IJ", "MORGA657054SM9IJ")],
            &["MORGA697054SM9IJ", "MORGA657994SM9IJ"],
        );
        cases::check(
            "PASSPORT",
            &[("passport AB1234567", "AB1234567")],
            &["to AB1234567"],
        );
        cases::check(
            "UK_SORT_CODE",
            &[
                ("sort code 12-34-56", "12-34-56"),
                ("12-34-56 12345678", "12-34-56 12345678"),
            ],
            &["on 12-34-56"],
        );
    }
}
