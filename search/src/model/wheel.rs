//! One file out of a Python wheel, which is a zip archive.

use std::io::Read;
use std::path::Path;

use flate2::read::DeflateDecoder;

use super::checksum::sha256;

/// The largest wheel and the largest file in it. Those of ONNX Runtime have 17 and 22 MB.
const MAX_WHEEL_BYTES: u64 = 128 << 20;
const MAX_FILE_BYTES: u64 = 256 << 20;

const END_OF_DIRECTORY: &[u8] = b"PK\x05\x06";
const DIRECTORY_ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
const END_OF_DIRECTORY_BYTES: usize = 22;
const DIRECTORY_ENTRY_BYTES: usize = 46;
const LOCAL_HEADER_BYTES: usize = 30;
/// The comment behind the end of the directory has a length of 16 bits.
const MAX_COMMENT_BYTES: usize = 0xffff;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Reads the wheel at `path`, after comparing its SHA-256 with `expected`.
pub fn read_checked(path: &Path, expected: &str) -> Result<Vec<u8>, String> {
    let name = path.display();
    let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let mut bytes = Vec::new();
    file.take(MAX_WHEEL_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("{name}: {error}"))?;
    match sha256(&bytes) == expected {
        true => Ok(bytes),
        false => Err(format!("{name} is not the pinned wheel: its hash differs")),
    }
}

/// The contents of the file `name` in the archive.
pub fn extract(archive: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let damaged = || format!("the wheel is damaged: {name} cannot be read from it");
    let entry = find(archive, name).ok_or_else(damaged)?;
    if entry.size > MAX_FILE_BYTES {
        return Err(format!("{name} in the wheel is too large"));
    }
    let compressed = contents(archive, &entry).ok_or_else(damaged)?;
    let mut bytes = Vec::new();
    match entry.method {
        STORED => bytes.extend_from_slice(compressed),
        DEFLATED => {
            DeflateDecoder::new(compressed)
                // One byte more than the directory says shows a size that is wrong.
                .take(entry.size + 1)
                .read_to_end(&mut bytes)
                .map_err(|_| damaged())?;
        }
        method => return Err(format!("{name} in the wheel has the compression {method}")),
    }
    match bytes.len() as u64 == entry.size {
        true => Ok(bytes),
        false => Err(damaged()),
    }
}

/// An entry of the central directory.
struct Entry {
    method: u16,
    compressed: usize,
    size: u64,
    offset: usize,
}

fn find(archive: &[u8], name: &str) -> Option<Entry> {
    let last = archive.len().checked_sub(END_OF_DIRECTORY_BYTES)?;
    let first = last.saturating_sub(MAX_COMMENT_BYTES);
    let end = (first..=last)
        .rev()
        .find(|at| archive[*at..].starts_with(END_OF_DIRECTORY))?;
    let entries = u16_at(archive, end + 10)?;
    let mut at = usize_at(archive, end + 16)?;
    for _ in 0..entries {
        let entry = archive.get(at..at.checked_add(DIRECTORY_ENTRY_BYTES)?)?;
        entry.starts_with(DIRECTORY_ENTRY).then_some(())?;
        let name_bytes = usize::from(u16_at(entry, 28)?);
        let rest = usize::from(u16_at(entry, 30)?) + usize::from(u16_at(entry, 32)?);
        let begin = at + DIRECTORY_ENTRY_BYTES;
        let found = archive.get(begin..begin.checked_add(name_bytes)?)?;
        if found == name.as_bytes() {
            return Some(Entry {
                method: u16_at(entry, 10)?,
                compressed: usize_at(entry, 20)?,
                size: u64::try_from(usize_at(entry, 24)?).ok()?,
                offset: usize_at(entry, 42)?,
            });
        }
        at = begin.checked_add(name_bytes)?.checked_add(rest)?;
    }
    None
}

/// The compressed bytes of an entry, behind its local header.
fn contents<'a>(archive: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    let header = archive.get(entry.offset..entry.offset.checked_add(LOCAL_HEADER_BYTES)?)?;
    header.starts_with(LOCAL_HEADER).then_some(())?;
    let names = usize::from(u16_at(header, 26)?) + usize::from(u16_at(header, 28)?);
    let begin = (entry.offset + LOCAL_HEADER_BYTES).checked_add(names)?;
    archive.get(begin..begin.checked_add(entry.compressed)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn usize_at(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    /// An archive with one file; `size` is what its directory says.
    fn archive(name: &str, text: &[u8], method: u16, size: u32) -> Vec<u8> {
        let body = match method {
            DEFLATED => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            _ => text.to_vec(),
        };
        let length = u32::try_from(body.len()).unwrap();
        let name_length = u16::try_from(name.len()).unwrap();
        let mut bytes = LOCAL_HEADER.to_vec();
        bytes.extend([0; 22]);
        bytes.extend(name_length.to_le_bytes());
        bytes.extend([0; 2]);
        bytes.extend(name.as_bytes());
        bytes.extend(&body);
        let directory = u32::try_from(bytes.len()).unwrap();
        bytes.extend(DIRECTORY_ENTRY);
        bytes.extend([0; 6]);
        bytes.extend(method.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(length.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(name_length.to_le_bytes());
        bytes.extend([0; 16]);
        bytes.extend(name.as_bytes());
        bytes.extend(END_OF_DIRECTORY);
        bytes.extend([0; 6]);
        bytes.extend(1u16.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(directory.to_le_bytes());
        bytes.extend([0; 2]);
        bytes
    }

    #[test]
    fn a_file_is_read_stored_and_deflated() {
        let text = b"a library, a library, a library".repeat(100);
        let size = u32::try_from(text.len()).unwrap();
        for method in [STORED, DEFLATED] {
            let archive = archive("a/lib.so", &text, method, size);
            assert_eq!(extract(&archive, "a/lib.so").unwrap(), text);
            assert!(extract(&archive, "lib.so").is_err());
        }
    }

    #[test]
    fn a_file_that_grows_beyond_its_announced_size_is_refused() {
        let bomb = archive("x", &[0; 100_000], DEFLATED, 10);
        assert!(extract(&bomb, "x").unwrap_err().contains("damaged"));
        let giant = archive("x", b"", DEFLATED, u32::MAX);
        assert!(extract(&giant, "x").unwrap_err().contains("too large"));
    }

    #[test]
    fn no_byte_of_an_archive_can_make_the_reader_panic() {
        let whole = archive("a/lib.so", b"0123456789", DEFLATED, 10);
        for end in 0..whole.len() {
            let _ = extract(&whole[..end], "a/lib.so");
            for value in [0, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed[end] = value;
                let _ = extract(&changed, "a/lib.so");
            }
        }
    }
}
