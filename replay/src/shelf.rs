//! Recorded answers, each given out once: the first to the first request that is the same, the
//! second to the second, whatever else was asked in between.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use pml_scrub::{ScrubConfig, Scrubber};

use crate::asked::Asked;
use crate::nearest;
use crate::recording::{Entry, Recording};
use crate::scrubbing::loose_key;

pub struct Shelf {
    entries: Vec<Entry>,
    given: Vec<bool>,
    exact: HashMap<String, VecDeque<usize>>,
    /// By the key without what scrubbing replaced; only for recordings that were scrubbed.
    loose: Option<HashMap<String, VecDeque<usize>>>,
}

impl Shelf {
    pub fn new(recording: Recording) -> Self {
        let entries = recording.requests;
        let mut exact: HashMap<String, VecDeque<usize>> = HashMap::new();
        let mut loose: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            exact.entry(entry.asked.key()).or_default().push_back(index);
            if recording.scrubbed
                && let Some(key) = loose_key(&entry.asked, None)
            {
                loose.entry(key).or_default().push_back(index);
            }
        }
        Self {
            given: vec![false; entries.len()],
            entries,
            exact,
            loose: recording.scrubbed.then_some(loose),
        }
    }

    /// Whether there is still an answer to such a request.
    pub fn has(&self, asked: &Asked) -> bool {
        let waits = |line: &VecDeque<usize>| line.iter().any(|index| !self.given[*index]);
        let is_loose = || {
            let loose = self.loose.as_ref()?;
            let key = loose_key(asked, Some(default_scrubber()?))?;
            loose.get(&key).map(waits)
        };
        self.exact.get(&asked.key()).is_some_and(waits) || is_loose().unwrap_or(false)
    }

    /// The next recorded request of this kind, or the words for why there is none.
    pub fn take(&mut self, asked: &Asked) -> Result<&Entry, String> {
        let found = self
            .exact
            .get_mut(&asked.key())
            .and_then(|line| next(line, &self.given))
            .or_else(|| {
                let loose = self.loose.as_mut()?;
                let key = loose_key(asked, Some(default_scrubber()?))?;
                next(loose.get_mut(&key)?, &self.given)
            });
        match found {
            Some(index) => {
                self.given[index] = true;
                Ok(&self.entries[index])
            }
            None => Err(nearest::explain(asked, &self.entries, &self.given)),
        }
    }
}

fn next(line: &mut VecDeque<usize>, given: &[bool]) -> Option<usize> {
    while let Some(index) = line.pop_front() {
        if !given[index] {
            return Some(index);
        }
    }
    None
}

/// Recordings are scrubbed before they are kept, by rules that may have changed since. The default
/// ones fit nearly all of it.
fn default_scrubber() -> Option<&'static Arc<Scrubber>> {
    static SCRUBBER: OnceLock<Option<Arc<Scrubber>>> = OnceLock::new();
    SCRUBBER
        .get_or_init(|| Scrubber::new(&ScrubConfig::default()).ok().map(Arc::new))
        .as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Told;
    use pml_runtime::World;
    use serde_json::{Value, json};

    fn call(path: &str) -> Asked {
        Asked::Call {
            tool: "fs:read_file".to_owned(),
            args: json!({ "path": path }),
        }
    }

    fn shelf(entries: Vec<(Asked, Value)>, scrubbed: bool) -> Shelf {
        let entries = entries
            .into_iter()
            .map(|(asked, value)| Entry {
                asked,
                after_ms: 0,
                told: Told::Value(value),
            })
            .collect();
        let mut recording = Recording::new("a.ts", World::default(), entries);
        recording.scrubbed = scrubbed;
        Shelf::new(recording)
    }

    fn told(shelf: &mut Shelf, asked: &Asked) -> Result<Value, String> {
        let has = shelf.has(asked);
        let taken = shelf.take(asked).map(|entry| match &entry.told {
            Told::Value(value) => value.clone(),
            other => panic!("{other:?}"),
        });
        assert_eq!(has, taken.is_ok());
        taken
    }

    #[test]
    fn equal_calls_get_their_answers_in_turn_whatever_the_order_of_others() {
        let mut shelf = shelf(
            vec![
                (call("a"), json!(1)),
                (call("b"), json!(2)),
                (call("a"), json!(3)),
            ],
            false,
        );
        assert_eq!(told(&mut shelf, &call("b")), Ok(json!(2)));
        assert_eq!(told(&mut shelf, &call("a")), Ok(json!(1)));
        assert_eq!(told(&mut shelf, &call("a")), Ok(json!(3)));
        let error = told(&mut shelf, &call("a")).unwrap_err();
        assert!(error.contains("2 times"), "{error}");
    }

    #[test]
    fn a_private_value_in_a_call_fits_its_name_in_a_scrubbed_recording() {
        let entries = || {
            vec![
                (call("[EMAIL_1]"), json!("first")),
                (call("[EMAIL_2]"), json!("second")),
            ]
        };
        let mut scrubbed = shelf(entries(), true);
        let asked = call("jo.doe@mail.example.org");
        assert_eq!(told(&mut scrubbed, &asked), Ok(json!("first")));
        // A name that came out of an earlier answer is exact.
        let named = call("[EMAIL_2]");
        assert_eq!(told(&mut scrubbed, &named), Ok(json!("second")));
        assert!(told(&mut shelf(entries(), false), &asked).is_err());
    }
}
