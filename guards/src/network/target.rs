//! Where the arguments of a call make a tool connect to.
//!
//! The time is linear in the arguments: what a text mentions is cut at the next `://`.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Number, Value};
use url::Url;

use super::named::Named;
use crate::walk::{At, Leaf, find_leaf};

/// URLs inside of URLs.
const MAX_NESTED: usize = 4;
/// Parts of an authority, from its start and from its end, that may be the host where it is not clear.
const MAX_PARTS: usize = 4;

/// A place that a call may connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The place in the arguments.
    pub place: String,
    /// In lower case; empty where a host was named without one.
    pub scheme: String,
    pub host: Host,
    /// Whether it has a user name, which hides the host from readers.
    pub has_user: bool,
    pub found: Found,
    /// Whether the argument is one for something else and longer than this URL.
    pub is_prose: bool,
}

/// How a target was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The argument is this URL.
    Whole,
    /// The argument is a text that mentions it.
    Mention,
    /// Some program may read this in the argument.
    Guess,
}

/// The host of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
    /// Programs disagree about the host.
    Ambiguous(&'static str),
    /// There is none, or it is no host.
    Unreadable(&'static str),
}

/// Visits the places that arguments name, until `visit` returns true.
pub(crate) fn find_target(arguments: &Value, visit: &mut dyn FnMut(Target) -> bool) {
    find_leaf(arguments, &At::Top, &mut |at, leaf| {
        let mut search = Search {
            at,
            named: Named::of(at.key().unwrap_or_default()),
            is_longer: false,
            has_ended: false,
            visit: &mut *visit,
        };
        match leaf {
            Leaf::Text(text) => search.text(text),
            Leaf::Number(number) => search.number(number),
        }
        search.has_ended.then_some(())
    });
}

/// The search in one value.
struct Search<'a> {
    at: &'a At<'a>,
    named: Named,
    /// Whether the text is more than one URL.
    is_longer: bool,
    has_ended: bool,
    visit: &'a mut dyn FnMut(Target) -> bool,
}

