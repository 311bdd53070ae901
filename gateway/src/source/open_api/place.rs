//! Where the requests of a service go, and whether credentials may go there.

use std::net::IpAddr;

use url::{Host, Url};

use crate::config::{DocumentAddress, OpenApi};
use crate::secrets::shown_origin;

/// The address of a service.
///
/// # Errors
/// Neither the entry nor the document has one that can be used. A document from the network may not
/// send credentials to a foreign origin, nor requests to a private address.
pub fn base_url(config: &OpenApi, named: Option<&str>) -> Result<Url, String> {
    if let Some(base) = &config.base_url {
        return Ok(base.clone());
    }
    let named = named
        .and_then(|url| Url::parse(url).ok())
        .ok_or("its document names no address: write the address of the service as `baseUrl`")?;
    let DocumentAddress::Url(document) = &config.document else {
        return Ok(named);
    };
    let is_known = named.origin() == document.origin() || is_named(config, &named);
    if is_known || (config.access.is_empty() && !is_private(&named)) {
        return Ok(named);
    }
    Err(format!(
        "its document from {} names the service {}: if that is right, write `\"baseUrl\": \"{}\"`",
        shown_origin(document),
        shown_origin(&named),
        named
    ))
}

/// The address of one operation, and whether it gets the credentials. `None` if the document must not
/// send requests there.
pub fn operation_url(config: &OpenApi, base: &Url, named: Option<&str>) -> Option<(Url, bool)> {
    let Some(named) = named.and_then(|url| Url::parse(url).ok()) else {
        return Some((base.clone(), true));
    };
    if is_named(config, &named) {
        return Some((named, true));
    }
    if config.base_url.is_some() {
        return Some((base.clone(), true));
    }
    if named.origin() == base.origin() {
        return Some((named, true));
    }
    (!is_private(&named)).then_some((named, false))
}

/// Whether the entry names the origin of this address.
pub fn is_named(config: &OpenApi, url: &Url) -> bool {
    config
        .origins
        .iter()
        .any(|origin| origin.origin() == url.origin())
}

/// Whether the host is this machine or one of a private network, by its name.
fn is_private(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let suffixes = [".localhost", ".local", ".internal", ".home.arpa"];
            !name.contains('.') || suffixes.iter().any(|suffix| name.ends_with(suffix))
        }
        Some(Host::Ipv4(address)) => is_private_address(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => {
            let address = address
                .to_ipv4_mapped()
                .map_or(IpAddr::V6(address), IpAddr::V4);
            is_private_address(address)
        }
        None => true,
    }
}

fn is_private_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            let is_shared = it.octets()[0] == 100 && it.octets()[1] & 0xc0 == 64;
            it.is_private()
                || it.is_loopback()
                || it.is_link_local()
                || it.is_unspecified()
                || is_shared
        }
        IpAddr::V6(it) => {
            it.is_loopback()
                || it.is_unspecified()
                || it.is_unique_local()
                || it.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{OpenApiAccess, ToolFilter};

    fn config(document: &str, base: Option<&str>, with_key: bool) -> OpenApi {
        let mut access = OpenApiAccess::default();
        if with_key {
            access
                .headers
                .insert("X-Key".to_owned(), "k3y-of-mine".to_owned());
        }
        OpenApi {
            document: DocumentAddress::read(document, "/".as_ref()),
            base_url: base.map(|url| url.parse().unwrap()),
            access,
            operations: ToolFilter::default(),
            variables: std::collections::BTreeMap::new(),
            origins: vec!["https://files.example/".parse().unwrap()],
        }
    }

    #[test]
    fn a_document_from_the_network_cannot_send_credentials_elsewhere_nor_requests_inside() {
        let from_network = |with_key, named| {
            base_url(
                &config("https://docs.example/a.json", None, with_key),
                Some(named),
            )
            .is_ok()
        };
        assert!(from_network(false, "https://api.example/v1"));
        assert!(!from_network(true, "https://api.example/v1"));
        assert!(
            from_network(true, "https://docs.example/v1"),
            "its own origin"
        );
        assert!(
            from_network(true, "https://files.example/v1"),
            "an origin of the entry"
        );
        for inside in [
            "http://127.0.0.1/",
            "http://169.254.169.254/latest",
            "http://10.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://localhost:8080/",
            "http://db/",
            "http://metadata.google.internal/",
            "http://100.64.0.1/",
            "http://0x7f000001/",
        ] {
            assert!(!from_network(false, inside), "{inside}");
        }
        let file = config("api.yaml", None, true);
        assert!(
            base_url(&file, Some("http://localhost:8080/")).is_ok(),
            "a file of the operator"
        );
        let error = base_url(&file, None).unwrap_err();
        assert!(error.contains("`baseUrl`"), "{error}");
    }

    #[test]
    fn an_operation_with_an_address_of_its_own_gets_no_credentials_there() {
        let of = |config: &OpenApi, named| {
            let base = base_url(config, Some("https://api.example/v1")).unwrap();
            operation_url(config, &base, named).map(|(url, trusted)| (url.to_string(), trusted))
        };
        let plain = config("a.json", None, true);
        let found = |url: &str, trusted| Some((url.to_owned(), trusted));
        assert_eq!(of(&plain, None), found("https://api.example/v1", true));
        assert_eq!(
            of(&plain, Some("https://api.example/v2")),
            found("https://api.example/v2", true)
        );
        assert_eq!(
            of(&plain, Some("https://up.example/")),
            found("https://up.example/", false)
        );
        assert_eq!(
            of(&plain, Some("https://files.example/")),
            found("https://files.example/", true)
        );
        assert_eq!(of(&plain, Some("http://10.0.0.1/")), None);
        let fixed = config("a.json", Some("http://127.0.0.1:1/"), true);
        assert_eq!(
            of(&fixed, Some("https://up.example/")),
            found("http://127.0.0.1:1/", true)
        );
    }
}
