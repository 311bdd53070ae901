//! The calls that tokens have made, in files that all processes of a user share.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::TokenError;
use crate::token_id::TokenId;

/// More than a number has digits.
const MAX_COUNTER: u64 = 32;

/// A folder with one file per block that has a budget. A file is locked while its number is read and
/// written, so processes together cannot make more calls than a token has.
#[derive(Debug)]
pub struct CallCounters {
    folder: PathBuf,
}

impl CallCounters {
    /// The counters in this folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Counts one call for each of these blocks, or for none of them.
    ///
    /// # Errors
    /// [`TokenError::Spent`] if one has no call left, or a file cannot be used.
    pub fn spend(&self, budgets: impl Iterator<Item = (TokenId, u32)>) -> Result<(), TokenError> {
        let mut counters = Vec::new();
        // The blocks of a token are in the order in which they were made, which is the same for all
        // tokens that share them: two processes never wait for each other.
        for (id, limit) in budgets {
            let counter = Counter::locked(self.folder.join(id.to_string()))?;
            if counter.calls >= u64::from(limit) {
                return Err(TokenError::Spent { limit });
            }
            counters.push(counter);
        }
        counters.iter_mut().try_for_each(Counter::add_one)
    }

    /// How many calls the block has made.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn made(&self, id: TokenId) -> Result<u64, TokenError> {
        let path = self.folder.join(id.to_string());
        match File::open(&path) {
            Ok(mut file) => read_number(&path, &mut file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(TokenError::file(&path)(error)),
        }
    }
}

/// A file that is locked until this is dropped.
struct Counter {
    path: PathBuf,
    file: File,
    calls: u64,
}

impl Counter {
    fn locked(path: PathBuf) -> Result<Self, TokenError> {
        let open = || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&path)
        };
        let mut file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(Path::new("."));
                pml_files::create_private_dir(folder).map_err(TokenError::file(folder))?;
                open()
            }
            opened => opened,
        }
        .map_err(TokenError::file(&path))?;
        file.lock().map_err(TokenError::file(&path))?;
        let calls = read_number(&path, &mut file)?;
        Ok(Self { path, file, calls })
    }

    fn add_one(&mut self) -> Result<(), TokenError> {
        let calls = self.calls + 1;
        // The new number has at least as many digits as the old one, so nothing of that stays.
        let written = self
            .file
            .rewind()
            .and_then(|()| self.file.write_all(format!("{calls}\n").as_bytes()));
        written.map_err(TokenError::file(&self.path))?;
        self.calls = calls;
        Ok(())
    }
}

fn read_number(path: &Path, file: &mut File) -> Result<u64, TokenError> {
    let mut text = String::new();
    let read = file.take(MAX_COUNTER).read_to_string(&mut text);
    read.map_err(TokenError::file(path))?;
    match text.trim() {
        "" => Ok(0),
        digits => digits.parse().map_err(|_| TokenError::Line {
            path: path.to_owned(),
            line: 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> TokenId {
        digit.to_string().repeat(32).parse().unwrap()
    }

    #[test]
    fn threads_together_make_no_more_calls_than_the_budget() {
        let folder = tempfile::tempdir().unwrap();
        let made: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    // Each has files of its own, as a process has.
                    let counters = CallCounters::at(folder.path().join("calls"));
                    scope.spawn(move || {
                        (0..20)
                            .filter(|_| counters.spend([(id('a'), 37)].into_iter()).is_ok())
                            .count()
                    })
                })
                .collect();
            threads.into_iter().map(|one| one.join().unwrap()).sum()
        });
        assert_eq!(made, 37);
        let counters = CallCounters::at(folder.path().join("calls"));
        assert_eq!(counters.made(id('a')).unwrap(), 37);
    }

    #[test]
    fn a_call_counts_for_every_block_or_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let counters = CallCounters::at(folder.path());
        let budgets = [(id('a'), 9), (id('b'), 1)];
        counters.spend(budgets.into_iter()).unwrap();
        let spent = counters.spend(budgets.into_iter()).unwrap_err();
        assert!(matches!(spent, TokenError::Spent { limit: 1 }), "{spent}");
        assert_eq!(counters.made(id('a')).unwrap(), 1);
        assert_eq!(counters.made(id('c')).unwrap(), 0);
    }

    #[test]
    fn a_damaged_counter_permits_no_call() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(id('a').to_string()), "many").unwrap();
        let error = CallCounters::at(folder.path()).spend([(id('a'), 9)].into_iter());
        assert!(matches!(error, Err(TokenError::Line { .. })), "{error:?}");
    }
}
