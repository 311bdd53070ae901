//! A private file for what is too large to sit in memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A stretch of the file.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    at: u64,
    length: usize,
}

/// A file without a name: nobody else can open it, and the kernel removes it with the process.
pub struct Spill {
    file: File,
    end: u64,
    live: u64,
}

impl Spill {
    pub fn create() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            end: 0,
            live: 0,
        })
    }

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

    pub fn read(&self, place: Place) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; place.length];
        self.file.read_exact_at(&mut bytes, place.at)?;
        Ok(bytes)
    }

    /// The bytes there are no longer wanted. A file in which nothing is wanted shrinks to nothing.
    pub fn forget(&mut self, place: Place) {
        self.live = self.live.saturating_sub(place.length as u64);
        if self.live == 0 && self.file.set_len(0).is_ok() {
            self.end = 0;
        }
    }

    /// How much of the file is no longer wanted.
    pub fn waste(&self) -> u64 {
        self.end - self.live
    }
}
