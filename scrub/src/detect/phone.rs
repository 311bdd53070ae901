//! Telephone numbers: international ones by country code, national ones by their notation or a
//! context word.

use super::{DefaultPolicy, Detector, Repeats, Trigger, calling_codes};
use crate::Kind;
use crate::boundary::{begins, is_word};
use crate::context::has_word_before;
use crate::scan::Scan;

const PHONE: Kind = Kind::new("PHONE");

pub(super) static DETECTOR: Detector = Detector {
    name: "phone",
    kinds: || vec![PHONE],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::SearchedIfDigits,
    triggers: &[Trigger::Number(check)],
};

/// Context words of telephone numbers only.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "phone", "telephone", "tel", "tel.", "mobile", "mob", "cell", "cellphone", "fax", "dial", "sms", "whatsapp",
    "text me", "call me", "hotline", "landline", "desk", "my number", "phone_number", "phonenumber", "msisdn", "telefon",
    "telefono", "teléfono", "téléphone", "telefone", "handy", "mobil", "movil", "móvil", "celular", "cellulare",
    "portable", "cep no", "cep", "gsm", "voicemail", "viber", "mobile_number",
    "tél", "tél.", "tlf", "ph:", "ph.", "ph no", "rufnummer", "contact number", "contact no", "joindre", "llamar",
];
/// Context words of other numbers too; the number must be written in groups.
#[rustfmt::skip]
const WEAK_WORDS: &[&str] = &[
    "call", "calling", "reach", "answering", "ring", "contact", "messages to", "message on", "my registered",
    "number is", "number", "extension", "office", "signal", "telegram",
];
/// Words right before a number that is something else, in any notation.
#[rustfmt::skip]
const OTHER_WORDS: &[&str] = &[
    "card", "credit", "iban", "account", "invoice", "order", "isbn", "issn", "ssn", "zip", "version", "date", "id",
    "serial", "passport", "tax", "vat", "port", "amount", "price", "total", "size", "width", "height", "offset",
    "timestamp", "released",
];
/// How close before the number they must be, in bytes.
const OTHER_REACH: usize = 20;

const MAX_DIGITS: usize = 15;

/// A range that is written like a telephone number.
struct Number {
    end: usize,
    digits: [u8; MAX_DIGITS],
    count: usize,
    /// The sizes of its groups of digits.
    groups: Vec<usize>,
    brackets: bool,
    separators: Vec<u8>,
}

impl Number {
    /// Whether it is American and written with `-` or `.`, so that a space ends it.
    fn is_complete(&self) -> bool {
        matches!(self.groups[..], [3, 3, 4] | [1, 3, 3, 4])
            && matches!(self.separators.last(), Some(b'-' | b'.'))
    }
}

fn check(scan: &mut Scan<'_>, at: usize) {
    if !scan.at(at).is_ascii_digit() || scan.joins_before(at) {
        return;
    }
    let (start, plus) = number_start(scan, at);
    let signed = scan.at(start) == b'+';
    // `f(x)+3864292196` is an addition.
    let is_sum = || scan.joins_before(start) || matches!(scan.before(start), b')' | b']');
    if !signed && !begins(scan.bytes, start) || signed && is_sum() {
        return;
    }
    let Some(number) = parse(scan, at, start) else {
        return;
    };
    let end = extension_end(scan, number.end);
    if scan.joins_at(end) || continues(scan, end) || is_constant(scan, start, &number) {
        return;
    }
    let digits = &number.digits[..number.count];
    let text = &scan.text[start..number.end];
    let confidence = if plus {
        match calling_codes::is_assigned(digits) {
            true if number.groups.len() > 1 || number.count >= 9 => 0.92,
            true => 0.6,
            false => unassigned(&number, || context(scan, &number, start, end)),
        }
    } else if is_date_or_decimal(text, &number) || is_unix_time(text) && scan.key_end == 0 {
        0.0
    } else {
        let confidence = national(&number, digits, context(scan, &number, start, end));
        match confidence {
            LIKELY if scan.is_whole_text(at, end) => 0.55,
            LIKELY if is_european(&number) && !among_bytes(scan, start, end) => 0.5,
            confidence => confidence,
        }
    };
    if confidence > 0.0 {
        scan.add(PHONE, start, end, confidence);
    }
}

