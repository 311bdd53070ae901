//! Where the arguments of a call make a tool connect to.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;
use url::Url;

use crate::walk::{At, find_text};

/// URLs of one call that are looked at. More are refused where the guard blocks.
pub(crate) const MAX_TARGETS: usize = 200;
/// URLs inside of URLs.
const MAX_NESTED: usize = 4;
/// Arguments with these names have a host without a scheme.
const HOST_NAMES: [&str; 4] = ["host", "hostname", "ip", "ip_address"];
/// Arguments with these names may have a host without a scheme, or something else.
const PERHAPS_HOST_NAMES: [&str; 8] = [
    "address", "addr", "domain", "endpoint", "server", "target", "origin", "proxy",
];
/// Arguments with these names are URLs, with or without a scheme.
const URL_NAMES: [&str; 10] = [
    "uri", "uris", "urls", "href", "link", "links", "src", "webhook", "callback", "redirect",
];

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
    /// Whether the argument is this URL, or a text that mentions it.
    pub is_whole: bool,
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

/// All places that arguments name.
pub(crate) fn targets(arguments: &Value) -> Vec<Target> {
    let mut found = Vec::new();
    find_text(arguments, &At::Top, &mut |at, text| {
        in_text(text, at, &mut found);
        (found.len() > MAX_TARGETS).then_some(())
    });
    found
}

fn in_text(text: &str, at: &At<'_>, found: &mut Vec<Target>) {
    let named = Named::of(at.key().unwrap_or_default());
    // Everything else has one of these.
    if named == Named::Otherwise && !text.contains([':', '.', '\\']) {
        return;
    }
    let before = found.len();
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    // Programs drop tabs and line breaks in URLs.
    let has_breaks = trimmed.contains(['\t', '\n', '\r']);
    let flat: Cow<'_, str> = match has_breaks {
        true => trimmed.replace(['\t', '\n', '\r'], "").into(),
        false => trimmed.into(),
    };
    // Several URLs on lines of their own are no URL.
    let is_one = !flat.contains(' ') && (!has_breaks || flat.matches("://").count() <= 1);
    match scheme_of(&flat).filter(|_| is_one) {
        Some(scheme) => read(&flat, scheme, at, true, 0, found),
        None => mentioned(text, at, found),
    }
    if found.len() > before || trimmed.is_empty() || trimmed.contains(char::is_whitespace) {
        return;
    }
    if named != Named::Otherwise || is_bare_address(trimmed) {
        without_scheme(trimmed, named, at, found);
    }
}

/// What the name of an argument tells about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// It is a URL or a host.
    Host,
    /// It may be a host.
    PerhapsHost,
    Otherwise,
}

impl Named {
    fn of(name: &str) -> Self {
        let is_in = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let ends = |end: &str| {
            let start = name.len().checked_sub(end.len());
            let tail = start.and_then(|start| name.get(start..));
            tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        };
        if ends("url") || ends("_host") || is_in(&URL_NAMES) || is_in(&HOST_NAMES) {
            Self::Host
        } else if is_in(&PERHAPS_HOST_NAMES) {
            Self::PerhapsHost
        } else {
            Self::Otherwise
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
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
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

/// URLs that a longer text mentions.
fn mentioned(text: &str, at: &At<'_>, found: &mut Vec<Target>) {
    let mut rest = text;
    while let Some(colon) = rest.find("://") {
        let head = &rest[..colon];
        let letters = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let start = head.rfind(|c: char| !letters(c)).map_or(0, |at| {
            at + head[at..].chars().next().map_or(1, char::len_utf8)
        });
        let from = &rest[start..];
        let is_end = |c: char| c.is_whitespace() || "\"'<>`|{}^!".contains(c);
        let end = from.find(is_end).unwrap_or(from.len());
        let url = from[..end].trim_end_matches([')', ']', ',', ';', '.', '!', '?']);
        if let Some(scheme) = scheme_of(url) {
            read(url, scheme, at, false, 0, found);
        }
        rest = &rest[colon + 3..];
        if found.len() > MAX_TARGETS {
            return;
        }
    }
}

fn without_scheme(text: &str, named: Named, at: &At<'_>, found: &mut Vec<Target>) {
    let text = text.trim_start_matches(['/', '\\']);
    // An IPv6 address without brackets.
    if let Ok(address) = text.parse::<IpAddr>() {
        found.push(Target {
            place: at.to_string(),
            scheme: String::new(),
            host: Host::Address(address),
            has_user: false,
            is_whole: true,
        });
        return;
    }
    let mut read_here = Vec::new();
    read(
        &format!("http://{text}"),
        String::new(),
        at,
        true,
        0,
        &mut read_here,
    );
    read_here.truncate(1);
    read_here.retain(|target| match &target.host {
        Host::Address(_) => true,
        // A branch, a role or a town is no host.
        Host::Name(name) => {
            named == Named::Host || name.contains('.') || name == "localhost" || name == "metadata"
        }
        Host::Ambiguous(_) | Host::Unreadable(_) => false,
    });
    found.append(&mut read_here);
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

fn read(
    text: &str,
    scheme: String,
    at: &At<'_>,
    is_whole: bool,
    nested: usize,
    found: &mut Vec<Target>,
) {
    let place = at.to_string();
    let target = |host, has_user| Target {
        place: place.clone(),
        scheme: scheme.clone(),
        host,
        has_user,
        is_whole,
    };
    let authority = authority(text);
    let unclear = if authority.contains('\\') {
        Some("it has a backslash, which programs read in different ways")
    } else if authority.matches('@').count() > 1 {
        Some("it has several `@`, which programs read in different ways")
    } else if text.contains(|c: char| c.is_control()) {
        Some("it has control characters, which programs read in different ways")
    } else {
        None
    };
    if let Some(reason) = unclear {
        found.push(target(Host::Ambiguous(reason), false));
        return;
    }
    match Url::parse(text) {
        Ok(url) => {
            let has_user = !url.username().is_empty() || url.password().is_some();
            match url.host() {
                Some(url::Host::Ipv4(address)) => {
                    found.push(target(Host::Address(address.into()), has_user))
                }
                Some(url::Host::Ipv6(address)) => {
                    found.push(target(Host::Address(address.into()), has_user))
                }
                Some(url::Host::Domain(name)) => {
                    // Schemes outside of the URL standard keep their host as it is written.
                    let name = name.to_lowercase();
                    let host = loose_address(&name).map_or(Host::Name(name), Host::Address);
                    found.push(target(host, has_user));
                }
                None => found.push(target(Host::Unreadable("it has no host"), false)),
            }
            if nested < MAX_NESTED {
                inner_urls(&url, at, nested, found);
            }
        }
        Err(_) => found.push(target(Host::Unreadable("its host cannot be read"), false)),
    }
}

/// URLs inside of a URL, where redirectors have their destination: in the query, the fragment and the path.
fn inner_urls(url: &Url, at: &At<'_>, nested: usize, found: &mut Vec<Target>) {
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
        if found.len() <= MAX_TARGETS
            && let Some(scheme) = scheme_of(text.trim())
        {
            read(text.trim(), scheme, at, true, nested + 1, found);
        }
    }
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
