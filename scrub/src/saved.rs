//! Placeholders that outlive their session: those of a durable run, which another process resumes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::detect::{CUSTOM, DETECTORS};
use crate::kind::Kind;
use crate::origins::Origin;
use crate::placeholder_map::{Original, PlaceholderMap};
use crate::written::WrittenPlaceholders;

/// A placeholder and its value. It holds private data: keep it sealed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedPlaceholder {
    name: String,
    value: String,
    number: bool,
    kind: String,
    detector: String,
    /// Each a list of servers.
    origins: Vec<Vec<String>>,
}

impl fmt::Debug for SavedPlaceholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SavedPlaceholder({})", self.name)
    }
}

impl PlaceholderMap {
    /// The placeholders that the model wrote, with their values.
    pub fn save(&self, written: &WrittenPlaceholders) -> Vec<SavedPlaceholder> {
        let known = written
            .names()
            .filter_map(|name| Some((name, self.original(name)?)));
        let mut saved: Vec<SavedPlaceholder> = known
            .map(|(name, original)| SavedPlaceholder {
                name: name.to_owned(),
                value: original.value.clone(),
                number: original.number,
                kind: original.kind.as_str().to_owned(),
                detector: original.detector.name.to_owned(),
                origins: original.origins.iter().map(servers).collect(),
            })
            .collect();
        saved.sort_by(|a, b| a.name.cmp(&b.name));
        saved
    }

    /// Adds placeholders of another session, to be restored where they stand in the model's text. In
    /// what this session says, their values get placeholders of its own.
    pub fn load(&mut self, saved: &[SavedPlaceholder]) {
        for saved in saved {
            let detectors = DETECTORS.iter().copied().chain([&CUSTOM]);
            let Some(detector) = detectors
                .into_iter()
                .find(|detector| detector.name == saved.detector)
            else {
                // A detector of another version: what it found cannot be judged by the policy.
                continue;
            };
            let origins = saved.origins.iter();
            let original = Original {
                value: saved.value.clone(),
                number: saved.number,
                origins: origins.map(|servers| Origin::of(servers)).collect(),
                kind: Kind::intern(&saved.kind),
                detector,
            };
            self.add_original(saved.name.clone(), original);
        }
    }
}

fn servers(origin: &Origin) -> Vec<String> {
    origin.servers().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::{RunOrigins, ScrubConfig, Scrubber, SharedPlaceholders};

    fn session() -> SharedPlaceholders {
        let scrubber = Scrubber::new(&ScrubConfig::default()).unwrap();
        SharedPlaceholders::new(PlaceholderMap::reversible(Arc::new(scrubber)))
    }

    #[test]
    fn a_saved_placeholder_goes_back_to_its_server_and_to_no_other() {
        let first = session();
        let origins = Arc::new(RunOrigins::default());
        origins.received(&Origin::server("mail"), r#""write to jo@example.com""#);
        let first = first.for_run(origins);
        let scrubbed = first.lock().scrub_text("jo@example.com", None).unwrap();
        let name = scrubbed.into_inner();
        let written = first.lock().written_in(&name);
        let saved = first.lock().save(&written);
        let text = serde_json::to_string(&saved).unwrap();

        let second = session();
        let saved: Vec<SavedPlaceholder> = serde_json::from_str(&text).unwrap();
        assert!(!format!("{saved:?}").contains("jo@"));
        second.lock().load(&saved);
        let written = second.lock().written_in(&name);
        let mut args = json!({ "to": name });
        let other = second
            .lock()
            .restore_args(&mut args.clone(), "web:post", &written);
        assert!(other.is_err());
        let restored = second.lock().restore_args(&mut args, "mail:send", &written);
        assert_eq!(restored.unwrap(), 1);
        assert_eq!(args["to"], "jo@example.com");
    }
}