impl Search<'_> {
    fn push(&mut self, host: Host, scheme: &str, has_user: bool, found: Found) {
        let is_unknown = matches!(host, Host::Ambiguous(_) | Host::Unreadable(_));
        if self.has_ended || (found == Found::Guess && is_unknown) {
            return;
        }
        self.has_ended = (self.visit)(Target {
            place: self.at.to_string(),
            scheme: scheme.to_owned(),
            host,
            has_user: has_user && found != Found::Guess,
            found,
            is_prose: self.is_longer && self.named == Named::Otherwise,
        });
    }

    /// A host may be a number.
    fn number(&mut self, number: &Number) {
        let float = number.as_f64().unwrap_or(-1.0);
        if self.named == Named::Host
            && float.fract() == 0.0
            && (0.0..=f64::from(u32::MAX)).contains(&float)
        {
            // It is whole and in range.
            let address = Ipv4Addr::from(float as u32);
            self.push(Host::Address(address.into()), "", false, Found::Whole);
        }
    }

    fn text(&mut self, text: &str) {
        // Everything else has one of these.
        if self.named == Named::Otherwise && !text.contains([':', '.', '\\']) {
            return;
        }
        let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        // Programs drop tabs and line breaks in URLs.
        let has_breaks = trimmed.contains(['\t', '\n', '\r']);
        let flat: Cow<'_, str> = match has_breaks {
            true => trimmed.replace(['\t', '\n', '\r'], "").into(),
            false => trimmed.into(),
        };
        // Programs may also take a text with spaces, or with several URLs, for one URL.
        let has_several = flat.match_indices("://").nth(1).is_some();
        let has_space = flat.contains(' ');
        let is_longer = has_space || (has_breaks && has_several);
        self.is_longer = is_longer;
        let scheme = scheme_of(&flat);
        if let Some(scheme) = &scheme {
            if has_space && self.named != Named::Otherwise {
                let reason = "it has spaces, which programs read in different ways";
                self.push(Host::Ambiguous(reason), scheme, false, Found::Mention);
            }
            let found = match is_longer {
                true => Found::Guess,
                false => Found::Whole,
            };
            self.read(&flat, scheme, found, 0);
        }
        if scheme.is_none() || is_longer || has_several {
            self.is_longer = true;
            self.mentioned(text);
        }
        self.is_longer = false;
        if scheme.is_none() && !trimmed.is_empty() {
            self.without_scheme(trimmed);
        }
    }

    /// URLs that a longer text mentions. Each ends where the next begins.
    fn mentioned(&mut self, text: &str) {
        let mut rest = text;
        let mut next = rest.find("://");
        while let Some(colon) = next {
            let letters = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            let head = &rest[..colon];
            let before = head.trim_end_matches(letters).len();
            let scheme = head[before..].trim_start_matches(|c: char| !c.is_ascii_alphabetic());
            let behind = colon + "://".len();
            next = rest[behind..].find("://");
            let from = &rest[colon - scheme.len()..next.map_or(rest.len(), |next| behind + next)];
            let is_end = |c: char| c.is_whitespace() || "\"'<>`|{}^!".contains(c);
            let url = from.split(is_end).next().unwrap_or(from);
            let url = url.trim_end_matches([')', ']', ',', ';', '.', '!', '?']);
            if !scheme.is_empty()
                && let Some(scheme) = scheme_of(url)
            {
                self.read(url, &scheme, Found::Mention, 0);
            }
            if self.has_ended {
                return;
            }
            rest = &rest[behind..];
        }
    }

    fn without_scheme(&mut self, trimmed: &str) {
        // What follows a space may belong to it.
        let text = trimmed.split(char::is_whitespace).next().unwrap_or(trimmed);
        let (found, is_read) = match (text.len() == trimmed.len(), self.named) {
            (true, Named::Otherwise) => (Found::Whole, is_bare_address(text)),
            (true, _) => (Found::Whole, true),
            (false, Named::Host | Named::Url) => (Found::Guess, text.contains(['.', ':'])),
            (false, _) => (Found::Guess, false),
        };
        let behind = text.trim_start_matches(['/', '\\']);
        // With one slash it is a path.
        if !is_read || text.len() - behind.len() == 1 {
            return;
        }
        // An IPv6 address without brackets.
        if let Ok(address) = behind.parse::<IpAddr>() {
            return self.push(Host::Address(address), "", false, found);
        }
        let named = self.named;
        let mut inner = Search {
            at: self.at,
            named,
            is_longer: false,
            has_ended: false,
            visit: &mut |target| {
                let is_host = match &target.host {
                    Host::Address(_) => true,
                    // A branch, a role or a town is no host.
                    Host::Name(name) => {
                        named == Named::Host || name.contains('.') || name == "localhost"
                    }
                    Host::Ambiguous(_) | Host::Unreadable(_) => false,
                };
                is_host && (self.visit)(target)
            },
        };
        inner.read(&format!("http://{behind}"), "", found, 0);
        self.has_ended = inner.has_ended;
    }

    fn read(&mut self, text: &str, scheme: &str, found: Found, nested: usize) {
        let authority = authority(text);
        let unclear = if authority.contains('\\') {
            Some("it has a backslash, which programs read in different ways")
        } else if authority.matches('@').nth(1).is_some() {
            Some("it has several `@`, which programs read in different ways")
        } else if text.contains(|c: char| c.is_control()) {
            Some("it has control characters, which programs read in different ways")
        } else {
            None
        };
        if let Some(reason) = unclear {
            let has_user = authority.contains('@');
            self.push(Host::Ambiguous(reason), scheme, has_user, found);
        }
        let url = Url::parse(text).ok();
        if unclear.is_some() || url.is_none() {
            self.parts(authority, scheme);
        }
        let Some(url) = url else {
            let reason = "its host cannot be read";
            return self.push(Host::Unreadable(reason), scheme, false, found);
        };
        let found = match unclear {
            Some(_) => Found::Guess,
            None => found,
        };
        let has_user = !url.username().is_empty() || url.password().is_some();
        let host = host_of(&url).unwrap_or(Host::Unreadable("it has no host"));
        self.push(host, scheme, has_user, found);
        if nested < MAX_NESTED && !self.has_ended {
            self.inner_urls(&url, found, nested);
        }
    }

    /// The hosts that programs may read in an authority that is not clear.
    fn parts(&mut self, authority: &str, scheme: &str) {
        let ends = |c: char| matches!(c, '@' | '\\') || c.is_whitespace() || c.is_control();
        let first = authority.split(ends).take(MAX_PARTS);
        for part in first.chain(authority.rsplit(ends).take(MAX_PARTS)) {
            // A word is none.
            let is_number = part.len() > 7 && part.starts_with(|c: char| c.is_ascii_digit());
            if !(is_number || part.contains(['.', '['])) {
                continue;
            }
            let url = Url::parse(&format!("http://{part}/"));
            if let Some(host) = url.ok().as_ref().and_then(host_of) {
                self.push(host, scheme, false, Found::Guess);
            }
        }
    }

    /// URLs inside of a URL, where redirectors have their destination: in the query, the fragment and the path.
    fn inner_urls(&mut self, url: &Url, found: Found, nested: usize) {
        let mut inner: Vec<String> = url
            .query_pairs()
            .flat_map(|(key, value)| [key.into_owned(), value.into_owned()])
            .collect();
        inner.extend(url.fragment().map(decoded));
        let path = decoded(url.path());
        if let Some(start) = path.find("://") {
            let head = &path[..start];
            let from = head.rfind('/').map_or(0, |at| at + 1);
            inner.push(path[from..].to_owned());
        }
        for text in inner {
            // Encoded twice for a redirector behind a redirector.
            let text = match text.contains('%') {
                true => decoded(&text),
                false => text,
            };
            let text = match text.starts_with("//") {
                true => format!("http:{text}"),
                false => text,
            };
            if let Some(scheme) = scheme_of(text.trim()) {
                self.read(text.trim(), &scheme, found, nested + 1);
            }
            if self.has_ended {
                return;
            }
        }
    }
}

