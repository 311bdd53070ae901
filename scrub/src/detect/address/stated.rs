//! Addresses that a phrase announces, as in `lives at Lindenweg 12` or `Address: 12 Elm`: the name of the
//! street needs no word such as Street.

use std::ops::Range;

use super::{ADDRESS, block};
use crate::boundary::is_word;
use crate::scan::Scan;

/// Phrases after which an address is likely, and whether a number before a name alone is one.
#[rustfmt::skip]
const PHRASES: &[(&str, bool)] = &[
    ("address is ", true), ("address:", true), ("address to ", true), ("address=", true), ("adresse:", true), ("anschrift:", true),
    ("adresse ist ", true), ("dirección:", true), ("direccion:", true), ("indirizzo:", true), ("endereço:", true),
    ("domicilio:", true), ("lives at ", true), ("live at ", true), ("lived at ", true), ("living at ", true), ("resides at ", true),
    ("residing at ", true), ("lives on ", true), ("live on ", true), ("live in ", false), ("lived in ", false), ("located at ", true),
    ("located on ", true), ("office is at ", true), ("house at ", true), ("flat at ", true), ("home at ", true), ("meet me at ", false),
    ("meet you at ", false), ("deliver to ", false), ("delivered to ", false), ("ship to ", false), ("ship to:", true), ("bill to:", true),
    ("shipped to ", false), ("sent to ", false), ("send it to ", false), ("mail it to ", false), ("return to ", false),
    ("moved to ", false), ("moved from ", false), ("arrived at ", false), ("station is on ", false), ("shop is on ", false),
    ("office is on ", true), ("wohnt in der ", false), ("wohne in der ", false), ("wohnhaft ", true), ("habite au ", true),
    ("demeurant ", true), ("domiciliado en ", true), ("vive en ", false), ("residente in ", true), ("abita in ", false),
    ("corner of ", true),
];

/// The texts of the phrases.
pub(super) const PHRASE_TEXTS: &[&str] = &{
    let mut texts = [""; PHRASES.len()];
    let mut at = 0;
    while at < PHRASES.len() {
        texts[at] = PHRASES[at].0;
        at += 1;
    }
    texts
};

/// Particles within the name of a street.
const PARTICLES: &[&str] = &[
    "de", "la", "le", "les", "des", "du", "del", "della", "di", "da", "do", "dos", "von", "van",
    "der", "den", "z", "i", "el", "los", "las", "zur", "zum", "am",
];

/// Checks the text after a phrase.
pub(super) fn after_phrase(scan: &mut Scan<'_>, phrase: usize, hit: Range<usize>) {
    if is_word(scan.before(hit.start)) {
        return;
    }
    let start = scan.run_at_most(hit.end, 12, |b| matches!(b, b' ' | b'\n' | b'"' | b'\t'));
    let strong = PHRASES[phrase].1;
    if let Some(end) = numbered(scan, start, strong) {
        scan.add(ADDRESS, start, block::end(scan, end), 0.65);
        // `the corner of Elm 5 and Oak 7`, `from Elm 5 to Oak 7`.
        for link in [" and ", " to "] {
            let next = end + link.len();
            if scan.bytes[end..].starts_with(link.as_bytes())
                && let Some(second) = numbered(scan, next, strong)
            {
                scan.add(ADDRESS, next, block::end(scan, second), 0.6);
            }
        }
    }
}

/// The end of a street with a number before or after its name.
fn numbered(scan: &Scan<'_>, start: usize, strong: bool) -> Option<usize> {
    let mut at = start;
    let mut leading = 0;
    // `12`, `12b`, `12-14`; some addresses have two numbers.
    while leading < 2
        && let Some(end) = house_number(scan, at)
        && scan.at(end) == b' '
    {
        at = end + 1;
        leading += 1;
    }
    let (name, words) = name(scan, at)?;
    let after = scan.run_at_most(name, 2, |b| matches!(b, b' ' | b','));
    let trailing = (after > name).then(|| house_number(scan, after)).flatten();
    let trailing = trailing.filter(|end| is_end(scan, *end));
    let end = trailing.unwrap_or(name);
    let long = at - start > 2;
    let continued = block::end(scan, end) > end;
    let counted = trailing.is_some_and(|end| strong || leading > 0 || end - after > 1);
    let known = counted || continued || (strong && long && words <= 4 && is_end(scan, name));
    (known && (leading > 0 || trailing.is_some())).then_some(end)
}

/// Digits with at most one letter: `12`, `12b`.
fn house_number(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let digits = scan.run_at_most(at, 7, |b| b.is_ascii_digit());
    let end = digits
        + usize::from(scan.at(digits).is_ascii_alphabetic() && !is_word(scan.at(digits + 1)));
    ((1..=6).contains(&(digits - at))
        && !is_word(scan.at(end))
        && !matches!(scan.at(end), b'%' | b':' | b'/'))
    .then_some(end)
}

/// Whether a street may end here: no word that counts something follows, as in `Maria 5 minutes ago`.
fn is_end(scan: &Scan<'_>, at: usize) -> bool {
    match scan.at(at) {
        b' ' => {
            let rest = scan.text.get(at + 1..).unwrap_or_default();
            let next = rest.split([' ', '\n', ',', '.']).next().unwrap_or_default();
            matches!(
                next,
                "and"
                    | "in"
                    | "last"
                    | "after"
                    | "before"
                    | "to"
                    | "near"
                    | "und"
                    | "et"
                    | "y"
                    | "e"
                    | "tomorrow"
                    | "today"
            ) || rest.starts_with(|c: char| c.is_uppercase())
        }
        0 | b'\n' | b'\r' | b',' | b';' | b')' | b'"' | b'?' | b'!' | b'<' | b'|' => true,
        b'.' => !scan.at(at + 1).is_ascii_digit(),
        _ => false,
    }
}

/// The end of a name of one to six words, and the number of those with a capital.
fn name(scan: &Scan<'_>, start: usize) -> Option<(usize, usize)> {
    let (mut at, mut end, mut words) = (start, None, 0);
    for _ in 0..7 {
        let word_end = scan.run(at, |b| is_word(b) || matches!(b, b'\'' | b'-' | b'.'));
        let word = scan.text.get(at..word_end)?;
        let letters = word
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, '\'' | '-' | '.'));
        if letters && word.chars().next().is_some_and(char::is_uppercase) {
            words += 1;
            let full = word.trim_end_matches('.');
            // The full stop of an abbreviation belongs to it: `utca.` ends a sentence, `u.` does not.
            end = Some(
                at + if full.len() <= 4 && scan.at(word_end) == b' ' {
                    word.len()
                } else {
                    full.len()
                },
            );
        } else if letters
            && matches!(
                word,
                "u." | "utca" | "út" | "tér" | "ulice" | "ulica" | "street" | "road" | "avenue"
            )
            && words > 0
        {
            end = Some(word_end);
        } else if words == 0 && !PARTICLES.contains(&word) || !PARTICLES.contains(&word) {
            break;
        }
        if scan.at(word_end) != b' ' || words >= 5 {
            break;
        }
        at = word_end + 1;
    }
    Some((end?, words))
}
