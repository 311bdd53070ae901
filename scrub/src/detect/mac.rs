//! MAC addresses (EUI-48) as `aa:bb:…`, `aa-bb-…` and Cisco's `aabb.ccdd.eeff`.

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::scan::Scan;

const MAC: Kind = Kind::new("MAC");

pub(super) static DETECTOR: Detector = Detector {
    name: "mac",
    kinds: || vec![MAC],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[
        Trigger::HexSeparator(check_pairs),
        Trigger::Number(check_quads),
    ],
};

const WORDS: &[&str] = &[
    "mac",
    "physical",
    "ethernet",
    "hardware",
    "hwaddr",
    "device",
    "cisco",
    "bssid",
    "wifi",
    "bluetooth",
    "arp",
];

fn check_pairs(scan: &mut Scan<'_>, at: usize) {
    let separator = scan.bytes[at];
    if separator == b'.' {
        return check_quads(scan, at.saturating_sub(4));
    }
    let Some(start) = at.checked_sub(2) else {
        return;
    };
    check(scan, start, separator, 2, 0.9);
}

fn check_quads(scan: &mut Scan<'_>, start: usize) {
    let named = scan.at(start + 4) == b'.'
        && scan.has_word_near(start, start + 14.min(scan.bytes.len() - start), WORDS);
    check(scan, start, b'.', 4, if named { 0.9 } else { 0.3 });
}

fn check(scan: &mut Scan<'_>, start: usize, separator: u8, group: usize, confidence: f32) {
    let length = 12 + 12 / group - 1;
    let end = start + length;
    let Some(text) = scan.bytes.get(start..end) else {
        return;
    };
    let fits = text
        .iter()
        .enumerate()
        .all(|(i, b)| match (i + 1) % (group + 1) {
            0 => *b == separator,
            _ => b.is_ascii_hexdigit(),
        });
    let separates = |b: u8| b == separator || b == b':';
    if !fits
        || (scan.joins_before(start) || separates(scan.before(start)))
            && !follows_label(scan, start)
        || separates(scan.at(end)) && scan.joins_at(end + 1)
        || scan.joins_at(end)
    {
        return;
    }
    let hex = text.iter().filter(|b| **b != separator);
    // All zeros and all ones are not the address of a device.
    if hex.clone().all(|b| *b == b'0') || hex.clone().all(|b| b.eq_ignore_ascii_case(&b'f')) {
        return;
    }
    scan.add(MAC, start, end, confidence);
}

/// Whether a label with a colon precedes the address: `MAC:00:1A:2B:3C:4D:5E`.
fn follows_label(scan: &Scan<'_>, start: usize) -> bool {
    let Some(colon) = start.checked_sub(1).filter(|at| scan.bytes[*at] == b':') else {
        return false;
    };
    let word = scan.run_back(colon, |b| b.is_ascii_alphanumeric());
    let label = &scan.text[word..colon];
    WORDS.iter().any(|w| label.eq_ignore_ascii_case(w))
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn six_bytes_in_one_of_the_three_notations_are_an_address() {
        cases::check(
            "MAC",
            &[
                ("00:1A:2b:3c:4d:5e up", "00:1A:2b:3c:4d:5e"),
                ("MAC AA-BB-CC-DD-EE-FE.", "AA-BB-CC-DD-EE-FE"),
                ("mac address 0012.3456.789a", "0012.3456.789a"),
                ("physical address aabb.ccdd.eeff", "aabb.ccdd.eeff"),
                ("MAC:00:1A:2B:3C:4D:5E", "00:1A:2B:3C:4D:5E"),
            ],
            &[
                "00:00:00:00:00:00",
                "FF:FF:FF:FF:FF:FF",
                "10:2F:33-AC-29-C3",
                "00:1A:2b:3c:4d",
                "00:1A:2b:3c:4d:5e:6f:70",
                "1234.5678.9012",
                "20-10-12-11-10",
                "ae:00:1A:2B:3C:4D:5E",
                "key:00:1A:2B:3C:4D:5E",
            ],
        );
    }
}
