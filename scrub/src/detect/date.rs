//! Parses calendar dates in common notations, for the detectors `birth_date` and `date`.

use crate::checksum::is_date;
use crate::scan::Scan;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
#[rustfmt::skip]
const LONG_MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
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

fn plausible(year: u32, month: u32, day: u32) -> bool {
    (1850..=2100).contains(&year) && is_date(year, month, day)
}

/// A number of at most `most` digits at an offset, and its end.
fn number(scan: &Scan<'_>, at: usize, most: usize) -> Option<(u32, usize)> {
    let end = scan.run(at, |b| b.is_ascii_digit());
    let value = scan
        .text
        .get(at..end)
        .filter(|d| !d.is_empty() && d.len() <= most)?;
    Some((value.parse().ok()?, end))
}

fn numeric(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let (first, at) = number(scan, start, 4)?;
    let separator = scan.at(at);
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let (middle, next) = match number(scan, at + 1, 2) {
        Some((middle, next)) => (middle, next),
        None => {
            let (month, next) = month(scan, at + 1)?;
            (month, next)
        }
    };
    if scan.at(next) != separator {
        return None;
    }
    let (last, end) = number(scan, next + 1, 4)?;
    let year_first = at - start == 4;
    let last_digits = end - next - 1;
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

fn month(scan: &Scan<'_>, at: usize) -> Option<(u32, usize)> {
    let end = scan.run(at, |b| b.is_ascii_alphabetic());
    let word = scan.text.get(at..end)?.to_ascii_lowercase();
    let index = LONG_MONTHS.iter().position(|m| *m == word).or_else(|| {
        MONTHS
            .iter()
            .position(|m| *m == word || (word == "sept" && *m == "sep"))
    })?;
    let end = if scan.at(end) == b'.' && end - at <= 4 {
        end + 1
    } else {
        end
    };
    Some((index as u32 + 1, end))
}

fn spaces(scan: &Scan<'_>, at: usize) -> usize {
    scan.run(at, |b| matches!(b, b' ' | b',' | b'-' | b'/'))
        .min(at + 3)
}

fn ordinal(scan: &Scan<'_>, at: usize) -> usize {
    let suffix = scan.bytes.get(at..at + 2).unwrap_or_default();
    let known: [&[u8]; 4] = [b"st", b"nd", b"rd", b"th"];
    if known.contains(&suffix) {
        at + 2
    } else if scan.at(at) == b'.' {
        at + 1
    } else {
        at
    }
}

fn day_month(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let (day, at) = number(scan, start, 2)?;
    let at = spaces(scan, ordinal(scan, at));
    let at = if scan.text.get(at..).is_some_and(|t| t.starts_with("of ")) {
        at + 3
    } else {
        at
    };
    let (month, at) = month(scan, at)?;
    let (year, end) = number(scan, spaces(scan, at), 4)?;
    (plausible(year, month, day)).then_some(end)
}

fn month_day(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let (month, at) = month(scan, start)?;
    let (day, at) = number(scan, spaces(scan, at), 2)?;
    let (year, end) = number(scan, spaces(scan, ordinal(scan, at)), 4)?;
    plausible(year, month, day).then_some(end)
}
