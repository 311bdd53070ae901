//! Street addresses: a number and a street name with a word such as Street, rue or straße; `block` adds the
//! lines below it. `before_code` finds streets without such a word before a town and its postal code, `stated` finds addresses that a phrase announces, `military` those of armed forces.

mod before_code;
mod block;
mod military;
mod stated;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{DefaultPolicy, Detector, Repeats, Trigger, postal_code};
use crate::Kind;
use crate::boundary::is_word;
use crate::scan::Scan;

const ADDRESS: Kind = Kind::new("ADDRESS");

pub(super) static DETECTOR: Detector = Detector {
    name: "address",
    kinds: || vec![ADDRESS, postal_code::POSTAL],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::SearchedIfDigits,
    triggers: &[
        Trigger::Literals(|| AFTER, check_after),
        Trigger::Literals(|| BEFORE, check_before),
        Trigger::Literals(|| SUFFIXES, check_suffix),
        Trigger::Literals(|| KEYS, check_key),
        Trigger::Literals(|| stated::PHRASE_TEXTS, stated::after_phrase),
        Trigger::Literals(|| military::OFFICES, military::at_office),
        Trigger::Literals(|| HOUSES, check_house),
        Trigger::PostalCode(before_code::at_number),
        Trigger::TwoPartCode(before_code::at_two_part_code),
    ],
};

/// Words that end a street name: `221B Baker Street`.
#[rustfmt::skip]
const AFTER: &[&str] = &[
    " street", " st", " avenue", " ave", " road", " rd", " boulevard", " blvd", " lane", " ln", " drive", " dr",
    " court", " ct", " place", " pl", " square", " sq", " terrace", " way", " highway", " hwy", " parkway", " pkwy",
    " circle", " crescent", " close", " mews", " grove", " gardens", " trail", " alley",
    " turnpike", " ridge", " marg", " nagar", " quay", " wharf",
];
/// Words that begin a street name: `12 rue de la Paix`, `Calle Mayor 5`.
#[rustfmt::skip]
const BEFORE: &[&str] = &[
    "rue ", "avenue ", "boulevard ", "calle ", "avenida ", "rua ", "via ", "viale ", "piazza ", "plaza ", "paseo ",
    "travessa ", "corso ", "ulica ", "ul. ", "p.o. box ", "po box ", "allée ", "chemin ", "impasse ", "place de ", "place du ",
    "place des ", "quai ", "cours de ", "cours du ", "route de ", "route du ", "square du ", "passage du ", "passage de ", "faubourg ", "c/ ", "avda. ", "avda ", "av. ", "ctra. ", "carretera ", "carrer ", "ronda ",
    "glorieta ", "camino ", "rúa ", "alameda ", "praça ", "vicolo ", "piazzale ", "piazzetta ", "lungomare ",
    "aleja ", "postfach ", "postbus ", "apartado ", "casella postale ",
];
/// German, Dutch and Nordic words that are joined to the name: `Hauptstraße 5`.
const SUFFIXES: &[&str] = &[
    "straße ",
    "strasse ",
    "str. ",
    "gasse ",
    "allee ",
    "platz ",
    "veien ",
    "vej ",
    "gatan ",
    "gata ",
    "katu ",
    "straat ",
    "vägen ",
    "vegen ",
    "weg ",
    "damm ",
    "chaussee ",
    "promenade ",
    "steig ",
    "graben ",
    "laan ",
    "plein ",
    "kade ",
    "gracht ",
    "kuja ",
    "polku ",
    "stræde ",
    "stien ",
    "allé ",
];
const KEYS: &[&str] = &[
    "street_address",
    "streetaddress",
    "address_line",
    "addressline",
    "home_address",
    "billing_address",
    "shipping_address",
    "mailing_address",
    "street: ",
];

/// Adds a street with the town below it, up to the postal code; a code on its own line, or after a
/// state, is a separate candidate.
fn add_street(scan: &mut Scan<'_>, range: Range<usize>, confidence: f32) {
    let mut end = range.end;
    if let Some(code) = postal_code::below_street(scan, range.end) {
        let line = scan.run_back(code.start, |b| b != b'\n');
        let state = scan.text[line..code.start].trim();
        let state = state.rsplit(' ').next().unwrap_or_default();
        if state.is_empty() || (state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase())) {
            scan.add(postal_code::POSTAL, code.start, code.end, confidence - 0.1);
            return scan.add(ADDRESS, range.start, end, confidence);
        }
        end = code.end;
    }
    end = end.max(block::end(scan, range.end));
    scan.add(ADDRESS, unit_start(scan, range.start), end, confidence);
}

