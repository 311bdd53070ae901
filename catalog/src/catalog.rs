//! The tools of one configuration, as their servers last listed them.
//!
//! File format: a header line of JSON, then a line for each tool with its id, a tab, and its JSON.
//! Looking up one tool of five hundred parses one line instead of five hundred schemas.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the file format; a file with another version is ignored.
const VERSION: u32 = 1;
/// Size limit of a catalog file in bytes; a larger one is not written.
const MAX_BYTES: usize = 64 << 20;

/// A tool of a catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogTool {
    /// `server:tool`
    #[serde(skip)]
    pub id: String,
    /// The tool's description; may be empty.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of the arguments.
    pub input_schema: Value,
    /// The JSON Schema of the result, if the server declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// `openWorldHint`, if the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

/// Whether a server listed its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ListingStatus {
    /// It did: all its tools are in the catalog.
    Listed,
    /// It did not answer: it may have any tool.
    Silent,
    /// It is disabled in the configuration.
    Disabled,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
    /// The digest of the configuration that the tools belong to.
    content: String,
    /// When the tools were listed, in seconds since 1970.
    at: u64,
    servers: BTreeMap<String, ListingStatus>,
}

/// The tools of one configuration, parsed on demand.
#[derive(Debug)]
pub struct Catalog {
    text: String,
    header: Header,
    /// The ids in the order of the file, with the byte ranges of their JSON.
    tools: Vec<(String, Range<usize>)>,
}

impl Catalog {
    /// Makes a catalog of tools that were listed `at` (in seconds since 1970). `content` is the digest of
    /// the configuration, see [`ConfigFingerprint::content`](crate::ConfigFingerprint::content).
    pub fn new(
        content: &str,
        at: u64,
        servers: BTreeMap<String, ListingStatus>,
        tools: &[CatalogTool],
    ) -> Self {
        let header = Header {
            version: VERSION,
            content: content.to_owned(),
            at,
            servers,
        };
        // Serialising cannot fail: all map keys are strings.
        let mut text = serde_json::to_string(&header).unwrap_or_default();
        text.push('\n');
        let mut index = Vec::with_capacity(tools.len());
        for tool in tools {
            text.push_str(&serde_json::to_string(&tool.id).unwrap_or_default());
            text.push('\t');
            let start = text.len();
            text.push_str(&serde_json::to_string(tool).unwrap_or_default());
            index.push((tool.id.clone(), start..text.len()));
            text.push('\n');
        }
        Self {
            text,
            header,
            tools: index,
        }
    }

    /// Parses a file; `None` if it is damaged or of another version.
    pub fn parse(text: String) -> Option<Self> {
        let (first, _) = text.split_once('\n')?;
        let header: Header = serde_json::from_str(first).ok()?;
        if header.version != VERSION {
            return None;
        }
        let mut tools = Vec::new();
        let mut at = first.len() + 1;
        // Line ends and tabs inside JSON strings are escaped.
        for line in text[at..].split_inclusive('\n') {
            let (id, rest) = line.split_once('\t')?;
            let start = at + id.len() + 1;
            let end = start + rest.strip_suffix('\n')?.len();
            tools.push((unquoted(id)?.into_owned(), start..end));
            at += line.len();
        }
        Some(Self {
            text,
            header,
            tools,
        })
    }

    /// The contents of the file; `None` if it exceeds the size limit.
    pub(crate) fn text(&self) -> Option<&str> {
        (self.text.len() <= MAX_BYTES).then_some(&self.text)
    }

    /// Whether the tools belong to the configuration with this digest.
    pub fn belongs_to(&self, content: &str) -> bool {
        self.header.content == content
    }

    /// When the tools were listed, in seconds since 1970.
    pub fn listed_at(&self) -> u64 {
        self.header.at
    }

    /// The servers of the configuration, by name.
    pub fn servers(&self) -> impl Iterator<Item = (&str, ListingStatus)> {
        let servers = self.header.servers.iter();
        servers.map(|(name, state)| (name.as_str(), *state))
    }

    /// The status of a server; `None` if it is not configured.
    pub fn server(&self, name: &str) -> Option<ListingStatus> {
        self.header.servers.get(name).copied()
    }

    /// The ids of all tools.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|(id, _)| id.as_str())
    }

    /// The tool with this id.
    pub fn tool(&self, id: &str) -> Option<CatalogTool> {
        let (id, range) = self.tools.iter().find(|(listed, _)| listed == id)?;
        self.read(id, range)
    }

    /// All tools, in the order of the file.
    pub fn tools(&self) -> impl Iterator<Item = CatalogTool> {
        self.tools
            .iter()
            .filter_map(|(id, range)| self.read(id, range))
    }

    fn read(&self, id: &str, range: &Range<usize>) -> Option<CatalogTool> {
        let tool: CatalogTool = serde_json::from_str(self.text.get(range.clone())?).ok()?;
        Some(CatalogTool {
            id: id.to_owned(),
            ..tool
        })
    }
}

/// Parses a JSON string. Without escapes, which are rare here, it is borrowed.
fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains(['\\', '"']) {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(id: &str) -> CatalogTool {
        CatalogTool {
            id: id.to_owned(),
            description: "A\ttab\nand a line".to_owned(),
            input_schema: json!({ "type": "object", "description": "x\ty" }),
            output_schema: None,
            open_world: Some(true),
        }
    }

    #[test]
    fn a_written_catalog_is_parsed_again() {
        let servers = BTreeMap::from([("a".to_owned(), ListingStatus::Listed)]);
        let tools = [tool("a:b"), tool("a:odd\t\"name\"\n")];
        let written = Catalog::new("digest", 7, servers, &tools);
        let read = Catalog::parse(written.text.clone()).unwrap();
        assert!(read.belongs_to("digest") && !read.belongs_to("other"));
        assert_eq!(read.server("a"), Some(ListingStatus::Listed));
        assert_eq!(read.tools().collect::<Vec<_>>(), tools);
        assert_eq!(read.tool("a:b"), Some(tool("a:b")));
        assert_eq!(read.tool("a:c"), None);
    }

    #[test]
    fn a_damaged_file_is_not_parsed() {
        let whole = Catalog::new("d", 7, BTreeMap::new(), &[tool("a:b")]).text;
        for text in [
            "",
            "{}\n",
            "null",
            &whole[..whole.len() - 1],
            &whole.replace('\t', " "),
        ] {
            assert!(Catalog::parse(text.to_owned()).is_none(), "{text}");
        }
        let newer = whole.replacen("\"version\":1", "\"version\":2", 1);
        assert!(Catalog::parse(newer).is_none());
    }
}
