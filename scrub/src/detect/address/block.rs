//! The lines of an address after its street: the unit, the town, the postal code, the country.

use crate::boundary::is_word;
use crate::scan::Scan;

/// Words before the number of a unit.
#[rustfmt::skip]
const UNITS: &[&str] = &[
    "apt. ", "apt ", "apartment ", "suite ", "ste. ", "ste ", "unit ", "floor ", "flat ", "room ", "bldg. ", "building ", "box ",
    "piso ", "puerta ", "scala ", "interno ", "int. ", "étage ", "bât. ", "appt. ", "etage ", "og ", "fl. ", "# ", "#",
];

#[rustfmt::skip]
const COUNTRIES: &[&str] = &[
    "United States", "United States of America", "USA", "U.S.A.", "United Kingdom", "UK", "England", "Scotland", "Wales", "Ireland",
    "Northern Ireland", "Germany", "Deutschland", "France", "Spain", "España", "Italy", "Italia", "India", "Austria", "Österreich",
    "Switzerland", "Schweiz", "Suisse", "Svizzera", "Belgium", "Belgique", "België", "Netherlands", "Nederland", "Luxembourg",
    "Portugal", "Brazil", "Brasil", "Mexico", "México", "Argentina", "Chile", "Colombia", "Peru", "Canada", "Australia",
    "New Zealand", "South Africa", "Denmark", "Danmark", "Sweden", "Sverige", "Norway", "Norge", "Finland", "Suomi", "Iceland",
    "Ísland", "Greenland", "Poland", "Polska", "Czech Republic", "Czechia", "Slovakia", "Slovenia", "Slovenija", "Croatia",
    "Hrvatska", "Hungary", "Magyarország", "Romania", "România", "Bulgaria", "Greece", "Cyprus", "Turkey", "Türkiye", "Estonia",
    "Eesti", "Latvia", "Lithuania", "Ukraine", "Russia", "Serbia", "Malta", "Israel", "Egypt", "Tunisia", "Morocco", "Algeria",
    "Nigeria", "Kenya", "Ghana", "Japan", "China", "South Korea", "Singapore", "Malaysia", "Thailand", "Vietnam", "Indonesia",
    "Philippines", "Pakistan", "Bangladesh", "Sri Lanka", "Nepal", "United Arab Emirates", "Saudi Arabia", "Qatar",
];

/// More parts are not one address.
const MAX_PARTS: usize = 8;
/// A town has at most this many words.
const MAX_TOWN_WORDS: usize = 4;

/// Particles within the name of a town.
const PARTICLES: &[&str] = &[
    "de", "la", "le", "les", "del", "di", "da", "do", "dos", "am", "an", "der", "im", "sur",
    "sous", "en", "of", "upon", "nad", "i", "el", "los", "las", "bei", "ob", "in", "den", "aan",
];

/// The end of the address whose street ends at `street`: the last unit, code or country that follows, with
/// the towns between.
pub(super) fn end(scan: &Scan<'_>, street: usize) -> usize {
    let (mut sure, mut at) = (street, street);
    let mut after_town = false;
    for _ in 0..MAX_PARTS {
        let next = scan.run_at_most(at, 12, |b| matches!(b, b' ' | b',' | b'\n' | b'\r' | b'\t'));
        let gap = &scan.bytes[at..next];
        if gap.iter().filter(|b| **b == b'\n').count() > 2 || gap.is_empty() {
            break;
        }
        let divided = gap.contains(&b',') || gap.contains(&b'\n');
        if let Some(end) = unit(scan, next).or_else(|| country(scan, next)) {
            (sure, at) = (end, end);
        } else if let Some(end) = code(scan, next)
            && (divided || after_town)
        {
            let line = scan.run(end, |b| b == b' ');
            // `10115 Berlin`: the town follows its code on the same line.
            let town = (line > end && scan.at(line) != b'\n')
                .then(|| town(scan, line))
                .flatten();
            // In running text a number before a word with a small letter counts something.
            let is_year = end - next == 4 && matches!(&scan.bytes[next..next + 2], b"19" | b"20");
            let following = scan.text.get(line..).unwrap_or_default();
            let counts = line > end && following.starts_with(char::is_lowercase);
            if counts || is_year && town.is_none() {
                break;
            }
            at = town.unwrap_or(end);
            sure = at;
            after_town = town.is_some();
            continue;
        } else if let Some(end) = town(scan, next)
            && divided
        {
            at = end;
            after_town = true;
            continue;
        } else if let Some(end) = region(scan, next)
            && after_town
        {
            at = end;
            continue;
        } else {
            break;
        }
        after_town = false;
    }
    sure
}

