//! The calls that tokens have made, in files that all processes of a user share.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::TokenError;
use crate::token_id::TokenId;
use crate::verified_token::CallBudget;

/// More than two numbers have digits.
const MAX_COUNTER: u64 = 64;
/// How long a counter is kept after the last token that it counts for has expired: clocks differ.
const KEPT: u64 = 24 * 60 * 60;

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
    pub fn spend(&self, budgets: impl Iterator<Item = CallBudget>) -> Result<(), TokenError> {
        let mut counters = Vec::new();
        // Locked in the order of their ids, each once: two processes never wait for each other, whatever
        // blocks a holder has put together. Tokens that share a block share its counter.
        let budgets: BTreeMap<TokenId, CallBudget> =
            budgets.map(|budget| (budget.id, budget)).collect();
        for budget in budgets.values() {
            let counter = Counter::locked(&self.folder, budget)?;
            if counter.calls >= u64::from(budget.calls) {
                return Err(TokenError::Spent {
                    limit: budget.calls,
                });
            }
            counters.push(counter);
        }
        // Ids are random: one of 256 new counters makes room.
        let makes_room = |counter: &Counter| counter.calls == 0 && counter.name.starts_with("00");
        if counters.iter().any(makes_room) {
            self.remove_expired();
        }
        counters.iter_mut().try_for_each(Counter::add_one)
    }

    /// Removes the counters of tokens that expired more than a day ago. A holder can make tokens without
    /// end, and a file for each.
    fn remove_expired(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else {
            return;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs();
        for entry in entries.flatten() {
            let path = entry.path();
            let read = File::open(&path).map_err(TokenError::file(&path));
            let content = read.and_then(|mut file| Content::read(&path, &mut file));
            let expires = content.ok().and_then(|content| content.expires);
            if expires.is_some_and(|at| at.saturating_add(KEPT) < now) {
                // The next one that makes room tries again.
                let _ = std::fs::remove_file(&path);
            }
        }
    }

    /// How many calls the block has made.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn made(&self, id: TokenId) -> Result<u64, TokenError> {
        let path = self.folder.join(id.to_string());
        match File::open(&path) {
            Ok(mut file) => Ok(Content::read(&path, &mut file)?.calls),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(TokenError::file(&path)(error)),
        }
    }
}

/// A file that is locked until this is dropped.
struct Counter {
    name: String,
    path: PathBuf,
    file: File,
    calls: u64,
    expires: Option<u64>,
}

impl Counter {
    fn locked(folder: &Path, budget: &CallBudget) -> Result<Self, TokenError> {
        let name = budget.id.to_string();
        let path = folder.join(&name);
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
                pml_files::create_private_dir(folder).map_err(TokenError::file(folder))?;
                open()
            }
            opened => opened,
        }
        .map_err(TokenError::file(&path))?;
        file.lock().map_err(TokenError::file(&path))?;
        let calls = Content::read(&path, &mut file)?.calls;
        Ok(Self {
            name,
            path,
            file,
            calls,
            expires: budget.expires,
        })
    }

    fn add_one(&mut self) -> Result<(), TokenError> {
        let calls = self.calls + 1;
        let expires = self.expires.map(|at| format!(" {at}")).unwrap_or_default();
        // The new text is at least as long as the old one, so nothing of that stays.
        let written = self.file.rewind().and_then(|()| {
            self.file
                .write_all(format!("{calls}{expires}\n").as_bytes())
        });
        written.map_err(TokenError::file(&self.path))?;
        self.calls = calls;
        Ok(())
    }
}

/// The text of a counter: the calls, and when every token has expired that it counts for.
struct Content {
    calls: u64,
    expires: Option<u64>,
}

impl Content {
    fn read(path: &Path, file: &mut File) -> Result<Self, TokenError> {
        let mut text = String::new();
        let read = file.take(MAX_COUNTER).read_to_string(&mut text);
        read.map_err(TokenError::file(path))?;
        let mut numbers = text.split_whitespace().map(str::parse);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (calls, expires, None) => {
                let calls = calls.transpose().map(Option::unwrap_or_default);
                let both = calls.and_then(|calls| Ok((calls, expires.transpose()?)));
                both.ok()
            }
            _ => None,
        }
        .map(|(calls, expires)| Self { calls, expires })
        .ok_or_else(|| TokenError::Line {
            path: path.to_owned(),
            line: 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> TokenId {
        digit.to_string().repeat(32).parse().unwrap()
    }

    fn budget(digit: char, calls: u32) -> CallBudget {
        CallBudget {
            id: id(digit),
            calls,
            expires: None,
        }
    }

    #[test]
    fn counters_of_expired_tokens_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let counters = CallCounters::at(folder.path());
        let expiring = |digit: char, expires: u64| CallBudget {
            expires: Some(expires),
            ..budget(digit, 5)
        };
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let budgets = [
            expiring('a', now - 2 * KEPT),
            expiring('b', now - KEPT / 2),
            expiring('c', now + 9),
            budget('d', 5),
        ];
        counters.spend(budgets.into_iter()).unwrap();
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files(), 4);
        counters.spend([budget('0', 5)].into_iter()).unwrap();
        assert_eq!(files(), 4, "one came, one went");
        assert_eq!(counters.made(id('a')).unwrap(), 0);
        for kept in ['b', 'c', 'd', '0'] {
            assert_eq!(counters.made(id(kept)).unwrap(), 1, "{kept}");
        }
    }

    #[test]
    fn blocks_in_any_order_and_number_are_counted_once_and_never_wait_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for order in ["ab", "ba", "aab", "bab"] {
                let counters = CallCounters::at(folder.path());
                scope.spawn(move || {
                    for _ in 0..50 {
                        let budgets = order.chars().map(|digit| budget(digit, 1_000));
                        counters.spend(budgets).unwrap();
                    }
                });
            }
        });
        let counters = CallCounters::at(folder.path());
        for digit in ['a', 'b'] {
            assert_eq!(counters.made(id(digit)).unwrap(), 200);
        }
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
                            .filter(|_| counters.spend([budget('a', 37)].into_iter()).is_ok())
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
        let budgets = [budget('a', 9), budget('b', 1)];
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
        let error = CallCounters::at(folder.path()).spend([budget('a', 9)].into_iter());
        assert!(matches!(error, Err(TokenError::Line { .. })), "{error:?}");
    }
}
