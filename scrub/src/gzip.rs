//! Decompresses gzip (RFC 1952, 1951) up to a limit, so that compressed text in base64 can be scanned. What
//! precedes an error, the limit or the end of a truncated input is returned.

use std::sync::LazyLock;

/// The longest code of a Huffman table, in bits.
const MAX_BITS: usize = 15;
/// The lengths of code lengths come in this order.
const ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];
const LENGTH_BASE: [usize; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
];
const LENGTH_EXTRA: [u32; 29] = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
];
const DISTANCE_BASE: [usize; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
    2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_EXTRA: [u32; 30] = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
    13,
];

/// Blocks without content that a file may have. A writer that flushes adds one each time. They cost time and
/// give no output, so the limit on the content does not bound them.
const MAX_EMPTY_BLOCKS: usize = 4096;

/// At most `limit` bytes of the content of a gzip file; `None` if it has no header of one.
pub(crate) fn decompress(file: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut inflater = Inflater::new(body(file)?, limit);
    inflater.run();
    Some(inflater.out)
}

/// The compressed data after the header.
fn body(file: &[u8]) -> Option<&[u8]> {
    const HEADER: usize = 10;
    let [0x1F, 0x8B, 8, flags, ..] = file else {
        return None;
    };
    let mut rest = file.get(HEADER..)?;
    if flags & 4 != 0 {
        let length = usize::from(*rest.first()?) | usize::from(*rest.get(1)?) << 8;
        rest = rest.get(2 + length..)?;
    }
    // The name of the file, and a comment.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = memchr::memchr(0, rest)?;
            rest = &rest[end + 1..];
        }
    }
    rest.get(if flags & 2 != 0 { 2 } else { 0 }..)
}

/// The bits of the input, the lowest of each byte first.
struct Bits<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Bits<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn bit(&mut self) -> Option<usize> {
        let byte = *self.bytes.get(self.at / 8)?;
        let bit = byte >> (self.at % 8) & 1;
        self.at += 1;
        Some(usize::from(bit))
    }

    fn take(&mut self, count: u32) -> Option<usize> {
        (0..count).try_fold(0, |value, shift| Some(value | self.bit()? << shift))
    }

    /// The next whole byte; what is left of the current one is skipped.
    fn byte(&mut self) -> Option<u8> {
        let index = self.at.div_ceil(8);
        self.at = (index + 1) * 8;
        self.bytes.get(index).copied()
    }
}

/// A canonical Huffman code: how many codes there are of each length, and their symbols in order.
struct Code {
    counts: [usize; MAX_BITS + 1],
    symbols: Vec<usize>,
}

/// The codes of literals and of distances in a block without its own tables.
static FIXED_CODES: LazyLock<(Code, Code)> = LazyLock::new(|| {
    let length = |symbol| match symbol {
        144..256 => 9,
        256..280 => 7,
        _ => 8,
    };
    let lengths: Vec<usize> = (0..288).map(length).collect();
    (Code::new(&lengths), Code::new(&[5; 30]))
});

impl Code {
    fn new(lengths: &[usize]) -> Self {
        let mut counts = [0; MAX_BITS + 1];
        for length in lengths {
            counts[*length] += 1;
        }
        counts[0] = 0;
        // Where the next symbol of each length goes.
        let mut next = [0; MAX_BITS + 1];
        for length in 1..MAX_BITS {
            next[length + 1] = next[length] + counts[length];
        }
        let mut symbols = vec![0; counts.iter().sum()];
        for (symbol, length) in lengths.iter().enumerate().filter(|(_, l)| **l > 0) {
            symbols[next[*length]] = symbol;
            next[*length] += 1;
        }
        Self { counts, symbols }
    }

    fn read(&self, input: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut index) = (0, 0, 0);
        for count in &self.counts[1..] {
            code = code << 1 | input.bit()?;
            first <<= 1;
            if code < first + count {
                // A code below the first one belongs to a malformed table.
                let offset = code.checked_sub(first)?;
                return self.symbols.get(index + offset).copied();
            }
            index += count;
            first += count;
        }
        None
    }
}

struct Inflater<'b> {
    input: Bits<'b>,
    out: Vec<u8>,
    limit: usize,
    empty_blocks: usize,
}

impl<'b> Inflater<'b> {
    fn new(body: &'b [u8], limit: usize) -> Self {
        Self {
            input: Bits::new(body),
            out: Vec::new(),
            limit,
            empty_blocks: 0,
        }
    }

    /// Reads blocks up to the last one. An error ends the content.
    fn run(&mut self) {
        let mut before = 0;
        while self.block() == Some(false) {
            self.empty_blocks += usize::from(self.out.len() == before);
            before = self.out.len();
            if self.empty_blocks >= MAX_EMPTY_BLOCKS {
                return;
            }
        }
    }

    /// Reads a block, and returns whether it was the last; `None` at an error, the limit or the end.
    fn block(&mut self) -> Option<bool> {
        let last = self.input.bit()? == 1;
        match self.input.take(2)? {
            0 => self.stored()?,
            1 => {
                let (literals, distances) = &*FIXED_CODES;
                self.compressed(literals, distances)?;
            }
            2 => {
                let (literals, distances) = self.tables()?;
                self.compressed(&literals, &distances)?;
            }
            _ => return None,
        }
        Some(last)
    }

    fn push(&mut self, byte: u8) -> Option<()> {
        if self.out.len() >= self.limit {
            return None;
        }
        self.out.push(byte);
        Some(())
    }