/// Whether the number is a constant of a program: `const GET_SMS: u32 = 536916224;`.
fn is_constant(scan: &Scan<'_>, start: usize, number: &Number) -> bool {
    if number.groups.len() != 1 || scan.at(number.end) != b';' {
        return false;
    }
    let line = scan.run_back(start, |b| b != b'\n');
    let before = &scan.text[line..start];
    before.ends_with("= ")
        && [
            ": u32", ": u64", ": usize", ": i32", ": i64", "const ", "#define ",
        ]
        .iter()
        .any(|word| before.contains(word))
}

/// The start of the number and whether it is international: a `+`, `00` or bracket before the first
/// digit belongs to it.
fn number_start(scan: &Scan<'_>, at: usize) -> (usize, bool) {
    let opened = if scan.before(at) == b'(' { at - 1 } else { at };
    match scan.before(opened) {
        b'+' => (opened - 1, true),
        _ if scan.bytes[at..].starts_with(b"00") && opened == at => (at, true),
        _ => (opened, false),
    }
}

fn parse(scan: &Scan<'_>, first: usize, start: usize) -> Option<Number> {
    let mut number = Number {
        end: first,
        digits: [0; MAX_DIGITS],
        count: 0,
        groups: Vec::new(),
        brackets: start < first && scan.bytes[first - 1] == b'(',
        separators: Vec::new(),
    };
    let mut at = first;
    loop {
        let end = scan.run(at, |b| b.is_ascii_digit());
        if number.count + (end - at) > MAX_DIGITS + 2 {
            return None;
        }
        for byte in &scan.bytes[at..end] {
            *number.digits.get_mut(number.count)? = byte - b'0';
            number.count += 1;
        }
        number.groups.push(end - at);
        number.end = end;
        // Between groups: a separator, also with brackets around a group, as in `+41 (0)62`.
        let next = scan.run(end, |b| {
            matches!(b, b' ' | b'-' | b'.' | b'/' | b'(' | b')')
        });
        let gap = &scan.bytes[end..next];
        if next == end
            || gap.len() > 3
            || !scan.at(next).is_ascii_digit()
            || number.groups.len() >= 7
            || gap == b" " && (number.is_complete() || number.count >= 7 && is_date(scan, next))
        {
            break;
        }
        number.brackets |= gap.contains(&b'(') || gap.contains(&b')');
        number.separators.push(gap[0]);
        at = next;
    }
    (number.count >= 6).then_some(number)
}

/// Whether the number continues with another symbol: it is a range, a sum or a decimal.
fn continues(scan: &Scan<'_>, end: usize) -> bool {
    let next = scan.at(end + 1);
    match scan.at(end) {
        b'-' => next.is_ascii_digit() || next == b'-',
        b'/' | b':' | b'_' | b'=' | b'%' | b'*' | b'+' => is_word(next),
        b'.' | b',' => next.is_ascii_digit(),
        b'@' => true,
        _ => false,
    }
}

/// The end of an extension: `ext. 12` and `x12` belong to the number before them.
fn extension_end(scan: &Scan<'_>, end: usize) -> usize {
    let word = scan.run(end, |b| matches!(b, b' ' | b','));
    let rest = &scan.bytes[word..];
    let names: [&[u8]; 4] = [b"extension", b"ext.", b"ext", b"x"];
    let Some(name) = names.iter().find(|n| {
        rest.get(..n.len())
            .is_some_and(|r| r.eq_ignore_ascii_case(n))
    }) else {
        return end;
    };
    // `(0x110000` is hexadecimal.
    if name.len() == 1 && scan.before(end) == b'0' && !scan.before(end - 1).is_ascii_digit() {
        return end;
    }
    let digits = scan.run(word + name.len(), |b| b == b' ');
    let last = scan.run(digits, |b| b.is_ascii_digit());
    if (1..=6).contains(&(last - digits)) && !scan.joins_at(last) {
        last
    } else {
        end
    }
}

/// Whether a date begins here, which is not part of the number before it.
fn is_date(scan: &Scan<'_>, at: usize) -> bool {
    let first = scan.run_at_most(at, 5, |b| b.is_ascii_digit());
    let separator = scan.at(first);
    let second = scan.run_at_most(first + 1, 3, |b| b.is_ascii_digit());
    matches!(first - at, 1 | 2 | 4)
        && matches!(second - first, 2 | 3)
        && matches!(separator, b'/' | b'-' | b'.')
        && scan.at(second) == separator
}

