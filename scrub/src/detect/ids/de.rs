//! Germany: tax id and number, value-added-tax id, pension and health insurance, identity card,
//! passport, driving licence, physicians' numbers.

use super::{Family, Id, varied};
use crate::{Kind, checksum};

const CARD_WORDS: &[&str] = &[
    "personalausweis",
    "ausweis",
    "perso",
    "identity card",
    "id card",
    "id_card",
];
const PASS_WORDS: &[&str] = &[
    "passport",
    "reisepass",
    "pass-nr",
    "passnummer",
    "pass",
    "de_passport",
];

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("DE_TAX_ID"),
        family: Family::Tax,
        layouts: &[("99999999999", 0.6), ("99 999 999 999", 0.6)],
        check: |text| tax_id(text) && repeats_one(text),
        words: &[
            "steuer-id",
            "steuerid",
            "steueridentifikationsnummer",
            "idnr",
            "identifikationsnummer",
            "tin",
            "tax id",
            "tax_id",
        ],
    },
    Id {
        kind: Kind::new("DE_TAX_ID"),
        family: Family::Tax,
        layouts: &[("99?999?999?999", 0.2)],
        check: tax_id,
        words: &[
            "steuer-id",
            "steuerid",
            "steueridentifikationsnummer",
            "idnr",
            "identifikationsnummer",
            "tax_id",
        ],
    },
    Id {
        kind: Kind::new("DE_TAX_NUMBER"),
        family: Family::Tax,
        layouts: &[
            ("99/999/99999", 0.55),
            ("999/999/99999", 0.55),
            ("99/9999/9999", 0.55),
            ("999/9999/9999", 0.55),
            ("9999999999999", 0.1),
            ("9999999999", 0.0),
            ("99 999 99999", 0.2),
            ("999 999 99999", 0.2),
        ],
        check: tax_number,
        words: &[
            "steuernummer",
            "st.-nr",
            "st-nr",
            "steuernr",
            "stnr",
            "tax number",
            "tax_number",
        ],
    },
    Id {
        kind: Kind::new("DE_VAT_ID"),
        family: Family::Tax,
        layouts: &[("de?999?999?999", 0.85)],
        check: |text| text.as_bytes()[2] != b'0' && checksum::mod_11_10(&checksum::digits(text)),
        words: &["ust-id", "ust-idnr", "ustid", "umsatzsteuer", "vat"],
    },
    Id {
        // With a context word, a mistyped number is redacted too.
        kind: Kind::new("DE_VAT_ID"),
        family: Family::Tax,
        layouts: &[("de?999?999?999", 0.3)],
        check: |text| varied(&text[2..]),
        words: &["ust-id", "ust-idnr", "ustid", "umsatzsteuer", "vat_id"],
    },
    Id {
        kind: Kind::new("DE_SOCIAL_SECURITY"),
        family: Family::National,
        layouts: &[("99?999999?A?99?9", 0.85)],
        check: pension,
        words: &[
            "rentenversicherung",
            "sozialversicherung",
            "rvnr",
            "svnr",
            "social security",
            "social_security",
            "versicherungsnummer",
        ],
    },
    Id {
        kind: Kind::new("DE_HEALTH_INSURANCE"),
        family: Family::Health,
        layouts: &[("A999999999", 0.4)],
        check: health,
        words: &[
            "kvnr",
            "egk",
            "krankenversicherung",
            "krankenkasse",
            "krankenversichertennummer",
            "health insurance",
            "health_insurance",
            "versichertennummer",
        ],
    },
    Id {
        kind: Kind::new("DE_ID_CARD"),
        family: Family::National,
        layouts: &[("AXXXXXXXX", 0.1), ("AXXXXXXXX9", 0.1)],
        check: document,
        words: CARD_WORDS,
    },
    Id {
        kind: Kind::new("PASSPORT"),
        family: Family::Passport,
        layouts: &[("AXXXXXXXX", 0.1)],
        check: |text| b"CFGHJK".contains(&text.as_bytes()[0]) && document(text),
        words: PASS_WORDS,
    },
    Id {
        kind: Kind::new("DRIVER_LICENSE"),
        family: Family::Driver,
        // The key of the authority, a serial number, a check digit and the number of the issue.
        layouts: &[
            ("X999XXXXXXX", 0.1),
            ("XXX99999XXX", 0.1),
            ("XX99999999X", 0.1),
        ],
        check: |text| {
            let bytes = text.as_bytes();
            let letters = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
            letters > 0 && letters < 9 && (bytes[9].is_ascii_digit() || bytes[9] == b'X')
        },
        words: &[
            "führerschein",
            "fuehrerschein",
            "fahrerlaubnis",
            "driver license",
            "driver's license",
            "driving licence",
            "driving license",
            "führerscheinnummer",
            "lenkberechtigung",
        ],
    },
    Id {
        kind: Kind::new("DE_LANR"),
        family: Family::Health,
        layouts: &[("999999999", 0.1)],
        check: physician,
        words: &["lanr", "arztnummer"],
    },
    Id {
        kind: Kind::new("DE_BSNR"),
        family: Family::Health,
        layouts: &[("999999999", 0.0)],
        check: practice,
        words: &[
            "bsnr",
            "betriebsstätte",
            "betriebsstätten",
            "betriebsstaette",
        ],
    },
];