    fn stored(&mut self) -> Option<()> {
        let length = usize::from(self.input.byte()?) | usize::from(self.input.byte()?) << 8;
        // The complement of the length.
        self.input.byte()?;
        self.input.byte()?;
        for _ in 0..length {
            let byte = self.input.byte()?;
            self.push(byte)?;
        }
        Some(())
    }

    /// The codes of a block with its own tables.
    fn tables(&mut self) -> Option<(Code, Code)> {
        let literals = self.input.take(5)? + 257;
        let distances = self.input.take(5)? + 1;
        let codes = self.input.take(4)? + 4;
        let mut lengths = [0; 19];
        for place in &ORDER[..codes] {
            lengths[*place] = self.input.take(3)?;
        }
        let code = Code::new(&lengths);
        let mut lengths: Vec<usize> = Vec::with_capacity(literals + distances);
        while lengths.len() < literals + distances {
            let (value, count) = match code.read(&mut self.input)? {
                16 => (*lengths.last()?, 3 + self.input.take(2)?),
                17 => (0, 3 + self.input.take(3)?),
                18 => (0, 11 + self.input.take(7)?),
                length => (length, 1),
            };
            lengths.extend(std::iter::repeat_n(value, count));
        }
        let distances = lengths.get(literals..literals + distances)?;
        Some((Code::new(&lengths[..literals]), Code::new(distances)))
    }

    fn compressed(&mut self, literals: &Code, distances: &Code) -> Option<()> {
        loop {
            match literals.read(&mut self.input)? {
                256 => return Some(()),
                symbol @ 0..256 => self.push(u8::try_from(symbol).ok()?)?,
                symbol => {
                    let index = symbol - 257;
                    let extra = self.input.take(*LENGTH_EXTRA.get(index)?)?;
                    let length = LENGTH_BASE.get(index)? + extra;
                    let index = distances.read(&mut self.input)?;
                    let extra = self.input.take(*DISTANCE_EXTRA.get(index)?)?;
                    let distance = DISTANCE_BASE.get(index)? + extra;
                    for _ in 0..length {
                        let from = self.out.len().checked_sub(distance)?;
                        self.push(self.out[from])?;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn file(base64: &str) -> Vec<u8> {
        STANDARD.decode(base64).expect("base64")
    }

    /// `python3 -c 'import gzip,base64; print(base64.b64encode(gzip.compress(TEXT, LEVEL)))'`
    const FIXED: &str = "H4sIAAAAAAACA8tIzcnJVyjPL8pJ0VHIwOAAAM0mjykfAAAA";
    const STORED: &str = "H4sIAAAAAAAEAwELAPT/c3RvcmVkIHRleHS1Aa8PCwAAAA==";
    const DYNAMIC: &str = "H4sIAAAAAAACA3VRQQ6EIAz8Ci8wIdkH+BUSGxej1lSyrL+3taioeCl02s5MocMa/m6YeqiQWoNkAjZu4WgmPjj/WGuNvYaAAxJhlHokH0AuzOFmKPa7sUm83VXvlrYEML4oqiuJpXr04XvaYvc35rykLNuECibnRw/5H+yLcb+m54ayjWIZUDLFIyqQaSVuAR7o62tvf6F+Dq8rbmIRJ7oBAAA=";

    #[test]
    fn content_is_decompressed_up_to_the_limit() {
        let fixed = file(FIXED);
        let text = |base64| decompress(&file(base64), 1000).map(String::from_utf8);
        assert_eq!(
            text(FIXED),
            Some(Ok("hello world, hello world, hello".to_owned()))
        );
        assert_eq!(text(STORED), Some(Ok("stored text".to_owned())));
        let dynamic = text(DYNAMIC).expect("a file").expect("text");
        assert!(
            dynamic.starts_with("jo@example.org or today to pay"),
            "{dynamic}"
        );
        assert!(
            dynamic.ends_with("11 1111 to pay write please to"),
            "{dynamic}"
        );
        assert_eq!(dynamic.len(), 442);
        assert_eq!(decompress(&fixed, 5).expect("a file"), b"hello");
        assert_eq!(decompress(b"no file", 5), None);
    }

    #[test]
    fn empty_blocks_are_bounded() {
        // Blocks of 10 bits: not the last, fixed codes, and the end of the block.
        let mut blocks = vec![0u8; 200_000];
        for block in 0..blocks.len() * 8 / 10 {
            let at = block * 10 + 1;
            blocks[at / 8] |= 1 << (at % 8);
        }
        let mut inflater = Inflater::new(&blocks, 1000);
        inflater.run();
        assert!(inflater.out.is_empty());
        assert_eq!(inflater.empty_blocks, MAX_EMPTY_BLOCKS);
        assert_eq!(inflater.input.at, MAX_EMPTY_BLOCKS * 10);
    }

    #[test]
    fn every_truncated_or_changed_file_ends() {
        for whole in [FIXED, STORED, DYNAMIC].map(file) {
            for end in 0..whole.len() {
                let _ = decompress(&whole[..end], 1000);
                for change in [0, 1, 2, 4, 16, 64, 127, 128, 254, 255] {
                    let mut changed = whole.clone();
                    changed[end] ^= change;
                    let out = decompress(&changed, 1000);
                    assert!(out.is_none_or(|out| out.len() <= 1000));
                }
            }
        }
    }
}
