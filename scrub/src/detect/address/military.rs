//! Addresses of the armed forces of the United States: `PSC 1234, Box 567, APO AE 09021`.

use std::ops::Range;

use super::ADDRESS;
use crate::boundary::is_word;
use crate::scan::Scan;

/// The post offices, with a space before the region.
pub(super) const OFFICES: &[&str] = &["apo a", "fpo a", "dpo a"];
/// What the line above begins with.
const BEGINNINGS: &[&str] = &[
    "PSC ", "CMR ", "Unit ", "UNIT ", "USS ", "USNS ", "USCGC ", "USNV ", "USNR ",
];
/// How far above it is.
const REACH: usize = 64;

pub(super) fn at_office(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let capital = scan.bytes[hit.start].is_ascii_uppercase();
    if !capital
        || is_word(scan.before(hit.start))
        || !matches!(scan.at(hit.end), b'A' | b'E' | b'P')
    {
        return;
    }
    let code = hit.end + 2;
    let end = scan.run_at_most(code, 6, |b| b.is_ascii_digit());
    if scan.at(hit.end + 1) != b' ' || end - code != 5 {
        return;
    }
    let mut from = hit.start.saturating_sub(REACH);
    while !scan.text.is_char_boundary(from) {
        from += 1;
    }
    let above = &scan.text[from..hit.start];
    let begins = |word: &&str| {
        let at = from + above.rfind(*word)?;
        (!is_word(scan.before(at))).then_some(at)
    };
    let start = BEGINNINGS
        .iter()
        .filter_map(begins)
        .max()
        .unwrap_or(hit.start);
    scan.add(ADDRESS, start, end, 0.85);
}
