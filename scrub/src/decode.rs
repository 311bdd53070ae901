//! Looks inside base64: a token that decodes to text with private data in it is private as a whole.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::Scrubber;
use crate::scan::{Candidate, Scan};

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const ENGINES: [GeneralPurpose; 2] = [
    GeneralPurpose::new(&STANDARD, LENIENT),
    GeneralPurpose::new(&URL_SAFE, LENIENT),
];

/// Text in base64 in base64 is opened; a third layer is not.
const MAX_DEPTH: usize = 2;
/// Larger tokens are files, not messages.
const MAX_TOKEN: usize = 256 * 1024;
/// The first characters show whether the content is text at all: an image or a key fails here.
const PROBE: usize = 16;

/// Opens the tokens that the scan came across, and notes those that hold private data.
pub(crate) fn base64(scrubber: &Scrubber, scan: &mut Scan<'_>, depth: usize) {
    if depth >= MAX_DEPTH {
        return;
    }
    for place in std::mem::take(&mut scan.encoded) {
        let token = &scan.bytes[place.clone()];
        let Some(text) = ENGINES.iter().find_map(|engine| text_in(engine, token)) else {
            continue;
        };
        let inner = scrubber.scan(&text, None, depth + 1);
        let surest = inner
            .iter()
            .max_by(|a, b| a.confidence.total_cmp(&b.confidence));
        if let Some(inner) = surest {
            scan.found.push(Candidate {
                start: place.start,
                end: place.end,
                // A label before the token may name it too; what was seen inside is surer.
                confidence: inner.confidence.max(0.9),
                ..*inner
            });
        }
    }
}

/// The text that a short token holds, if it is one in base64.
pub(crate) fn short_text(token: &str) -> Option<String> {
    let text = String::from_utf8(ENGINES[0].decode(token).ok()?).ok()?;
    text.bytes().all(is_text).then_some(text)
}

fn text_in(engine: &GeneralPurpose, token: &[u8]) -> Option<String> {
    if token.len() > MAX_TOKEN {
        return None;
    }
    let mut probe = [0; PROBE];
    let length = engine.decode_slice(token.get(..PROBE)?, &mut probe).ok()?;
    if !probe[..length].iter().all(|b| is_text(*b)) {
        return None;
    }
    // A token without padding may be cut to any length; its last, incomplete group is left out.
    let whole = match token.len() % 4 {
        1 => &token[..token.len() - 1],
        _ => token,
    };
    let text = String::from_utf8(engine.decode(whole).ok()?).ok()?;
    text.bytes().all(is_text).then_some(text)
}

fn is_text(byte: u8) -> bool {
    byte >= 0x20 || matches!(byte, b'\n' | b'\r' | b'\t')
}