/// The confidence in an international number that no numbering plan contains: people invent them,
/// and forms accept them.
fn unassigned(number: &Number, context: impl Fn() -> Context) -> f32 {
    let digits = &number.digits[..number.count];
    let digits = digits.strip_prefix(&[0, 0]).unwrap_or(digits);
    let american = digits.len() == 11 && digits[0] == 1 && number.groups.ends_with(&[3, 4]);
    match (american, digits.len()) {
        (true, _) => 0.6,
        // The same as for its last groups alone.
        (false, 8..) if context() == Context::Strong => 0.8,
        _ => 0.0,
    }
}

/// `06.12.34.56.78` as in France, `07700 900123` and `07700 900 123` as in Britain.
fn is_european(number: &Number) -> bool {
    let same = number.separators.windows(2).all(|w| w[0] == w[1]);
    let spaced = number.separators.first() == Some(&b' ');
    let second = number.digits[1];
    same && number.digits[0] == 0
        && match number.groups[..] {
            // Mobile numbers only: they are rarely bytes or a date.
            [2, 2, 2, 2, 2] => matches!(second, 6 | 7) && (spaced || number.separators[0] == b'.'),
            [5, 6] | [5, 3, 3] => second == 7 && spaced,
            _ => false,
        }
}

/// Whether the number is part of a hex dump, with two hexadecimal digits next to it:
/// `06 12 34 56 78 9a ff`.
fn among_bytes(scan: &Scan<'_>, start: usize, end: usize) -> bool {
    let byte = |at: usize| scan.at(at).is_ascii_hexdigit() && scan.at(at + 1).is_ascii_hexdigit();
    let before = start >= 3
        && scan.before(start) == b' '
        && byte(start - 3)
        && !is_word(scan.before(start - 3));
    let after = scan.at(end) == b' ' && byte(end + 1) && !is_word(scan.at(end + 3));
    before || after
}

fn is_date_or_decimal(text: &str, number: &Number) -> bool {
    let year = |s: &str| s.len() == 4 && (s.starts_with("19") || s.starts_with("20"));
    let parts: Vec<&str> = text
        .split([' ', '-', '.', '/', '(', ')'])
        .filter(|p| !p.is_empty())
        .collect();
    let date = parts.len() >= 3 && (year(parts[0]) || year(parts[2])) && parts[1].len() <= 2;
    let decimal = number.groups.len() == 2 && number.separators == [b'.'];
    date || decimal
}

/// Seconds since 1970, from 2010 to 2035.
fn is_unix_time(text: &str) -> bool {
    let is_now = |n: u64| (1_262_304_000..2_051_222_400).contains(&n);
    text.len() == 10 && text.parse().is_ok_and(is_now)
}

/// The confidence in a number that is a telephone number if the text contains nothing else.
const LIKELY: f32 = 0.4;

/// How strongly the words nearby identify a telephone number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Strong,
    Weak,
    None,
}

fn context(scan: &Scan<'_>, number: &Number, start: usize, end: usize) -> Context {
    if has_word_before(scan.text, start, OTHER_REACH, OTHER_WORDS) {
        Context::None
    } else if scan.has_word_near(start, end, WORDS) {
        Context::Strong
    } else if number.groups.len() > 1 && scan.has_word_near(start, end, WEAK_WORDS) {
        Context::Weak
    } else {
        Context::None
    }
}