/// The start of `Flat 3, ` before a street.
fn unit_start(scan: &Scan<'_>, street: usize) -> usize {
    let gap = scan.run_back(street, |b| matches!(b, b' ' | b','));
    if gap == street || !scan.bytes[gap..street].contains(&b',') {
        return street;
    }
    let number = scan.run_back(gap, |b| b.is_ascii_alphanumeric());
    let word = scan.run_back(number.saturating_sub(1).max(1), |b| is_word(b) || b == b'.');
    match block::unit(scan, word) {
        Some(end) if end == gap => word,
        _ => street,
    }
}

/// Indian addresses begin with the number of a flat, a plot or a house.
const HOUSES: &[&str] = &[
    "flat no", "plot no", "house no", "h.no", "h. no", "door no", "d.no", "d. no", "shop no",
];
/// They end with a PIN code, this far away at most.
const MAX_HOUSE_BYTES: usize = 200;

fn check_house(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let mut limit = (hit.end + MAX_HOUSE_BYTES).min(scan.bytes.len());
    while !scan.text.is_char_boundary(limit) {
        limit -= 1;
    }
    let rest = &scan.text[hit.end..limit];
    let rest = rest.split("\n\n").next().unwrap_or_default();
    let number = rest.trim_start_matches(['.', ':', ' ', '-', '#']);
    if is_word(scan.before(hit.start))
        || !number.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase())
    {
        return;
    }
    // A PIN code has six digits, some with a space in the middle.
    for (at, _) in rest.match_indices(|c: char| c.is_ascii_digit()) {
        let start = hit.end + at;
        let end = ["999999", "999 999"]
            .iter()
            .find_map(|layout| super::ids::matches(layout.as_bytes(), scan.bytes, start));
        if let Some(end) = end
            && !is_word(scan.at(end))
            && !scan.before(start).is_ascii_digit()
            && scan.at(start) != b'0'
        {
            return scan.add(ADDRESS, hit.start, end, 0.85);
        }
    }
    // Without one, the part up to the first comma and the street after it.
    let end = hit.end + rest.find([',', '\n']).unwrap_or(0);
    if end > hit.end && end - hit.end <= 16 {
        scan.add(ADDRESS, hit.start, end, 0.6);
    }
}

/// The start of the word that ends at `end`, if it can be part of a street name.
fn name_before(scan: &Scan<'_>, end: usize) -> Option<usize> {
    let start = scan.run_back(end, |b| is_word(b) || matches!(b, b'\'' | b'-' | b'.'));
    let first = scan.text.get(start..end)?.chars().next()?;
    let ordinal =
        first.is_ascii_digit() && scan.bytes[start..end].iter().any(u8::is_ascii_alphabetic);
    (first.is_uppercase() || ordinal).then_some(start)
}

fn check_after(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let word = &scan.bytes[hit.start + 1..hit.end];
    if is_word(scan.at(hit.end)) || !word[0].is_ascii_uppercase() {
        return;
    }
    // Up to four words of a name, then the number.
    let mut at = hit.start;
    for words in 0..5 {
        let start = scan.run_back(at, |b| is_word(b) || matches!(b, b'\'' | b'-' | b'.'));
        let part = &scan.bytes[start..at];
        let is_number = !part.is_empty()
            && part.len() <= 6
            && part[0].is_ascii_digit()
            && part
                .iter()
                .all(|b| b.is_ascii_digit() || *b == b'-' || b.is_ascii_alphabetic())
            && part.iter().filter(|b| b.is_ascii_alphabetic()).count() <= 1;
        if is_number && words > 0 {
            // `(c) 2011 Gary Court` and `U+005D RIGHT SQUARE` do not have house numbers.
            let is_house =
                part[0] != b'0' && !scan.has_word_near(start, start, &["copyright", "(c)"]);
            if !is_house || matches!(scan.before(start), b'+' | b'_') {
                return;
            }
            let end = tail_end(scan, hit.end);
            let short = hit.len() <= 3;
            let sure = !short || part.len() >= 2;
            return add_street(scan, start..end, if sure { 0.8 } else { 0.4 });
        }
        match name_before(scan, at) {
            Some(name) if name > 0 && matches!(scan.bytes[name - 1], b' ' | b',') => {
                at = scan.run_back(name, |b| matches!(b, b' ' | b','))
            }
            _ => return,
        }
    }
}

