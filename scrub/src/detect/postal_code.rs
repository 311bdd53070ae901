//! Postal codes: after a context word, below a street, and those of the United Kingdom and Canada
//! by their form.

use std::ops::Range;

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::boundary::{is_word, stands_alone};
use crate::scan::Scan;

pub(super) const POSTAL: Kind = Kind::new("POSTAL_CODE");

pub(super) static DETECTOR: Detector = Detector {
    name: "postal_code",
    kinds: || vec![POSTAL],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[
        Trigger::Literals(|| WORDS, after_word),
        Trigger::TwoPartCode(by_form),
        Trigger::WholeText(whole_text),
    ],
};

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "zip:", "zip code", "zipcode", "zip_code", "postcode", "post code", "postal code", "postal_code", "postalcode",
    "plz", "postleitzahl", "codigo postal", "code postal", "cap:", "cep:", "uk_postcode", "\"zip\"",
    "zip ", "zip-code", "pincode", "pin code", "código postal", "codice postale", "postnummer", "kod pocztowy", "eircode",
];

/// Most countries; United States with four more digits; Brazil; Poland; Canada; United Kingdom;
/// the Netherlands; Sweden.
#[rustfmt::skip]
const LAYOUTS: &[&str] = &[
    "9999", "99999", "999999", "99999-9999", "99999-999", "99-999", "A9A?9A9", "A9?9AA", "A99?9AA", "AA9?9AA",
    "AA99?9AA", "A9A?9AA", "AA9A?9AA", "9999?AA", "999 99", "999-9999",
];

/// The postcode areas of the Royal Mail, with those of the islands and the armed forces.
#[rustfmt::skip]
const AREAS: &[&str] = &[
    "AB", "AL", "B", "BA", "BB", "BD", "BF", "BH", "BL", "BN", "BR", "BS", "BT", "BX", "CA", "CB", "CF", "CH", "CM",
    "CO", "CR", "CT", "CV", "CW", "DA", "DD", "DE", "DG", "DH", "DL", "DN", "DT", "DY", "E", "EC", "EH", "EN", "EX",
    "FK", "FY", "G", "GL", "GU", "GY", "HA", "HD", "HG", "HP", "HR", "HS", "HU", "HX", "IG", "IM", "IP", "IV", "JE",
    "KA", "KT", "KW", "KY", "L", "LA", "LD", "LE", "LL", "LN", "LS", "LU", "M", "ME", "MK", "ML", "N", "NE", "NG",
    "NN", "NP", "NR", "NW", "OL", "OX", "PA", "PE", "PH", "PL", "PO", "PR", "RG", "RH", "RM", "S", "SA", "SE", "SG",
    "SK", "SL", "SM", "SN", "SO", "SP", "SR", "SS", "ST", "SW", "SY", "TA", "TD", "TF", "TN", "TQ", "TR", "TS", "TW",
    "UB", "W", "WA", "WC", "WD", "WF", "WN", "WR", "WS", "WV", "YO", "ZE",
];

/// Checks the text after a context word: a separator or a verb, then the code.
fn after_word(scan: &mut Scan<'_>, word: usize, hit: Range<usize>) {
    if is_word(scan.before(hit.start)) {
        return;
    }
    let from = scan.run(hit.end, |b| {
        matches!(b, b':' | b'=' | b' ' | b'"' | b'\'' | b'\n')
    });
    let from = match scan
        .text
        .get(from..)
        .is_some_and(|t| t.starts_with("is ") || t.starts_with("of "))
    {
        true => from + 3,
        false => from,
    };
    let separated = matches!(scan.before(hit.end), b':' | b' ');
    if from == hit.end && !scan.in_key(hit.end) && !separated || from > hit.end + 6 {
        return;
    }
    let Some(end) = longest_match(scan, from) else {
        return;
    };
    let code = &scan.bytes[from..end];
    // No British area begins with Q, V or X; no country has a code of zeros.
    let invalid_british =
        code[0].is_ascii_alphabetic() && b"QVX".contains(&code[0].to_ascii_uppercase());
    let german = WORDS[word].starts_with("plz") || WORDS[word].starts_with("postleitzahl");
    // German codes have five digits, from 01001 to 99998.
    let fits = !german || (code.len() == 5 && (&b"01001"[..]..=&b"99998"[..]).contains(&code));
    if !invalid_british && fits && code.iter().any(|b| *b != b'0') {
        scan.add(POSTAL, from, end, 0.75);
    }
}

fn longest_match(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let ends = LAYOUTS
        .iter()
        .filter_map(|layout| super::ids::matches(layout.as_bytes(), scan.bytes, start));
    ends.filter(|end| stands_alone(scan.bytes, start, *end))
        .max()
}

fn by_form(scan: &mut Scan<'_>, start: usize) {
    let end = scan.run(start, |b| b.is_ascii_alphanumeric()) + 4;
    if stands_alone(scan.bytes, start, end) && has_form(&scan.text[start..end]) {
        scan.add(POSTAL, start, end, 0.6);
    }
}

