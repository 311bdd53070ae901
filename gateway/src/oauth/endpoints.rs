//! Checks the addresses that a server names for its login.
//!
//! The browser opens one of them, and codes and tokens are sent to the others. A hostile server could
//! name `file:`, `smb:` or the scheme of an installed program, or a site that looks like another one.

use rmcp::transport::auth::AuthorizationMetadata;
use url::{Host, Url};

use super::error::OAuthError;

/// Asks the user whether a login may go through hosts that are not the server's own site.
pub type ConfirmHosts = fn(server: &Url, hosts: &[String]) -> bool;

/// Checks every endpoint of `metadata`, and returns the hosts that are not the site of `server`.
///
/// # Errors
/// An endpoint is neither `https`, nor `http` on this machine for a server of this machine.
pub(super) fn check(
    server: &Url,
    metadata: &AuthorizationMetadata,
    private_network: bool,
) -> Result<Vec<String>, OAuthError> {
    let own = [
        (
            "authorization_endpoint",
            Some(&metadata.authorization_endpoint),
        ),
        ("token_endpoint", Some(&metadata.token_endpoint)),
        (
            "registration_endpoint",
            metadata.registration_endpoint.as_ref(),
        ),
    ];
    let own = own
        .into_iter()
        .filter_map(|(name, url)| Some((name, url?.as_str())));
    let others = metadata.additional_fields.iter();
    let others = others.filter_map(|(name, url)| {
        let is_endpoint = name.ends_with("_endpoint");
        is_endpoint.then_some((name.as_str(), url.as_str()?))
    });
    let mut foreign = Vec::new();
    for (name, address) in own.chain(others) {
        let url = checked(server, name, address, private_network)?;
        let host = url.host_str().unwrap_or_default();
        if !is_own_site(server, &url) && !foreign.iter().any(|known| known == host) {
            foreign.push(host.to_owned());
        }
    }
    Ok(foreign)
}

/// The address, if the browser may open it and `pml` may send requests to it.
pub(super) fn checked(
    server: &Url,
    name: &str,
    address: &str,
    private_network: bool,
) -> Result<Url, OAuthError> {
    let is_safe = |url: &Url| {
        let has_scheme = match url.scheme() {
            "https" => true,
            // A page of another site must not make the browser send requests to this machine.
            "http" => is_loopback(url) && (is_loopback(server) || private_network),
            _ => false,
        };
        has_scheme && url.has_host() && url.username().is_empty() && url.password().is_none()
    };
    Url::parse(address)
        .ok()
        .filter(is_safe)
        .ok_or_else(|| OAuthError::UnsafeEndpoint {
            server: Box::new(server.clone()),
            name: name.to_owned(),
            scheme: address
                .split(':')
                .next()
                .unwrap_or_default()
                .chars()
                .take(20)
                .collect(),
        })
}

/// Whether the host of `url` is that of the server, a parent of it, or below it.
fn is_own_site(server: &Url, url: &Url) -> bool {
    if is_loopback(server) && is_loopback(url) {
        return true;
    }
    match (server.host(), url.host()) {
        (Some(Host::Domain(server)), Some(Host::Domain(other))) => {
            let is_below = |one: &str, other: &str| {
                other.contains('.')
                    && one
                        .strip_suffix(other)
                        .is_some_and(|rest| rest.ends_with('.'))
            };
            server == other || is_below(server, other) || is_below(other, server)
        }
        (server, other) => server == other,
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(authorization: &str, token: &str) -> AuthorizationMetadata {
        serde_json::from_value(serde_json::json!({
            "issuer": "https://a.example",
            "authorization_endpoint": authorization,
            "token_endpoint": token,
            "response_types_supported": ["code"],
        }))
        .unwrap()
    }

    fn server() -> Url {
        Url::parse("https://mcp.a.example/mcp").unwrap()
    }

    #[test]
    fn a_server_cannot_make_the_browser_open_anything_but_https() {
        let fine = "https://a.example/token";
        for address in [
            "file:///usr/share/applications/evil.desktop",
            "vscode://evil.ext/run?cmd=x",
            "smb://attacker/share",
            "javascript:alert(1)",
            "data:text/html,x",
            "http://a.example/authorize",
            "http://127.0.0.1:8080/admin",
            "http://localhost.evil.example/",
            "https://user:pw@a.example/",
            "https:",
            "--help",
            "",
        ] {
            let error = check(&server(), &metadata(address, fine), false).unwrap_err();
            assert!(
                error.to_string().contains("authorization_endpoint"),
                "{error}"
            );
            check(&server(), &metadata(fine, address), false).unwrap_err();
            let mut other = metadata(fine, fine);
            other.registration_endpoint = Some(address.to_owned());
            check(&server(), &other, false).unwrap_err();
            let mut other = metadata(fine, fine);
            let field = ("revocation_endpoint".to_owned(), address.into());
            other.additional_fields.extend([field]);
            check(&server(), &other, false).unwrap_err();
        }
        let local = Url::parse("http://localhost:9/mcp").unwrap();
        let found = metadata("http://127.0.0.1:9/authorize", "http://[::1]:9/token");
        assert_eq!(check(&local, &found, false).unwrap(), [""; 0]);
    }

    #[test]
    fn hosts_that_are_not_the_servers_own_site_are_named() {
        for (address, foreign) in [
            ("https://mcp.a.example/x", None),
            ("https://a.example/x", None),
            ("https://login.mcp.a.example/x", None),
            ("https://auth.a.example/x", Some("auth.a.example")),
            (
                "https://a.example.evil.example/x",
                Some("a.example.evil.example"),
            ),
            ("https://eviln.a.example/x", Some("eviln.a.example")),
            ("https://example/x", Some("example")),
        ] {
            let found = metadata(address, "https://a.example/token");
            let hosts = check(&server(), &found, false).unwrap();
            assert_eq!(hosts, Vec::from_iter(foreign), "{address}");
        }
    }
}