/// The end of a unit or quarter after the street: `, Apt. 5`, `Suite 12`, `NW`.
fn tail_end(scan: &Scan<'_>, end: usize) -> usize {
    const UNITS: [&str; 8] = [
        "apt. ", "apt ", "suite ", "unit ", "floor ", "#", "nw", "ne",
    ];
    let at = scan
        .run(end, |b| matches!(b, b'.' | b',' | b' '))
        .min(end + 3);
    let rest = scan.text.get(at..).unwrap_or_default();
    for unit in UNITS {
        let same = rest
            .get(..unit.len())
            .is_some_and(|r| r.eq_ignore_ascii_case(unit));
        if same {
            let after = scan.run(at + unit.len(), |b| b.is_ascii_alphanumeric());
            let bare = matches!(unit, "nw" | "ne");
            if bare != (after > at + unit.len()) {
                return after;
            }
        }
    }
    end
}

fn check_before(scan: &mut Scan<'_>, word: usize, hit: Range<usize>) {
    if is_word(scan.before(hit.start)) {
        return;
    }
    if matches!(
        BEFORE[word],
        "p.o. box " | "po box " | "postfach " | "postbus " | "apartado " | "casella postale "
    ) {
        let end = scan.run(hit.end, |b| b.is_ascii_digit());
        if end > hit.end {
            scan.add(ADDRESS, hit.start, end, 0.85);
        }
        return;
    }
    // The name: capitalised words, with particles such as `de la` between them.
    let mut at = hit.end;
    let mut names = 0;
    let mut name_end = at;
    for _ in 0..6 {
        let end = scan.run(at, |b| is_word(b) || matches!(b, b'\'' | b'-' | b'.'));
        let part = scan.text.get(at..end).unwrap_or_default();
        let Some(first) = part.chars().next() else {
            break;
        };
        let particle = matches!(
            part,
            "de" | "la"
                | "le"
                | "les"
                | "des"
                | "du"
                | "del"
                | "dos"
                | "da"
                | "do"
                | "della"
                | "di"
                | "l"
                | "las"
                | "los"
                | "d'"
        );
        if first.is_uppercase() {
            names += 1;
            name_end = end;
        } else if !particle {
            break;
        }
        if scan.at(end) != b' ' {
            break;
        }
        at = end + 1;
    }
    if names == 0 {
        return;
    }
    let number_at = scan
        .run(name_end, |b| matches!(b, b' ' | b','))
        .min(name_end + 2);
    let number_end = scan.run(number_at, |b| b.is_ascii_digit());
    let after =
        (number_end > number_at && number_end - number_at <= 5 && !is_word(scan.at(number_end)))
            .then_some(number_end);
    let gap = scan.run_back(hit.start, |b| matches!(b, b' ' | b','));
    // `12`, `12a`
    let letter = usize::from(scan.before(gap).is_ascii_lowercase());
    let digits = scan.run_back(gap - letter, |b| b.is_ascii_digit());
    let before = (gap < hit.start
        && digits < gap - letter
        && gap - digits <= 5
        && !is_word(scan.before(digits))
        && scan.before(digits) != b'-')
        .then_some(digits);
    match (before, after) {
        (Some(start), _) => add_street(scan, start..name_end, 0.75),
        (None, Some(end)) if scan.bytes[hit.start].is_ascii_uppercase() => {
            add_street(scan, hit.start..end, 0.75)
        }
        _ => {}
    }
}

fn check_suffix(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let start = scan.run_back(hit.start, |b| is_word(b) || b == b'-');
    let capital = scan
        .text
        .get(start..hit.end)
        .and_then(|t| t.chars().next())
        .is_some_and(char::is_uppercase);
    let digits = scan.run(hit.end, |b| b.is_ascii_digit());
    let letter = if scan.at(digits).is_ascii_lowercase() && !is_word(scan.at(digits + 1)) {
        digits + 1
    } else {
        digits
    };
    if capital
        && (1..=4).contains(&(digits - hit.end))
        && !is_word(scan.at(letter))
        && hit.start - start >= 2
        && !(scan.at(letter) == b'.' && is_word(scan.at(letter + 1)))
    {
        add_street(scan, start..letter, 0.75);
    }
}

/// The whole value of an address key is an address.
fn check_key(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    if !scan.in_key(hit.end) {
        return;
    }
    let value = scan.text[scan.key_end..].trim();
    if value.len() >= 6
        && value.contains(' ')
        && value.chars().any(char::is_alphabetic)
        && value.len() <= 200
    {
        scan.add(ADDRESS, scan.key_end, scan.bytes.len(), 0.8);
    }
}
