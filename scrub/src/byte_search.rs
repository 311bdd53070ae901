//! Vectorised byte searches that skip ordinary text quickly.

/// The number of bytes that the compiler tests at once.
const BLOCK: usize = 32;

/// The first offset from `at` on whose byte is of a class. The class should consist of comparisons
/// only: a block is then tested without a branch.
#[inline]
pub(crate) fn find_from(bytes: &[u8], at: usize, class: impl Fn(u8) -> bool) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let (blocks, _) = rest.as_chunks::<BLOCK>();
    let has = |block: &&[u8; BLOCK]| block.iter().fold(false, |any, byte| any | class(*byte));
    let skipped = BLOCK * blocks.iter().take_while(|block| !has(block)).count();
    let found = rest[skipped..].iter().position(|byte| class(*byte));
    found.map(|offset| at + skipped + offset)
}

/// Calls `visit` with the offset of each digit, `-`, `.`, `/`, `:` and `@`, in order. `visit`
/// returns the offset to continue from.
#[inline]
pub(crate) fn for_each_trigger_byte(bytes: &[u8], mut visit: impl FnMut(usize) -> usize) {
    let mut from = 0;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let (words, _) = block.as_chunks::<8>();
        let masks: [u64; BLOCK / 8] = std::array::from_fn(|i| trigger_mask(words[i]));
        if masks.iter().all(|mask| *mask == 0) {
            continue;
        }
        for (word, mut mask) in masks.into_iter().enumerate() {
            while mask != 0 {
                let offset = number * BLOCK + word * 8 + mask.trailing_zeros() as usize / 8;
                mask &= mask - 1;
                if offset >= from {
                    from = visit(offset);
                }
            }
        }
    }
}

/// The high bit of each byte that is a digit, `-`, `.`, `/`, `:` or `@`. Adding to the low seven
/// bits of each byte carries into the high one where the byte is large enough, and never further.
fn trigger_mask(word: [u8; 8]) -> u64 {
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
    fn every_trigger_byte_is_visited_once_and_no_other() {
        let is_trigger = |b: u8| matches!(b, b'-'..=b':' | b'@');
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for cut in 0..100 {
            let bytes = &all[cut..all.len() - cut];
            let mut seen = Vec::new();
            for_each_trigger_byte(bytes, |offset| {
                seen.push(offset);
                offset + 1
            });
            let expected: Vec<_> = (0..bytes.len()).filter(|i| is_trigger(bytes[*i])).collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn the_first_byte_of_the_class_is_found_at_every_offset() {
        for length in 0..100 {
            for offset in 0..length {
                let mut bytes = vec![b'a'; length];
                bytes[offset] = b'7';
                for from in 0..=length {
                    let expected = (from <= offset).then_some(offset);
                    assert_eq!(find_from(&bytes, from, |b| b.is_ascii_digit()), expected);
                }
            }
        }
    }
}
