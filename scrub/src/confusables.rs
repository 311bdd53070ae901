//! Unicode characters that replace an ASCII one: homoglyphs, full-width forms, digits of other
//! scripts, typographic punctuation; and invisible characters.

use crate::separators::is_separator;

/// The ASCII equivalent of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// This ASCII character, everywhere.
    Ascii(u8),
    /// This ASCII letter, but only inside a word that has ASCII letters or digits too: a text in
    /// Cyrillic or Greek is not obfuscated.
    Homoglyph(u8),
    /// A hyphen between digits or within the name of a host or mailbox, else a separator: a dash.
    Dash,
    /// A dot within the address of a mailbox, else a separator: the full stop of Chinese and Japanese,
    /// after which no space stands.
    Stop,
    /// A bracket before a digit, as in a telephone number, else a separator: code has no full-width
    /// bracket that opens the arguments of a call.
    Bracket,
    /// The character is invisible.
    Invisible,
    /// The character stays.
    Unchanged,
}

/// The Cyrillic and Greek letters that look like Latin ones in most fonts.
#[rustfmt::skip]
const LETTERS: &[(char, u8)] = &[
    ('А', b'A'),
    ('В', b'B'),
    ('С', b'C'),
    ('Е', b'E'),
    ('Н', b'H'),
    ('І', b'I'),
    ('Ј', b'J'),
    ('К', b'K'),
    ('М', b'M'),
    ('О', b'O'),
    ('Р', b'P'),
    ('Ѕ', b'S'),
    ('Т', b'T'),
    ('Х', b'X'),
    ('У', b'Y'),
    ('а', b'a'),
    ('с', b'c'),
    ('ԁ', b'd'),
    ('е', b'e'),
    ('һ', b'h'),
    ('і', b'i'),
    ('ј', b'j'),
    ('ԛ', b'q'),
    ('о', b'o'),
    ('р', b'p'),
    ('ѕ', b's'),
    ('ԝ', b'w'),
    ('х', b'x'),
    ('у', b'y'),
    ('Α', b'A'),
    ('Β', b'B'),
    ('Ε', b'E'),
    ('Ζ', b'Z'),
    ('Η', b'H'),
    ('Ι', b'I'),
    ('Κ', b'K'),
    ('Μ', b'M'),
    ('Ν', b'N'),
    ('Ο', b'O'),
    ('Ρ', b'P'),
    ('Τ', b'T'),
    ('Υ', b'Y'),
    ('Χ', b'X'),
    ('ο', b'o'),
    ('ν', b'v'),
    ('α', b'a'),
    ('ρ', b'p'),
    ('ι', b'i'),
    ('κ', b'k'),
];

/// The zeros of the decimal digits of other scripts.
const DIGIT_ZEROS: &[u32] = &[0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50];

/// Stands for every separator outside ASCII: it ends a value, joins nothing, and is not a space, so
/// that a password with a symbol in it stays one value.
pub(crate) const SEPARATOR: u8 = b'~';

