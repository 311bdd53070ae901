//! Parses calendar dates in common notations, for the detectors `birth_date` and `date`.

use crate::boundary::is_word;
use crate::checksum::is_date;
use crate::scan::Scan;

/// The names and short names of the months, in English, German, French, Spanish, Italian, Portuguese
/// and Dutch.
#[rustfmt::skip]
pub(super) const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "janvier", "enero", "gennaio", "janeiro", "januari"],
    &["february", "feb", "februar", "février", "fevrier", "febrero", "febbraio", "fevereiro", "februari"],
    &["march", "mar", "märz", "mars", "marzo", "março", "maart"],
    &["april", "apr", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "jul", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "aug", "août", "aout", "agosto", "augustus"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "setembro"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "nov", "novembre", "noviembre", "novembro"],
    &["december", "dec", "dezember", "dez", "décembre", "decembre", "diciembre", "dicembre", "dezembro"],
];

/// The end of a full date that begins at `start`: `1990-05-17`, `17.5.1990`, `5/17/90`,
/// `17 May 1990`, `May 17th, 1990`, and `19900517` if `compact`.
pub(super) fn end(scan: &Scan<'_>, start: usize, compact: bool) -> Option<usize> {
    if scan.at(start).is_ascii_digit() {
        numeric(scan, start)
            .or_else(|| day_month(scan, start))
            .or_else(|| {
                let end = scan.run(start, |b| b.is_ascii_digit());
                let digits = scan
                    .text
                    .get(start..end)
                    .filter(|d| compact && d.len() == 8)?;
                let number = |range: std::ops::Range<usize>| {
                    digits[range].parse::<u32>().unwrap_or_default()
                };
                plausible(number(0..4), number(4..6), number(6..8)).then_some(end)
            })
    } else {
        month_day(scan, start)
    }
}

pub(super) fn plausible(year: u32, month: u32, day: u32) -> bool {
    (1850..=2100).contains(&year) && is_date(year, month, day)
}

/// A number of at most `most` digits at an offset, and its end.
pub(super) fn number(scan: &Scan<'_>, at: usize, most: usize) -> Option<(u32, usize)> {
    let end = scan.run_at_most(at, most + 1, |b| b.is_ascii_digit());
    let value = scan
        .text
        .get(at..end)
        .filter(|d| !d.is_empty() && d.len() <= most)?;
    Some((value.parse().ok()?, end))
}

/// Past a separator and, where dots or slashes are set with spaces, the space after it.
fn after_separator(scan: &Scan<'_>, at: usize, separator: u8) -> Option<usize> {
    let spaced = scan.at(at) == b' ' && scan.at(at + 1) == separator;
    let at = if spaced { at + 1 } else { at };
    if scan.at(at) != separator {
        return None;
    }
    let dotted = matches!(separator, b'.' | b'/') && scan.at(at + 1) == b' ';
    Some(at + 1 + usize::from(dotted))
}

fn numeric(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let (first, at) = number(scan, start, 4)?;
    let separator = match scan.at(at) {
        b' ' => scan.at(at + 1),
        byte => byte,
    };
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let second = after_separator(scan, at, separator)?;
    let (middle, next) = number(scan, second, 2).or_else(|| month(scan, second))?;
    let third = after_separator(scan, next, separator)?;
    let (last, end) = number(scan, third, 4)?;
    let year_first = at - start == 4;
    let last_digits = end - third;
    let fits = if year_first {
        last_digits <= 2 && plausible(first, middle, last)
    } else if matches!(last_digits, 2 | 4) {
        let year = if last_digits == 2 { 2000 + last } else { last };
        // Day first, as in most of the world, or month first, as in the United States.
        plausible(year, middle, first) || plausible(year, first, middle)
    } else {
        false
    };
    fits.then_some(end)
}

/// The end of a month of a year: `05/2021`, `2021-05`, and of an ISO week: `2021-W05-3`.
pub(super) fn month_end(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let (first, at) = number(scan, start, 4)?;
    let separator = scan.at(at);
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let week = usize::from(scan.at(at + 1) == b'W');
    let (second, end) = number(scan, at + 1 + week, 4)?;
    let (year, part, digits) = match at - start {
        4 => (first, second, end - at - 1 - week),
        digits => (second, first, digits),
    };
    let four = at - start == 4 || end - at == 5;
    let fits = match week {
        0 => (1..=12).contains(&part) && digits <= 2,
        _ => at - start == 4 && digits == 2 && (1..=53).contains(&part),
    };
    if !four || !fits || !(1900..=2100).contains(&year) || separator == b'.' && digits < 2 {
        return None;
    }
    let day = week == 1 && scan.at(end) == b'-' && matches!(scan.at(end + 1), b'1'..=b'7');
    Some(if day { end + 2 } else { end })
}

/// The month that is named at an offset, and the end of its name.
pub(super) fn month(scan: &Scan<'_>, at: usize) -> Option<(u32, usize)> {
    const MAX_NAME: usize = 12;
    let end = scan.run_at_most(at, MAX_NAME, is_word);
    let word = scan.text.get(at..end)?.to_lowercase();
    let index = MONTHS
        .iter()
        .position(|names| names.contains(&word.as_str()))?;
    let dotted = scan.at(end) == b'.' && end - at <= 4;
    Some((index as u32 + 1, end + usize::from(dotted)))
}

pub(super) fn spaces(scan: &Scan<'_>, at: usize) -> usize {
    scan.run_at_most(at, 3, |b| matches!(b, b' ' | b',' | b'-' | b'/' | b'.'))
}

/// Past the ending of an ordinal number: `21st`, `1er`, `3º`, `17.`.
pub(super) fn ordinal(scan: &Scan<'_>, at: usize) -> usize {
    let rest = scan.text.get(at..).unwrap_or_default();
    let endings = ["st", "nd", "rd", "th", "er", "º", "°", "."];
    let ending = endings.iter().find(|ending| {
        rest.get(..ending.len())
            .is_some_and(|r| r.eq_ignore_ascii_case(ending))
    });
    at + ending.map_or(0, |ending| ending.len())
}

/// Past the word between a day and a month, or a month and a year: `21st of May`, `21 de mayo de 2021`.
pub(super) fn connective(scan: &Scan<'_>, at: usize) -> usize {
    let rest = scan.text.get(at..).unwrap_or_default();
    let words = ["of ", "de ", "del ", "do ", "di "];
    at + words
        .iter()
        .find(|word| rest.starts_with(**word))
        .map_or(0, |word| word.len())
}

fn day_month(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let (day, at) = number(scan, start, 2)?;
    let at = connective(scan, spaces(scan, ordinal(scan, at)));
    let (month, at) = month(scan, at)?;
    let (year, end) = year(scan, connective(scan, spaces(scan, at)))?;
    (plausible(year, month, day)).then_some(end)
}

fn month_day(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let (month, at) = month(scan, start)?;
    let (day, at) = number(scan, spaces(scan, at), 2)?;
    let (year, end) = year(scan, spaces(scan, ordinal(scan, at)))?;
    plausible(year, month, day).then_some(end)
}

/// A year of four digits, or of two after an apostrophe or alone.
pub(super) fn year(scan: &Scan<'_>, at: usize) -> Option<(u32, usize)> {
    let quote = usize::from(scan.at(at) == b'\'');
    let (year, end) = number(scan, at + quote, 4)?;
    match end - at - quote {
        4 => Some((year, end)),
        2 => Some((2000 + year, end)),
        _ => None,
    }
}
