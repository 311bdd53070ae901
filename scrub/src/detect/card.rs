//! Payment card numbers: issuer ranges (ISO/IEC 7812), lengths and the Luhn check digit.

use std::ops::Range;

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::boundary::stands_alone;
use crate::scan::Scan;
use crate::{Kind, checksum};

const CARD: Kind = Kind::new("CARD");

pub(super) static DETECTOR: Detector = Detector {
    name: "card",
    kinds: || vec![CARD],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::Number(check)],
};

const WORDS: &[&str] = &[
    "card",
    "credit",
    "debit",
    "visa",
    "mastercard",
    "amex",
    "american express",
    "discover",
    "diners",
    "jcb",
    "maestro",
    "unionpay",
    "cc",
    "ccn",
    "pan",
    "tarjeta",
    "carte",
    "karte",
    "kreditkarte",
    "carta",
    "cartao",
    "cartão",
    "kort",
    "payment",
];

const MIN_DIGITS: usize = 12;
const MAX_DIGITS: usize = 19;
/// Few cards have more digits.
const COMMON_DIGITS: usize = 16;

fn check(scan: &mut Scan<'_>, start: usize) {
    if !scan.at(start).is_ascii_digit() {
        return;
    }
    let mut digits = [0u32; MAX_DIGITS];
    let (mut count, mut groups, mut broken, mut at) = (0, 1, false, start);
    // The longest match wins, so every end is tried and the last valid one kept.
    let mut best = None;
    while count < MAX_DIGITS {
        let byte = scan.at(at);
        if byte.is_ascii_digit() {
            digits[count] = u32::from(byte - b'0');
            count += 1;
            at += 1;
            let is_end = !scan.at(at).is_ascii_digit();
            if is_end && count >= MIN_DIGITS && is_card(&digits[..count]) {
                best = Some((at, count, groups, broken));
            }
        } else if matches!(byte, b' ' | b'-' | b'.' | b'_' | b'\n')
            && scan.at(at + 1).is_ascii_digit()
        {
            broken |= byte == b'\n';
            groups += 1;
            at += 1;
        } else {
            break;
        }
    }
    let Some((end, count, groups, broken)) = best else {
        return;
    };
    let named = scan.has_word_near(start, end, WORDS);
    let grouped = named || is_grouped(&scan.text[start..end], groups);
    if !stands_alone(scan.bytes, start, end) || !grouped {
        return;
    }
    // Twelve and thirteen digits are rare for cards and common for timestamps and article numbers,
    // and two lines of digits are more often two numbers.
    let needs_name = broken || count < 14 || !is_issued(&digits[..count]);
    // `current_block = 4488286894823169796;`: a number of 64 bits has more digits than most cards.
    let is_literal =
        || count > COMMON_DIGITS && scan.bytes[..start].ends_with(b"= ") && scan.at(end) == b';';
    if !named
        && (is_decimal(scan, start, groups) || is_literal() || is_in_table(scan, start..end, count))
    {
        return;
    }
    match (named, needs_name) {
        (true, _) => scan.add(CARD, start, end, 0.95),
        (false, false) => scan.add(CARD, start, end, 0.75),
        (false, true) => {}
    }
}

/// Whether a number is the fraction after a point, or has one: `3762.84250000003`.
fn is_decimal(scan: &Scan<'_>, start: usize, groups: usize) -> bool {
    let whole = scan.run(start, |b| b.is_ascii_digit());
    let fraction = scan.run(whole + 1, |b| b.is_ascii_digit());
    groups == 2 && scan.at(whole) == b'.' && whole - start != fraction - whole - 1
}

/// Whether the numbers around, in a list or a column, are as long and no cards: a table of constants. One
/// number beside a card is its expiry, a telephone number or an id.
fn is_in_table(scan: &Scan<'_>, card: Range<usize>, length: usize) -> bool {
    /// How many numbers are looked at on each side.
    const SIDE: usize = 2;
    let after = std::iter::successors(number_after(scan, card.end), |n| number_after(scan, n.end));
    let before = std::iter::successors(number_before(scan, card.start), |n| {
        number_before(scan, n.start)
    });
    let is_constant = |number: Range<usize>| {
        let digits: Vec<u32> = scan.bytes[number]
            .iter()
            .map(|b| u32::from(b.wrapping_sub(b'0')))
            .collect();
        // Numbers of 64 bits have up to 20 digits.
        let as_long = digits.len() == length || digits.len().min(length) > COMMON_DIGITS;
        as_long && (digits.len() > MAX_DIGITS || !is_card(&digits))
    };
    let mut around = after.take(SIDE).chain(before.take(SIDE));
    let mut count = 0;
    around.all(|number| {
        count += 1;
        is_constant(number)
    }) && count >= 2
}

/// What separates the numbers of a table is shorter.
const MAX_GAP: usize = 24;
/// Longer numbers are no constants.
const MAX_NUMBER: usize = 40;

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b'-' | b'"' | b'(' | b')')
}

/// The next number of a table, behind separators alone.
fn number_after(scan: &Scan<'_>, end: usize) -> Option<Range<usize>> {
    let start = scan.run_at_most(end, MAX_GAP, is_gap);
    let number = start..scan.run_at_most(start, MAX_NUMBER, |b| b.is_ascii_digit());
    (!number.is_empty()).then_some(number)
}

