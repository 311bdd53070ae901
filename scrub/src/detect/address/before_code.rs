//! Addresses before a postal code. Where a town with its code follows, a street needs no word such as Street:
//! `Am Markt 5, 10115 Berlin`, `17 Foxglove, Springfield, IL 62704`, `4 The Rise, Bristol BS1 4ND`,
//! `14, 2nd Cross, Indiranagar, Bengaluru - 560038`.

use std::ops::Range;

use super::{ADDRESS, block, postal_code};
use crate::boundary::is_word;
use crate::scan::Scan;

/// The abbreviations of the United States Postal Service, with districts and territories.
#[rustfmt::skip]
const STATES: [&str; 56] = [
    "AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY", "LA", "ME",
    "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND", "OH", "OK", "OR", "PA",
    "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "DC", "PR", "VI", "GU", "AS", "MP",
];

/// The letters of a country before a code.
const COUNTRIES: [&str; 8] = ["D-", "F-", "I-", "E-", "A-", "CH-", "B-", "L-"];

/// Words in small letters within the name of a street or a town.
#[rustfmt::skip]
const PARTICLES: [&str; 46] = [
    "rue", "avenue", "boulevard", "impasse", "allée", "chemin", "place", "quai", "cours", "route", "bis", "ter", "de",
    "la", "le", "les", "des", "du", "del", "della", "delle", "dei", "di", "da", "do", "dos", "das", "der", "dem",
    "den", "die", "am", "an", "im", "in", "zum", "zur", "auf", "bei", "y", "e", "el", "los", "las", "of", "the",
];

/// Words before a number that no street has.
#[rustfmt::skip]
const OTHER_WORDS: [&str; 38] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "table", "figure", "chapter",
    "section", "version", "page", "line", "step", "part", "item", "level", "issue", "volume", "copyright", "rfc",
];

/// More parts are not one address.
const MAX_PARTS: usize = 6;
/// A part is shorter.
const MAX_PART_BYTES: usize = 48;
/// A street's name has fewer words.
const MAX_WORDS: usize = 6;

const CONFIDENCE: f32 = 0.75;

/// Checks the parts before a number that may be a postal code.
pub(super) fn at_number(scan: &mut Scan<'_>, start: usize) {
    let end = scan.run(start, |b| b.is_ascii_digit());
    let digits = end - start;
    if is_word(scan.at(end)) || is_word(scan.before(start)) {
        return;
    }
    match digits {
        4 | 5 if is_town(scan, end) => continental(scan, start, end),
        5 => american(scan, start, end),
        3 if scan.at(end) == b' ' => {
            let second = scan.run_at_most(end + 1, 4, |b| b.is_ascii_digit());
            if second - end == 4 && !is_word(scan.at(second)) {
                indian(scan, start, second);
            }
        }
        6 => indian(scan, start, end),
        _ => {}
    }
}

/// Checks the parts before a British postcode.
pub(super) fn at_two_part_code(scan: &mut Scan<'_>, start: usize) {
    let end = scan.run(start, |b| b.is_ascii_alphanumeric()) + 4;
    let is_code = scan
        .text
        .get(start..end)
        .is_some_and(postal_code::is_british);
    if is_code && !is_word(scan.at(end)) {
        add(scan, start, end, true);
    }
}

/// `10115 Berlin` after a comma or in a line of its own.
fn continental(scan: &mut Scan<'_>, code: usize, end: usize) {
    let prefix = COUNTRIES
        .iter()
        .find(|p| scan.bytes[..code].ends_with(p.as_bytes()));
    let start = code - prefix.map_or(0, |p| p.len());
    let year = end - code == 4 && matches!(&scan.bytes[code..code + 2], b"19" | b"20");
    let gap = scan.run_back(start, |b| matches!(b, b' ' | b',' | b'\n' | b'\r' | b'\t'));
    let divided = scan.bytes[gap..start]
        .iter()
        .any(|b| matches!(b, b',' | b'\n'));
    if !year && divided {
        add(scan, start, end, false);
    }
}

/// `Springfield, IL 62704`.
fn american(scan: &mut Scan<'_>, code: usize, end: usize) {
    let Some(state) = code.checked_sub(3).and_then(|at| scan.text.get(at..at + 2)) else {
        return;
    };
    let alone = !is_word(scan.before(code - 3)) && scan.before(code) == b' ';
    if alone && STATES.contains(&state) {
        let plus_four = scan.run_at_most(end + 1, 5, |b| b.is_ascii_digit());
        let end = match scan.at(end) {
            b'-' if plus_four - end == 5 => plus_four,
            _ => end,
        };
        let town = part_before(scan, code - 3).map(|part| read(scan, &part));
        let divided = scan.bytes[..code - 3].ends_with(b", ");
        let is_town = matches!(town, Some(Part::Name(_)));
        if !add(scan, code - 3, end, true) && is_town && divided {
            scan.add(postal_code::POSTAL, code, end, 0.6);
        }
    }
}

/// `Bengaluru - 560038`, `Pune 411 001`.
fn indian(scan: &mut Scan<'_>, code: usize, end: usize) {
    let gap = scan.run_back(code, |b| matches!(b, b' ' | b'-'));
    let apart = gap < code && code - gap <= 3 && scan.before(gap).is_ascii_alphabetic();
    if apart && scan.at(code) != b'0' {
        add(scan, gap, end, true);
    }
}

/// Whether a town follows: a word with a capital.
fn is_town(scan: &Scan<'_>, code_end: usize) -> bool {
    let rest = scan.text.get(code_end..).unwrap_or_default();
    let mut next = rest.chars();
    next.next() == Some(' ')
        && next.next().is_some_and(char::is_uppercase)
        && next.next().is_some_and(char::is_lowercase)
        && next.next().is_some_and(char::is_alphabetic)
}

