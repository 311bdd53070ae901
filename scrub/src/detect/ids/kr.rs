//! South Korea: resident and foreigner registration, business number, passport, driving licence.

use super::{Family, Id};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("KR_RRN"),
        family: Family::National,
        layouts: &[("999999-9999999", 0.75), ("9999999999999", 0.2)],
        check: |text| is_birth(text, b'1'..=b'4') && resident(text, 11),
        words: &["rrn", "resident registration", "주민등록번호", "korean"],
    },
    Id {
        kind: Kind::new("KR_FRN"),
        family: Family::National,
        layouts: &[("999999-9999999", 0.75), ("9999999999999", 0.2)],
        check: |text| is_birth(text, b'5'..=b'8') && resident(text, 13),
        words: &["frn", "foreigner registration", "외국인등록번호", "korean"],
    },
    Id {
        // Numbers issued since October 2020 are random after the date of birth.
        kind: Kind::new("KR_RRN"),
        family: Family::National,
        layouts: &[("999999-9999999", 0.6), ("9999999999999", 0.1)],
        check: |text| is_birth(text, b'1'..=b'4'),
        words: &["rrn", "resident registration", "주민등록번호"],
    },
    Id {
        kind: Kind::new("KR_FRN"),
        family: Family::National,
        layouts: &[("999999-9999999", 0.6), ("9999999999999", 0.1)],
        check: |text| is_birth(text, b'5'..=b'8'),
        words: &["frn", "foreigner registration", "외국인등록번호"],
    },
    Id {
        kind: Kind::new("KR_BRN"),
        family: Family::Tax,
        layouts: &[("999-99-99999", 0.7), ("9999999999", 0.1)],
        check: business,
        words: &["brn", "business registration", "사업자등록번호"],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("A99999999", 0.1), ("A999A9999", 0.5)],
        check: |text| b"MSRODG".contains(&text.as_bytes()[0]),
        words: &["passport", "여권"],
    },
    Id {
        kind: Kind::new("DRIVER_LICENSE"),
        family: Family::Driver,
        // Region, year, serial number and check digits.
        layouts: &[
            ("99-99-999999-99", 0.6),
            ("99?99?999999?99", 0.2),
            ("999999999999", 0.0),
        ],
        check: |text| matches!(text[..2].parse(), Ok(11..=26 | 28)) && super::varied(text),
        words: &[
            "driver",
            "driving",
            "licence",
            "license",
            "운전면허",
            "면허",
        ],
    },
];

/// A date of birth, and a digit for sex and century.
fn is_birth(text: &str, sex: std::ops::RangeInclusive<u8>) -> bool {
    let digits = checksum::digits(text);
    let century = match digits[6] {
        3 | 4 | 7 | 8 => 2000,
        _ => 1900,
    };
    let year = century + digits[0] * 10 + digits[1];
    let is_date = checksum::is_date(year, digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]);
    sex.contains(&text.as_bytes()[6]) && is_date
}

/// Numbers issued before October 2020 have a place of registration up to 95 and a check digit.
fn resident(text: &str, base: u32) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    (base - sum % 11) % 10 == digits[12] && digits[7] * 10 + digits[8] <= 95
}

fn business(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..9], &[1, 3, 7, 1, 3, 7, 1, 3, 5]) + digits[8] * 5 / 10;
    (10 - sum % 10) % 10 == digits[9] && super::varied(text)
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn korean_numbers_have_a_date_of_birth_and_a_check_digit() {
        cases::check(
            "KR_RRN",
            &[("960121-1234561", "960121-1234561")],
            &["961321-1234561", "960121-0234562", "960121 1234562"],
        );
        cases::check(
            "KR_BRN",
            &[("104-86-56659", "104-86-56659")],
            &["104-86-56658"],
        );
        cases::check(
            "PASSPORT",
            &[("passport M12345678", "M12345678")],
            &["to M12345678"],
        );
        cases::check(
            "DRIVER_LICENSE",
            &[("11-22-123456-12", "11-22-123456-12")],
            &["99-22-123456-12"],
        );
    }
}
