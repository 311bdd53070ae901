//! Other countries of Europe: Belgium, Denmark, Finland, Ireland, the Netherlands, Norway,
//! Portugal, Sweden, Switzerland, Turkey.

use super::{Family, Id, varied};
use crate::{Kind, checksum};

pub(super) const IDS: &[Id] = &[
    Id {
        kind: Kind::new("BE_NATIONAL_NUMBER"),
        family: Family::National,
        layouts: &[("99.99.99-999.99", 0.95), ("99999999999", 0.3)],
        check: belgian,
        words: &[
            "rijksregister",
            "registre national",
            "national number",
            "nationaal nummer",
            "niss",
            "insz",
        ],
    },
    Id {
        kind: Kind::new("DK_CPR"),
        family: Family::National,
        layouts: &[("999999-9999", 0.3), ("9999999999", 0.0)],
        check: |text| day_month(text),
        words: &["cpr", "personnummer", "cpr-nr"],
    },
    Id {
        kind: Kind::new("FI_PERSONAL_IDENTITY_CODE"),
        family: Family::National,
        layouts: &[
            ("999999-999X", 0.85),
            ("999999+999X", 0.85),
            ("999999A999X", 0.85),
        ],
        check: finnish,
        words: &[
            "henkilötunnus",
            "hetu",
            "personal identity code",
            "personal_identity_code",
            "personbeteckning",
        ],
    },
    Id {
        kind: Kind::new("IE_PPS"),
        family: Family::National,
        layouts: &[("9999999A", 0.3), ("9999999AA", 0.6)],
        check: irish,
        words: &["pps", "ppsn"],
    },
    Id {
        kind: Kind::new("NL_BSN"),
        family: Family::National,
        layouts: &[("999999999", 0.1), ("9999.99.999", 0.6)],
        check: dutch,
        words: &["bsn", "burgerservicenummer", "sofinummer"],
    },
    Id {
        kind: Kind::new("NO_FODSELSNUMMER"),
        family: Family::National,
        layouts: &[("999999 99999", 0.6), ("99999999999", 0.5)],
        check: norwegian,
        words: &["fødselsnummer", "fodselsnummer", "personnummer", "fnr"],
    },
    Id {
        kind: Kind::new("PT_NIF"),
        family: Family::Tax,
        layouts: &[("999?999?999", 0.1), ("pt999999999", 0.75)],
        check: portuguese,
        words: &["nif", "contribuinte", "nipc"],
    },
    Id {
        kind: Kind::new("SE_PERSONNUMMER"),
        family: Family::National,
        layouts: &[
            ("999999-9999", 0.6),
            ("99999999-9999", 0.85),
            ("999999+9999", 0.85),
            ("999999999999", 0.5),
            ("9999999999", 0.2),
        ],
        check: |text| {
            swedish_date(text) && checksum::luhn(&checksum::digits(&text[text.len() - 10..]))
        },
        words: &["personnummer", "swedish", "samordningsnummer"],
    },
    Id {
        kind: Kind::new("SE_ORGANISATIONSNUMMER"),
        family: Family::Tax,
        layouts: &[("999999-9999", 0.5), ("9999999999", 0.1)],
        check: |text| {
            text.as_bytes()[2] >= b'2'
                && text.as_bytes()[0] != b'0'
                && checksum::luhn(&checksum::digits(text))
        },
        words: &["organisationsnummer", "org.nr", "orgnr", "organisation"],
    },
    Id {
        kind: Kind::new("CH_AHV"),
        family: Family::National,
        layouts: &[("756.9999.9999.99", 0.95), ("7569999999999", 0.6)],
        check: swiss,
        words: &["ahv", "avs", "sozialversicherungsnummer"],
    },
    Id {
        kind: Kind::new("TR_NATIONAL_ID"),
        family: Family::National,
        layouts: &[("99999999999", 0.6)],
        check: turkish,
        words: &["tckn", "t.c. kimlik", "tc kimlik", "kimlik", "national_id"],
    },
];

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_default()
}

fn belgian(text: &str) -> bool {
    let (body, check) = (&text[..9], number(&text[9..]));
    // For people born from 2000 on, the check prepends a 2 to the number.
    let fits = |body: u64| 97 - body % 97 == check;
    number(&text[2..4]) % 20 <= 12
        && number(&text[4..6]) <= 31
        && (fits(number(body)) || fits(2_000_000_000 + number(body)))
}

fn day_month(text: &str) -> bool {
    (1..=31).contains(&number(&text[..2]))
        && (1..=12).contains(&number(&text[2..4]))
        && varied(text)
}

