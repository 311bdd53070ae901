//! The stored values of a session, bounded in number, in memory and on disk.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_protocol::{Failure, FailureKind, Flow, Hint, Request, RunContext, ToolResult, to_result};
use pml_scrub::Origin;
use serde_json::value::RawValue;

use super::spill::{Place, Spill};
use crate::run_placeholders::RunPlaceholders;
use crate::unsupported::unsupported;

const MAX_KEYS: usize = 1_000;
const MAX_KEY_BYTES: usize = 256;
const MAX_HANDLES: usize = 100;
/// A result that is not loaded for this long is dropped.
const HANDLE_IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// The values in memory; further ones go to the spill file.
const MEMORY_BYTES: usize = 1024 * 1024;
const TOTAL_BYTES: usize = 128 * 1024 * 1024;
/// The spill file is compacted when it has this many dead bytes.
const MAX_DEAD_BYTES: u64 = 64 * 1024 * 1024;

const HANDLE_PREFIX: &str = "r_";
const HANDLE_LETTERS: &[u8; 32] = b"abcdefghijkmnopqrstuvwxyz2345678";
const HANDLE_LENGTH: usize = 10;

/// Why a value cannot be stored or loaded.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The key is too long.
    #[error("the key has {0} bytes; a key may have up to {MAX_KEY_BYTES}")]
    KeyTooLong(usize),
    /// The key has the form of a handle.
    #[error(
        "the key \"{0}\" looks like the handle of a result; choose one that does not begin with {HANDLE_PREFIX}"
    )]
    KeyIsHandle(String),
    /// The session has as many keys as it may.
    #[error("{MAX_KEYS} keys are stored, which is the limit; store fewer, larger values")]
    TooManyKeys,
    /// The session stores as much as it may.
    #[error("the session may store {} MiB, and this value does not fit; store less", TOTAL_BYTES / (1024 * 1024))]
    Full,
    /// No result has this handle.
    #[error(
        "the handle {0} is unknown: it has expired, or it belongs to another session; make the result again"
    )]
    UnknownHandle(String),
    /// The spill file failed.
    #[error("the value could not be kept on disk: {0}")]
    Disk(#[from] io::Error),
}

/// JSON texts by key and by handle.
#[derive(Default)]
pub struct SessionStorage(Mutex<Values>);

#[derive(Default)]
struct Values {
    entries: HashMap<String, Entry>,
    memory: usize,
    total: usize,
    spill: Option<Spill>,
}

struct Entry {
    body: Body,
    provenance: Provenance,
    size: usize,
    touched: Instant,
}

/// Where a stored value comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Whose data the value can hold.
    pub origin: Origin,
    /// What the run had read that stored it.
    pub read: Flow,
}

enum Body {
    Memory(String),
    Disk(Place),
}

impl SessionStorage {
    /// Stores a value under a key of the script's choice, and replaces an earlier one.
    ///
    /// # Errors
    ///
    /// A key or a value that does not fit, or a failed spill file.
    pub fn store(&self, key: &str, json: &str, provenance: Provenance) -> Result<(), StorageError> {
        if key.len() > MAX_KEY_BYTES {
            return Err(StorageError::KeyTooLong(key.len()));
        }
        if is_handle(key) {
            return Err(StorageError::KeyIsHandle(key.to_owned()));
        }
        let mut values = self.lock();
        values.expire();
        let replaced = values.entries.get(key).map_or(0, |entry| entry.size);
        if replaced == 0 && values.count(false) >= MAX_KEYS {
            return Err(StorageError::TooManyKeys);
        }
        values.make_room(json.len().saturating_sub(replaced))?;
        values.remove(key);
        values.insert(key.to_owned(), json, provenance)
    }

    /// Stores a result, and returns the handle to load it with.
    ///
    /// # Errors
    ///
    /// A result that does not fit, or a failed spill file.
    pub fn keep(&self, json: &str, provenance: Provenance) -> Result<String, StorageError> {
        let handle = new_handle()?;
        let mut values = self.lock();
        values.expire();
        while values.count(true) >= MAX_HANDLES {
            if !values.drop_oldest_handle() {
                break;
            }
        }
        values.make_room(json.len())?;
        values.insert(handle.clone(), json, provenance)?;
        Ok(handle)
    }

