//! Where the values of a run came from.
//!
//! A run receives texts: results of tools, resources, loaded values. Each has an [`Origin`], the
//! servers whose data it can hold. A value that stands in one of these texts came from its origin; a
//! value that stands in none was made from some of them, so its origin is all of them together.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memmem;

use crate::boundary::stands_alone;

/// How much text of a run is kept to look values up in. The servers of texts beyond it are known, the
/// texts are not.
const MAX_KEPT_BYTES: usize = 2 * 1024 * 1024;
/// How much text one run searches for values. Past that, values have the origin of the whole run.
const MAX_SEARCHED_BYTES: usize = 64 * 1024 * 1024;
/// A shorter value can stand in any text by chance.
const MIN_VALUE_BYTES: usize = 6;

/// The servers that a value can have come from, all of which know it or a part of it. Without a
/// server, the value comes from the model's own text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin(BTreeSet<Arc<str>>);

impl Origin {
    /// Data of one server.
    pub fn server(name: &str) -> Self {
        Self(BTreeSet::from([Arc::from(name)]))
    }

    /// Data of servers that are not distinguished, such as the hits of a search. It goes back to none
    /// of them: only a rule with `*` allows it.
    pub fn unknown() -> Self {
        // No server of a configuration has an empty name.
        Self::server("")
    }

    /// Data of these servers together.
    pub(crate) fn of(names: &[String]) -> Self {
        Self(names.iter().map(|name| Arc::from(name.as_str())).collect())
    }

    /// The names of the servers, in alphabetical order. An unknown one is empty.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|server| &**server)
    }
}

/// The texts that one run has received, for [`Origin`]s of values in its reply.
///
/// ```
/// use pml_scrub::{Origin, RunOrigins};
///
/// let origins = RunOrigins::default();
/// origins.received(&Origin::server("crm"), r#"{"email":"jo@example.com"}"#);
/// assert_eq!(origins.label(), Origin::server("crm"));
/// ```
#[derive(Default)]
pub struct RunOrigins(Mutex<Received>);

#[derive(Default)]
struct Received {
    /// Every server whose data the run has received.
    servers: BTreeSet<Arc<str>>,
    texts: Vec<(Origin, Box<str>)>,
    kept_bytes: usize,
    searched_bytes: usize,
    /// Values that were looked up since the last text.
    looked_up: HashSet<Box<str>>,
}

impl RunOrigins {
    /// The run received a text in JSON.
    pub fn received(&self, origin: &Origin, json: &str) {
        let mut received = self.lock();
        received.servers.extend(origin.0.iter().cloned());
        received.looked_up.clear();
        if received.kept_bytes + json.len() <= MAX_KEPT_BYTES {
            received.kept_bytes += json.len();
            received.texts.push((origin.clone(), json.into()));
        }
    }

    /// The origin of everything that the run makes from here on: all servers that it has data of.
    pub fn label(&self) -> Origin {
        Origin(self.lock().servers.clone())
    }

    /// The origins of a value, of which each explains it alone. They are returned once for each
    /// value, until the run receives something new.
    pub(crate) fn of_value(&self, value: &str) -> Vec<Origin> {
        let mut received = self.lock();
        if !received.looked_up.insert(value.into()) {
            return Vec::new();
        }
        let whole = Origin(received.servers.clone());
        if whole.0.len() < 2 || value.len() < MIN_VALUE_BYTES {
            return vec![whole];
        }
        let escaped = serde_json::to_string(value).unwrap_or_default();
        let value = memmem::Finder::new(escaped.trim_matches('"').as_bytes());
        let Received {
            texts,
            searched_bytes,
            ..
        } = &mut *received;
        let mut found = BTreeSet::new();
        for (origin, text) in texts.iter() {
            if found.contains(origin) {
                continue;
            }
            if *searched_bytes > MAX_SEARCHED_BYTES {
                break;
            }
            *searched_bytes += text.len();
            let bytes = text.as_bytes();
            let length = value.needle().len();
            let mut places = value.find_iter(bytes);
            if places.any(|at| stands_alone(bytes, at, at + length)) {
                found.insert(origin.clone());
            }
        }
        match found.is_empty() {
            true => vec![whole],
            false => found.into_iter().collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        // Texts are only ever added, so the record is whole after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(texts: &[(&str, &str)]) -> RunOrigins {
        let origins = RunOrigins::default();
        for (server, text) in texts {
            origins.received(&Origin::server(server), text);
        }
        origins
    }

    #[test]
    fn a_value_comes_from_the_servers_whose_text_holds_it() {
        let origins = run(&[
            ("crm", r#"{"mail":"jo@example.com"}"#),
            ("news", r#"["al@example.com","xjo@example.com"]"#),
        ]);
        assert_eq!(origins.of_value("jo@example.com"), [Origin::server("crm")]);
        assert_eq!(origins.of_value("al@example.com"), [Origin::server("news")]);
    }

    #[test]
    fn a_value_that_stands_in_no_text_may_come_from_every_server() {
        let origins = run(&[("crm", r#""jo""#), ("news", r#""example.com""#)]);
        assert_eq!(origins.of_value("jo@example.com"), [origins.label()]);
        assert_eq!(
            origins.label().servers().collect::<Vec<_>>(),
            ["crm", "news"]
        );
        // Too short to say anything, although it stands there.
        assert_eq!(origins.of_value("jo"), [origins.label()]);
    }

    #[test]
    fn a_run_without_data_has_the_models_own_values() {
        assert_eq!(run(&[]).of_value("jo@example.com"), [Origin::default()]);
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_servers_are_not_forgotten() {
        let long = "x".repeat(MAX_KEPT_BYTES - 10);
        let origins = run(&[("a", &long), ("b", r#""jo@example.com""#)]);
        assert_eq!(origins.of_value("jo@example.com"), [origins.label()]);
        assert_eq!(origins.label().servers().count(), 2);
    }
}
