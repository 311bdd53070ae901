//! Passes over the stretches of a text that nobody asks about.

/// As many bytes as the compiler tests at once.
const BLOCK: usize = 32;

/// The first place from `at` on whose byte is of a class. The class should be made of comparisons
/// alone: a block is then tested without a branch in it.
#[inline]
pub(crate) fn to(bytes: &[u8], at: usize, class: impl Fn(u8) -> bool) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let (blocks, _) = rest.as_chunks::<BLOCK>();
    let has = |block: &&[u8; BLOCK]| block.iter().fold(false, |any, byte| any | class(*byte));
    let passed = BLOCK * blocks.iter().take_while(|block| !has(block)).count();
    let found = rest[passed..].iter().position(|byte| class(*byte));
    found.map(|place| at + passed + place)
}

/// Calls `at` for the place of each digit, `-`, `.`, `/`, `:` and `@`, in order. It gives back the
/// place to go on from.
#[inline]
pub(crate) fn each_telling(bytes: &[u8], mut at: impl FnMut(usize) -> usize) {
    let mut from = 0;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let (words, _) = block.as_chunks::<8>();
        let masks: [u64; BLOCK / 8] = std::array::from_fn(|i| telling(words[i]));
        if masks.iter().all(|mask| *mask == 0) {
            continue;
        }
        for (word, mut mask) in masks.into_iter().enumerate() {
            while mask != 0 {
                let place = number * BLOCK + word * 8 + mask.trailing_zeros() as usize / 8;
                mask &= mask - 1;
                if place >= from {
                    from = at(place);
                }
            }
        }
    }
}

/// The high bit of each byte that is a digit, `-`, `.`, `/`, `:` or `@`. Adding to the low seven
/// bits of each byte carries into the high one where the byte is large enough, and never further.
fn telling(word: [u8; 8]) -> u64 {
    const fn each(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let word = u64::from_le_bytes(word);
    let low = word & each(0x7F);
    let at_least = |byte: u8| low + each(0x80 - byte);
    let between = |first: u8, last: u8| at_least(first) & !at_least(last + 1);
    (between(b'-', b':') | between(b'@', b'@')) & !word & each(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_telling_byte_is_visited_once_and_no_other() {
        let is_telling = |b: u8| matches!(b, b'-'..=b':' | b'@');
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for cut in 0..100 {
            let bytes = &all[cut..all.len() - cut];
            let mut seen = Vec::new();
            each_telling(bytes, |place| {
                seen.push(place);
                place + 1
            });
            let expected: Vec<_> = (0..bytes.len()).filter(|i| is_telling(bytes[*i])).collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn the_first_byte_of_the_class_is_found_wherever_it_stands() {
        for length in 0..100 {
            for place in 0..length {
                let mut bytes = vec![b'a'; length];
                bytes[place] = b'7';
                for from in 0..=length {
                    let expected = (from <= place).then_some(place);
                    assert_eq!(to(&bytes, from, |b| b.is_ascii_digit()), expected);
                }
            }
        }
    }
}
