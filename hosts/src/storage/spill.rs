//! A private file for values that do not fit into memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A byte range of the file.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    at: u64,
    length: usize,
}

/// An unlinked temporary file: no other process can open it, and the kernel removes it when this
/// process ends.
pub struct Spill {
    file: File,
    /// The length of the file.
    end: u64,
    /// The bytes in use.
    live: u64,
}

impl Spill {
    /// Creates the file.
    pub fn create() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            end: 0,
            live: 0,
        })
    }

    /// Appends bytes, and returns where they are.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<Place> {
        self.file.write_all_at(bytes, self.end)?;
        let place = Place {
            at: self.end,
            length: bytes.len(),
        };
        self.end += bytes.len() as u64;
        self.live += bytes.len() as u64;
        Ok(place)
    }

    /// Reads the bytes of a range.
    pub fn read(&self, place: Place) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; place.length];
        self.file.read_exact_at(&mut bytes, place.at)?;
        Ok(bytes)
    }

    /// Marks a range as dead. A file without live bytes is truncated.
    pub fn free(&mut self, place: Place) {
        self.live = self.live.saturating_sub(place.length as u64);
        if self.live == 0 && self.file.set_len(0).is_ok() {
            self.end = 0;
        }
    }

    /// The dead bytes of the file.
    pub fn dead_bytes(&self) -> u64 {
        self.end - self.live
    }
}
