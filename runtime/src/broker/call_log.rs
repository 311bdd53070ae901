//! The tool calls of a run, as its outcome lists them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pml_protocol::{CallRecord, millis};

/// How many unanswered calls a message names.
const NAMED: usize = 3;

/// The records of all calls so far.
#[derive(Default)]
pub struct CallLog {
    records: Vec<CallRecord>,
    /// When each unanswered call began, by index.
    open: BTreeMap<usize, Instant>,
}

impl CallLog {
    /// Adds a call and returns its index.
    pub fn begin(&mut self, tool: String) -> usize {
        let index = self.records.len();
        self.open.insert(index, Instant::now());
        self.records.push(CallRecord {
            tool,
            ms: 0.0,
            ok: false,
        });
        index
    }

    /// Notes the answer of a call and returns its record.
    pub fn end(&mut self, index: usize, time: Duration, ok: bool) -> Option<&CallRecord> {
        self.open.remove(&index);
        let record = self.records.get_mut(index)?;
        record.ms = millis(time);
        record.ok = ok;
        Some(record)
    }

    /// The first few calls that have no answer yet, by name.
    pub fn unanswered(&self) -> Option<String> {
        let names: Vec<String> = self
            .open
            .keys()
            .filter_map(|index| Some(format!("`{}`", self.records.get(*index)?.tool)))
            .take(NAMED)
            .collect();
        let more = match self.open.len().saturating_sub(names.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
    }

    /// The records at the end of a run. Calls without an answer took until now.
    pub fn into_records(mut self) -> Vec<CallRecord> {
        for (index, began) in self.open {
            if let Some(record) = self.records.get_mut(index) {
                record.ms = millis(began.elapsed());
            }
        }
        self.records
    }
}
