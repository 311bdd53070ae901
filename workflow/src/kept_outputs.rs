//! Outputs of code that a resumed run does not compute again.
//!
//! A resumed plan finds the answers of its calls in its journal, and would run all its code again. The
//! outputs of code that asked for nothing from outside depend on its inputs alone, so they are kept: together,
//! when 30 seconds have passed since the last time, so that a plan of thousands of small tasks writes
//! little.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::time::Instant;

/// The shortest time between two writes.
const INTERVAL: Duration = Duration::from_secs(30);
/// Bytes of one write. Outputs beyond it are computed again.
const MAX_BYTES: usize = 3 * 1024 * 1024;

/// Reads a value of the journal.
pub type Find = Box<dyn Fn(&str) -> Option<Box<RawValue>> + Send + Sync>;
/// Writes a value to the journal.
pub type Keep = Box<dyn Fn(&str, Box<RawValue>) + Send + Sync>;

/// The outputs of code in the journal of a run.
pub struct KeptOutputs {
    keep: Keep,
    state: Mutex<State>,
}

struct State {
    /// Those of earlier executions.
    known: HashMap<String, Value>,
    new: Map<String, Value>,
    bytes: usize,
    written: Instant,
    /// How many writes the journal has.
    writes: usize,
}

impl KeptOutputs {
    /// Reads what earlier executions kept. `keep` writes a value under a key, and `find` reads it.
    pub fn new(find: &Find, keep: Keep) -> Self {
        let (mut known, mut writes) = (HashMap::new(), 0);
        while let Some(value) = find(&key(writes)) {
            let outputs: Map<String, Value> = serde_json::from_str(value.get()).unwrap_or_default();
            known.extend(outputs);
            writes += 1;
        }
        Self {
            keep,
            state: Mutex::new(State {
                known,
                new: Map::new(),
                bytes: 0,
                written: Instant::now(),
                writes,
            }),
        }
    }

    /// The output of a step, if an earlier execution had the same code with the same values.
    pub(crate) fn find(&self, step: &str) -> Option<Value> {
        self.lock().known.get(step).cloned()
    }

    /// Keeps the output of a step.
    pub(crate) fn add(&self, step: String, output: &Value) {
        let mut state = self.lock();
        let size = step.len() + output.to_string().len();
        if state.bytes + size <= MAX_BYTES {
            state.bytes += size;
            state.new.insert(step, output.clone());
        }
        if state.written.elapsed() < INTERVAL {
            return;
        }
        let outputs = Value::Object(std::mem::take(&mut state.new)).to_string();
        if let Ok(outputs) = RawValue::from_string(outputs) {
            (self.keep)(&key(state.writes), outputs);
        }
        state.writes += 1;
        state.bytes = 0;
        state.written = Instant::now();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // After a panic, an output may be missing, and is computed again.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(write: usize) -> String {
    format!("pml:code:{write}")
}

/// What a step is known by: its task, its item, its code and its values.
pub(crate) fn step_key(task: &str, item: Option<usize>, source: &str, globals: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (source, globals).hash(&mut hasher);
    let item = item.map_or_else(String::new, |item| item.to_string());
    format!("{task}:{item}:{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn outputs_are_written_together_and_found_by_the_next_execution() {
        let journal: Arc<Mutex<HashMap<String, Box<RawValue>>>> = Arc::default();
        let open = || {
            let (read, write) = (journal.clone(), journal.clone());
            let find: Find = Box::new(move |key| read.lock().unwrap().get(key).cloned());
            let keep = move |key: &str, value| {
                write.lock().unwrap().insert(key.to_owned(), value);
            };
            KeptOutputs::new(&find, Box::new(keep))
        };
        let first = open();
        for n in 0..3 {
            first.add(step_key("a", Some(n), "return 1", "{}"), &json!(n));
        }
        assert!(
            journal.lock().unwrap().is_empty(),
            "30 seconds have not passed"
        );
        tokio::time::advance(INTERVAL).await;
        first.add(step_key("b", None, "return 2", "{}"), &json!([2]));
        assert_eq!(journal.lock().unwrap().len(), 1);
        first.add(step_key("c", None, "return 3", "{}"), &json!(3));

        let second = open();
        let find = |task, item, globals| second.find(&step_key(task, item, "return 1", globals));
        assert_eq!(find("a", Some(2), "{}"), Some(json!(2)));
        assert_eq!(find("a", Some(2), "{\"x\":1}"), None, "other values");
        assert_eq!(second.find(&step_key("c", None, "return 3", "{}")), None);
    }
}
