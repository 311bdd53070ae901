//! Germany's commercial register: `HRB 123456`. A sole trader's entry identifies a person.

use std::ops::Range;

use super::super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::boundary::stands_alone;
use crate::scan::Scan;

const REGISTER: Kind = Kind::new("DE_HANDELSREGISTER");

pub(crate) static DETECTOR: Detector = Detector {
    name: "commercial_register",
    kinds: || vec![REGISTER],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    // Section A lists sole traders and partnerships, section B companies.
    triggers: &[Trigger::Literals(|| &["hra", "hrb"], check)],
};

const WORDS: &[&str] = &[
    "handelsregister",
    "amtsgericht",
    "registergericht",
    "eingetragen",
];
const MAX_DIGITS: usize = 6;

fn check(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let gap = scan.run_at_most(hit.end, 2, |b| matches!(b, b' ' | b'-' | b'.' | b':'));
    let end = scan.run_at_most(gap, MAX_DIGITS + 1, |b| b.is_ascii_digit());
    let digits = end - gap;
    if !(1..=MAX_DIGITS).contains(&digits) || !stands_alone(scan.bytes, hit.start, end) {
        return;
    }
    let capitals = scan.bytes[hit.clone()].iter().all(u8::is_ascii_uppercase);
    let confidence = if scan.has_word_near(hit.start, end, WORDS) {
        0.9
    } else if capitals && digits >= 3 {
        0.7
    } else if scan.is_whole_text(hit.start, end) {
        0.55
    } else {
        0.3
    };
    scan.add(REGISTER, hit.start, end, confidence);
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn entries_have_a_section_and_up_to_six_digits() {
        cases::check(
            "DE_HANDELSREGISTER",
            &[
                ("Amtsgericht Köln, HRB 1", "HRB 1"),
                ("als HRA 99999 geführt", "HRA 99999"),
                ("hrb123456", "hrb123456"),
            ],
            &["HRC 12345", "HRB 1234567", "see hrb 7 there", "SHRB 12345"],
        );
    }
}
