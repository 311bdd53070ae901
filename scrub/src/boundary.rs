//! Where a value may begin and end: the edges that tell a whole value from a part of another.

/// The byte before a place, or 0 at the start.
pub(crate) fn before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |i| bytes[i])
}

/// The byte at a place, or 0 past the end.
pub(crate) fn at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Whether the stretch stands alone: no letter, digit or non-ASCII letter touches it, and it is no
/// part of a longer name joined by `-`, `.`, `_` or the like.
pub(crate) fn stands_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    begins(bytes, start) && ends(bytes, end)
}

pub(crate) fn begins(bytes: &[u8], start: usize) -> bool {
    let previous = before(bytes, start);
    if is_word(previous) {
        return false;
    }
    let joined = matches!(
        previous,
        b'-' | b'.' | b'_' | b'/' | b'+' | b'$' | b'#' | b'*' | b'&' | b'%'
    );
    let part = joined && start >= 2 && is_word(bytes[start - 2]);
    !(part || matches!(previous, b'$' | b'_'))
}

pub(crate) fn ends(bytes: &[u8], end: usize) -> bool {
    let next = at(bytes, end);
    if is_word(next) {
        return false;
    }
    let joined = matches!(
        next,
        b'-' | b'.' | b'_' | b'/' | b'+' | b'$' | b'*' | b'%' | b'='
    );
    let part = joined && is_word(at(bytes, end + 1));
    !(part || matches!(next, b'_' | b'$'))
}

/// Letters and digits; every non-ASCII byte counts as a letter.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}
