//! The calls that a script makes, as its outcome tells them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::outcome::{CallRecord, millis};

/// How many calls without an answer are named.
const NAMED: usize = 3;

#[derive(Default)]
pub struct Calls {
    records: Vec<CallRecord>,
    /// When those began that have no answer yet.
    open: BTreeMap<usize, Instant>,
}

impl Calls {
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Takes note of a call, and gives its number.
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

    pub fn end(&mut self, index: usize, time: Duration, ok: bool) -> Option<&CallRecord> {
        self.open.remove(&index);
        let record = self.records.get_mut(index)?;
        record.ms = millis(time);
        record.ok = ok;
        Some(record)
    }

    /// The calls that have no answer yet, by name: a few of them.
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

    /// What is told of them when the run has ended.
    pub fn into_records(mut self) -> Vec<CallRecord> {
        for (index, began) in self.open {
            if let Some(record) = self.records.get_mut(index) {
                record.ms = millis(began.elapsed());
            }
        }
        self.records
    }
}
