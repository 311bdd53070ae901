//! Compares the log with what journals of runs say was sent.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::query::LogEntry;

/// Calls of one tool in one run, as its journal has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournaledCalls {
    /// The run.
    pub run: String,
    /// `server:tool`
    pub tool: String,
    /// How many.
    pub count: u64,
}

/// Calls that a journal has and the log has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingCalls {
    /// The run.
    pub run: String,
    /// `server:tool`
    pub tool: String,
    /// Calls in the journal.
    pub journaled: u64,
    /// Intents in the log.
    pub logged: u64,
}

/// An intent without an outcome: its process ended before the call did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenIntent {
    /// When it was recorded.
    pub time: String,
    /// What it is about.
    pub subject: String,
    /// The run.
    pub run: String,
    /// The log, and the position of the event in it.
    pub source: String,
    /// The position.
    pub id: String,
}

/// What the comparison found.
#[derive(Debug, Default, Serialize)]
pub struct Reconciled {
    /// Calls that happened and are not in the log: it is not complete.
    pub missing: Vec<MissingCalls>,
    /// Intents whose outcome is not known.
    pub open: Vec<OpenIntent>,
    /// Intents that were compared.
    pub intents: u64,
}

/// Compares events of the log with the calls of journals.
pub fn reconcile(entries: &[LogEntry], journals: &[JournaledCalls]) -> Reconciled {
    let mut logged: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut open: BTreeMap<(&str, &str, u64), &LogEntry> = BTreeMap::new();
    let mut found = Reconciled::default();
    for entry in entries {
        let text = |key: &str| entry.event[key].as_str().unwrap_or_default();
        let kind = text("type");
        let is_request = kind.starts_with("pml.call.") || kind.starts_with("pml.resource.");
        let Some(number) = entry.event["data"]["intent"]
            .as_u64()
            .filter(|_| is_request)
        else {
            continue;
        };
        // Numbers begin anew in each process, and a log is continued by the next one.
        let key = (text("source"), text("runid"), number);
        match kind.ends_with(".intent") {
            true => {
                found.intents += 1;
                *logged.entry((text("runid"), text("subject"))).or_default() += 1;
                if let Some(earlier) = open.insert(key, entry) {
                    found.open.push(open_intent(earlier));
                }
            }
            false => {
                open.remove(&key);
            }
        }
    }
    found.open.extend(open.into_values().map(open_intent));
    for journal in journals {
        let count = logged.get(&(journal.run.as_str(), journal.tool.as_str()));
        let count = count.copied().unwrap_or(0);
        if count < journal.count {
            found.missing.push(MissingCalls {
                run: journal.run.clone(),
                tool: journal.tool.clone(),
                journaled: journal.count,
                logged: count,
            });
        }
    }
    found
}

fn open_intent(entry: &LogEntry) -> OpenIntent {
    let text = |key: &str| entry.event[key].as_str().unwrap_or_default().to_owned();
    OpenIntent {
        time: text("time"),
        subject: text("subject"),
        run: text("runid"),
        source: text("source"),
        id: text("id"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(kind: &str, run: &str, tool: &str, intent: u64) -> LogEntry {
        let event = json!({
            "type": kind, "source": "/log", "id": "0", "time": "t", "subject": tool,
            "runid": run, "data": { "intent": intent },
        });
        LogEntry {
            text: event.to_string(),
            event,
        }
    }

    #[test]
    fn calls_without_an_intent_and_intents_without_an_outcome_are_found() {
        let entries = [
            entry("pml.call.intent", "r", "s:a", 1),
            entry("pml.call.outcome", "r", "s:a", 1),
            entry("pml.call.intent", "r", "s:b", 2),
            entry("pml.call.denied", "r", "s:b", 2),
            entry("pml.call.intent", "r", "s:a", 3),
        ];
        let journal = |tool: &str, count| JournaledCalls {
            run: "r".to_owned(),
            tool: tool.to_owned(),
            count,
        };
        let found = reconcile(&entries, &[journal("s:a", 2), journal("s:b", 2)]);
        assert_eq!(found.intents, 3);
        assert_eq!(found.open.len(), 1);
        assert_eq!(found.open[0].subject, "s:a");
        let [missing] = &found.missing[..] else {
            panic!("{:?}", found.missing);
        };
        assert_eq!((missing.journaled, missing.logged), (2, 1));
        assert_eq!(missing.tool, "s:b");
    }
}
