//! Canada, China, Mexico, Nigeria, the Philippines, South Africa, Thailand.

use super::{Family, Id, any, varied};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("CA_SIN"),
        family: Family::National,
        layouts: &[
            ("999 999 999", 0.4),
            ("999-999-999", 0.55),
            ("999999999", 0.1),
        ],
        check: |text| {
            !matches!(text.as_bytes()[0], b'0' | b'8')
                && varied(text)
                && checksum::luhn(&checksum::digits(text))
        },
        words: &["sin", "social insurance", "assurance sociale", "nas"],
    },
    Id {
        kind: Kind::new("CN_RESIDENT_ID"),
        family: Family::National,
        layouts: &[("99999999999999999X", 0.8)],
        check: chinese,
        words: &["身份证", "resident id", "id card", "shenfenzheng"],
    },
    Id {
        kind: Kind::new("MX_CURP"),
        family: Family::National,
        layouts: &[("AAAA999999AAAAAAX9", 0.85)],
        check: |text| {
            matches!(text.as_bytes()[10], b'H' | b'M' | b'X')
                && matches!(text[6..8].parse(), Ok(1..=12))
        },
        words: &["curp"],
    },
    Id {
        kind: Kind::new("NG_NIN"),
        family: Family::National,
        layouts: &[("99999999999", 0.0)],
        check: varied,
        words: &["nin", "national identification", "nimc"],
    },
    Id {
        kind: Kind::new("PH_TIN"),
        family: Family::Tax,
        layouts: &[
            ("999-999-999-99999", 0.3),
            ("999-999-999-999", 0.5),
            ("999-999-999", 0.1),
            ("999999999999", 0.0),
            ("999999999", 0.0),
        ],
        check: philippine,
        words: &["tin", "bir", "taxpayer"],
    },
    Id {
        kind: Kind::new("PH_UMID"),
        family: Family::National,
        layouts: &[("9999-9999999-9", 0.4)],
        check: any,
        words: &["umid", "crn"],
    },
    Id {
        kind: Kind::new("TH_TNIN"),
        family: Family::National,
        layouts: &[
            ("9-9999-99999-99-9", 0.85),
            ("9 9999 99999 99 9", 0.85),
            ("9999999999999", 0.2),
        ],
        check: thai,
        words: &[
            "thai",
            "tnin",
            "เลขประจำตัวประชาชน",
            "เลขบัตรประชาชน",
            "บัตรประชาชน",
        ],
    },
    Id {
        kind: Kind::new("ZA_ID_NUMBER"),
        family: Family::National,
        layouts: &[("9999999999999", 0.4), ("999999 9999 999", 0.8)],
        check: south_african,
        words: &[
            "south african",
            "rsa id",
            "rsa",
            "id number",
            "id_number",
            "za_id",
            "sa id",
            "resident",
        ],
    },
];

fn chinese(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = checksum::digits(&text[..17]);
    let two = |at: usize| digits[at] * 10 + digits[at + 1];
    let sum = checksum::weighted(
        &digits,
        &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2],
    );
    checksum::is_date(two(6) * 100 + two(8), two(10), two(12))
        && (18..=21).contains(&two(6))
        && b"10X98765432"[(sum % 11) as usize] == bytes[17]
}

fn thai(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..12], &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    // The second and third digits are a province.
    let province = matches!(
        digits[1] * 10 + digits[2],
        10..=27 | 30..=39 | 40..=49 | 50..=58 | 60..=67 | 70..=77 | 80..=86 | 90..=96
    );
    (1..=8).contains(&digits[0]) && province && (11 - sum % 11) % 10 == digits[12]
}

fn south_african(text: &str) -> bool {
    let digits = checksum::digits(text);
    let two = |at: usize| digits[at] * 10 + digits[at + 1];
    checksum::is_date(2000, two(2), two(4)) && digits[10] <= 2 && checksum::luhn(&digits)
}

/// Nine digits, the last being the weighted sum of the others modulo eleven, then a branch code.
fn philippine(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
    varied(text) && digits[..9].iter().any(|d| *d != 0) && sum % 11 == digits[8]
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn numbers_of_other_countries_are_checked() {
        cases::check(
            "CA_SIN",
            &[
                ("SIN 130 692 544", "130 692 544"),
                ("130-692-544", "130-692-544"),
            ],
            &["130-692-545", "046-454-286"],
        );
        cases::check(
            "CN_RESIDENT_ID",
            &[("11010519491231002X", "11010519491231002X")],
            &["110105194912310021"],
        );
        cases::check(
            "MX_CURP",
            &[("HEGG560427MVZRRL04", "HEGG560427MVZRRL04")],
            &["HEGG569927MVZRRL04"],
        );
        cases::check(
            "TH_TNIN",
            &[("Thai id 1234567890121", "1234567890121")],
            &["Thai id 1234567890122", "1234567890121"],
        );
        cases::check(
            "ZA_ID_NUMBER",
            &[("RSA ID 8001015009087", "8001015009087")],
            &["RSA ID 8013015009087", "8001015009087"],
        );
        cases::check(
            "NG_NIN",
            &[("NIN 12345678901", "12345678901")],
            &["12345678901"],
        );
    }
}
