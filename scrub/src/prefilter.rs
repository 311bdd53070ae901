//! The one pass over a text: finds the offsets worth an exact check, and calls the detectors whose
//! [`Trigger`] matches there.
//!
//! [`Literals`] finds the words. Every other trigger depends on a byte that is rare in ordinary
//! text: a digit, an `@`, a `:` between hexadecimal digits.

use crate::detect::{Detector, OffsetCheck, TokenCheck, Trigger};
use crate::literals::Literals;
use crate::scan::Scan;
use crate::{boundary, byte_search, placeholder};

/// A cluster is a run of numbers joined by spaces or dashes. It extends at most this far.
const MAX_CLUSTER_BYTES: usize = 48;
/// A cluster with fewer letters and digits is not passed to the number detectors.
const MIN_CLUSTER_CHARS: usize = 6;
/// Nor is one with fewer digits.
const MIN_CLUSTER_DIGITS: usize = 6;
/// Where letters and digits share a word, as in `ABCPE1234F`, this many digits are enough.
const MIN_MIXED_DIGITS: usize = 4;
/// A word of more letters ends a cluster: IBANs have four.
const MAX_CLUSTER_LETTERS: usize = 4;
/// A token of random text has a word of at least this many characters between its dashes.
const MIN_TOKEN_WORD: usize = 10;
/// A shorter token is not a secret, unless a label precedes it.
const MIN_TOKEN: usize = 20;

/// The ends of the last cluster and the last token, so that each is examined once.
#[derive(Default)]
struct Ends {
    cluster: usize,
    token: usize,
}