fn tax_id(text: &str) -> bool {
    let digits = checksum::digits(text);
    let most = (0..10)
        .map(|d| digits[..10].iter().filter(|x| **x == d).count())
        .max();
    digits[0] != 0 && most <= Some(3) && checksum::mod_11_10(&digits)
}

/// Whether exactly one of the first ten digits is repeated.
fn repeats_one(text: &str) -> bool {
    let digits = checksum::digits(text);
    let counts = (0..10).map(|d| digits[..10].iter().filter(|x| **x == d).count());
    counts.filter(|n| *n > 1).count() == 1
}

/// Thirteen digits begin with the number of a state, or have a 0 after the four of the tax office.
fn tax_number(text: &str) -> bool {
    let state = matches!(text[..2].parse(), Ok(1..=16));
    varied(text) && (text.len() != 13 || state || text.as_bytes()[4] == b'0')
}

fn pension(text: &str) -> bool {
    let bytes = text.as_bytes();
    let letter = u32::from(bytes[8] - b'A' + 1);
    let mut digits = checksum::digits(&text[..8]);
    let (day, month) = (digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]);
    digits.extend([letter / 10, letter % 10]);
    digits.extend(checksum::digits(&text[9..11]));
    let weights = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];
    let sum: u32 = digits
        .iter()
        .zip(weights)
        .map(|(d, w)| d * w / 10 + d * w % 10)
        .sum();
    (1..=31).contains(&day) && (1..=12).contains(&month) && sum % 10 == u32::from(bytes[11] - b'0')
}

fn health(text: &str) -> bool {
    let bytes = text.as_bytes();
    let letter = u32::from(bytes[0] - b'A' + 1);
    let mut digits = vec![letter / 10, letter % 10];
    digits.extend(checksum::digits(&text[1..9]));
    let sum: u32 = digits
        .iter()
        .enumerate()
        .map(|(i, d)| {
            if i % 2 == 1 {
                d * 2 / 10 + d * 2 % 10
            } else {
                *d
            }
        })
        .sum();
    sum % 10 == u32::from(bytes[9] - b'0')
}

/// Serial numbers have no vowels and no letters that look like digits. A tenth character is the
/// check digit of the first nine.
fn document(text: &str) -> bool {
    let bytes = text.as_bytes();
    let fits = |b: &u8| b.is_ascii_digit() || b"CFGHJKLMNPRTVWXYZ".contains(b);
    if !bytes.iter().all(fits) || bytes[0].is_ascii_digit() {
        return false;
    }
    let value = |b: &u8| match b {
        b'0'..=b'9' => u32::from(b - b'0'),
        _ => u32::from(b - b'A') + 10,
    };
    let sum: u32 = bytes[..9]
        .iter()
        .zip([7, 3, 1].iter().cycle())
        .map(|(b, w)| value(b) * w)
        .sum();
    bytes.len() == 9 || sum % 10 == value(&bytes[9])
}

fn physician(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..6], &[4, 9, 4, 9, 4, 9]);
    varied(text) && (10 - sum % 10) % 10 == digits[6]
}

/// The first two digits identify an association of physicians.
fn practice(text: &str) -> bool {
    let association = text[..2].parse::<u32>().unwrap_or_default();
    matches!(association, 1..=3 | 6..=52 | 55..=73 | 78..=99) && varied(text)
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn german_tax_numbers_are_checked() {
        cases::check(
            "DE_TAX_ID",
            &[
                ("86095742719", "86095742719"),
                ("Steuer-ID: 86 095 742 719", "86 095 742 719"),
            ],
            &["86095742718", "06095742719"],
        );
        cases::check(
            "DE_VAT_ID",
            &[
                ("DE136695976", "DE136695976"),
                ("DE 136.695.976", "DE 136.695.976"),
            ],
            &["to DE136695977"],
        );
        cases::check(
            "DE_TAX_NUMBER",
            &[("Steuernummer 21/815/08150", "21/815/08150")],
            &["a/21/815/08150", "21/815/081500"],
        );
    }

    #[test]
    fn german_insurance_and_document_numbers_are_checked() {
        cases::check(
            "DE_SOCIAL_SECURITY",
            &[
                ("15 070649 C 10 3", "15 070649 C 10 3"),
                ("15070649C103", "15070649C103"),
            ],
            &["15070649C104", "15400649C103"],
        );
        cases::check(
            "DE_HEALTH_INSURANCE",
            &[("KVNR A123456780", "A123456780")],
            &["KVNR A123456781", "to A123456780"],
        );
        cases::check(
            "DE_ID_CARD",
            &[("Personalausweis L01X00T47", "L01X00T47")],
            &["Personalausweis A01X00T47", "to L01X00T47"],
        );
        cases::check(
            "PASSPORT",
            &[("Reisepass C01X00T47", "C01X00T47")],
            &["Reisepass L01X00T47"],
        );
        cases::check(
            "DE_LANR",
            &[("LANR 123456601", "123456601")],
            &["LANR 123456501", "123456601"],
        );
        cases::check(
            "DRIVER_LICENSE",
            &[("Führerschein B072RRE2I55", "B072RRE2I55")],
            &["to B072RRE2I55"],
        );
    }
}
