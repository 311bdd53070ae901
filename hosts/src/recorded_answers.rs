//! Recorded answers, each used once: the first goes to the first equal request, the second to the
//! second, in whatever order other requests come between them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use pml_scrub::{ScrubConfig, Scrubber};

use crate::nearest_request;
use crate::recorded_request::RecordedRequest;
use crate::recording::{Entry, Recording};
use crate::scrub_recording::loose_key;

/// The entries of a recording, with indexes by request.
pub struct RecordedAnswers {
    entries: Vec<Entry>,
    used: Vec<bool>,
    /// Indexes by the key of the request.
    exact: HashMap<String, VecDeque<usize>>,
    /// By the key without the numbers of placeholders; for scrubbed recordings.
    loose: Option<HashMap<String, VecDeque<usize>>>,
}

impl RecordedAnswers {
    pub fn new(recording: Recording) -> Self {
        let entries = recording.requests;
        let mut exact: HashMap<String, VecDeque<usize>> = HashMap::new();
        let mut loose: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            exact
                .entry(entry.request.key())
                .or_default()
                .push_back(index);
            if recording.scrubbed
                && let Some(key) = loose_key(&entry.request, None)
            {
                loose.entry(key).or_default().push_back(index);
            }
        }
        Self {
            used: vec![false; entries.len()],
            entries,
            exact,
            loose: recording.scrubbed.then_some(loose),
        }
    }

    /// The next entry for a request, or why there is none.
    pub fn take(&mut self, request: &RecordedRequest) -> Result<&Entry, String> {
        let found = self
            .exact
            .get_mut(&request.key())
            .and_then(|queue| next_unused(queue, &self.used))
            .or_else(|| {
                let loose = self.loose.as_mut()?;
                let key = loose_key(request, Some(default_scrubber()?))?;
                next_unused(loose.get_mut(&key)?, &self.used)
            });
        match found {
            Some(index) => {
                self.used[index] = true;
                Ok(&self.entries[index])
            }
            None => Err(nearest_request::explain(request, &self.entries, &self.used)),
        }
    }

    /// The requests whose answers were not taken.
    pub fn unused(&self) -> Vec<String> {
        let entries = self.entries.iter().zip(&self.used);
        entries
            .filter(|(_, used)| !**used)
            .map(|(entry, _)| match &entry.request {
                RecordedRequest::Call { args, .. } => {
                    format!("{} with {args}", entry.request.title())
                }
                other => other.title(),
            })
            .collect()
    }
}

fn next_unused(queue: &mut VecDeque<usize>, used: &[bool]) -> Option<usize> {
    while let Some(index) = queue.pop_front() {
        if !used[index] {
            return Some(index);
        }
    }
    None
}

/// The scrubber for requests of a replay. A recording does not say by which rules it was scrubbed;
/// the default rules fit nearly all of it.
fn default_scrubber() -> Option<&'static Arc<Scrubber>> {
    static SCRUBBER: OnceLock<Option<Arc<Scrubber>>> = OnceLock::new();
    SCRUBBER
        .get_or_init(|| Scrubber::new(&ScrubConfig::default()).ok().map(Arc::new))
        .as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::RecordedAnswer;
    use pml_protocol::VirtualClock;
    use serde_json::{Value, json};

    fn call(path: &str) -> RecordedRequest {
        RecordedRequest::Call {
            tool: "fs:read_file".to_owned(),
            args: json!({ "path": path }),
        }
    }

    fn answers(entries: Vec<(RecordedRequest, Value)>, scrubbed: bool) -> RecordedAnswers {
        let entries = entries
            .into_iter()
            .map(|(request, value)| Entry {
                request,
                after_ms: 0,
                answer: RecordedAnswer::Value(value),
            })
            .collect();
        let mut recording = Recording::new("a.ts", VirtualClock::default(), entries);
        recording.scrubbed = scrubbed;
        RecordedAnswers::new(recording)
    }

    fn take(answers: &mut RecordedAnswers, request: &RecordedRequest) -> Result<Value, String> {
        answers.take(request).map(|entry| match &entry.answer {
            RecordedAnswer::Value(value) => value.clone(),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn equal_calls_get_their_answers_in_turn_whatever_the_order_of_others() {
        let mut recorded = answers(
            vec![
                (call("a"), json!(1)),
                (call("b"), json!(2)),
                (call("a"), json!(3)),
            ],
            false,
        );
        assert_eq!(take(&mut recorded, &call("b")), Ok(json!(2)));
        assert_eq!(take(&mut recorded, &call("a")), Ok(json!(1)));
        assert_eq!(take(&mut recorded, &call("a")), Ok(json!(3)));
        let error = take(&mut recorded, &call("a")).unwrap_err();
        assert!(error.contains("2 times"), "{error}");
    }

    #[test]
    fn a_private_value_in_a_call_matches_its_placeholder_in_a_scrubbed_recording() {
        let entries = || {
            vec![
                (call("[EMAIL_1]"), json!("first")),
                (call("[EMAIL_2]"), json!("second")),
            ]
        };
        let mut scrubbed = answers(entries(), true);
        let asked = call("jo.doe@mail.example.org");
        assert_eq!(take(&mut scrubbed, &asked), Ok(json!("first")));
        // A placeholder from an earlier answer matches exactly.
        let named = call("[EMAIL_2]");
        assert_eq!(take(&mut scrubbed, &named), Ok(json!("second")));
        assert!(take(&mut answers(entries(), false), &asked).is_err());
    }
}
