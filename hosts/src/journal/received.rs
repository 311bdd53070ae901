//! What a run received, from its journal: for a reply that is made after the run has ended.

use pml_scrub::Origin;
use pml_store::JournalEntry;

use super::entry;
use super::run_journal::called_tool;
use crate::run_placeholders::RunPlaceholders;

/// Notes all answers of a journal as received, so that the reply gives each private value the origin that
/// the direct reply of the run would have given it.
pub fn receive_journaled(placeholders: &RunPlaceholders, entries: &[JournalEntry]) {
    for journaled in entries {
        let Some(answer) = &journaled.answer else {
            continue;
        };
        let tool = called_tool(journaled);
        let origin = match tool.split_once(':') {
            Some((server, _)) if journaled.title.starts_with("call ") => Origin::server(server),
            _ => Origin::unknown(),
        };
        match entry::answer_from_bytes(answer) {
            Ok(value) => placeholders.received(&origin, value.get()),
            Err(failure) => placeholders.received(&origin, &failure.message),
        }
    }
}
