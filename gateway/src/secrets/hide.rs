//! The collected secrets, and their replacement in text and JSON.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use aho_corasick::{AhoCorasick, MatchKind};
use pml_credentials::Reference;
use serde_json::{Map, Value};
use url::Url;
use zeroize::{Zeroize, Zeroizing};

use super::encodings::forms;
use super::escapes::Unescaped;
use super::rule::{is_guessable, needs_whole_word};

/// Secrets of one login or reference that are kept: those of the last four or five refreshes of a login.
const MAX_OF_OWNER: usize = 12;

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
    /// Every value once, the oldest first.
    values: Vec<Known>,
    /// Those that cannot be guessed, for what scripts read.
    finder: Option<Arc<Finder>>,
    /// All of them, for what only people read.
    full_finder: Option<Arc<Finder>>,
    is_outdated: bool,
}

/// One secret.
struct Known {
    value: Zeroizing<String>,
    /// What takes its place.
    label: Arc<str>,
    /// The address of the server whose login it is of, or its reference; `None` for a value of the
    /// configuration, which does not change.
    owner: Option<String>,
}

struct Finder {
    automaton: AhoCorasick,
    /// By pattern.
    replacements: Vec<Replacement>,
    longest: usize,
    /// Values that may be sent as a JSON number.
    has_numbers: bool,
}

struct Replacement {
    label: Arc<str>,
    /// The value is so short that only a whole word is replaced.
    whole_word: bool,
}

impl Secrets {
    /// Adds values of the configuration; a label says where its value comes from and takes its place.
    /// The first label of a value stays.
    pub(crate) fn add_all(&self, values: impl IntoIterator<Item = (String, String)>) {
        let mut state = self.write();
        for (value, label) in values {
            state.add(value, &label, None);
        }
        state.update();
    }

    /// Adds the secrets of a login. Of each login, only the latest are kept: a token is replaced
    /// several times a day.
    pub(crate) fn add_login(
        &self,
        server: &Url,
        secrets: impl IntoIterator<Item = (String, String)>,
    ) {
        let mut state = self.write();
        for (value, label) in secrets {
            state.forget(server.as_str(), &value);
            state.add(value, &label, Some(server.as_str()));
        }
        state.forget_oldest(server.as_str());
        state.update();
    }

    /// Adds the value of a reference. Of each reference, only the latest values are kept.
    pub(crate) fn add_referenced(&self, reference: &Reference, value: &str) {
        if self.contains(value) {
            return;
        }
        let owner = reference.to_string();
        let mut state = self.write();
        state.add(value.to_owned(), &owner, Some(&owner));
        // A key of several lines can be quoted line by line.
        for line in super::collect::long_lines(value) {
            state.add(line.to_owned(), &owner, Some(&owner));
        }
        state.forget_oldest(&owner);
        state.update();
    }

    /// Whether the value is known already.
    pub(crate) fn contains(&self, value: &str) -> bool {
        self.read().contains(value)
    }

    /// Bytes of the longest form of a secret: a text that is cut must have so many more when its
    /// secrets are replaced.
    pub fn longest(&self) -> usize {
        self.finder().map_or(0, |finder| finder.longest)
    }

