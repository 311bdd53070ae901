//! The collected secrets, and their replacement in text and JSON.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};
use url::Url;

use super::encodings::forms;

/// Credentials that must not leave the gateway. Clones share them.
///
/// ```
/// use pml_gateway::Config;
///
/// let text = r#"{ "mcpServers": { "a": { "url": "https://a.example/?key=${API_KEY}" } } }"#;
/// let config = Config::parse(".mcp.json".as_ref(), text, &|_| Some("k3y-0123".to_owned()))?;
/// assert_eq!(config.secrets().hide("echo: k3y-0123"), "echo: ${API_KEY}");
/// # Ok::<(), pml_gateway::config::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<State>>);

#[derive(Default)]
struct State {
    /// The values, so that none is added twice.
    known: HashSet<String>,
    /// The forms of all values with their replacements.
    patterns: Vec<(String, Arc<str>)>,
    finder: Option<Arc<Finder>>,
}

struct Finder {
    automaton: AhoCorasick,
    replacements: Vec<Arc<str>>,
    longest: usize,
    /// Values that may be sent as a JSON number.
    has_numbers: bool,
}

impl Secrets {
    /// Adds a value; `label` says where it comes from and takes its place.
    pub(crate) fn add(&self, value: &str, label: &str) {
        self.add_all([(value.to_owned(), label.to_owned())]);
    }

    /// Adds values with their labels. The first label of a value stays.
    pub(crate) fn add_all(&self, values: impl IntoIterator<Item = (String, String)>) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = state.known.len();
        for (value, label) in values {
            if value.is_empty() || !state.known.insert(value.clone()) {
                continue;
            }
            let label: Arc<str> = format!("${{{}}}", plain(&label)).into();
            let forms = forms(&value).into_iter();
            state
                .patterns
                .extend(forms.map(|form| (form, label.clone())));
        }
        if state.known.len() > before {
            // A number is sent as it was written, never in an encoded form.
            let has_numbers = state.known.iter().any(|value| value.parse::<f64>().is_ok());
            state.finder = Finder::new(&state.patterns, has_numbers).map(Arc::new);
        }
    }

    /// Whether the value is known already.
    pub(crate) fn contains(&self, value: &str) -> bool {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        state.known.contains(value)
    }

    /// Bytes of the longest form of a secret: a text that is cut must have so many more when its
    /// secrets are replaced.
    pub fn longest(&self) -> usize {
        self.finder().map_or(0, |finder| finder.longest)
    }

    /// The text with each secret replaced by its label.
    pub fn hide<'a>(&self, text: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
        let text = text.into();
        match self.finder().and_then(|finder| finder.replace(&text)) {
            Some(replaced) => Cow::Owned(replaced),
            None => text,
        }
    }

    /// Replaces the secrets in all strings, keys and numbers of a value.
    pub fn hide_value(&self, value: &mut Value) {
        if let Some(finder) = self.finder() {
            finder.replace_in(value);
        }
    }

    /// The first `max` bytes of a text, for messages. A secret at the cut is replaced, not cut.
    pub(crate) fn beginning(&self, text: &[u8], max: usize) -> String {
        let read = text.len().min(max + self.longest());
        let shown = self.hide(String::from_utf8_lossy(&text[..read]));
        let cut = shown.floor_char_boundary(max.min(shown.len()));
        if cut < shown.len() || read < text.len() {
            format!("{}…", &shown[..cut])
        } else {
            shown.into_owned()
        }
    }

    /// Replaces the secrets in place.
    pub(crate) fn hide_in(&self, text: &mut String) {
        if let Some(replaced) = self.finder().and_then(|finder| finder.replace(text)) {
            *text = replaced;
        }
    }

    fn finder(&self) -> Option<Arc<Finder>> {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        state.finder.clone()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Finder {
    fn new(patterns: &[(String, Arc<str>)], has_numbers: bool) -> Option<Self> {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(patterns.iter().map(|(form, _)| form))
            .inspect_err(|error| tracing::error!(%error, "the secrets cannot be searched for"))
            .ok()?;
        Some(Self {
            automaton,
            replacements: patterns.iter().map(|(_, label)| label.clone()).collect(),
            longest: patterns.iter().map(|(form, _)| form.len()).max()?,
            has_numbers,
        })
    }

    /// The text with replacements; `None` if it holds no secret.
    fn replace(&self, text: &str) -> Option<String> {
        let mut found = self.automaton.find_iter(text).peekable();
        found.peek()?;
        let mut replaced = String::with_capacity(text.len());
        let mut end = 0;
        for one in found {
            replaced.push_str(&text[end..one.start()]);
            replaced.push_str(&self.replacements[one.pattern().as_usize()]);
            end = one.end();
        }
        replaced.push_str(&text[end..]);
        Some(replaced)
    }

    fn replace_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(replaced) = self.replace(text) {
                    *text = replaced;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.replace_in(value)),
            Value::Object(map) => {
                map.values_mut().for_each(|value| self.replace_in(value));
                if map.keys().any(|key| self.automaton.is_match(key)) {
                    *map = std::mem::take(map)
                        .into_iter()
                        .map(|(key, value)| (self.replace(&key).unwrap_or(key), value))
                        .collect::<Map<String, Value>>();
                }
            }
            Value::Number(number) if self.has_numbers => {
                if let Some(replaced) = self.replace(&number.to_string()) {
                    *value = Value::String(replaced);
                }
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }
}

/// A label without characters that mean something in JSON or in a terminal.
fn plain(label: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-:".contains(c);
    label
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect()
}

/// Scheme, host and port of an address: the parts that hold no credentials.
pub(crate) fn shown_origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