/// The confidence in a number without a country code.
fn national(number: &Number, digits: &[u8], context: Context) -> f32 {
    let groups = number.groups.as_slice();
    let repeated = digits.iter().all(|d| *d == digits[0]);
    let same = number.separators.windows(2).all(|w| w[0] == w[1]) || number.brackets;
    if repeated || groups.iter().filter(|g| **g == 1).count() > 1 {
        return 0.0;
    }
    // The North American numbering plan: three, three and four digits; area and exchange begin with
    // 2 to 9.
    let nanp = |d: &[u8]| d.len() == 10 && d[0] >= 2 && d[3] >= 2 && d[1] != 9;
    let american = match groups {
        [3, 3, 4] => nanp(digits),
        [1, 3, 3, 4] => digits[0] == 1 && nanp(&digits[1..]),
        _ => false,
    };
    let has_separator =
        number.brackets || number.separators.contains(&b'-') || number.separators.contains(&b'.');
    if american && (has_separator || context != Context::None) {
        return match (context, number.brackets || number.separators[0] == b'-') {
            (Context::Strong | Context::Weak, _) => 0.9,
            (Context::None, true) => 0.7,
            (Context::None, false) => 0.55,
        };
    }
    if context == Context::None {
        // `0171 2345678`, `0917 123 4567`, `0 (532) 1234567`: amounts do not begin with a zero.
        let trunk = digits[0] == 0 && digits[1] != 0 && (10..=11).contains(&digits.len());
        let rest = if groups[0] == 1 { &groups[1..] } else { groups };
        let grouped = rest.len() >= 2 && rest.iter().all(|g| (2..=4).contains(g)) && same;
        return match (trunk, grouped) {
            // `01 02 03 04 05` are bytes as often as a French number.
            (true, true) if groups.len() >= 3 && groups.iter().any(|g| *g > 2) => 0.5,
            (true, _) => LIKELY,
            (false, true) if groups.len() >= 3 && digits.len() >= 10 => LIKELY,
            _ => 0.1,
        };
    }
    // A year in brackets, or a version.
    let tiny = groups.len() > 1 && groups.iter().all(|g| *g <= 3) && digits.len() < 7;
    match (digits.len(), groups.len(), context) {
        _ if tiny && context == Context::Weak => 0.0,
        (7..=15, 2.., Context::Strong) => 0.8,
        (7..=15, 2.., _) => 0.65,
        (6, 2.., _) => 0.5,
        (7..=13, 1, Context::Strong) => 0.7,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn numbers_are_found_by_country_code_notation_or_context_word() {
        cases::check(
            "PHONE",
            &[
                ("+1 415 555 0132", "+1 415 555 0132"),
                ("phone: +1 (415) 555-0132", "+1 (415) 555-0132"),
                ("+442071234567.", "+442071234567"),
                ("at +41 (0)62 585 51 90", "+41 (0)62 585 51 90"),
                ("+49 30 1234567", "+49 30 1234567"),
                ("0049 30 1234567", "0049 30 1234567"),
                ("(415) 555-0132", "(415) 555-0132"),
                ("415-555-0132", "415-555-0132"),
                ("call (415)555-0132 ext. 12", "(415)555-0132 ext. 12"),
                ("Phone: 0489 25 37 29", "0489 25 37 29"),
                ("Tel.: 030/1234567", "030/1234567"),
                ("mobile 737 219 628", "737 219 628"),
                ("call me on 450 0840?", "450 0840"),
                ("Fax\n5403926876", "5403926876"),
                ("tel:+33123456789", "+33123456789"),
                ("or 0917 123 4567", "0917 123 4567"),
                ("09171234567", "09171234567"),
                ("0 (532) 1234567", "0 (532) 1234567"),
                ("532-123-45-67", "532-123-45-67"),
                ("phone: +1-123-456-7890", "+1-123-456-7890"),
                ("001-123-456-7890", "001-123-456-7890"),
                ("phone: +999 123 45678", "+999 123 45678"),
                ("Phone: 415-555-0132 12/31/2024", "415-555-0132"),
                ("415-555-0132 12:30", "415-555-0132"),
                ("+49 30 1234567 2024-01-15", "+49 30 1234567"),
                ("555-223-4567 555-987-6543", "555-223-4567"),
                ("555-223-4567 555-987-6543", "555-987-6543"),
                ("Tél : 06 12 34 56 78", "06 12 34 56 78"),
                ("tlf 22 34 56 78", "22 34 56 78"),
                ("Ph: 98765 43210", "98765 43210"),
                ("contact_number: 9876543210", "9876543210"),
                ("me joindre au 01 23 45 67 89", "01 23 45 67 89"),
                ("ou 06 12 34 56 78 demain", "06 12 34 56 78"),
                ("or 07700 900123", "07700 900123"),
                ("or 07700 900 123", "07700 900 123"),
            ],
            &[
                "2024-01-15 10:20:30",
                "phone 2024-01-15",
                "+1 + 2 = 3",
                "x+4420712345678901234",
                "range 100-200-3000",
                "0.123.456",
                "pi 3.14159265",
                "9.00842862207,",
                "1700000000",
                "+999 123 456",
                "[123, 456, 7890]",
                "size 1024 2048 4096",
                "recall 1234567",
                "take 09171234567 of them",
                "IE mobile 1340150400",
                "f(n,5)+3864292196",
                "the Number 1114112 (0x110000)",
                "<Buffer 01 02 03 04 05>",
                "<Buffer 06 12 34 56 78 9a>",
                "<Buffer 06 12 34 56 78 ff>",
                "ff 06 12 34 56 78",
                "pH 7.35 to 7.45",
                "ph_tin: 123456789",
                "days 25  26  27  28  29  30",
                "since 1582-10-15 00:00:00, the number",
                "contact_notes: 9876543210",
                "07700900 123 and 17700 900123",
                "2024-01-15 12/31/2024",
                "1234567890",
            ],
        );
    }
}