/// The mapping of a character.
pub(crate) fn mapping(c: char) -> Mapping {
    let code = c as u32;
    match code {
        0..=0x7F => Mapping::Unchanged,
        // Most text outside ASCII: accented Latin letters, ideographs, the syllables of Korean.
        0x00C0..=0x02AF if !matches!(c, '×' | '÷') => Mapping::Unchanged,
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 => Mapping::Unchanged,
        0x0085 | 0x2028 | 0x2029 => Mapping::Ascii(b'\n'),
        0x00AD | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064 | 0x2066..=0x2069 | 0xFEFF => {
            Mapping::Invisible
        }
        // Combining marks, variation selectors, and filler letters.
        0x0300..=0x036F
        | 0x20D0..=0x20F0
        | 0xFE00..=0xFE0F
        | 0x115F
        | 0x1160
        | 0x180E
        | 0x3164
        | 0xFFA0 => Mapping::Invisible,
        // Tag characters: a second, invisible ASCII, which models read.
        0xE0020..=0xE007E => Mapping::Ascii((code - 0xE0000) as u8),
        // Superscript, subscript and circled digits.
        0x00B9 => Mapping::Ascii(b'1'),
        0x00B2 | 0x00B3 => Mapping::Ascii((code - 0x00B0) as u8 + b'0'),
        0x2070 | 0x2074..=0x2079 => Mapping::Ascii((code - 0x2070) as u8 + b'0'),
        0x2080..=0x2089 => Mapping::Ascii((code - 0x2080) as u8 + b'0'),
        0x2460..=0x2468 => Mapping::Ascii((code - 0x2460) as u8 + b'1'),
        0x24EA => Mapping::Ascii(b'0'),
        0x00A0 | 0x2000..=0x200A | 0x202F | 0x205F | 0x3000 => Mapping::Ascii(b' '),
        0x2010 | 0x2011 | 0xFE63 => Mapping::Ascii(b'-'),
        0x2012..=0x2015 | 0x2212 | 0xFE58 => Mapping::Dash,
        0x00AB | 0x00BB | 0x201C..=0x201F | 0x2033 | 0x300C..=0x300F | 0x301D..=0x301F => {
            Mapping::Ascii(b'"')
        }
        0x2018..=0x201B | 0x2032 | 0x2039 | 0x203A => Mapping::Ascii(b'\''),
        0xFE6B => Mapping::Ascii(b'@'),
        0xFE52 | 0x2024 => Mapping::Ascii(b'.'),
        0x3002 | 0xFF61 => Mapping::Stop,
        0xFF08 => Mapping::Bracket,
        // The full-width forms are ASCII shifted by a constant.
        0xFF01..=0xFF5E => Mapping::Ascii((code - 0xFF01 + 0x21) as u8),
        // Mathematical letters come in alphabets of 52, mathematical digits in tens.
        0x1D400..=0x1D6A3 => {
            let letter = ((code - 0x1D400) % 52) as u8;
            Mapping::Ascii(if letter < 26 {
                b'A' + letter
            } else {
                b'a' + letter - 26
            })
        }
        0x1D7CE..=0x1D7FF => Mapping::Ascii(b'0' + ((code - 0x1D7CE) % 10) as u8),
        _ => {
            if let Some(zero) = DIGIT_ZEROS.iter().find(|z| (**z..**z + 10).contains(&code)) {
                return Mapping::Ascii(b'0' + (code - zero) as u8);
            }
            match LETTERS.iter().find(|(letter, _)| *letter == c) {
                Some((_, ascii)) => Mapping::Homoglyph(*ascii),
                None if is_separator(c) => Mapping::Ascii(SEPARATOR),
                None => Mapping::Unchanged,
            }
        }
    }
}

/// Whether a byte can begin the UTF-8 encoding of a character that [`mapping`] changes. It excludes
/// most ideographs and syllables of Korean, so that such texts stay fast.
pub(crate) fn may_begin(byte: u8) -> bool {
    byte >= 0xC2 && !matches!(byte, 0xE5..=0xE9 | 0xEB..=0xED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_character_begins_with_a_listed_byte() {
        for c in (0x80..=0x10FFFF).filter_map(char::from_u32) {
            if mapping(c) != Mapping::Unchanged {
                let mut buffer = [0; 4];
                let first = c.encode_utf8(&mut buffer).as_bytes()[0];
                assert!(may_begin(first), "{c:?}");
            }
        }
    }

    #[test]
    fn digits_of_other_scripts_are_digits() {
        for (c, digit) in [
            ('４', b'4'),
            ('٣', b'3'),
            ('۹', b'9'),
            ('𝟘', b'0'),
            ('²', b'2'),
            ('⁷', b'7'),
            ('₉', b'9'),
            ('⑨', b'9'),
            ('𝟗', b'9'),
        ] {
            assert_eq!(mapping(c), Mapping::Ascii(digit));
        }
    }
}
