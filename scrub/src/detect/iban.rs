//! International bank account numbers (ISO 13616): country, length and the MOD 97 check.

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::boundary::begins;
use crate::scan::Scan;
use crate::{Kind, checksum};

const IBAN: Kind = Kind::new("IBAN");

pub(super) static DETECTOR: Detector = Detector {
    name: "iban",
    kinds: || vec![IBAN],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::Number(check)],
};

/// The length for each country in the IBAN registry.
#[rustfmt::skip]
const LENGTHS: &[(&[u8; 2], usize)] = &[
    (b"AD", 24), (b"AE", 23), (b"AL", 28), (b"AT", 20), (b"AZ", 28), (b"BA", 20), (b"BE", 16),
    (b"BG", 22), (b"BH", 22), (b"BI", 27), (b"BR", 29), (b"BY", 28), (b"CH", 21), (b"CR", 22),
    (b"CY", 28), (b"CZ", 24), (b"DE", 22), (b"DJ", 27), (b"DK", 18), (b"DO", 28), (b"EE", 20),
    (b"EG", 29), (b"ES", 24), (b"FI", 18), (b"FK", 18), (b"FO", 18), (b"FR", 27), (b"GB", 22),
    (b"GE", 22), (b"GI", 23), (b"GL", 18), (b"GR", 27), (b"GT", 28), (b"HN", 28), (b"HR", 21),
    (b"HU", 28), (b"IE", 22), (b"IL", 23), (b"IQ", 23), (b"IS", 26), (b"IT", 27), (b"JO", 30),
    (b"KW", 30), (b"KZ", 20), (b"LB", 28), (b"LC", 32), (b"LI", 21), (b"LT", 20), (b"LU", 20),
    (b"LV", 21), (b"LY", 25), (b"MC", 27), (b"MD", 24), (b"ME", 22), (b"MK", 19), (b"MN", 20),
    (b"MR", 27), (b"MT", 31), (b"MU", 30), (b"NI", 28), (b"NL", 18), (b"NO", 15), (b"OM", 23),
    (b"PK", 24), (b"PL", 28), (b"PS", 29), (b"PT", 25), (b"QA", 29), (b"RO", 24), (b"RS", 22),
    (b"RU", 33), (b"SA", 24), (b"SC", 31), (b"SD", 18), (b"SE", 24), (b"SI", 19), (b"SK", 24),
    (b"SM", 27), (b"SO", 23), (b"ST", 25), (b"SV", 28), (b"TL", 23), (b"TN", 24), (b"TR", 26),
    (b"UA", 29), (b"VA", 22), (b"VG", 24), (b"XK", 20), (b"YE", 30),
];

fn check(scan: &mut Scan<'_>, start: usize) {
    let country = [
        scan.at(start).to_ascii_uppercase(),
        scan.at(start + 1).to_ascii_uppercase(),
    ];
    let Some((_, length)) = LENGTHS.iter().find(|(code, _)| **code == country) else {
        return;
    };
    if !begins(scan.bytes, start) {
        return;
    }
    let mut compact = [0u8; 34];
    let (mut count, mut at) = (0, start);
    while count < *length {
        let byte = scan.at(at);
        if byte.is_ascii_alphanumeric() {
            compact[count] = byte;
            count += 1;
        } else if !matches!(byte, b' ' | b'-') || count == 0 || !count.is_multiple_of(4) {
            // IBANs are written in groups of four or in one piece; `at 1999 more` is a sentence.
            return;
        }
        at += 1;
    }
    let compact = &compact[..count];
    let rotated = compact[4..].iter().chain(&compact[..4]).copied();
    let checks = compact[2..4].iter().all(u8::is_ascii_digit) && checksum::mod_97(rotated) == 1;
    // One random number in 97 passes the check, so the word must end here; a sentence may continue.
    if checks && !scan.joins_at(at) {
        scan.add(IBAN, start, at, 0.98);
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn ibans_of_registered_countries_with_a_valid_checksum_are_found() {
        cases::check(
            "IBAN",
            &[
                ("GB82WEST12345698765432", "GB82WEST12345698765432"),
                (
                    "to GB82 WEST 1234 5698 7654 32 by",
                    "GB82 WEST 1234 5698 7654 32",
                ),
                ("DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
                ("fr1420041010050500013m02606", "fr1420041010050500013m02606"),
                ("NO93 8601 1117 947", "NO93 8601 1117 947"),
                (
                    "iban=ES91-2100-0418-4502-0005-1332",
                    "ES91-2100-0418-4502-0005-1332",
                ),
            ],
            &[
                "GB82WEST12345698765433",
                "ZZ82WEST12345698765432",
                "GB82WEST1234569876543",
                "xGB82WEST12345698765432",
                "GB 82 WEST12345698765432",
            ],
        );
    }
}
