//! The id of a tool: `server:tool`.

use std::fmt;
use std::str::FromStr;

/// A valid tool id. The name of a server has no colon, the name of a tool may have some.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolId {
    text: String,
    colon: usize,
}

/// Text that is not a tool id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid tool id `{}`: expected `server:tool`", crate::printable(.0))]
pub struct MalformedToolId(pub String);

impl ToolId {
    /// `server` must not contain a colon, which the configuration guarantees.
    pub(crate) fn new(server: &str, tool: &str) -> Self {
        Self {
            text: format!("{server}:{tool}"),
            colon: server.len(),
        }
    }

    /// The part before the first colon.
    pub fn server(&self) -> &str {
        &self.text[..self.colon]
    }

    /// The part after the first colon.
    pub fn tool(&self) -> &str {
        &self.text[self.colon + 1..]
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for ToolId {
    type Err = MalformedToolId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Self {
                text: text.to_owned(),
                colon: server.len(),
            }),
            _ => Err(MalformedToolId(text.to_owned())),
        }
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl<'de> serde::Deserialize<'de> for ToolId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for ToolId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_colon_separates_server_and_tool() {
        let id: ToolId = "fs:group:read".parse().unwrap();
        assert_eq!((id.server(), id.tool()), ("fs", "group:read"));
        assert_eq!(ToolId::new("fs", "group:read"), id);
    }

    #[test]
    fn half_an_id_is_invalid() {
        for text in ["", "fs", ":read", "fs:"] {
            assert!(text.parse::<ToolId>().is_err(), "{text}");
        }
    }
}
