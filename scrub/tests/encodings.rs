//! Values in encodings and in parts: what is found, and what is not. The table in `docs/scrubbing.md` says the
//! same; a row that changes must change there too.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubbed, Scrubber};
use serde_json::json;

const MAIL: &str = "jo@example.org";
const CARD: &str = "4111 1111 1111 1111";
const TOKEN: &str = "ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";

fn map() -> PlaceholderMap {
    let scrubber = Scrubber::new(&ScrubConfig::default()).expect("a valid configuration");
    PlaceholderMap::new(Arc::new(scrubber))
}

fn scrubbed(text: &str) -> String {
    map()
        .scrub_text(text, None)
        .map(Scrubbed::into_inner)
        .expect("nothing is blocked")
}

fn sentence() -> String {
    format!("please write to {MAIL} and pay with {CARD}, token {TOKEN}")
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn base32(text: &str) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(5) {
        let bits = chunk
            .iter()
            .fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let bits = bits << (8 * (5 - chunk.len()));
        for index in 0..8 {
            let letter = LETTERS[(bits >> (35 - 5 * index) & 31) as usize];
            let filled = index * 5 < chunk.len() * 8;
            out.push(if filled { char::from(letter) } else { '=' });
        }
    }
    out
}

/// The same sentence, compressed by gzip.
const GZIP: &str = "H4sIAAAAAAACAyvISU0sTlUoL8osSVUoyVfIyndIrUjMLchJ1csvSldIzEtRKEisVCjPLMlQMDE0NFQwRCF0gHqyU/MU0jMK4hMNnYySjV1MUk3dzHCxAYFE0lNvAAAA";

#[test]
fn encoded_texts_are_scrubbed_as_the_table_says() {
    let sentence = sentence();
    for (name, encoded, found) in [
        ("hexadecimal", hexadecimal(&sentence), true),
        ("base32", base32(&sentence), true),
        ("base64", STANDARD.encode(&sentence), true),
        ("base64 for URLs", URL_SAFE_NO_PAD.encode(&sentence), true),
        (
            "base64 twice",
            STANDARD.encode(STANDARD.encode(&sentence)),
            true,
        ),
        ("gzip in base64", GZIP.to_owned(), true),
    ] {
        let text = format!("data {encoded} end");
        assert_eq!(scrubbed(&text) != text, found, "{name}");
    }
}

#[test]
fn quoted_printable_is_decoded_below_its_header() {
    let body =
        "please write to jo=40exam=\nple.org, token ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6=\n";
    let out = scrubbed(&format!(
        "Content-Transfer-Encoding: quoted-printable\n\n{body}"
    ));
    assert!(out.contains("write to [EMAIL_1], token [GITHUB"), "{out}");
    // Without the header, `=40` could be code; other values are found.
    let out = scrubbed(body);
    assert!(!out.contains("ghp_a1B2"), "{out}");
    assert!(out.contains("jo=40exam"), "{out}");
}

#[test]
fn a_text_about_quoted_printable_hides_no_secret() {
    let text = "The mail header may say quoted-printable.\nAWS_SECRET=41bC9xYz0aa11bb22cc33dd\nDATABASE_PASSWORD=50aQz!k2m9X";
    let out = scrubbed(text);
    assert!(!out.contains("bC9xYz0aa11bb22cc33dd"), "{out}");
    assert!(!out.contains("aQz!k2m9X"), "{out}");
}

#[test]
fn a_value_split_over_the_elements_of_an_array_is_not_found() {
    for (name, parts) in [
        ("mail", ["jo@", "example", ".org"]),
        (
            "token",
            ["ghp_a1B2c3D4e5F6", "a1B2c3D4e5F6", "a1B2c3D4e5F6"],
        ),
    ] {
        let value = json!({ "parts": parts });
        let out = map()
            .scrub_json(value.clone(), None)
            .expect("not blocked")
            .into_inner();
        assert_eq!(out, value, "{name}");
    }
}

#[test]
fn a_value_split_over_three_lines_is_found_if_its_prefix_is_known() {
    let lines = |parts: [&str; 3]| parts.map(str::to_owned).join("\n");
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----";
    assert!(!scrubbed(key).contains("MIIEvQ"));
    let card = lines(["card 4111 1111", "1111", "1111 end"]);
    assert!(
        !scrubbed(&card).contains("4111 1111"),
        "{}",
        scrubbed(&card)
    );
    let mail = lines(["jo@", "example", ".org"]);
    assert_eq!(scrubbed(&mail), mail);
}
