//! The one pass over a text: finds the places worth an exact check, and hands each to the
//! detectors that asked for it.
//!
//! Literal words come from [`Literals`]. Everything else hangs on a byte that is rare in ordinary
//! text: a digit, an `@`, a `:` between hexadecimal digits.
use crate::detect::{Detector, PlaceCheck, RangeCheck, Trigger};
use crate::literals::Literals;
use crate::scan::Scan;
use crate::{boundary, placeholder, skip};

/// The detector that looks for plain dates.
const DATE: &str = "date";
/// Numbers joined by spaces or dashes are looked at together, this far ahead.
const CLUSTER: usize = 48;
/// A cluster with fewer letters and digits, or fewer digits, is no number of any kind.
const MIN_CLUSTER: usize = 6;
const MIN_DIGITS: usize = 6;
/// Where letters and digits share a word, as in `ABCPE1234F`, this many digits are enough.
const MIN_MIXED_DIGITS: usize = 4;
/// No number goes on after a word of more letters: IBANs have four.
const MAX_LETTERS: usize = 4;
/// Words of random text are at least this long between the dashes of a token.
const MIN_BLOB_WORD: usize = 10;
/// A token shorter than this holds no secret that has no label.
const MIN_BLOB: usize = 20;

/// How far the text has been looked at as a cluster of numbers, and as a long token.
#[derive(Default)]
struct Ends {
    cluster: usize,
    blob: usize,
}

