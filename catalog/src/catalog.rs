//! The tools of one configuration, as their servers described them last.
//!
//! On disk: one line of JSON about the whole, then a line for each tool: its id, a tab, what is
//! known about it. Finding a tool among five hundred reads one line, not five hundred schemas.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Another number means that the file is from another time.
const VERSION: u32 = 1;
/// Bytes of a catalog; a larger one is not kept.
const MAX_BYTES: usize = 64 << 20;

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownTool {
    /// `server:tool`
    #[serde(skip)]
    pub id: String,
    #[serde(default)]
    pub description: String,
    pub input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// What became of a server when its tools were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// All its tools are known.
    Listed,
    /// It did not answer: any tool may exist.
    Silent,
    Disabled,
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    /// A digest of the configuration that these are the tools of.
    content: String,
    /// Seconds since 1970.
    at: u64,
    servers: BTreeMap<String, ServerState>,
}

/// The tools of one configuration.
#[derive(Debug)]
pub struct Catalog {
    text: String,
    head: Head,
    /// Ids in the order of the file, and where their descriptions stand in it.
    tools: Vec<(String, Range<usize>)>,
}

impl Catalog {
    /// Tools that were just listed.
    pub fn new(
        content: &str,
        at: u64,
        servers: BTreeMap<String, ServerState>,
        tools: &[KnownTool],
    ) -> Self {
        let head = Head {
            version: VERSION,
            content: content.to_owned(),
            at,
            servers,
        };
        // Neither of the two can fail: there is no map with keys that are no strings in them.
        let mut text = serde_json::to_string(&head).unwrap_or_default();
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
            head,
            tools: index,
        }
    }

    /// Reads a file; `None` for one that is damaged or from another time.
    pub fn parse(text: String) -> Option<Self> {
        let (first, _) = text.split_once('\n')?;
        let head: Head = serde_json::from_str(first).ok()?;
        if head.version != VERSION {
            return None;
        }
        let mut tools = Vec::new();
        let mut at = first.len() + 1;
        // JSON holds no line end and no tab but as an escape.
        for line in text[at..].split_inclusive('\n') {
            let (id, rest) = line.split_once('\t')?;
            let start = at + id.len() + 1;
            let end = start + rest.strip_suffix('\n')?.len();
            tools.push((unquoted(id)?.into_owned(), start..end));
            at += line.len();
        }
        Some(Self { text, head, tools })
    }

    /// As a file; `None` if it is too large to be worth it.
    pub(crate) fn text(&self) -> Option<&str> {
        (self.text.len() <= MAX_BYTES).then_some(&self.text)
    }

    /// Whether these are the tools of the configuration with this digest.
    pub fn is_of(&self, content: &str) -> bool {
        self.head.content == content
    }

    /// When the servers were asked, in seconds since 1970.
    pub fn at(&self) -> u64 {
        self.head.at
    }

    /// The servers of the configuration.
    pub fn servers(&self) -> impl Iterator<Item = (&str, ServerState)> {
        let servers = self.head.servers.iter();
        servers.map(|(name, state)| (name.as_str(), *state))
    }

    pub fn server(&self, name: &str) -> Option<ServerState> {
        self.head.servers.get(name).copied()
    }

    /// The ids of all tools.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|(id, _)| id.as_str())
    }

    pub fn has(&self, id: &str) -> bool {
        self.ids().any(|known| known == id)
    }

    pub fn tool(&self, id: &str) -> Option<KnownTool> {
        let (id, place) = self.tools.iter().find(|(known, _)| known == id)?;
        self.read(id, place)
    }

    pub fn tools(&self) -> impl Iterator<Item = KnownTool> {
        self.tools
            .iter()
            .filter_map(|(id, place)| self.read(id, place))
    }

    fn read(&self, id: &str, place: &Range<usize>) -> Option<KnownTool> {
        let tool: KnownTool = serde_json::from_str(self.text.get(place.clone())?).ok()?;
        Some(KnownTool {
            id: id.to_owned(),
            ..tool
        })
    }
}

/// A JSON string. Nearly none has escapes, and then nothing needs to be read.
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

    fn tool(id: &str) -> KnownTool {
        KnownTool {
            id: id.to_owned(),
            description: "A\ttab\nand a line".to_owned(),
            input_schema: json!({ "type": "object", "description": "x\ty" }),
            output_schema: None,
        }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let servers = BTreeMap::from([("a".to_owned(), ServerState::Listed)]);
        let tools = [tool("a:b"), tool("a:odd\t\"name\"\n")];
        let written = Catalog::new("digest", 7, servers, &tools);
        let read = Catalog::parse(written.text.clone()).unwrap();
        assert!(read.is_of("digest") && !read.is_of("other"));
        assert_eq!(read.server("a"), Some(ServerState::Listed));
        assert_eq!(read.tools().collect::<Vec<_>>(), tools);
        assert_eq!(read.tool("a:b"), Some(tool("a:b")));
        assert_eq!(read.tool("a:c"), None);
    }

    #[test]
    fn a_damaged_file_is_no_catalog() {
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
