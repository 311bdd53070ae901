//! What a script stores and loads where there is no session: in memory, for one run.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pml_runtime::{Answer, Failure};
use serde_json::value::{RawValue, to_raw_value};

const MAX_KEYS: usize = 1_000;
const MAX_KEY_BYTES: usize = 256;
const TOTAL_BYTES: usize = 128 << 20;

/// JSON texts by key.
#[derive(Default)]
pub struct Kept(Mutex<HashMap<String, String>>);

impl Kept {
    /// Keeps a value; an earlier one under the same key is replaced.
    pub fn store(&self, key: &str, value: &RawValue) -> Answer {
        let mut values = self.lock();
        if key.len() > MAX_KEY_BYTES {
            let message = format!("a key may have up to {MAX_KEY_BYTES} bytes");
            return Err(Failure::new("output", message));
        }
        let others = values.iter().filter(|(known, _)| *known != key);
        let (count, bytes) = others.fold((0, 0), |(count, bytes), (_, text)| {
            (count + 1, bytes + text.len())
        });
        if count == MAX_KEYS || bytes + value.get().len() > TOTAL_BYTES {
            let message = format!(
                "{MAX_KEYS} keys and {} MiB can be stored, and this does not fit; store less",
                TOTAL_BYTES >> 20
            );
            return Err(Failure::new("output", message));
        }
        values.insert(key.to_owned(), value.get().to_owned());
        json(&())
    }

    /// What stands under a key, as a list of one; an empty list if there is nothing.
    pub fn load(&self, key: &str) -> Answer {
        let found = match self.lock().get(key) {
            // It is JSON: it was stored as such.
            Some(text) => format!("[{text}]"),
            None => "[]".to_owned(),
        };
        RawValue::from_string(found).map_err(|error| Failure::new("internal", error.to_string()))
    }

    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        // A value is put in or taken out in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn json(value: &impl serde::Serialize) -> Answer {
    to_raw_value(value).map_err(|error| Failure::new("internal", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn the_last_value_of_a_key_is_loaded_and_an_unknown_key_has_none() {
        let kept = Kept::default();
        kept.store("seen", &raw("[1]")).unwrap();
        kept.store("seen", &raw("{\"a\":2}")).unwrap();
        assert_eq!(kept.load("seen").unwrap().get(), "[{\"a\":2}]");
        assert_eq!(kept.load("other").unwrap().get(), "[]");
        kept.clear();
        assert_eq!(kept.load("seen").unwrap().get(), "[]");
    }

    #[test]
    fn what_is_stored_is_bounded() {
        let kept = Kept::default();
        assert!(kept.store(&"k".repeat(257), &raw("1")).is_err());
        for key in 0..MAX_KEYS {
            kept.store(&key.to_string(), &raw("1")).unwrap();
        }
        assert!(kept.store("one more", &raw("1")).is_err());
        kept.store("7", &raw("2")).unwrap();
    }
}
