//! Australia: tax file number, business and company numbers, Medicare, passport.

use super::{Family, Id, any, varied};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("AU_TFN"),
        family: Family::Tax,
        layouts: &[("999 999 999", 0.4), ("999?999?999", 0.2)],
        check: tfn,
        words: &["tfn", "tax file"],
    },
    Id {
        kind: Kind::new("AU_ABN"),
        family: Family::Tax,
        layouts: &[("99 999 999 999", 0.75), ("99999999999", 0.45)],
        check: abn,
        words: &["abn", "australian business", "business number"],
    },
    Id {
        kind: Kind::new("AU_ACN"),
        family: Family::Tax,
        layouts: &[("999 999 999", 0.3), ("999999999", 0.1)],
        check: acn,
        words: &["acn", "company number"],
    },
    Id {
        kind: Kind::new("AU_MEDICARE"),
        family: Family::Health,
        layouts: &[
            ("9999 99999 9", 0.6),
            ("9999?99999?9", 0.3),
            ("9999 99999 9/9", 0.6),
            ("9999999999?9", 0.2),
        ],
        check: medicare,
        words: &["medicare"],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("A9999999", 0.1), ("AA9999999", 0.1)],
        check: any,
        words: &["passport"],
    },
];

fn tfn(text: &str) -> bool {
    let digits = checksum::digits(text);
    varied(text) && checksum::weighted(&digits, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11)
}

fn abn(text: &str) -> bool {
    let mut digits = checksum::digits(text);
    if digits[0] == 0 {
        return false;
    }
    digits[0] -= 1;
    checksum::weighted(&digits, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]).is_multiple_of(89)
}

fn acn(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..8], &[8, 7, 6, 5, 4, 3, 2, 1]);
    varied(text) && (10 - sum % 10) % 10 == digits[8]
}

fn medicare(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..8], &[1, 3, 7, 9, 1, 3, 7, 9]);
    (2..=6).contains(&digits[0]) && sum % 10 == digits[8]
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn australian_numbers_are_checked() {
        cases::check(
            "AU_TFN",
            &[
                ("TFN 123 456 782", "123 456 782"),
                ("tax file number 123456782", "123456782"),
            ],
            &["TFN 123 456 783", "123456782"],
        );
        cases::check(
            "AU_ABN",
            &[
                ("51 824 753 556", "51 824 753 556"),
                ("ABN 51824753556", "51824753556"),
            ],
            &["51 824 753 557"],
        );
        cases::check(
            "AU_ACN",
            &[("ACN 004 085 616", "004 085 616")],
            &["ACN 004 085 617"],
        );
        cases::check(
            "AU_MEDICARE",
            &[("Medicare 2123 45670 1", "2123 45670 1")],
            &["Medicare 2123 45671 1", "Medicare 9123 45670 1"],
        );
    }
}
