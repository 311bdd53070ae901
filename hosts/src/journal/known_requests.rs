//! The requests that a journal knows, and the identity of those that a script makes: the digest of its
//! tool and arguments, and how many equal requests came before it.

use std::collections::HashMap;

use pml_protocol::{EffectClass, Flow, RequestKey, ToolResult};
use pml_store::{EntryState, JournalEntry};

use super::entry;
use super::settlement::is_unknown;

/// What earlier executions left, and what this one has asked for.
pub(super) struct KnownRequests {
    recorded: HashMap<([u8; 32], u32), JournalEntry>,
    /// How many requests with this digest were made.
    occurrences: HashMap<[u8; 32], u32>,
    /// The number of the next request that the journal does not know.
    next_number: u32,
}

/// A request that a script has made.
pub(super) struct Identified {
    pub key: RequestKey,
    pub known: Known,
    /// The class with which the journal has it.
    pub class: Option<EffectClass>,
    /// Whether it was under way when an earlier execution ended.
    pub was_under_way: bool,
}

/// What the journal knows of a request.
pub(super) enum Known {
    /// Nothing, or that it was not sent, or that it may be sent again.
    Nothing,
    /// Its answer.
    Answer {
        result: ToolResult,
        /// What the run had read with it.
        read: Flow,
        /// `None` for an answer that no earlier execution delivered.
        place: Option<(u32, u64)>,
    },
    /// It was intended and is not answered; it may have happened, and must not happen twice.
    Unknown,
}

impl KnownRequests {
    pub fn new(entries: Vec<JournalEntry>) -> Self {
        Self {
            next_number: 1 + entries.iter().map(|entry| entry.number).max().unwrap_or(0),
            recorded: entries
                .into_iter()
                .map(|entry| ((entry.key, entry.occurrence), entry))
                .collect(),
            occurrences: HashMap::new(),
        }
    }

    /// Gives a request its identity, and says what is known of it.
    pub fn identify(&mut self, digest: [u8; 32]) -> Identified {
        let count = self.occurrences.entry(digest).or_default();
        let occurrence = *count;
        *count += 1;
        let recorded = self.recorded.remove(&(digest, occurrence));
        let number = match &recorded {
            Some(entry) => entry.number,
            None => {
                let number = self.next_number;
                self.next_number += 1;
                number
            }
        };
        Identified {
            key: RequestKey {
                number,
                digest,
                occurrence,
            },
            known: recorded.as_ref().map_or(Known::Nothing, known_of),
            was_under_way: recorded.as_ref().is_some_and(is_under_way),
            class: recorded.and_then(|entry| entry.class),
        }
    }

    /// How many requests the script has made.
    pub fn made(&self) -> u32 {
        self.next_number - 1
    }

    /// The first `requests` are not made again. Returns how many of them were under way.
    pub fn skip(&mut self, requests: u32) -> usize {
        let (recorded, occurrences) = (&mut self.recorded, &mut self.occurrences);
        let mut under_way = 0;
        recorded.retain(|_, entry| {
            let is_skipped = entry.number <= requests;
            if is_skipped {
                let count = occurrences.entry(entry.key).or_default();
                *count = (*count).max(entry.occurrence + 1);
                under_way += usize::from(is_under_way(entry));
            }
            !is_skipped
        });
        under_way
    }
}

fn known_of(entry: &JournalEntry) -> Known {
    match (entry.state, &entry.answer) {
        (EntryState::Answered, Some(answer)) => {
            let (result, read) = entry::labelled_answer_from_bytes(answer);
            Known::Answer {
                result,
                read,
                place: delivered(entry),
            }
        }
        (EntryState::Intended, _) if is_unknown(entry) => Known::Unknown,
        _ => Known::Nothing,
    }
}

/// The place of an answer that an execution of the script has had, and the virtual time.
pub(super) fn delivered(entry: &JournalEntry) -> Option<(u32, u64)> {
    entry.answer_order.zip(entry.clock_ms)
}

/// Whether the request was made and no execution was given its answer.
pub(super) fn is_under_way(entry: &JournalEntry) -> bool {
    entry.clock_ms.is_some() && delivered(entry).is_none()
}