    /// The value under a key or a handle, and where it comes from; `None` for a key without a value.
    ///
    /// # Errors
    ///
    /// An unknown handle, or a failed spill file.
    pub fn load(&self, name: &str) -> Result<Option<(String, Provenance)>, StorageError> {
        let mut values = self.lock();
        values.expire();
        match values.read(name)? {
            None if is_handle(name) => Err(StorageError::UnknownHandle(name.to_owned())),
            found => Ok(found),
        }
    }

    /// Answers [`Request::Store`] and [`Request::Load`] of a run whose data has no origin.
    ///
    /// # Errors
    ///
    /// A value that does not fit, an unknown handle, or another request.
    pub fn answer(&self, request: &Request) -> ToolResult {
        self.answer_run(request, None, None)
    }

    /// Answers [`Request::Store`] and [`Request::Load`]. What a run stores has the origin of all that
    /// it received, and what it loads is received.
    pub(crate) fn answer_run(
        &self,
        request: &Request,
        placeholders: Option<&RunPlaceholders>,
        run: Option<&RunContext>,
    ) -> ToolResult {
        match request {
            Request::Store { key, value } => {
                let provenance = Provenance {
                    origin: placeholders
                        .map(RunPlaceholders::origin)
                        .unwrap_or_default(),
                    read: run.map(|run| run.flow().current()).unwrap_or_default(),
                };
                match self.store(key, value.get(), provenance) {
                    Ok(()) => to_result(&()),
                    Err(error) => Err(Failure::new(FailureKind::Output, error.to_string())),
                }
            }
            Request::Load { key } => match self.load(key) {
                Ok(Some((json, provenance))) => {
                    if let Some(placeholders) = placeholders {
                        placeholders.received(&provenance.origin, &json);
                    }
                    if let Some(run) = run {
                        run.received(&provenance.read.through("store"));
                    }
                    // Stored values are valid JSON.
                    RawValue::from_string(format!("[{json}]")).map_err(Failure::internal)
                }
                Ok(None) => to_result(&[(); 0]),
                Err(error) => {
                    let failure = Failure::new(FailureKind::Unknown, error.to_string());
                    Err(failure.with_hint(Hint::CatchTheError))
                }
            },
            other => Err(unsupported(other)),
        }
    }

    /// Drops everything.
    pub fn clear(&self) {
        *self.lock() = Values::default();
    }

    fn lock(&self) -> MutexGuard<'_, Values> {
        // After a panic the sums may be wrong by one value, which is harmless: they only bound.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Values {
    fn count(&self, handles: bool) -> usize {
        let names = self.entries.keys();
        names.filter(|name| is_handle(name) == handles).count()
    }