/// A text that is a code and nothing else may omit the space.
fn whole_text(scan: &mut Scan<'_>, start: usize) {
    let end = scan.run(start, |b| b.is_ascii_alphanumeric() || b == b' ');
    if scan.is_whole_text(start, end) && has_form(&scan.text[start..end]) {
        scan.add(POSTAL, start, end, 0.55);
    }
}

fn has_form(code: &str) -> bool {
    is_british(code) || is_canadian(code)
}

/// British: an area, a district, a sector and two letters other than C, I, K, M, O and V.
pub(super) fn is_british(code: &str) -> bool {
    let compact = compact(code);
    let area = compact.split(|c: char| c.is_ascii_digit()).next();
    let fits = fits(
        &compact,
        &["A99AA", "A999AA", "AA99AA", "AA999AA", "A9A9AA", "AA9A9AA"],
    );
    let unit = compact.bytes().rev().take(2);
    fits && area.is_some_and(|area| AREAS.contains(&area))
        && unit.into_iter().all(|b| !b"CIKMOV".contains(&b))
}

/// Canadian: letters and digits alternate, and ambiguous letters are not used.
fn is_canadian(code: &str) -> bool {
    let compact = compact(code);
    fits(&compact, &["A9A9A9"])
        && !compact.starts_with(['W', 'Z'])
        && compact.bytes().all(|b| !b"DFIOQU".contains(&b))
}

fn compact(code: &str) -> String {
    code.chars().filter(|c| *c != ' ').collect()
}

/// Whether a code in capitals has one of the layouts.
fn fits(code: &str, layouts: &[&str]) -> bool {
    let bytes = code.as_bytes();
    let ends = |layout: &&str| super::ids::matches(layout.as_bytes(), bytes, 0);
    !bytes.iter().any(u8::is_ascii_lowercase)
        && layouts
            .iter()
            .any(|layout| ends(layout) == Some(bytes.len()))
}

/// The lines of an address block below its street: the town, the state, the code.
const MAX_BLOCK_LINES: usize = 5;
/// They are short.
const MAX_BLOCK_LINE_BYTES: usize = 48;

/// The code at the end of one of the lines below a street.
pub(super) fn below_street(scan: &Scan<'_>, street_end: usize) -> Option<Range<usize>> {
    let mut at = street_end;
    for number in 0..MAX_BLOCK_LINES {
        let line = scan.run_at_most(at, MAX_BLOCK_LINE_BYTES + 1, |b| b != b'\n');
        let text = scan.text.get(at..line)?.trim_end();
        if line - at > MAX_BLOCK_LINE_BYTES || (number > 0 && text.is_empty()) {
            return None;
        }
        let end = at + text.len();
        let start = scan.run_back(end, |b| b.is_ascii_digit());
        let code = &scan.text[start..end];
        let is_year = code.len() == 4 && (code.starts_with("19") || code.starts_with("20"));
        let separate = start == at || scan.before(start) == b' ';
        if (4..=6).contains(&code.len())
            && number > 0
            && separate
            && (!is_year || text.len() > code.len())
        {
            return Some(start..end);
        }
        at = line + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn postal_codes_are_found_after_a_context_word() {
        cases::check(
            "POSTAL_CODE",
            &[
                ("My zip code is 35350", "35350"),
                ("PLZ: 10115", "10115"),
                ("postcode EC1A 1BB", "EC1A 1BB"),
                ("ZIP: 75534-030", "75534-030"),
                ("in Springfield, IL 62704 or so", "62704"),
                ("the ZIP 35350 is", "35350"),
                ("PIN code: 560038", "560038"),
            ],
            &[
                "35350",
                "zip file 35350",
                "unzip: 12345",
                "see chapter, IL 62704",
                "Springfield, IX 62704",
                "PLZ 00000",
                "zip code of the town",
            ],
        );
    }

    #[test]
    fn british_and_canadian_codes_are_found_by_their_form() {
        cases::check(
            "POSTAL_CODE",
            &[
                ("from SW1A 2AA to York", "SW1A 2AA"),
                ("M1 1AE", "M1 1AE"),
                ("M11AE", "M11AE"),
                ("Ottawa, K1A 0B1", "K1A 0B1"),
            ],
            &[
                "from QW1A 2AA on",
                "SW1A 2CI",
                "see M11AE there",
                "sw1a 2aa",
                "K1D 0B1",
            ],
        );
    }

    #[test]
    fn the_code_below_a_street_is_found() {
        cases::check(
            "POSTAL_CODE",
            &[
                ("12 Oak Street\nSpringfield\nIL\n62704", "62704"),
                ("12 Oak Street\nSpringfield, IL 62704", "62704"),
            ],
            &[
                "12 Oak Street\n\n62704",
                "12 Oak Street\n2024",
                "at 12 Oak Street\nwe found no more than a handful of people among 62704",
            ],
        );
    }
}
