//! Hands long tokens over to be opened as base64; what is inside decides the kind.

use super::{Default, Detector, Trigger};

pub(super) static DETECTOR: Detector = Detector {
    name: "base64",
    kinds: Vec::new,
    default: Default::Reversible,
    triggers: &[Trigger::Blob(|scan, place| scan.encoded(place))],
};

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn private_text_in_base64_is_found_and_other_base64_is_not() {
        // `mail nobody@example.com today`, once and twice encoded, and with the URL alphabet.
        let once = "bWFpbCBub2JvZHlAZXhhbXBsZS5jb20gdG9kYXk=";
        let twice = "YldGcGJDQnViMkp2WkhsQVpYaGhiWEJzWlM1amIyMGdkRzlrWVhrPQ==";
        let unpadded = "bWFpbCBub2JvZHlAZXhhbXBsZS5jb20gdG9kYXk";
        cases::check(
            "EMAIL",
            &[
                (once, once),
                (twice, twice),
                (&format!("data: {unpadded}."), unpadded),
            ],
            &[
                "aGVsbG8gd29ybGQsIG5vdGhpbmcgdG8gc2VlIGhlcmU=",
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
            ],
        );
    }
}