/// The scheme of a text that begins like a URL.
fn scheme_of(text: &str) -> Option<String> {
    // Programs drop tabs and line breaks in URLs.
    let kept: String = text
        .chars()
        .take(64)
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let (scheme, rest) = kept.split_once(':')?;
    // One letter is a drive, as in `C:\\Users`.
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let scheme = scheme.to_ascii_lowercase();
    let has_slashes = rest.starts_with("//")
        || rest.starts_with("\\\\")
        || rest.starts_with("/\\")
        || rest.starts_with("\\/");
    // The URL standard gives these a host even without slashes.
    let is_special = matches!(scheme.as_str(), "http" | "https" | "ws" | "wss" | "ftp");
    (is_scheme && !rest.is_empty() && (has_slashes || is_special)).then_some(scheme)
}

/// An address in any spelling that programs accept: with dots, as one number, octal, hexadecimal.
fn is_bare_address(text: &str) -> bool {
    let has_shape =
        (text.contains('.') && text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_digit()))
            || (text.matches(':').count() >= 2
                && text.trim_matches(['[', ']']).parse::<IpAddr>().is_ok());
    has_shape
        && (text.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || (text.split('.').count() == 4
                && matches!(
                    Url::parse(&format!("http://{text}/"))
                        .ok()
                        .and_then(|url| url.host().map(|host| host.to_owned())),
                    Some(url::Host::Ipv4(_))
                )))
}

/// The host of a URL.
fn host_of(url: &Url) -> Option<Host> {
    Some(match url.host()? {
        url::Host::Ipv4(address) => Host::Address(address.into()),
        url::Host::Ipv6(address) => Host::Address(address.into()),
        url::Host::Domain(name) => {
            // Schemes outside of the URL standard keep their host as it is written.
            let name = name.to_lowercase();
            loose_address(&name).map_or(Host::Name(name), Host::Address)
        }
    })
}

/// Between the slashes and the next slash, question mark or hash.
fn authority(text: &str) -> &str {
    let rest = text.split_once(':').map_or(text, |(_, rest)| rest);
    let rest = rest.trim_start_matches(['/', '\\']);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    &rest[..end]
}

/// The address that the URL standard reads from a host, also where its scheme has no such rule.
fn loose_address(name: &str) -> Option<IpAddr> {
    let url = Url::parse(&format!("http://{name}/")).ok()?;
    match url.host()? {
        url::Host::Ipv4(address) => Some(Ipv4Addr::into(address)),
        url::Host::Ipv6(address) => Some(address.into()),
        url::Host::Domain(_) => None,
    }
}

/// The text without percent encoding, which may be several layers deep.
fn decoded(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_NESTED {
        if !text.contains('%') {
            break;
        }
        text = decoded_once(&text);
    }
    text
}

fn decoded_once(text: &str) -> String {
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    let digit = |at: usize| {
        bytes
            .get(at)
            .and_then(|byte| char::from(*byte).to_digit(16))
    };
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                // Two digits are at most 255.
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
