//! Notes that live as long as the server.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

/// More of them are refused.
const MAX_NOTES: usize = 10_000;
/// A longer text is refused.
const MAX_TEXT: usize = 1 << 20;
const MAX_PAGE: usize = 100;

#[derive(Default)]
pub struct Notes {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    notes: BTreeMap<u64, Note>,
    last: u64,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    title: String,
    text: String,
}

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    id: u64,
}

#[derive(Debug, Serialize)]
pub struct Id {
    id: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Titles {
    notes: Vec<Title>,
    /// Where the next page begins; nothing after the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Title {
    id: u64,
    title: String,
}

#[derive(Debug, Serialize)]
pub struct Whole {
    id: u64,
    title: String,
    text: String,
}

impl Notes {
    pub fn add(&self, note: Note) -> Result<Id, String> {
        if note.text.len() > MAX_TEXT || note.title.len() > MAX_TEXT {
            return Err(format!("the note is larger than {} MiB", MAX_TEXT >> 20));
        }
        let mut kept = self.kept();
        if kept.notes.len() == MAX_NOTES {
            return Err(format!("there are {MAX_NOTES} notes already; delete some"));
        }
        kept.last += 1;
        let id = kept.last;
        kept.notes.insert(id, note);
        Ok(Id { id })
    }

    pub fn list(&self, page: &Page) -> Result<Titles, String> {
        if page.limit == 0 || page.limit > MAX_PAGE {
            return Err(format!("`limit` is from 1 to {MAX_PAGE}"));
        }
        let kept = self.kept();
        let mut rest = kept.notes.range(page.cursor..);
        let title = |(id, note): (&u64, &Note)| Title {
            id: *id,
            title: note.title.clone(),
        };
        Ok(Titles {
            notes: rest.by_ref().take(page.limit).map(title).collect(),
            next_cursor: rest.next().map(|(id, _)| *id),
        })
    }

    pub fn read(&self, wanted: &Wanted) -> Result<Whole, String> {
        let Note { title, text } = self
            .kept()
            .notes
            .get(&wanted.id)
            .cloned()
            .ok_or(missing(wanted))?;
        Ok(Whole {
            id: wanted.id,
            title,
            text,
        })
    }

    pub fn delete(&self, wanted: &Wanted) -> Result<Id, String> {
        self.kept()
            .notes
            .remove(&wanted.id)
            .ok_or(missing(wanted))?;
        Ok(Id { id: wanted.id })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Every change is one step: a panic elsewhere leaves the notes whole.
        self.kept
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }
}

fn missing(wanted: &Wanted) -> String {
    format!(
        "there is no note {}; list_notes shows what there is",
        wanted.id
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
        notes.delete(&Wanted { id: 21 }).unwrap();
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
                .read(&Wanted { id: 21 })
                .unwrap_err()
                .contains("no note 21")
        );
    }
}
