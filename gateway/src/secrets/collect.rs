//! Collects the secrets of a configuration.

use pml_credentials::Template;
use serde_json::Value;
use url::Url;

use super::hide::Secrets;
use super::rule::{is_secret, looks_random};
use crate::config::{Endpoint, ServerConfig};

/// A password in an address is a secret from this length on.
const MIN_PASSWORD: usize = 4;
/// A line of a longer secret, such as a private key, is a secret of its own from this length on.
const MIN_LINE: usize = 24;
const SCHEMES: [&str; 4] = ["bearer ", "basic ", "token ", "apikey "];

/// Values with their labels.
type Found = Vec<(String, String)>;

impl Secrets {
    /// Adds what the entry of a server holds.
    pub(crate) fn add_server(&self, server: &ServerConfig) {
        let mut found = Found::new();
        // First, so that their names are the labels.
        for (name, value) in server.expansions.iter() {
            collect(&mut found, name, name, value);
        }
        let (address, settings, kind) = match &server.endpoint {
            Ok(Endpoint::Stdio(command)) => (None, &command.env, "env"),
            Ok(Endpoint::Http(remote) | Endpoint::Sse(remote)) => {
                (Some(&remote.url), &remote.headers, "headers")
            }
            Ok(Endpoint::OpenApi(service)) => {
                for (name, credential) in &service.access.auth {
                    for (kind, secret) in credential.secrets() {
                        let label = format!("auth.{name}.{kind}");
                        collect(&mut found, kind, &label, &secret);
                    }
                }
                (
                    service.base_url.as_ref(),
                    &service.access.headers,
                    "headers",
                )
            }
            Ok(Endpoint::Functions(_)) | Err(_) => {
                self.add_all(found);
                return;
            }
        };
        for (name, value) in settings {
            collect(&mut found, name, &format!("{kind}.{name}"), value);
        }
        if let Some(url) = address {
            collect_url(&mut found, "url", url);
        }
        self.add_all(found);
    }
}

/// The secrets in the value of the setting `name`.
fn collect(found: &mut Found, name: &str, label: &str, value: &str) {
    // What the references name is added when it is read.
    if Template::has_reference(value) {
        return;
    }
    let trimmed = value.trim();
    if is_secret(name, trimmed) {
        let lower = trimmed.to_ascii_lowercase();
        match SCHEMES.iter().find(|scheme| lower.starts_with(**scheme)) {
            // The scheme does not count: a short credential would be found in ordinary text.
            Some(scheme) => {
                let credential = trimmed[scheme.len()..].trim();
                if is_secret(name, credential) {
                    collect_credential(found, label, credential);
                }
            }
            None => found.push((trimmed.to_owned(), label.to_owned())),
        }
        let lines = long_lines(trimmed).map(|line| (line.to_owned(), label.to_owned()));
        found.extend(lines);
    }
    if let Ok(url) = Url::parse(trimmed)
        && url.has_host()
    {
        collect_url(found, label, &url);
    }
    if trimmed.starts_with('{')
        && let Ok(document) = serde_json::from_str::<Value>(trimmed)
    {
        collect_json(found, name, label, &document);
    }
}

/// The lines of a secret of several lines that are secrets of their own.
pub(super) fn long_lines(value: &str) -> impl Iterator<Item = &str> {
    let lines = value.lines().map(str::trim);
    lines.filter(|line| line.len() >= MIN_LINE && line.len() < value.len() && looks_random(line))
}

/// The credential of an `Authorization` header: a token, or a user name and password in base64.
fn collect_credential(found: &mut Found, label: &str, credential: &str) {
    found.push((credential.to_owned(), label.to_owned()));
    if let Some((_, password)) = decode_basic(credential)
        .as_deref()
        .and_then(|pair| pair.split_once(':'))
        && password.chars().count() >= MIN_PASSWORD
    {
        found.push((password.to_owned(), label.to_owned()));
    }
}

fn collect_json(found: &mut Found, name: &str, label: &str, value: &Value) {
    match value {
        Value::String(text) => collect(found, name, label, text),
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_json(found, name, label, value)),
        Value::Object(map) => map
            .iter()
            .for_each(|(key, value)| collect_json(found, key, label, value)),
        _ => {}
    }
}

/// User name, password, query and path of an address.
fn collect_url(found: &mut Found, label: &str, url: &Url) {
    let user = decoded(url.username());
    match url.password().map(decoded) {
        Some(password) if password.chars().count() >= MIN_PASSWORD => {
            // As the header of HTTP Basic authentication has them.
            found.push((format!("{user}:{password}"), format!("{label}.user")));
            found.push((password, format!("{label}.password")));
        }
        Some(_) => {}
        // A token in place of a user name.
        None if is_secret("token", &user) => found.push((user, format!("{label}.user"))),
        None => {}
    }
    for (key, value) in url.query_pairs() {
        if is_secret(&key, &value) {
            found.push((value.into_owned(), format!("{label}.{key}")));
        }
    }
    for segment in url.path_segments().into_iter().flatten().map(decoded) {
        if looks_random(&segment) {
            found.push((segment, format!("{label}.path")));
        }
    }
}

/// Text without percent-encoding; as it is if the bytes are not UTF-8.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The text behind standard base64; `None` if it is something else.
fn decode_basic(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(name: &str, value: &str) -> Vec<String> {
        let mut found = Found::new();
        collect(&mut found, name, name, value);
        found.into_iter().map(|(value, _)| value).collect()
    }

    #[test]
    fn a_credential_is_a_secret_without_its_scheme() {
        assert_eq!(
            collected("Authorization", "Bearer 0123456789abc"),
            ["0123456789abc"]
        );
        assert!(collected("Authorization", "Bearer t0").is_empty());
    }
}
