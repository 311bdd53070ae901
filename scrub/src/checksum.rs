//! Check-digit schemes that several detectors share.

/// The digits of a text, without its other characters.
pub(crate) fn digits(text: &str) -> Vec<u32> {
    text.bytes()
        .filter(u8::is_ascii_digit)
        .map(|b| u32::from(b - b'0'))
        .collect()
}

/// ISO/IEC 7812 (Luhn): payment cards, and many national numbers.
pub(crate) fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, d)| match (i % 2 == 1, d * 2) {
            (false, _) => *d,
            (true, doubled) if doubled > 9 => doubled - 9,
            (true, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The weighted sum of as many digits as there are weights.
pub(crate) fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(d, w)| d * w).sum()
}

/// ISO 7064 MOD 97-10 over letters (A = 10) and digits, as IBANs use it after rotation.
pub(crate) fn mod_97(text: impl Iterator<Item = u8>) -> u32 {
    text.fold(0, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte.to_ascii_uppercase().wrapping_sub(b'A')) + 10) % 97,
    })
}

/// ISO 7064 MOD 11,10: German tax ids and value-added-tax ids.
pub(crate) fn mod_11_10(digits: &[u32]) -> bool {
    let Some((check, body)) = digits.split_last() else {
        return false;
    };
    let product = body.iter().fold(10, |product, digit| {
        let sum = match (digit + product) % 10 {
            0 => 10,
            sum => sum,
        };
        sum * 2 % 11
    });
    (11 - product) % 10 == *check
}

/// The Verhoeff scheme, over the dihedral group of order ten: Aadhaar.
pub(crate) fn verhoeff(digits: &[u32]) -> bool {
    /// One permutation step; applied n times it is the permutation of position n.
    const STEP: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    fn product(a: u32, b: u32) -> u32 {
        match (a < 5, b < 5) {
            (true, true) => (a + b) % 5,
            (true, false) => 5 + (a + b - 5) % 5,
            (false, true) => 5 + (a - b) % 5,
            (false, false) => (a + 5 - b) % 5,
        }
    }
    let sum = digits
        .iter()
        .rev()
        .enumerate()
        .fold(0, |sum, (position, digit)| {
            let permuted = (0..position % 8).fold(*digit, |d, _| STEP[d as usize]);
            product(sum, permuted)
        });
    sum == 0
}

/// Whether year, month and day are a valid date.
pub(crate) fn is_date(year: u32, month: u32, day: u32) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_examples_pass_and_one_wrong_digit_fails() {
        type Check = fn(&[u32]) -> bool;
        let cases: [(&str, Check); 3] = [
            ("79927398713", luhn),
            ("2363", verhoeff),
            ("136695976", mod_11_10),
        ];
        for (number, check) in cases {
            let right = digits(number);
            assert!(check(&right), "{number}");
            for position in 0..right.len() {
                let mut wrong = right.clone();
                wrong[position] = (wrong[position] + 1) % 10;
                assert!(!check(&wrong), "{number} at {position}");
            }
        }
    }

    #[test]
    fn the_calendar_knows_leap_years() {
        assert!(is_date(2024, 2, 29) && is_date(2000, 2, 29));
        assert!(!is_date(2023, 2, 29) && !is_date(1900, 2, 29) && !is_date(2024, 13, 1));
    }
}
