//! Which resources and prompts of a server exist for `pml`.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;

use super::ServerConfig;
use crate::policy::globs::wildcard;

/// `true`, `false`, or patterns of resource URIs or prompt names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offered {
    /// All of them.
    All,
    /// None of them.
    None,
    /// Those that match a pattern; `*` stands for any characters and `?` for one.
    Matching(Vec<String>),
}

impl<'de> Deserialize<'de> for Offered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(true) => Ok(Self::All),
            Value::Bool(false) => Ok(Self::None),
            list @ Value::Array(_) => serde_json::from_value(list)
                .map(Self::Matching)
                .map_err(D::Error::custom),
            _ => Err(D::Error::custom(
                "expected true, false or a list of patterns",
            )),
        }
    }
}

impl Offered {
    /// Whether the resource or prompt `name` is offered; `None` asks whether any can be.
    fn includes(&self, name: Option<&str>) -> bool {
        match (self, name) {
            (Self::All, _) => true,
            (Self::None, _) => false,
            (Self::Matching(patterns), None) => !patterns.is_empty(),
            (Self::Matching(patterns), Some(name)) => {
                !leaves_its_folder(name) && patterns.iter().any(|pattern| wildcard(pattern, name))
            }
        }
    }
}

impl ServerConfig {
    /// Whether the resource or prompt `name` exists for `pml`; `kind` is `resources` or `prompts`.
    /// `None` as the name asks whether any of them can.
    ///
    /// Without a setting of its own, a server with a list of allowed tools has neither, and one that
    /// denies every tool has neither.
    pub fn offers(&self, kind: &str, name: Option<&str>) -> bool {
        let own = match kind {
            "resources" => &self.resources,
            _ => &self.prompts,
        };
        match own {
            Some(own) => own.includes(name),
            None => {
                let is_denied = self
                    .tools
                    .deny
                    .iter()
                    .any(|pattern| wildcard(pattern, kind));
                self.tools.allow.is_none() && !is_denied
            }
        }
    }
}

/// Whether a URI has a `..`, with which a server may leave the folder that a pattern names.
fn leaves_its_folder(uri: &str) -> bool {
    let uri = uri
        .to_ascii_lowercase()
        .replace("%2e", ".")
        .replace("%2f", "/")
        .replace("%5c", "/");
    uri.split(['/', '\\', '?', '#']).any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ToolFilter;

    fn server(entry: &str) -> ServerConfig {
        let text = format!("{{ \"mcpServers\": {{ \"s\": {entry} }} }}");
        let mut config = crate::Config::parse("m.json".as_ref(), &text, &|_| None).unwrap();
        config.servers.remove("s").unwrap()
    }

    #[test]
    fn a_list_of_tools_does_not_open_resources_and_prompts() {
        for entry in [
            r#"{ "command": "x", "tools": ["read_public"] }"#,
            r#"{ "command": "x", "tools": { "allow": [] } }"#,
            r#"{ "command": "x", "tools": { "deny": ["*"] } }"#,
            r#"{ "command": "x", "resources": false, "prompts": [] }"#,
        ] {
            for kind in ["resources", "prompts"] {
                assert!(!server(entry).offers(kind, None), "{entry}");
                assert!(!server(entry).offers(kind, Some("db://all")), "{entry}");
            }
        }
        let open = ServerConfig::stdio("s", "x", Vec::new());
        assert!(open.offers("resources", Some("db://all")) && open.offers("prompts", None));
        assert_eq!(open.tools, ToolFilter::default());
    }

    #[test]
    fn patterns_open_what_they_match() {
        let own = server(
            r#"{ "command": "x", "tools": ["t"], "resources": ["docs://public/*"], "prompts": true }"#,
        );
        assert!(own.offers("resources", Some("docs://public/a/b")));
        assert!(own.offers("prompts", Some("any")));
        for uri in [
            "docs://private/a",
            "docs://public/../private/a",
            "docs://public/%2e%2E/private/a",
            "docs://public/..%2fprivate/a",
        ] {
            assert!(!own.offers("resources", Some(uri)), "{uri}");
        }
    }

    #[test]
    fn another_value_is_a_mistake() {
        let text = r#"{ "mcpServers": { "s": { "command": "x", "resources": "all" } } }"#;
        let error = crate::Config::parse("m.json".as_ref(), text, &|_| None).unwrap_err();
        assert!(
            error.to_string().contains("expected true, false or a list"),
            "{error}"
        );
    }
}