/// Adds the address that ends with the code, if one of the parts before it is a street with a number. Other
/// parts may stand between them if `with_town`: the town, a district, the name of a building. Returns whether
/// there is one.
fn add(scan: &mut Scan<'_>, code: usize, code_end: usize, with_town: bool) -> bool {
    let mut end = code;
    let (mut start, mut numbered) = (None, false);
    for index in 0..MAX_PARTS {
        let Some(part) = part_before(scan, end) else {
            break;
        };
        let is_unit = block::unit(scan, part.start) == Some(part.end);
        match read(scan, &part) {
            _ if is_unit => {}
            Part::Street(at) => {
                start = Some(at);
                break;
            }
            // `Calle Mayor, 12, 28013 Madrid`
            Part::Name(at) if numbered => {
                start = Some(at);
                break;
            }
            Part::Number(at) if index == 0 && at == part.start => numbered = true,
            // `14, 2nd Cross, Indiranagar` begins with the number.
            Part::Number(at) if index > 0 => {
                start = Some(at);
                break;
            }
            Part::Name(at) if with_town && at == part.start => {}
            _ => break,
        }
        end = part.start;
    }
    if let Some(start) = start {
        let end = code_end.max(block::end(scan, code_end));
        let town_end = town_after(scan, code_end);
        scan.add(ADDRESS, start, end.max(town_end), CONFIDENCE);
    }
    start.is_some()
}

/// The end of the town that follows a code on its line.
fn town_after(scan: &Scan<'_>, code_end: usize) -> usize {
    if !is_town(scan, code_end) {
        return code_end;
    }
    scan.run(code_end + 1, |b| is_word(b) || b == b'-')
}

/// The text between the separators before `end`.
fn part_before(scan: &Scan<'_>, end: usize) -> Option<Range<usize>> {
    let separator = |b: u8| matches!(b, b' ' | b',' | b'\n' | b'\r' | b'\t' | b'-');
    let end = scan.run_back(end, separator);
    let from = end.saturating_sub(MAX_PART_BYTES);
    let hard = |b: &u8| {
        matches!(
            b,
            b',' | b'\n'
                | b':'
                | b'"'
                | b'('
                | b'|'
                | b'<'
                | b'>'
                | b'\t'
                | b';'
                | b'['
                | b'{'
                | b'='
        )
    };
    let start = from
        + scan.bytes[from..end]
            .iter()
            .rposition(hard)
            .map_or(0, |at| at + 1);
    let start = scan.run(scan.text.ceil_char_boundary(start), |b| b == b' ');
    (start < end).then_some(start..end)
}

/// What a part of an address is.
enum Part {
    /// A name and a house number, and where they begin.
    Street(usize),
    /// Words of a name, and where they begin.
    Name(usize),
    /// A house number alone, and where it begins.
    Number(usize),
    Other,
}

/// Reads a part from its end: in running text, other words precede the street.
fn read(scan: &Scan<'_>, part: &Range<usize>) -> Part {
    let Some(text) = scan.text.get(part.clone()) else {
        return Part::Other;
    };
    let mut words = 0;
    let mut name = None;
    let mut number = None;
    let mut at = part.end;
    for (index, word) in text.rsplit(' ').enumerate() {
        let whole = at.saturating_sub(word.len());
        // The quote of a string that begins with the number.
        let word = word.trim_start_matches(['\'', '`']);
        let start = at.saturating_sub(word.len());
        if index == 0 && is_house_number(word) {
            number = Some(start);
        } else if is_house_number(word) && name.is_some() && number.is_none() {
            return Part::Street(start);
        } else if words < MAX_WORDS && is_name_word(word) {
            words += 1;
            if word.starts_with(char::is_uppercase)
                || word.starts_with(|c: char| c.is_ascii_digit())
            {
                name = Some(start);
            }
        } else if is_other_word(word) {
            return Part::Other;
        } else {
            break;
        }
        at = whole.saturating_sub(1);
    }
    match (name, number) {
        (Some(start), Some(_)) if has_long_word(&scan.text[start..part.end]) => Part::Street(start),
        (Some(start), None) => Part::Name(start),
        (None, Some(start)) => Part::Number(start),
        _ => Part::Other,
    }
}

/// `12`, `221B`, `12-14`, `7/2`, `#12`.
fn is_house_number(word: &str) -> bool {
    let word = word.trim_start_matches('#');
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let signs = word.bytes().filter(|b| matches!(b, b'-' | b'/')).count();
    word.starts_with(|c: char| c.is_ascii_digit())
        && (1..=6).contains(&digits)
        && letters <= 1
        && signs <= 1
        && digits + letters + signs == word.len()
}

/// A word with a capital, a particle, or an ordinal such as `2nd`.
fn is_name_word(word: &str) -> bool {
    let plain = word
        .chars()
        .all(|c| c.is_alphabetic() || matches!(c, '.' | '\'' | '’' | '-'));
    let ordinal = ["1st", "2nd", "3rd", "th"]
        .iter()
        .any(|end| word.ends_with(end))
        && word.starts_with(|c: char| c.is_ascii_digit());
    let capital = word.starts_with(char::is_uppercase);
    ordinal || plain && !is_other_word(word) && (capital || PARTICLES.contains(&word))
}

fn is_other_word(word: &str) -> bool {
    let lower = word.to_lowercase();
    OTHER_WORDS.contains(&lower.trim_end_matches('.'))
}

/// Whether a name has a word of three letters, not all of them capitals: `A 5` and `GTX 1070` are none.
fn has_long_word(name: &str) -> bool {
    name.split([' ', '-']).any(|word| {
        word.chars().filter(|c| c.is_alphabetic()).count() >= 3
            && word.chars().any(char::is_lowercase)
    })
}
