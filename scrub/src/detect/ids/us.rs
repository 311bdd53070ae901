//! United States: passport, driving licence, physicians and Medicare, employers, bank accounts.

use super::{Family, Id, varied};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("999999999", 0.0), ("A99999999", 0.1)],
        check: varied,
        words: &["passport", "us_passport"],
    },
    Id {
        kind: Kind::new("DRIVER_LICENSE"),
        family: Family::Driver,
        layouts: &[
            ("A999999999999", 0.1),
            ("A99999999999999", 0.1),
            ("A99999999", 0.1),
            ("A9999999", 0.1),
            ("A999?9999?9999", 0.1),
            ("999999999", 0.0),
            ("99999999", 0.0),
            ("9999999", 0.0),
            ("9999999999", 0.0),
            ("AA999999", 0.1),
            ("AA999999A", 0.1),
            ("99AAA99999", 0.1),
        ],
        check: varied,
        words: &[
            "driver's license",
            "drivers license",
            "driver license",
            "driver_license",
            "driver’s license",
            "driving license",
            "dl number",
            "dl#",
            "driver's licence",
            "licence number",
            "license number",
        ],
    },
    Id {
        kind: Kind::new("US_NPI"),
        family: Family::Health,
        layouts: &[
            ("9999999999", 0.1),
            ("9999-999-999", 0.5),
            ("9999?999?999", 0.2),
        ],
        check: npi,
        words: &["npi", "national provider", "provider"],
    },
    Id {
        kind: Kind::new("US_MBI"),
        family: Family::Health,
        layouts: &[("9AX9?AX9?AA99", 0.85)],
        check: mbi,
        words: &["mbi", "medicare"],
    },
    Id {
        kind: Kind::new("MEDICAL_LICENSE"),
        family: Family::Health,
        layouts: &[("AA9999999", 0.3), ("A99999999", 0.0)],
        check: dea,
        words: &["dea", "medical", "certificate", "physician"],
    },
    Id {
        kind: Kind::new("US_EIN"),
        family: Family::Tax,
        layouts: &[("99-9999999", 0.3)],
        check: varied,
        words: &["ein", "employer identification", "fein", "tax id"],
    },
    Id {
        kind: Kind::new("US_ROUTING_NUMBER"),
        family: Family::Bank,
        layouts: &[("999999999", 0.1), ("9999-9999-9", 0.6)],
        check: routing,
        words: &["routing", "aba", "aba_routing", "rtn", "wire"],
    },
    Id {
        kind: Kind::new("BANK_ACCOUNT"),
        family: Family::Bank,
        layouts: &[
            ("99999999", 0.0),
            ("999999999", 0.0),
            ("9999999999", 0.0),
            ("99999999999", 0.0),
            ("999999999999", 0.0),
            ("9999999999999", 0.0),
            ("99999999999999", 0.0),
            ("999999999999999", 0.0),
            ("9999999999999999", 0.0),
            ("99999999999999999", 0.0),
        ],
        check: varied,
        words: &[
            "bank account",
            "bank_account",
            "account number",
            "account_number",
            "accountnumber",
            "account no",
            "acct",
            "kontonummer",
            "checking account",
            "savings account",
            "us_bank",
        ],
    },
];

/// Luhn over the number with the prefix for health applications, 80840.
fn npi(text: &str) -> bool {
    let mut digits = vec![8, 0, 8, 4, 0];
    digits.extend(checksum::digits(text));
    matches!(text.as_bytes()[0], b'1' | b'2') && varied(&text[..9]) && checksum::luhn(&digits)
}

/// The letters S, L, O, I, B and Z are not used.
fn mbi(text: &str) -> bool {
    text.bytes().all(|b| !b"SLOIBZ".contains(&b)) && text.as_bytes()[0] != b'0'
}

fn dea(text: &str) -> bool {
    let digits = checksum::digits(&text[text.len() - 7..]);
    let sum = digits[0] + digits[2] + digits[4] + 2 * (digits[1] + digits[3] + digits[5]);
    b"ABCDEFGHJKLMPRSTUX".contains(&text.as_bytes()[0])
        && varied(&text[2..])
        && sum % 10 == digits[6]
}

/// The first two digits are those of a Federal Reserve district, a thrift or a cheque.
fn routing(text: &str) -> bool {
    let digits = checksum::digits(text);
    let district = digits[0] * 10 + digits[1];
    let sum = checksum::weighted(&digits, &[3, 7, 1, 3, 7, 1, 3, 7, 1]);
    matches!(district, 1..=12 | 21..=32 | 61..=72 | 80) && sum.is_multiple_of(10) && varied(text)
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn american_numbers_follow_their_rules() {
        cases::check(
            "US_NPI",
            &[("NPI 1234567893", "1234567893")],
            &["NPI 1234567894", "1234567893"],
        );
        cases::check(
            "US_MBI",
            &[
                ("1EG4-TE5-MK73", "1EG4-TE5-MK73"),
                ("mbi 1EG4TE5MK73", "1EG4TE5MK73"),
            ],
            &["1SG4-TE5-MK73", "1EG4-TE5-MK7"],
        );
        cases::check(
            "MEDICAL_LICENSE",
            &[("DEA AB1234563", "AB1234563")],
            &["DEA AB1234564", "to AB1234563"],
        );
        cases::check(
            "PASSPORT",
            &[("passport number 912803456", "912803456")],
            &["912803456"],
        );
        cases::check(
            "DRIVER_LICENSE",
            &[("my driver's license is F162823540116", "F162823540116")],
            &["to F162823540116"],
        );
        cases::check(
            "US_EIN",
            &[("EIN 12-3456789", "12-3456789")],
            &["to 12-3456789"],
        );
    }

    #[test]
    fn bank_numbers_need_a_check_digit_or_a_word() {
        cases::check(
            "US_ROUTING_NUMBER",
            &[("routing 121042882", "121042882")],
            &["routing 121042883", "121042882"],
        );
        cases::check(
            "BANK_ACCOUNT",
            &[("account number: 945456787654", "945456787654")],
            &["945456787654", "account number: 1234567"],
        );
    }
}