    fn expire(&mut self) {
        let old: Vec<String> = self
            .entries
            .iter()
            .filter(|(name, entry)| {
                is_handle(name) && entry.touched.elapsed() > HANDLE_IDLE_TIMEOUT
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in old {
            self.remove(&name);
        }
    }

    /// Drops the oldest results until the new value fits. Values that scripts stored stay.
    fn make_room(&mut self, bytes: usize) -> Result<(), StorageError> {
        while self.total + bytes > TOTAL_BYTES {
            if !self.drop_oldest_handle() {
                return Err(StorageError::Full);
            }
        }
        Ok(())
    }

    fn drop_oldest_handle(&mut self) -> bool {
        let oldest = self
            .entries
            .iter()
            .filter(|(name, _)| is_handle(name))
            .min_by_key(|(_, entry)| entry.touched)
            .map(|(name, _)| name.clone());
        match oldest {
            Some(name) => {
                self.remove(&name);
                true
            }
            None => false,
        }
    }

    fn insert(
        &mut self,
        name: String,
        json: &str,
        provenance: Provenance,
    ) -> Result<(), StorageError> {
        let size = json.len();
        let body = if self.memory + size <= MEMORY_BYTES {
            self.memory += size;
            Body::Memory(json.to_owned())
        } else {
            if self
                .spill
                .as_ref()
                .is_some_and(|spill| spill.dead_bytes() > MAX_DEAD_BYTES)
            {
                self.compact()?;
            }
            let spill = match &mut self.spill {
                Some(spill) => spill,
                none => none.insert(Spill::create()?),
            };
            Body::Disk(spill.append(json.as_bytes())?)
        };
        self.total += size;
        let touched = Instant::now();
        let entry = Entry {
            body,
            provenance,
            size,
            touched,
        };
        self.entries.insert(name, entry);
        Ok(())
    }

    fn remove(&mut self, name: &str) {
        let Some(entry) = self.entries.remove(name) else {
            return;
        };
        self.total -= entry.size;
        match entry.body {
            Body::Memory(_) => self.memory -= entry.size,
            Body::Disk(place) => {
                if let Some(spill) = &mut self.spill {
                    spill.free(place);
                }
            }
        }
    }

    fn read(&mut self, name: &str) -> Result<Option<(String, Provenance)>, StorageError> {
        let Some(entry) = self.entries.get_mut(name) else {
            return Ok(None);
        };
        entry.touched = Instant::now();
        let json = match (&entry.body, &self.spill) {
            (Body::Memory(json), _) => json.clone(),
            (Body::Disk(place), Some(spill)) => {
                let bytes = spill.read(*place)?;
                String::from_utf8(bytes).map_err(io::Error::other)?
            }
            (Body::Disk(_), None) => return Ok(None),
        };
        Ok(Some((json, entry.provenance.clone())))
    }

    /// Copies the live values to a new file.
    fn compact(&mut self) -> io::Result<()> {
        let Some(old) = &self.spill else {
            return Ok(());
        };
        let mut new = Spill::create()?;
        let mut moved = Vec::new();
        for (name, entry) in &self.entries {
            if let Body::Disk(place) = entry.body {
                moved.push((name.clone(), new.append(&old.read(place)?)?));
            }
        }
        for (name, place) in moved {
            if let Some(entry) = self.entries.get_mut(&name) {
                entry.body = Body::Disk(place);
            }
        }
        self.spill = Some(new);
        Ok(())
    }
}

fn is_handle(name: &str) -> bool {
    name.strip_prefix(HANDLE_PREFIX).is_some_and(|rest| {
        rest.len() == HANDLE_LENGTH && rest.bytes().all(|byte| HANDLE_LETTERS.contains(&byte))
    })
}

/// A new handle: short, because a model reads and writes it; random, so that one session cannot guess
/// the handles of another.
fn new_handle() -> io::Result<String> {
    let mut random = [0; HANDLE_LENGTH];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let letters = random.map(|byte| char::from(HANDLE_LETTERS[usize::from(byte % 32)]));
    Ok(HANDLE_PREFIX.to_owned() + &String::from_iter(letters))
}

#[cfg(test)]
mod tests {
    use pml_protocol::Label;

    use super::*;

    impl SessionStorage {
        fn put(&self, key: &str, json: &str) -> Result<(), StorageError> {
            self.store(key, json, Provenance::default())
        }

        fn keep_json(&self, json: &str) -> Result<String, StorageError> {
            self.keep(json, Provenance::default())
        }

        fn get(&self, name: &str) -> Result<Option<String>, StorageError> {
            Ok(self.load(name)?.map(|(json, _)| json))
        }
    }

    #[test]
    fn a_stored_value_is_loaded_and_a_key_without_one_is_not_an_error() {
        let storage = SessionStorage::default();
        storage.put("seen", "[1]").unwrap();
        storage.put("seen", "[1,2]").unwrap();
        assert_eq!(storage.get("seen").unwrap().as_deref(), Some("[1,2]"));
        assert_eq!(storage.get("other").unwrap(), None);
    }

    #[test]
    fn an_unknown_handle_is_an_error() {
        let storage = SessionStorage::default();
        let handle = storage.keep_json("{}").unwrap();
        assert_eq!(storage.get(&handle).unwrap().as_deref(), Some("{}"));
        let error = SessionStorage::default()
            .get(&handle)
            .unwrap_err()
            .to_string();
        assert!(error.contains("make the result again"), "{error}");
    }

    #[test]
    fn large_values_go_to_disk_and_are_loaded_whole() {
        let storage = SessionStorage::default();
        let values: Vec<String> = (0..5)
            .map(|n| format!("\"{}\"", n.to_string().repeat(900_000)))
            .collect();
        for (n, value) in values.iter().enumerate() {
            storage.put(&n.to_string(), value).unwrap();
        }
        assert!(storage.lock().memory <= MEMORY_BYTES);
        for (n, value) in values.iter().enumerate() {
            assert_eq!(storage.get(&n.to_string()).unwrap().as_ref(), Some(value));
        }
    }

    #[test]
    fn handles_make_room_and_stored_values_do_not() {
        let storage = SessionStorage::default();
        let large = format!("\"{}\"", "x".repeat(30 * 1024 * 1024));
        let first = storage.keep_json(&large).unwrap();
        for n in 0..4 {
            storage.put(&n.to_string(), &large).unwrap();
        }
        assert!(matches!(
            storage.get(&first),
            Err(StorageError::UnknownHandle(_))
        ));
        assert!(matches!(
            storage.put("more", &large),
            Err(StorageError::Full)
        ));
        assert!(storage.get("0").unwrap().is_some());
    }

    #[test]
    fn many_results_do_not_grow_without_end() {
        let storage = SessionStorage::default();
        let json = format!("\"{}\"", "x".repeat(2_000_000));
        for _ in 0..300 {
            storage.keep_json(&json).unwrap();
        }
        let values = storage.lock();
        assert!(values.entries.len() <= MAX_HANDLES);
        assert!(values.total <= TOTAL_BYTES);
        let dead = values.spill.as_ref().unwrap().dead_bytes();
        assert!(dead <= MAX_DEAD_BYTES + 4_000_000, "{dead}");
    }

    #[test]
    fn keys_are_bounded_and_cannot_pose_as_handles() {
        let storage = SessionStorage::default();
        assert!(storage.put(&"k".repeat(257), "1").is_err());
        assert!(storage.put("r_abcdefghij", "1").is_err());
        for n in 0..MAX_KEYS {
            storage.put(&n.to_string(), "1").unwrap();
        }
        assert!(matches!(
            storage.put("one more", "1"),
            Err(StorageError::TooManyKeys)
        ));
        storage.put("7", "2").unwrap();
    }

    #[test]
    fn a_value_keeps_its_origin_and_its_label() {
        let storage = SessionStorage::default();
        let provenance = Provenance {
            origin: Origin::server("crm"),
            read: Flow::of("crm:list", &Label::private("crm")),
        };
        storage.store("k", "1", provenance.clone()).unwrap();
        assert_eq!(storage.load("k").unwrap().unwrap().1, provenance);
        storage.put("k", "2").unwrap();
        let (_, now) = storage.load("k").unwrap().unwrap();
        assert_eq!(now, Provenance::default());
    }

    #[test]
    fn a_run_that_loads_has_read_what_the_run_had_that_stored() {
        let storage = SessionStorage::default();
        let (writer, reader) = (RunContext::local(), RunContext::local());
        let value = RawValue::from_string("1".to_owned()).unwrap();
        let key = "k".to_owned();
        writer.received(&Flow::of("web:fetch", &Label::untrusted()));
        let store = Request::Store {
            key: key.clone(),
            value,
        };
        storage.answer_run(&store, None, Some(&writer)).unwrap();
        storage
            .answer_run(&Request::Load { key }, None, Some(&reader))
            .unwrap();
        let path = "web:fetch → store → run";
        assert_eq!(reader.flow().current().untrusted_path(), Some(path));
        assert_eq!(reader.received_flow(), reader.flow().current());
    }
}