/// The number of a table before this one, with separators alone between them.
fn number_before(scan: &Scan<'_>, start: usize) -> Option<Range<usize>> {
    let from = start.saturating_sub(MAX_GAP);
    let gap = &scan.bytes[from..start];
    let end = from + gap.iter().rposition(|b| !is_gap(*b)).map_or(0, |at| at + 1);
    let number = scan.run_back(end, |b| b.is_ascii_digit())..end;
    (!number.is_empty()).then_some(number)
}

fn is_card(digits: &[u32]) -> bool {
    let repeated = digits.iter().all(|d| *d == digits[0]);
    !repeated && (is_issued(digits) || may_be_issued(digits)) && checksum::luhn(digits)
}

fn is_issued(digits: &[u32]) -> bool {
    let first = digits[..6].iter().fold(0, |n, d| n * 10 + d);
    lengths(first).contains(&digits.len())
}

/// Issuers get new ranges: near a context word, a first digit of the card industries (3 to 6) is
/// enough.
fn may_be_issued(digits: &[u32]) -> bool {
    (3..=6).contains(&digits[0]) && (14..=19).contains(&digits.len())
}

/// The lengths of the numbers of the issuer with these first six digits.
fn lengths(first: u32) -> &'static [usize] {
    match first {
        400_000..=499_999 => &[13, 16, 19],             // Visa
        340_000..=349_999 | 370_000..=379_999 => &[15], // American Express
        510_000..=559_999 | 222_100..=272_099 => &[16], // Mastercard
        300_000..=305_999 | 309_500..=309_599 | 360_000..=369_999 | 380_000..=399_999 => {
            &[14, 16, 19] // Diners Club
        }
        213_100..=213_199 | 180_000..=180_099 => &[15], // JCB, its old numbers
        352_800..=358_999 => &[16, 17, 18, 19],         // JCB
        601_100..=601_199 | 622_126..=622_925 | 644_000..=659_999 => &[16, 17, 18, 19], // Discover
        620_000..=629_999 | 810_000..=817_199 => &[16, 17, 18, 19], // UnionPay
        220_000..=220_499 => &[16, 17, 18, 19],         // Mir
        // Maestro, with the national schemes that it absorbed.
        500_000..=509_999
        | 560_000..=589_999
        | 600_000..=601_099
        | 601_200..=619_999
        | 630_000..=643_999
        | 660_000..=699_999 => &[12, 13, 14, 15, 16, 17, 18, 19],
        _ => &[],
    }
}

/// Whether it is written in one piece or in groups like a card (4-4-4-4, 4-6-5, 12-4), without single
/// digits.
fn is_grouped(text: &str, groups: usize) -> bool {
    let sizes = text.split([' ', '-', '.', '_', '\n']).map(str::len);
    groups == 1
        || (groups <= 5 && sizes.clone().all(|s| (2..=12).contains(&s)) && sizes.max() >= Some(4))
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn numbers_of_known_issuers_with_a_right_check_digit_are_cards() {
        cases::check(
            "CARD",
            &[
                ("4111_1111_1111_1111", "4111_1111_1111_1111"),
                ("4111111111111111", "4111111111111111"),
                ("pay 4111 1111 1111 1111 now", "4111 1111 1111 1111"),
                ("5555-5555-5555-4444", "5555-5555-5555-4444"),
                ("3782 822463 10005", "3782 822463 10005"),
                ("2223000048400011", "2223000048400011"),
                ("6011000990139424", "6011000990139424"),
                ("3530111333300000", "3530111333300000"),
                ("card 30569309025904", "30569309025904"),
                ("Visa: 4222222222222.", "4222222222222"),
                (r#"{"n":"4111111111111111"}"#, "4111111111111111"),
                (
                    "４１１１１１１１１１１１１１１１",
                    "４１１１１１１１１１１１１１１１",
                ),
                ("411111111111 1111", "411111111111 1111"),
                ("card no 4 1111 1111 1111 111", "4 1111 1111 1111 111"),
                ("card 41 11 11 11 11 11 11 11", "41 11 11 11 11 11 11 11"),
                ("card 41111111\n11111111 end", "41111111\n11111111"),
                ("4111111111111111,\n5555555555554444,\n", "4111111111111111"),
                ("4111111111111111,\n5555555555554443,", "4111111111111111"),
                ("1700000000000,4111111111111111,ok", "4111111111111111"),
                ("Ada,4111111111111111,491701234567", "4111111111111111"),
                ("4111111111111111 2024000000001234", "4111111111111111"),
                ("n = 4111111111111111;", "4111111111111111"),
                (
                    "1234567890123456789 4111-1111-1111-1111 1234567890123456789",
                    "4111-1111-1111-1111",
                ),
                ("card 4012 8888 8888 1881 12/29", "4012 8888 8888 1881"),
            ],
            &[
                "4111111111111112",
                "4111111111111111,\n5555555555554443,\n5555555555554442",
                "[12884901888000000001, 4488286894823169796, 448828689482316979]",
                "[5555555555554443, 4111111111111111, 5555555555554442]",
                "41111.11111111111",
                "current_block = 4488286894823169796;",
                "0.4111111111111111",
                "1700000000000",
                "9007199254740991",
                "id-4111111111111111-x",
                "00000000-0000-0000-0000-000000000000",
                "4242424242424242ab",
                "0000000000000000",
                "1111 1111 1111 1111",
            ],
        );
    }
}
