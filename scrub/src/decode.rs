//! Decodes base64, also of gzip, base32 and hexadecimal: a token that decodes to text with private data in it is private
//! as a whole.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::scan::{Candidate, Scan};
use crate::{Scrubber, gzip};

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const ENGINES: [GeneralPurpose; 2] = [
    GeneralPurpose::new(&STANDARD, LENIENT),
    GeneralPurpose::new(&URL_SAFE, LENIENT),
];

/// Base64 within base64 is decoded; a third layer is not.
const MAX_DEPTH: usize = 2;
/// Larger tokens are files, not messages.
const MAX_TOKEN_BYTES: usize = 256 * 1024;
/// How much is decompressed of all tokens of a text together: a small file can have a very large content.
const MAX_DECOMPRESSED: usize = 1 << 20;
/// The first characters show whether the content is text at all: an image or a key fails here.
const PROBE_CHARS: usize = 16;

/// Decodes the base64 tokens of a scan, and adds those with private data as candidates.
pub(crate) fn scan_base64_tokens(scrubber: &Scrubber, scan: &mut Scan<'_>, depth: usize) {
    if depth >= MAX_DEPTH {
        return;
    }
    let mut room = MAX_DECOMPRESSED;
    for range in std::mem::take(&mut scan.base64_tokens) {
        let token = &scan.bytes[range.clone()];
        let base64 = || ENGINES.iter().find_map(|engine| decode_text(engine, token));
        let Some(text) = decode_hex(token)
            .or_else(|| decode_base32(token))
            .or_else(base64)
            .or_else(|| decode_gzip(token, &mut room))
        else {
            continue;
        };
        let inner = scrubber.scan(&text, None, None, depth + 1);
        let surest = inner
            .iter()
            .max_by(|a, b| a.confidence.total_cmp(&b.confidence));
        if let Some(inner) = surest {
            scan.candidates.push(Candidate {
                start: range.start,
                end: range.end,
                // A label before the token may match too; the decoded content is surer.
                confidence: inner.confidence.max(0.9),
                ..*inner
            });
        }
    }
}

/// The text that a short base64 token decodes to, if it is text.
pub(crate) fn decode_short(token: &str) -> Option<String> {
    let text = String::from_utf8(ENGINES[0].decode(token).ok()?).ok()?;
    text.bytes().all(is_text).then_some(text)
}

/// As [`decode_short`], in the alphabet for URLs.
pub(crate) fn decode_url_safe(token: &str) -> Option<String> {
    let text = String::from_utf8(ENGINES[1].decode(token).ok()?).ok()?;
    text.bytes().all(is_text).then_some(text)
}

/// Whether a token is base64 of text: an encoded document, and not a key.
pub(crate) fn is_encoded_text(token: &[u8]) -> bool {
    ENGINES
        .iter()
        .any(|engine| decode_text(engine, token).is_some_and(|text| !text.is_empty()))
}

fn decode_text(engine: &GeneralPurpose, token: &[u8]) -> Option<String> {
    if token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let mut probe = [0; PROBE_CHARS];
    let length = engine
        .decode_slice(token.get(..PROBE_CHARS)?, &mut probe)
        .ok()?;
    if !probe[..length].iter().all(|b| is_text(*b)) {
        return None;
    }
    // A token without padding may be cut at any length; its last, incomplete group is dropped.
    let whole = match token.len() % 4 {
        1 => &token[..token.len() - 1],
        _ => token,
    };
    let text = String::from_utf8(engine.decode(whole).ok()?).ok()?;
    text.bytes().all(is_text).then_some(text)
}

/// The text of a gzip file in base64, up to the room that is left. The content of a truncated file is cut at
/// its last whole character.
fn decode_gzip(token: &[u8], room: &mut usize) -> Option<String> {
    // The first bytes of every gzip file.
    if !token.starts_with(b"H4sI") || token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let whole = &token[..token.len() - token.len() % 4];
    let file = ENGINES
        .iter()
        .find_map(|engine| engine.decode(whole).ok())?;
    let mut content = gzip::decompress(&file, *room)?;
    *room -= content.len();
    if let Err(error) = std::str::from_utf8(&content) {
        content.truncate(error.valid_up_to());
    }
    let text = String::from_utf8(content).ok()?;
    (!text.is_empty() && text.bytes().all(is_text)).then_some(text)
}

/// The text that hexadecimal digits encode. A digest or a key is not text.
fn decode_hex(token: &[u8]) -> Option<String> {
    let is_hex = token.len().is_multiple_of(2) && token.iter().all(u8::is_ascii_hexdigit);
    if !is_hex || token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let value = |byte: u8| (byte as char).to_digit(16).unwrap_or_default() as u8;
    let bytes = token
        .chunks_exact(2)
        .map(|c| value(c[0]) << 4 | value(c[1]));
    plain_text(bytes)
}

/// The text that base32 (RFC 4648) encodes.
fn decode_base32(token: &[u8]) -> Option<String> {
    let end = token.iter().position(|b| *b == b'=').unwrap_or(token.len());
    let is_base32 = |b: &u8| b.is_ascii_uppercase() || (b'2'..=b'7').contains(b);
    let token = &token[..end];
    if !token.iter().all(is_base32) || token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::with_capacity(token.len()));
    for byte in token {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            _ => byte - b'2' + 26,
        };
        bits = (bits << 5 | u32::from(value)) & 0xFFFF;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    plain_text(bytes.into_iter())
}

/// Bytes as text, if all of them are.
fn plain_text(bytes: impl Iterator<Item = u8>) -> Option<String> {
    let bytes = bytes
        .map(|b| is_text(b).then_some(b))
        .collect::<Option<Vec<u8>>>()?;
    String::from_utf8(bytes).ok()
}

fn is_text(byte: u8) -> bool {
    byte >= 0x20 || matches!(byte, b'\n' | b'\r' | b'\t')
}
