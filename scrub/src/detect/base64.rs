//! Collects long tokens for decoding from base64, base32 and hexadecimal; the content decides the kind.

use super::{DefaultPolicy, Detector, Repeats, Trigger};

pub(super) static DETECTOR: Detector = Detector {
    name: "base64",
    kinds: Vec::new,
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::Token(|scan, range| scan.add_base64_token(range))],
};

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn private_text_in_base64_is_found_and_other_base64_is_not() {
        // `mail jo@example.com today`, encoded once and twice, and without padding.
        let once = "bWFpbCBqb0BleGFtcGxlLmNvbSB0b2RheQ==";
        let twice = "YldGcGJDQnFiMEJsZUdGdGNHeGxMbU52YlNCMGIyUmhlUT09";
        let unpadded = "bWFpbCBqb0BleGFtcGxlLmNvbSB0b2RheQ";
        let hex = "6d61696c206a6f406578616d706c652e636f6d20746f646179";
        let base32 = "NVQWS3BANJXUAZLYMFWXA3DFFZRW63JAORXWIYLZ";
        cases::check(
            "EMAIL",
            &[
                (once, once),
                (twice, twice),
                (&format!("data: {unpadded}."), unpadded),
                (hex, hex),
                (base32, base32),
            ],
            &[
                "aGVsbG8gd29ybGQsIG5vdGhpbmcgdG8gc2VlIGhlcmU=",
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
            ],
        );
    }
}
