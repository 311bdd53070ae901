//! France: social security number (NIR), tax number, identity card, passport, companies.

use super::{Family, Id, any};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("FR_NIR"),
        family: Family::National,
        layouts: &[("9?99?99?9X?999?999?99", 0.9)],
        check: nir,
        words: &[
            "nir",
            "sécurité sociale",
            "securite sociale",
            "insee",
            "numéro de sécu",
            "carte vitale",
        ],
    },
    Id {
        kind: Kind::new("FR_TAX_ID"),
        family: Family::Tax,
        layouts: &[("99?99?999?999?999", 0.2)],
        check: tax,
        words: &[
            "numéro fiscal",
            "numero fiscal",
            "spi",
            "impôt",
            "impots",
            "tin",
        ],
    },
    Id {
        kind: Kind::new("FR_ID_CARD"),
        family: Family::National,
        layouts: &[("999999999999", 0.0), ("XXXXXXXXX", 0.0)],
        check: |text| text.len() == 12 || text.bytes().filter(u8::is_ascii_digit).count() >= 4,
        words: &["carte d'identité", "carte nationale", "cni"],
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("99AA99999", 0.2)],
        check: any,
        words: &["passport", "passeport"],
    },
    Id {
        kind: Kind::new("FR_SIRET"),
        family: Family::Tax,
        layouts: &[("999?999?999?99999", 0.2), ("999?999?999", 0.1)],
        check: |text| checksum::luhn(&checksum::digits(text)) && super::varied(text),
        words: &["siret", "siren"],
    },
];

fn nir(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Corsica's departments count as 19 and 18.
    let department = match &text[5..7] {
        "2A" => "19".to_owned(),
        "2B" => "18".to_owned(),
        other => other.to_owned(),
    };
    let number = format!("{}{department}{}", &text[..5], &text[7..13]);
    let (Ok(number), Ok(key)) = (number.parse::<u64>(), text[13..].parse::<u64>()) else {
        return false;
    };
    let month = text[3..5].parse::<u32>().unwrap_or_default();
    matches!(bytes[0], b'1' | b'2' | b'3' | b'4' | b'7' | b'8')
        && matches!(month, 1..=12 | 20..=42 | 50..=99)
        && 97 - number % 97 == key
}

fn tax(text: &str) -> bool {
    let number = text[..10].parse::<u64>().unwrap_or_default();
    matches!(text.as_bytes()[0], b'0'..=b'3') && text[10..].parse() == Ok(number % 511)
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn french_numbers_are_checked() {
        cases::check(
            "FR_NIR",
            &[
                ("2 55 08 14 168 025 38", "2 55 08 14 168 025 38"),
                ("255081416802538", "255081416802538"),
            ],
            &["255081416802539", "555081416802538"],
        );
        cases::check(
            "FR_TAX_ID",
            &[("numéro fiscal 30 23 217 600 053", "30 23 217 600 053")],
            &["to 30 23 217 600 053", "numéro fiscal 30 23 217 600 054"],
        );
        cases::check(
            "PASSPORT",
            &[("passeport 12AB34567", "12AB34567")],
            &["to 12AB34567"],
        );
        cases::check(
            "FR_SIRET",
            &[("SIRET 732 829 320 00074", "732 829 320 00074")],
            &["SIRET 732 829 321 00074"],
        );
    }
}