/// The enabled detectors, by trigger.
pub(crate) struct Prefilter {
    literals: Literals,
    numbers: Vec<(&'static Detector, OffsetCheck)>,
    timestamps: Vec<(&'static Detector, OffsetCheck)>,
    tokens: Vec<(&'static Detector, TokenCheck)>,
    at_signs: Vec<(&'static Detector, OffsetCheck)>,
    hex_separators: Vec<(&'static Detector, OffsetCheck)>,
    whole_texts: Vec<(&'static Detector, OffsetCheck)>,
    two_part_codes: Vec<(&'static Detector, OffsetCheck)>,
    postal_codes: Vec<(&'static Detector, OffsetCheck)>,
    slashes: Vec<(&'static Detector, OffsetCheck)>,
}

impl Prefilter {
    pub(crate) fn new(detectors: &[&'static Detector]) -> Self {
        let mut filter = Self {
            literals: Literals::new(),
            numbers: Vec::new(),
            timestamps: Vec::new(),
            tokens: Vec::new(),
            at_signs: Vec::new(),
            hex_separators: Vec::new(),
            whole_texts: Vec::new(),
            two_part_codes: Vec::new(),
            postal_codes: Vec::new(),
            slashes: Vec::new(),
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
                    Trigger::NumberOrTimestamp(check) => {
                        filter.numbers.push((detector, *check));
                        filter.timestamps.push((detector, *check));
                    }
                    Trigger::Token(check) => filter.tokens.push((detector, *check)),
                    Trigger::AtSign(check) => filter.at_signs.push((detector, *check)),
                    Trigger::WholeText(check) => filter.whole_texts.push((detector, *check)),
                    Trigger::TwoPartCode(check) => filter.two_part_codes.push((detector, *check)),
                    Trigger::PostalCode(check) => filter.postal_codes.push((detector, *check)),
                    Trigger::Slash(check) => filter.slashes.push((detector, *check)),
                    Trigger::HexSeparator(check) => filter.hex_separators.push((detector, *check)),
                }
            }
        }
        filter
    }

    pub(crate) fn run(&self, scan: &mut Scan<'_>) {
        self.literals.for_each(scan.bytes, |literal, range| {
            if !placeholder::surrounds(scan.bytes, range.start) {
                scan.set_detector(literal.detector);
                (literal.check)(scan, literal.index, range);
            }
        });
        self.check_trigger_bytes(scan);
        if let Some(whole) = scan.whole_value.clone() {
            run_checks(&self.whole_texts, scan, whole.start);
        }
    }

    /// Whether the text contains a literal of any detector.
    pub(crate) fn has_literal(&self, text: &str) -> bool {
        let mut found = false;
        self.literals.for_each(text.as_bytes(), |_, _| found = true);
        found
    }

    fn check_trigger_bytes(&self, scan: &mut Scan<'_>) {
        let bytes = scan.bytes;
        let mut ends = Ends::default();
        byte_search::for_each_trigger_byte(bytes, |at| match bytes[at] {
            b'0'..=b'9' => self.check_word(scan, at, &mut ends),
            b'@' => {
                run_checks(&self.at_signs, scan, at);
                at + 1
            }
            separator => {
                let joins = match separator {
                    b'.' => joins_cisco_groups(bytes, at),
                    b'/' => {
                        if boundary::before(bytes, at).is_ascii_digit() {
                            run_checks(&self.slashes, scan, at);
                        }
                        false
                    }
                    _ => joins_hex(bytes, at),
                };
                if joins {
                    run_checks(&self.hex_separators, scan, at);
                }
                at + 1
            }
        });
    }

    /// Checks the word around a digit, and returns the offset to continue from.
    fn check_word(&self, scan: &mut Scan<'_>, digit: usize, ends: &mut Ends) -> usize {
        let bytes = scan.bytes;
        let start = scan.run_back(digit, |b| b.is_ascii_alphanumeric());
        let end = scan.run(digit, |b| b.is_ascii_alphanumeric());
        if begins_two_part_code(bytes, start, end) {
            run_checks(&self.two_part_codes, scan, start);
        }
        if may_be_postal_code(bytes, start, end) {
            run_checks(&self.postal_codes, scan, start);
        }
        if let Some(time_end) = timestamp_end(bytes, start) {
            run_checks(&self.timestamps, scan, start);
            return end.max(time_end);
        }
        if let Some(time_end) = clock_end(bytes, start) {
            return time_end;
        }
        if start >= ends.cluster {
            ends.cluster = cluster_end(bytes, start);
        }
        if start < ends.cluster || is_serial_number(&bytes[start..end]) {
            self.check_number(scan, start);
        }
        if end - start >= MIN_TOKEN_WORD && start >= ends.token {
            ends.token = self.check_token(scan, start, end);
        }
        end
    }

    /// A number may begin at the word itself, or at a short word of letters before it, as in
    /// `DE 136695976`.
    fn check_number(&self, scan: &mut Scan<'_>, start: usize) {
        if let Some(letters) = letters_before(scan.bytes, start) {
            measure_number(scan, letters);
            if scan.number_chars >= MIN_CLUSTER_CHARS {
                run_checks(&self.numbers, scan, letters);
            }
        }
        measure_number(scan, start);
        // The rest of a cluster may be too short for anything but an IPv4 address.
        if scan.number_chars >= MIN_CLUSTER_CHARS || scan.at(start + scan.leading_digits) == b'.' {
            run_checks(&self.numbers, scan, start);
        }
    }

    /// Checks the token around a long word, and returns its end.
    fn check_token(&self, scan: &mut Scan<'_>, start: usize, end: usize) -> usize {
        let joins = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'_' | b'-');
        let from = scan.run_back(start, joins);
        let body = scan.run(end, joins);
        let to = scan.run(body, |b| b == b'=').min(body + 2);
        if to - from >= MIN_TOKEN {
            for (detector, check) in &self.tokens {
                scan.set_detector(detector);
                check(scan, from..to);
            }
        }
        to
    }
}

/// Sets how long a number that begins at `start` could be.
fn measure_number(scan: &mut Scan<'_>, start: usize) {
    scan.leading_digits = scan.run(start, |b| b.is_ascii_digit()) - start;
    let (mut count, mut gap) = (0, 0);
    for byte in scan.bytes[start..].iter().take(MAX_CLUSTER_BYTES) {
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
    scan.number_chars = count;
}

fn run_checks(checks: &[(&'static Detector, OffsetCheck)], scan: &mut Scan<'_>, at: usize) {
    for (detector, check) in checks {
        scan.set_detector(detector);
        check(scan, at);
    }
}

/// The end of `2026-01-31` or `2026-01-31T23:59`. Logs have so many timestamps that skipping the
/// number detectors for them pays off.
fn timestamp_end(bytes: &[u8], start: usize) -> Option<usize> {
    let fits = |layout: &[u8], from: usize| {
        let text = bytes.get(from..from + layout.len())?;
        let same = |(symbol, byte): (&u8, &u8)| match symbol {
            b'9' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b' '),
            _ => symbol == byte,
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

/// The end of a time of day, `23:59` or `T23:59:59`, unless it is part of a longer hex sequence.
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
fn cluster_end(bytes: &[u8], start: usize) -> usize {
    let limit = bytes.len().min(start + MAX_CLUSTER_BYTES);
    let (mut digits, mut total, mut gap, mut dots, mut end) = (0, 0, 0, 0, start);
    // Of the current word: whether it is the first, its letters, whether it has a digit.
    let (mut first, mut letters, mut digit, mut mixed) = (true, 0, false, false);
    for (at, byte) in bytes[..limit].iter().enumerate().skip(start) {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                digit = true;
            }
            b'A'..=b'Z' | b'a'..=b'z' => {
                letters += 1;
                if !first && !digit && letters > MAX_CLUSTER_LETTERS {
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
    // 8.8.8.8 is short, but an address. With few digits, letters must be among them.
    let enough = digits >= MIN_CLUSTER_DIGITS || (digits >= MIN_MIXED_DIGITS && mixed);
    if (enough && total >= MIN_CLUSTER_CHARS) || (dots >= 3 && digits >= 4) {
        end
    } else {
        start
    }
}

/// Whether a word is written like the number of a document, which may have few digits: `C01X0006H`.
fn is_serial_number(word: &[u8]) -> bool {
    (9..=11).contains(&word.len())
        && word
            .iter()
            .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

/// Whether the word from `start` to `end` could be the first part of a postal code such as `SW1A
/// 1AA`.
fn begins_two_part_code(bytes: &[u8], start: usize, end: usize) -> bool {
    let byte = |at: usize| boundary::at(bytes, at);
    end - start <= 4
        && byte(end) == b' '
        && byte(end + 1).is_ascii_digit()
        && byte(start).is_ascii_uppercase()
        && byte(end + 2).is_ascii_uppercase()
        && byte(end + 3).is_ascii_alphanumeric()
        && !boundary::is_word(byte(end + 4))
}

/// Whether a word of digits stands where a postal code does: before a capital, as in `10115 Berlin`, after two
/// capitals, as in `IL 62704`, or, with six digits, after a space or dash.
fn may_be_postal_code(bytes: &[u8], start: usize, end: usize) -> bool {
    let byte = |at: usize| boundary::at(bytes, at);
    let back = |count: usize| start.checked_sub(count).map_or(0, |at| bytes[at]);
    let before_capital =
        || byte(end) == b' ' && (byte(end + 1).is_ascii_uppercase() || byte(end + 1) >= 0x80);
    let after_capitals =
        || back(1) == b' ' && back(2).is_ascii_uppercase() && back(3).is_ascii_uppercase();
    let fits = match end - start {
        3 => byte(end) == b' ' && byte(end + 1).is_ascii_digit() && matches!(back(1), b' ' | b'-'),
        4 => before_capital(),
        5 => before_capital() || after_capitals(),
        6 => matches!(back(1), b' ' | b'-'),
        _ => false,
    };
    fits && bytes[start..end].iter().all(u8::is_ascii_digit)
}

/// The start of the short word of letters before a number.
fn letters_before(bytes: &[u8], start: usize) -> Option<usize> {
    let separator = start.checked_sub(1)?;
    if !matches!(bytes[separator], b' ' | b'-' | b'.') {
        return None;
    }
    let from = bytes[..separator]
        .iter()
        .rposition(|b| !b.is_ascii_alphabetic())
        .map_or(0, |i| i + 1);
    ((1..=5).contains(&(separator - from)) && !boundary::is_word(boundary::before(bytes, from)))
        .then_some(from)
}

/// Whether a `:` or `-` is where a MAC or IPv6 address would have it.
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

/// Whether a dot is where Cisco's notation `aabb.ccdd.eeff` has its first.
fn joins_cisco_groups(bytes: &[u8], at: usize) -> bool {
    at >= 4
        && boundary::at(bytes, at + 5) == b'.'
        && bytes[at - 4..at].iter().all(u8::is_ascii_hexdigit)
}