    /// The text with each secret replaced by its label, for what no script reads or has a part in: logs,
    /// reports, and errors about the configuration.
    pub fn hide_for_people<'a>(&self, text: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
        let text = text.into();
        let finder = self.read().full_finder.clone();
        match finder.and_then(|finder| finder.replace(&text)) {
            Some(replaced) => Cow::Owned(replaced),
            None => text,
        }
    }

    /// The text with each secret replaced by its label. A value that can be guessed is left: see
    /// `rule.rs`.
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

    /// [`Secrets::hide_for_people`] in place.
    pub(crate) fn hide_for_people_in(&self, text: &mut String) {
        if let Cow::Owned(replaced) = self.hide_for_people(text.as_str()) {
            *text = replaced;
        }
    }

    fn finder(&self) -> Option<Arc<Finder>> {
        self.read().finder.clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn contains(&self, value: &str) -> bool {
        self.values.iter().any(|known| *known.value == value)
    }

    fn add(&mut self, value: String, label: &str, owner: Option<&str>) {
        let value = Zeroizing::new(value);
        if value.is_empty() || self.contains(&value) {
            return;
        }
        self.is_outdated = true;
        self.values.push(Known {
            value,
            label: format!("${{{}}}", plain(label)).into(),
            owner: owner.map(str::to_owned),
        });
    }

    /// Forgets one value of an owner, if it is known as one.
    fn forget(&mut self, owner: &str, value: &str) {
        let is_it = |known: &Known| known.owner.as_deref() == Some(owner) && *known.value == value;
        if let Some(at) = self.values.iter().position(is_it) {
            self.remove(at);
        }
    }

    fn forget_oldest(&mut self, owner: &str) {
        let is_of = |known: &Known| known.owner.as_deref() == Some(owner);
        while self.values.iter().filter(|known| is_of(known)).count() > MAX_OF_OWNER
            && let Some(oldest) = self.values.iter().position(is_of)
        {
            self.remove(oldest);
        }
    }

    fn remove(&mut self, at: usize) {
        self.values.remove(at);
        self.is_outdated = true;
    }

    /// Makes the finders anew if a value has changed.
    fn update(&mut self) {
        if std::mem::take(&mut self.is_outdated) {
            let hidden = |known: &&Known| !is_guessable(&known.value);
            self.finder = Finder::new(self.values.iter().filter(hidden)).map(Arc::new);
            self.full_finder = Finder::new(self.values.iter()).map(Arc::new);
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

impl Finder {
    fn new<'k>(values: impl Iterator<Item = &'k Known>) -> Option<Self> {
        let mut patterns = Vec::new();
        let mut replacements = Vec::new();
        let mut has_numbers = false;
        for known in values {
            // A number is sent as it was written, never in an encoded form.
            has_numbers |= known.value.parse::<f64>().is_ok();
            for form in forms(&known.value) {
                patterns.push(form);
                replacements.push(Replacement {
                    label: known.label.clone(),
                    whole_word: needs_whole_word(&known.value),
                });
            }
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns)
            .inspect_err(|error| tracing::error!(%error, "the secrets cannot be searched for"))
            .ok();
        let longest = patterns.iter().map(String::len).max();
        patterns.zeroize();
        Some(Self {
            automaton: automaton?,
            replacements,
            // Each character may be an escape of up to six.
            longest: longest?.saturating_mul(6),
            has_numbers,
        })
    }

    /// The text with replacements; `None` if it holds no secret.
    fn replace(&self, text: &str) -> Option<String> {
        let replaced = self.replace_forms(text);
        let escaped = self.replace_escaped(replaced.as_deref().unwrap_or(text));
        escaped.or(replaced)
    }

    /// The text with replacements of secrets in which any character is escaped: a server can write its
    /// own credential so.
    fn replace_escaped(&self, text: &str) -> Option<String> {
        let unescaped = Unescaped::new(text)?;
        let mut replaced = String::new();
        let mut end = 0;
        for found in self.automaton.find_iter(unescaped.bytes()) {
            let replacement = &self.replacements[found.pattern().as_usize()];
            if replacement.whole_word && !is_whole_word(unescaped.bytes(), found.range()) {
                continue;
            }
            let range = unescaped.range_in_text(found.range());
            if let Some(range) = range
                && let Some(before) = text.get(end..range.start)
                && text.is_char_boundary(range.end)
            {
                replaced.push_str(before);
                replaced.push_str(&replacement.label);
                end = range.end;
            }
        }
        (end > 0).then(|| replaced + &text[end..])
    }

    /// The text with replacements of the forms that are usual; `None` if it holds none of them.
    fn replace_forms(&self, text: &str) -> Option<String> {
        let mut replaced = String::new();
        let mut end = 0;
        for found in self.automaton.find_iter(text) {
            let replacement = &self.replacements[found.pattern().as_usize()];
            if replacement.whole_word && !is_whole_word(text.as_bytes(), found.range()) {
                continue;
            }
            replaced.push_str(&text[end..found.start()]);
            replaced.push_str(&replacement.label);
            end = found.end();
        }
        (end > 0).then(|| replaced + &text[end..])
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
                let may_hold =
                    |key: &String| self.automaton.is_match(key) || key.contains(['%', '\\']);
                if map.keys().any(may_hold) {
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

/// Whether no letter or digit touches a range. The end of an escape (`%3A`, `\\n`) is not a letter.
fn is_whole_word(text: &[u8], range: Range<usize>) -> bool {
    let is_word = |at: usize| {
        text.get(at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
    };
    if is_word(range.end) {
        return false;
    }
    let before = &text[..range.start];
    let after_escape = match before {
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    } || matches!(before, [.., b'\\', _]);
    after_escape || !before.last().is_some_and(u8::is_ascii_alphanumeric)
}

/// A label without characters that mean something in JSON or in a terminal.
fn plain(label: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-:/#~".contains(c);
    label
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect()
}

/// Scheme, host and port of an address: the parts that hold no credentials.
pub(crate) fn shown_origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(values: &[(&str, &str)]) -> Secrets {
        let secrets = Secrets::default();
        let owned = |(value, label): &(&str, &str)| ((*value).to_owned(), (*label).to_owned());
        secrets.add_all(values.iter().map(owned));
        secrets
    }

    #[test]
    fn a_short_secret_cannot_be_guessed_by_what_is_hidden() {
        let secrets = secrets(&[
            ("482913", "PIN"),
            ("hunter2", "KEY"),
            ("20261118", "DAY"),
            ("swordfish1", "PASSWORD"),
        ]);
        let text = "482913 hunter2 20261118 4829130 hunter2x";
        assert_eq!(
            secrets.hide(text),
            text,
            "what is hidden would tell the value"
        );
        let for_people = secrets.hide_for_people("?pin=482913&key=hunter2");
        assert_eq!(for_people, "?pin=${PIN}&key=${KEY}");
        // Guesses cannot overlap.
        let packed = "aswordfish1swordfish1b";
        assert_eq!(secrets.hide(packed), packed);
        for text in [
            "is swordfish1!",
            "swordfish1",
            "user%3Aswordfish1%40host",
            "line\\nswordfish1",
        ] {
            assert!(!secrets.hide(text).contains("swordfish1"), "{text}");
        }
    }

    #[test]
    fn a_server_cannot_show_its_credential_with_escapes() {
        let secrets = secrets(&[("sk-live-0a9b8c7d6e5f", "KEY")]);
        let percent: String = "sk-live-0a9b8c7d6e5f"
            .bytes()
            .map(|byte| format!("%{byte:02x}"))
            .collect();
        for written in [
            "sk%2Dlive-0a9b8c7d6e5f",
            "sk%2dlive%2D0a9b8c7d6e5f",
            "sk\\u002dlive-0a9b8c7d6e5f",
            "\\u0073k%2Dlive-0a9b8c7d6e5%66",
            percent.as_str(),
        ] {
            let text = format!("100% ü {written}, {written} %zz");
            assert_eq!(secrets.hide(text), "100% ü ${KEY}, ${KEY} %zz", "{written}");
            let mut value = serde_json::json!({ written: [written] });
            secrets.hide_value(&mut value);
            assert_eq!(value, serde_json::json!({ "${KEY}": ["${KEY}"] }));
        }
    }

    #[test]
    fn a_long_secret_is_hidden_inside_of_words() {
        let secrets = secrets(&[("k3y-0f-the-0per4tor", "KEY")]);
        assert_eq!(secrets.hide("xk3y-0f-the-0per4tory"), "x${KEY}y");
    }

    #[test]
    fn the_tokens_of_a_login_are_bounded_and_the_latest_are_hidden() {
        let secrets = secrets(&[("k3y-0f-the-0per4tor", "KEY")]);
        let server: Url = "https://a.example/mcp".parse().unwrap();
        let token = |number: usize| format!("access-token-number-{number}-0123456789");
        let client = "the-secret-of-the-client-9921";
        for number in 0..100 {
            let label = || "oauth.secret".to_owned();
            let all = [token(number), client.to_owned(), token(number + 1_000)];
            secrets.add_login(&server, all.map(|secret| (secret, label())));
        }
        assert_eq!(secrets.read().values.len(), 1 + MAX_OF_OWNER);
        let text = format!("{} {client} k3y-0f-the-0per4tor", token(99));
        assert_eq!(secrets.hide(text), "${oauth.secret} ${oauth.secret} ${KEY}");
        assert!(!secrets.contains(&token(0)));
        assert!(secrets.contains(&token(98)));
    }
}