/// `Apt. 5`, `Suite 12`, `#3`, `3rd floor`.
pub(super) fn unit(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let rest = scan.text.get(at..)?;
    let same = |unit: &&&str| {
        rest.get(..unit.len())
            .is_some_and(|r| r.eq_ignore_ascii_case(unit))
    };
    let length = UNITS.iter().find(same)?.len();
    let end = scan.run_at_most(at + length, 8, |b| b.is_ascii_alphanumeric() || b == b'-');
    let number = &scan.bytes[at + length..end];
    let digits = number.iter().filter(|b| b.is_ascii_digit()).count();
    let named = number.len() - digits <= 2;
    (digits > 0 && named && !is_word(scan.at(end)) && !is_word(scan.before(at))).then_some(end)
}

fn country(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let rest = scan.text.get(at..)?;
    let found = COUNTRIES.iter().filter(|name| rest.starts_with(*name));
    let length = found.map(|name| name.len()).max()?;
    let end = at + length;
    (!is_word(scan.at(end))).then_some(end)
}

/// A postal code: of digits, British, Canadian or Dutch.
fn code(scan: &Scan<'_>, at: usize) -> Option<usize> {
    const LAYOUTS: [&str; 16] = [
        "99999-9999",
        "99999-999",
        "99999",
        "999999",
        "999 999",
        "9999 AA",
        "9999",
        "999 99",
        "99-999",
        "A9 9AA",
        "A99 9AA",
        "AA9 9AA",
        "AA99 9AA",
        "A9A 9A9",
        "AA9A 9AA",
        "A9A 9AA",
    ];
    let prefix = scan.text.get(at..)?;
    let at = at
        + ["D-", "F-", "I-", "E-", "A-", "CH-", "CP "]
            .iter()
            .find(|p| prefix.starts_with(**p))
            .map_or(0, |p| p.len());
    let ends = LAYOUTS
        .iter()
        .filter_map(|layout| super::super::ids::matches(layout.as_bytes(), scan.bytes, at));
    ends.filter(|end| {
        !is_word(scan.at(*end)) && !matches!(scan.at(*end), b'-' | b':' | b'/' | b'%')
    })
    .max()
}

/// A state or province: `IL`, `NSW`, `(MI)`.
fn region(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let open = usize::from(scan.at(at) == b'(');
    let end = scan.run_at_most(at + open, 4, |b| b.is_ascii_uppercase());
    let letters = end - at - open;
    let closed = scan.at(end) == b')';
    let end = end + usize::from(open == 1 && closed);
    ((2..=3).contains(&letters) && (open == 0 || closed) && !is_word(scan.at(end))).then_some(end)
}

/// A town: words with a capital, and particles between them.
fn town(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let (mut next, mut end) = (at, None);
    for _ in 0..MAX_TOWN_WORDS + 2 {
        let word_end = scan.run(next, |b| is_word(b) || matches!(b, b'\'' | b'-' | b'.'));
        let word = scan.text.get(next..word_end)?;
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let plain = word
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, '\'' | '-' | '.'));
        if capital && plain && word.chars().filter(|c| c.is_alphabetic()).count() > 1 {
            end = Some(word_end - word.len() + word.trim_end_matches('.').len());
        } else if end.is_none() || !PARTICLES.contains(&word) {
            break;
        }
        if scan.at(word_end) != b' ' || word.ends_with('.') && word.len() > 4 {
            break;
        }
        next = word_end + 1;
    }
    end
}
