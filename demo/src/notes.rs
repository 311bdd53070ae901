//! The note tools. Notes are kept in memory until the server ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

/// Highest number of notes.
const MAX_NOTES: usize = 10_000;
/// Size limit of a title or a text in bytes.
const MAX_TEXT: usize = 1 << 20;
/// Highest number of titles on one page.
const MAX_PAGE: usize = 100;

/// All notes.
#[derive(Default)]
pub struct Notes {
    table: Mutex<NoteTable>,
}

#[derive(Default)]
struct NoteTable {
    notes: BTreeMap<u64, Note>,
    last_id: u64,
}

/// A note; also the arguments of `add_note`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    title: String,
    text: String,
}

/// Arguments of `list_notes`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    #[serde(default)]
    cursor: u64,
    #[serde(default = "Page::default_limit")]
    limit: usize,
}

impl Page {
    fn default_limit() -> usize {
        20
    }
}

/// Arguments of `read_note` and `delete_note`, and the result of the tools that change a note.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NoteId {
    id: u64,
}

/// Result of `list_notes`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TitlePage {
    notes: Vec<Title>,
    /// Where the next page begins; `None` on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Title {
    id: u64,
    title: String,
}

/// Result of `read_note`.
#[derive(Debug, Serialize)]
pub struct NoteWithId {
    id: u64,
    title: String,
    text: String,
}

impl Notes {
    /// Runs `add_note`.
    pub fn add(&self, note: Note) -> Result<NoteId, String> {
        if note.text.len() > MAX_TEXT || note.title.len() > MAX_TEXT {
            return Err(format!("the note is larger than {} MiB", MAX_TEXT >> 20));
        }
        let mut table = self.lock();
        if table.notes.len() == MAX_NOTES {
            return Err(format!("there are {MAX_NOTES} notes already; delete some"));
        }
        table.last_id += 1;
        let id = table.last_id;
        table.notes.insert(id, note);
        Ok(NoteId { id })
    }

    /// Runs `list_notes`.
    pub fn list(&self, page: &Page) -> Result<TitlePage, String> {
        if page.limit == 0 || page.limit > MAX_PAGE {
            return Err(format!("`limit` is from 1 to {MAX_PAGE}"));
        }
        let table = self.lock();
        let mut rest = table.notes.range(page.cursor..);
        let title = |(id, note): (&u64, &Note)| Title {
            id: *id,
            title: note.title.clone(),
        };
        Ok(TitlePage {
            notes: rest.by_ref().take(page.limit).map(title).collect(),
            next_cursor: rest.next().map(|(id, _)| *id),
        })
    }

    /// Runs `read_note`.
    pub fn read(&self, note: &NoteId) -> Result<NoteWithId, String> {
        let Note { title, text } = self
            .lock()
            .notes
            .get(&note.id)
            .cloned()
            .ok_or(missing(note))?;
        Ok(NoteWithId {
            id: note.id,
            title,
            text,
        })
    }

    /// Runs `delete_note`.
    pub fn delete(&self, note: &NoteId) -> Result<NoteId, String> {
        self.lock().notes.remove(&note.id).ok_or(missing(note))?;
        Ok(NoteId { id: note.id })
    }

    fn lock(&self) -> MutexGuard<'_, NoteTable> {
        // Each change is a single map operation, so a panic cannot leave the notes half changed.
        self.table
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }
}

fn missing(note: &NoteId) -> String {
    format!(
        "there is no note {}; list_notes shows what there is",
        note.id
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_every_note_once() {
        let notes = Notes::default();
        for n in 0..45 {
            notes
                .add(Note {
                    title: format!("n{n}"),
                    text: String::new(),
                })
                .unwrap();
        }
        notes.delete(&NoteId { id: 21 }).unwrap();
        let (mut cursor, mut seen) = (0, Vec::new());
        loop {
            let page = notes.list(&Page { cursor, limit: 20 }).unwrap();
            seen.extend(page.notes.iter().map(|note| note.id));
            match page.next_cursor {
                Some(next) => cursor = next,
                None => break,
            }
        }
        assert_eq!(seen, (1..=45).filter(|id| *id != 21).collect::<Vec<_>>());
        assert!(
            notes
                .read(&NoteId { id: 21 })
                .unwrap_err()
                .contains("no note 21")
        );
    }
}