fn finnish(text: &str) -> bool {
    let century_sign = text.as_bytes()[6];
    let individual = &text[text.len() - 4..text.len() - 1];
    let month = number(&text[2..4]) as u32;
    let is_date = checksum::is_date(
        2000 + number(&text[4..6]) as u32,
        month,
        number(&text[..2]) as u32,
    );
    if !is_date || (text.len() == 11 && !b"ABCDEFUVWXY".contains(&century_sign)) {
        return false;
    }
    let value = number(&format!("{}{individual}", &text[..6]));
    b"0123456789ABCDEFHJKLMNPRSTUVWXY"[(value % 31) as usize] == text.as_bytes()[text.len() - 1]
}

fn irish(text: &str) -> bool {
    let digits = checksum::digits(&text[..7]);
    let second = text.as_bytes().get(8).map_or(0, |b| match b {
        b'W' => 0,
        letter => u32::from(letter - b'A' + 1),
    });
    let sum = checksum::weighted(&digits, &[8, 7, 6, 5, 4, 3, 2]) + second * 9;
    b"WABCDEFGHIJKLMNOPQRSTUV"[(sum % 23) as usize] == text.as_bytes()[7]
}

fn dutch(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..8], &[9, 8, 7, 6, 5, 4, 3, 2]);
    varied(text) && sum % 11 == digits[8]
}

fn norwegian(text: &str) -> bool {
    let digits = checksum::digits(text);
    let first = checksum::weighted(&digits, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]);
    let second = checksum::weighted(&digits, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]);
    let day = number(&text[..2]) % 40;
    (1..=31).contains(&day)
        && (1..=12).contains(&number(&text[2..4]))
        && first.is_multiple_of(11)
        && second.is_multiple_of(11)
}

fn portuguese(text: &str) -> bool {
    let digits = checksum::digits(text);
    let rest = checksum::weighted(&digits[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    let check = if rest < 2 { 0 } else { 11 - rest };
    matches!(digits[0], 1..=3 | 5..=9)
        && varied(text.trim_start_matches("PT"))
        && check == digits[8]
}

fn swedish_date(text: &str) -> bool {
    let short = &text[text.len() - 10..];
    let century = if text.len() == 12 {
        number(&text[..2])
    } else {
        19
    };
    // Coordination numbers add 60 to the day.
    let day = number(&short[4..6]) % 60;
    (18..=20).contains(&century) && checksum::is_date(2000, number(&short[2..4]) as u32, day as u32)
}

fn swiss(text: &str) -> bool {
    let digits = checksum::digits(text);
    let sum = checksum::weighted(&digits[..12], &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]);
    text.starts_with("756") && (10 - sum % 10) % 10 == digits[12]
}

fn turkish(text: &str) -> bool {
    let digits = checksum::digits(text);
    let odd: u32 = digits[..9].iter().step_by(2).sum();
    let even: u32 = digits[1..8].iter().step_by(2).sum();
    let tenth = (odd * 7 + 100 - even) % 10;
    let all: u32 = digits[..10].iter().sum();
    digits[0] != 0 && digits[9] == tenth && digits[10] == all % 10
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn european_numbers_are_checked() {
        cases::check(
            "BE_NATIONAL_NUMBER",
            &[("93.05.18-223.61", "93.05.18-223.61")],
            &["93.05.18-223.62"],
        );
        cases::check(
            "FI_PERSONAL_IDENTITY_CODE",
            &[
                ("131052-308T", "131052-308T"),
                ("010594Y9032", "010594Y9032"),
            ],
            &["131052-308U", "410594Y9032"],
        );
        cases::check("IE_PPS", &[("PPS 1234567T", "1234567T")], &["PPS 1234567A"]);
        cases::check(
            "NL_BSN",
            &[("BSN 111222333", "111222333")],
            &["BSN 111222334", "111222333"],
        );
        cases::check(
            "SE_PERSONNUMMER",
            &[
                ("19811218-9876", "19811218-9876"),
                ("811218-9876", "811218-9876"),
            ],
            &["811218-9875", "811318-9876"],
        );
        cases::check(
            "CH_AHV",
            &[("756.9217.0769.85", "756.9217.0769.85")],
            &["756.9217.0769.84"],
        );
        cases::check(
            "TR_NATIONAL_ID",
            &[("10000000146", "10000000146")],
            &["10000000147", "00000000146"],
        );
        cases::check(
            "PT_NIF",
            &[("NIF 123456789", "123456789")],
            &["NIF 123456788"],
        );
        cases::check(
            "NO_FODSELSNUMMER",
            &[("fnr 01010750160", "01010750160")],
            &["fnr 01010750161"],
        );
        cases::check(
            "DK_CPR",
            &[("CPR 211062-5629", "211062-5629")],
            &["to 211062-5629"],
        );
    }
}