/// The detectors that are switched on, sorted by what triggers them.
pub(crate) struct Prefilter {
    literals: Literals,
    numbers: Vec<(&'static Detector, PlaceCheck)>,
    /// Of those, the ones that times of the clock and the calendar are for.
    dates: Vec<(&'static Detector, PlaceCheck)>,
    blobs: Vec<(&'static Detector, RangeCheck)>,
    at_signs: Vec<(&'static Detector, PlaceCheck)>,
    hex_pairs: Vec<(&'static Detector, PlaceCheck)>,
    wholes: Vec<(&'static Detector, PlaceCheck)>,
    codes: Vec<(&'static Detector, PlaceCheck)>,
}

impl Prefilter {
    pub(crate) fn new(detectors: &[&'static Detector]) -> Self {
        let mut filter = Self {
            literals: Literals::new(),
            numbers: Vec::new(),
            dates: Vec::new(),
            blobs: Vec::new(),
            at_signs: Vec::new(),
            hex_pairs: Vec::new(),
            wholes: Vec::new(),
            codes: Vec::new(),
        };
        for detector in detectors {
            for trigger in detector.triggers {
                match trigger {
                    Trigger::Literals(list, check) => {
                        for (index, literal) in list().iter().enumerate() {
                            filter.literals.add(literal, detector, index, *check);
                        }
                    }
                    Trigger::Number(check) => filter.numbers.push((detector, *check)),
                    Trigger::Blob(check) => filter.blobs.push((detector, *check)),
                    Trigger::AtSign(check) => filter.at_signs.push((detector, *check)),
                    Trigger::Whole(check) => filter.wholes.push((detector, *check)),
                    Trigger::Code(check) => filter.codes.push((detector, *check)),
                    Trigger::HexPair(check) => filter.hex_pairs.push((detector, *check)),
                }
            }
        }
        let dates = filter
            .numbers
            .iter()
            .filter(|(detector, _)| detector.name == DATE);
        filter.dates = dates.copied().collect();
        filter
    }

    pub(crate) fn run(&self, scan: &mut Scan<'_>) {
        self.literals.each(scan.bytes, |literal, place| {
            if !placeholder::surrounds(scan.bytes, place.start) {
                scan.enter(literal.detector);
                (literal.check)(scan, literal.index, place);
            }
        });
        self.bytes(scan);
        if let Some(whole) = scan.whole.clone() {
            call(&self.wholes, scan, whole.start);
        }
    }

    /// Whether any word that a detector asked for stands in the text.
    pub(crate) fn has_literal(&self, text: &str) -> bool {
        let mut found = false;
        self.literals.each(text.as_bytes(), |_, _| found = true);
        found
    }

    fn bytes(&self, scan: &mut Scan<'_>) {
        let bytes = scan.bytes;
        let mut ends = Ends::default();
        skip::each_telling(bytes, |place| match bytes[place] {
            b'0'..=b'9' => self.word(scan, place, &mut ends),
            b'@' => {
                call(&self.at_signs, scan, place);
                place + 1
            }
            sign => {
                let joins = match sign {
                    b'.' => joins_letters(bytes, place),
                    b'/' => false,
                    _ => joins_hex(bytes, place),
                };
                if joins {
                    call(&self.hex_pairs, scan, place);
                }
                place + 1
            }
        });
    }

    /// Looks at the word around a digit, and says where to go on.
    fn word(&self, scan: &mut Scan<'_>, digit: usize, ends: &mut Ends) -> usize {
        let bytes = scan.bytes;
        let start = scan.run_back(digit, |b| b.is_ascii_alphanumeric());
        let end = scan.run(digit, |b| b.is_ascii_alphanumeric());
        if begins_code(bytes, start, end) {
            call(&self.codes, scan, start);
        }
        if let Some(time_end) = timestamp_end(bytes, start) {
            call(&self.dates, scan, start);
            return end.max(time_end);
        }
        if let Some(time_end) = clock_end(bytes, start) {
            return time_end;
        }
        if start >= ends.cluster {
            ends.cluster = cluster(bytes, start);
        }
        if start < ends.cluster {
            self.number(scan, start);
        }
        if end - start >= MIN_BLOB_WORD && start >= ends.blob {
            ends.blob = self.blob(scan, start, end);
        }
        end
    }

    /// A number may begin at the word itself, or at a short word of letters before it, as in
    /// `DE 136695976`.
    fn number(&self, scan: &mut Scan<'_>, start: usize) {
        if let Some(letters) = letters_before(scan.bytes, start) {
            measure(scan, letters);
            if scan.reach >= MIN_CLUSTER {
                call(&self.numbers, scan, letters);
            }
        }
        measure(scan, start);
        // What is left of a cluster may be too short for anything but an IPv4 address.
        if scan.reach >= MIN_CLUSTER || scan.at(start + scan.lead) == b'.' {
            call(&self.numbers, scan, start);
        }
    }

    fn blob(&self, scan: &mut Scan<'_>, start: usize, end: usize) -> usize {
        let joins = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'_' | b'-');
        let from = scan.run_back(start, joins);
        let body = scan.run(end, joins);
        let to = scan.run(body, |b| b == b'=').min(body + 2);
        if to - from >= MIN_BLOB {
            for (detector, check) in &self.blobs {
                scan.enter(detector);
                check(scan, from..to);
            }
        }
        to
    }
}

/// Notes how long a number that begins at a place could be.
fn measure(scan: &mut Scan<'_>, start: usize) {
    scan.lead = scan.run(start, |b| b.is_ascii_digit()) - start;
    let (mut count, mut gap) = (0, 0);
    for byte in scan.bytes[start..].iter().take(CLUSTER) {
        if byte.is_ascii_alphanumeric() {
            count += 1;
            gap = 0;
        } else {
            gap += 1;
            if gap > 2 {
                break;
            }
        }
    }
    scan.reach = count;
}

fn call(checks: &[(&'static Detector, PlaceCheck)], scan: &mut Scan<'_>, at: usize) {
    for (detector, check) in checks {
        scan.enter(detector);
        check(scan, at);
    }
}

/// The end of `2026-01-31` or `2026-01-31T23:59`: machines write so many of them that it pays not
/// to try them as anything else.
fn timestamp_end(bytes: &[u8], start: usize) -> Option<usize> {
    let fits = |layout: &[u8], from: usize| {
        let text = bytes.get(from..from + layout.len())?;
        let same = |(sign, byte): (&u8, &u8)| match sign {
            b'9' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b' '),
            _ => sign == byte,
        };
        layout
            .iter()
            .zip(text)
            .all(same)
            .then_some(from + layout.len())
    };
    let century = bytes.get(start..start + 2)?;
    if century != b"19" && century != b"20" {
        return None;
    }
    let day = fits(b"9999-99-99", start)?;
    let end = fits(b"T99:99", day).unwrap_or(day);
    let next = boundary::at(bytes, end);
    let whole = !next.is_ascii_digit() && next != b'-';
    (whole && !boundary::is_word(boundary::before(bytes, start))).then_some(end)
}

/// The end of a time of day, `23:59` or `T23:59:59`, that is no part of a longer list of bytes.
fn clock_end(bytes: &[u8], start: usize) -> Option<usize> {
    let pair = |at: usize, most: u8| {
        let (tens, ones) = (boundary::at(bytes, at), boundary::at(bytes, at + 1));
        let fits = tens.is_ascii_digit() && ones.is_ascii_digit() && tens <= most;
        fits.then_some(at + 2)
    };
    let colon = |at: usize| (boundary::at(bytes, at) == b':').then_some(at + 1);
    let hour = start + usize::from(bytes[start] == b'T');
    let minutes = pair(colon(pair(hour, b'2')?)?, b'5')?;
    let end = match colon(minutes) {
        Some(seconds) => pair(seconds, b'5')?,
        None => minutes,
    };
    let next = boundary::at(bytes, end);
    (!matches!(next, b':' | b'-') && !next.is_ascii_hexdigit()).then_some(end)
}

/// The end of the cluster of numbers that begins at `start`, or `start` if it is too small.
fn cluster(bytes: &[u8], start: usize) -> usize {
    let limit = bytes.len().min(start + CLUSTER);
    let (mut digits, mut total, mut gap, mut dots, mut end) = (0, 0, 0, 0, start);
    // Of the word at hand: whether it is the first, how many letters, whether a digit.
    let (mut first, mut letters, mut digit, mut mixed) = (true, 0, false, false);
    for (at, byte) in bytes[..limit].iter().enumerate().skip(start) {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                digit = true;
            }
            b'A'..=b'Z' | b'a'..=b'z' => {
                letters += 1;
                if !first && !digit && letters > MAX_LETTERS {
                    break;
                }
            }
            b' ' | b'-' | b'.' | b'/' | b'(' | b')' | b':' | b'_' | b'\n' if gap < 3 => {
                dots += usize::from(*byte == b'.' && gap == 0);
                gap += 1;
                (first, letters, digit) = (false, 0, false);
                continue;
            }
            _ => break,
        }
        mixed |= digit && letters > 0;
        total += 1;
        gap = 0;
        end = at + 1;
    }
    // 8.8.8.8 is short, but an address; few digits need letters among them.
    let enough = digits >= MIN_DIGITS || (digits >= MIN_MIXED_DIGITS && mixed);
    if (enough && total >= MIN_CLUSTER) || (dots >= 3 && digits >= 4) {
        end
    } else {
        start
    }
}

/// Whether a word from `start` to `end` could be the first part of a postal code of two.
fn begins_code(bytes: &[u8], start: usize, end: usize) -> bool {
    let sign = |at: usize| boundary::at(bytes, at);
    end - start <= 4
        && sign(end) == b' '
        && sign(end + 1).is_ascii_digit()
        && sign(start).is_ascii_uppercase()
        && sign(end + 2).is_ascii_uppercase()
        && sign(end + 3).is_ascii_alphanumeric()
        && !boundary::is_word(sign(end + 4))
}

fn letters_before(bytes: &[u8], start: usize) -> Option<usize> {
    let joint = start.checked_sub(1)?;
    if !matches!(bytes[joint], b' ' | b'-' | b'.') {
        return None;
    }
    let from = bytes[..joint]
        .iter()
        .rposition(|b| !b.is_ascii_alphabetic())
        .map_or(0, |i| i + 1);
    ((1..=5).contains(&(joint - from)) && !boundary::is_word(boundary::before(bytes, from)))
        .then_some(from)
}

/// Whether `:` or `-` stands where a MAC or IPv6 address would have it.
fn joins_hex(bytes: &[u8], at: usize) -> bool {
    let hex = |i: usize| boundary::at(bytes, i).is_ascii_hexdigit();
    let previous = boundary::before(bytes, at);
    let next = boundary::at(bytes, at + 1);
    match bytes[at] {
        b':' => {
            (previous.is_ascii_hexdigit() && (next.is_ascii_hexdigit() || next == b':'))
                || (next == b':' && !previous.is_ascii_alphanumeric() && previous != b':')
        }
        _ => {
            at >= 2
                && previous.is_ascii_hexdigit()
                && bytes[at - 2].is_ascii_hexdigit()
                && hex(at + 1)
                && hex(at + 2)
                && boundary::at(bytes, at + 3) == b'-'
        }
    }
}

/// Whether the dot stands where Cisco's `aabb.ccdd.eeff` has its first, and no digit before it.
fn joins_letters(bytes: &[u8], at: usize) -> bool {
    at >= 4
        && boundary::at(bytes, at + 5) == b'.'
        && bytes[at - 4..at].iter().all(u8::is_ascii_hexdigit)
}
