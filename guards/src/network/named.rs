//! What the name of an argument tells about its value.

/// Arguments with these names have a host without a scheme.
const HOST_NAMES: [&str; 5] = ["host", "hosts", "hostname", "ip", "ip_address"];
/// Arguments with these names may have a host without a scheme, or something else.
const PERHAPS_HOST_NAMES: [&str; 8] = [
    "address", "addr", "domain", "endpoint", "server", "target", "origin", "proxy",
];
/// Arguments with these names are URLs, with or without a scheme.
const URL_NAMES: [&str; 10] = [
    "uri", "uris", "urls", "href", "link", "links", "src", "webhook", "callback", "redirect",
];

/// What the name of an argument tells about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// It is a host: also a word without a dot, or a number.
    Host,
    /// It is a URL, with or without a scheme.
    Url,
    /// It may be a host.
    PerhapsHost,
    Otherwise,
}

impl Named {
    pub(super) fn of(name: &str) -> Self {
        let is_in = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let ends = |end: &str| {
            let start = name.len().checked_sub(end.len());
            let tail = start.and_then(|start| name.get(start..));
            tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        };
        if ends("_host") || is_in(&HOST_NAMES) {
            Self::Host
        } else if ends("url") || is_in(&URL_NAMES) {
            Self::Url
        } else if is_in(&PERHAPS_HOST_NAMES) {
            Self::PerhapsHost
        } else {
            Self::Otherwise
        }
    }
}
