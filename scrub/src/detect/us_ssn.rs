//! US Social Security numbers, and ITINs, which the IRS issues in the same form.

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::boundary::stands_alone;
use crate::scan::Scan;
use crate::{Kind, checksum};

const SSN: Kind = Kind::new("US_SSN");
const ITIN: Kind = Kind::new("US_ITIN");

pub(super) static DETECTOR: Detector = Detector {
    name: "us_ssn",
    kinds: || vec![SSN, ITIN],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::SearchedIfDigits,
    triggers: &[Trigger::Number(check)],
};

const SSN_WORDS: &[&str] = &[
    "ssn",
    "social security",
    "social_security",
    "socialsecurity",
    "social sec",
    "ss#",
    "us_ssn",
];
const ITIN_WORDS: &[&str] = &["itin", "taxpayer", "tax id", "tax_id", "taxid", "tin"];

fn check(scan: &mut Scan<'_>, start: usize) {
    let Some((end, separators)) = nine_digits(scan, start) else {
        return;
    };
    if !stands_alone(scan.bytes, start, end) {
        return;
    }
    let digits = checksum::digits(&scan.text[start..end]);
    let number = |range: std::ops::Range<usize>| digits[range].iter().fold(0, |n, d| n * 10 + d);
    let (area, group, serial) = (number(0..3), number(3..5), number(5..9));
    if group == 0 || serial == 0 || digits.iter().all(|d| *d == digits[0]) {
        return;
    }
    let (kind, words) = match area {
        // The IRS uses these groups for ITINs.
        900.. if matches!(group, 50..=65 | 70..=88 | 90..=92 | 94..=99) => (ITIN, ITIN_WORDS),
        0 | 666 | 900.. => return,
        _ => (SSN, SSN_WORDS),
    };
    // Numbers that the Social Security Administration declared void because advertisements used
    // them.
    let void = matches!(
        (area, group, serial),
        (219, 9, 9999) | (987, 65, 4320..=4329)
    );
    if void {
        return;
    }
    let named = scan.has_word_near(start, end, words);
    match (named, separators) {
        (true, _) => scan.add(kind, start, end, 0.95),
        (false, [b'-', b'-']) => scan.add(kind, start, end, 0.8),
        (false, [b' ', b' ']) => scan.add(kind, start, end, 0.5),
        (false, [b'.', b'.']) if scan.is_whole_text(start, end) => scan.add(kind, start, end, 0.55),
        (false, _) => scan.add(kind, start, end, 0.1),
    }
}

/// The end and the separators of `ddd-dd-dddd` with both, one or no separator; 0 for a missing one.
fn nine_digits(scan: &Scan<'_>, start: usize) -> Option<(usize, [u8; 2])> {
    let mut at = start;
    let mut separators = [0; 2];
    for (part, size) in [3, 2, 4].into_iter().enumerate() {
        let next = at + size;
        if !scan.bytes.get(at..next)?.iter().all(u8::is_ascii_digit) {
            return None;
        }
        at = next;
        if part < 2 && matches!(scan.at(at), b'-' | b' ' | b'.') {
            separators[part] = scan.at(at);
            at += 1;
        }
    }
    let [first, second] = separators;
    (first == second || first == 0 || second == 0).then_some((at, separators))
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn social_security_numbers_have_a_valid_area_group_and_serial() {
        cases::check(
            "US_SSN",
            &[
                ("536-22-1234 is it", "536-22-1234"),
                ("ssn 536221234", "536221234"),
                ("social security number: 536 22 1234", "536 22 1234"),
                ("SSN: 536.22.1234", "536.22.1234"),
                ("ssn 53622-1234", "53622-1234"),
            ],
            &[
                "000-12-3456",
                "666-12-3456",
                "123-00-4567",
                "123-45-0000",
                "900-12-3456",
                "order 536221234",
                "1536-22-12345",
                "version 536.22.1234",
            ],
        );
    }

    #[test]
    fn itins_begin_with_nine_and_have_a_group_of_the_irs() {
        cases::check(
            "US_ITIN",
            &[
                ("912-70-1234", "912-70-1234"),
                ("ITIN 912701234", "912701234"),
            ],
            &["912-93-1234", "912-10-1234", "812-70-1234"],
        );
    }
}
