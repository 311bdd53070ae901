//! Names of tools that providers allow, and the way back to their ids.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

/// The longest name that all providers allow.
const MAX_NAME: usize = 64;

/// The tools that there are, by their names.
///
/// Providers allow letters, digits, `_` and `-`, 64 of them at most. The name of `fs:read_file` is
/// `fs__read_file`; one that is too long, or that two tools would have, ends in eight digits of a hash of the
/// id, so it is the same in every process.
///
/// ```
/// use pml_provider_formats::ToolNames;
///
/// let names = ToolNames::new(["fs:read_file", "time:now"]);
/// assert_eq!(names.of("fs:read_file"), "fs__read_file");
/// assert_eq!(names.id("mcp__fs__read_file").unwrap(), "fs:read_file");
/// assert_eq!(names.id("now").unwrap(), "time:now");
/// assert!(names.id("fs__read_fil").unwrap_err().to_string().contains("did you mean"));
/// ```
#[derive(Debug, Clone)]
pub struct ToolNames {
    ids: Vec<String>,
    names: HashMap<String, String>,
    by_name: HashMap<String, usize>,
}

/// A name that no tool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownName {
    /// No tool is meant by it.
    #[error("there is no tool `{name}`; {suggestion}")]
    Unknown {
        /// The name.
        name: String,
        /// The nearest name, or how to list all.
        suggestion: String,
    },
    /// Several servers have a tool of this name.
    #[error("several servers have a tool `{name}`: {ids}; name one of them")]
    Ambiguous {
        /// The name.
        name: String,
        /// The ids of these tools.
        ids: String,
    },
}

impl ToolNames {
    /// The names of tools with these ids, `server:tool`.
    pub fn new<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
        let mut count: HashMap<String, usize> = HashMap::new();
        for id in &ids {
            *count.entry(plain(id)).or_default() += 1;
        }
        let mut names = HashMap::new();
        let mut by_name = HashMap::new();
        for (index, id) in ids.iter().enumerate() {
            let plain = plain(id);
            let name = match plain.len() <= MAX_NAME && count[&plain] == 1 {
                true => plain,
                false => hashed(id, &plain),
            };
            by_name.insert(name.clone(), index);
            names.insert(id.clone(), name);
        }
        Self {
            ids,
            names,
            by_name,
        }
    }

    /// The name of a tool; that of a tool that is not known is made from its id.
    pub fn of(&self, id: &str) -> String {
        let name = self.names.get(id).cloned();
        name.unwrap_or_else(|| hashed(id, &plain(id)))
    }

    /// The id of the tool that a model means: by its id, its name, either with `mcp__` before it, the id with
    /// `.` or `/` for `:`, or the name of the tool alone if only one server has it.
    ///
    /// # Errors
    ///
    /// [`UnknownName`], with the nearest names.
    pub fn id(&self, name: &str) -> Result<&str, UnknownName> {
        let bare = name.strip_prefix("mcp__").unwrap_or(name);
        for name in [name, bare] {
            if let Some(index) = self.by_name.get(name) {
                return Ok(&self.ids[*index]);
            }
        }
        let same = |id: &&String| {
            *id == name
                || [".", "/"]
                    .iter()
                    .any(|separator| id.replacen(':', separator, 1) == name)
        };
        if let Some(id) = self.ids.iter().find(same) {
            return Ok(id);
        }
        let of_tool = |id: &&String| id.split_once(':').is_some_and(|(_, tool)| tool == name);
        let tools: Vec<&String> = self.ids.iter().filter(of_tool).collect();
        match tools.as_slice() {
            [only] => Ok(only),
            [] => Err(self.unknown(name)),
            several => Err(UnknownName::Ambiguous {
                name: name.to_owned(),
                ids: several
                    .iter()
                    .map(|id| id.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    fn unknown(&self, name: &str) -> UnknownName {
        let candidates = self.ids.iter().map(String::as_str);
        let nearest = pml_nearest::typo_of(&name.replacen("__", ":", 1), candidates);
        UnknownName::Unknown {
            name: name.to_owned(),
            suggestion: match nearest {
                Some(id) => format!("did you mean `{id}`?"),
                None => "`pml tools` lists them".to_owned(),
            },
        }
    }
}

/// The id in the letters that providers allow.
fn plain(id: &str) -> String {
    let allowed = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    match id.split_once(':') {
        Some((server, tool)) => {
            let (server, tool) = (server.chars().map(allowed), tool.chars().map(allowed));
            server.chain("__".chars()).chain(tool).collect()
        }
        None => id.chars().map(allowed).collect(),
    }
}

fn hashed(id: &str, plain: &str) -> String {
    let digest = Sha256::digest(id.as_bytes());
    let hash: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    // The name is ASCII.
    let kept = &plain[..plain.len().min(MAX_NAME - 9)];
    format!("{kept}_{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_allowed_and_leads_back_to_its_tool() {
        let long = format!("server:{}", "tool".repeat(30));
        let ids = [
            "a:b.c",
            "a:b_c",
            "a_:c",
            "ä:b c",
            "x:y",
            long.as_str(),
            "a:b__c",
        ];
        let names = ToolNames::new(ids);
        let mut seen = Vec::new();
        for id in ids {
            let name = names.of(id);
            assert!(name.len() <= MAX_NAME, "{name}");
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            assert!(name.bytes().all(allowed), "{name}");
            assert_eq!(names.id(&name), Ok(id));
            assert_eq!(names.id(&format!("mcp__{name}")), Ok(id));
            assert_eq!(names.id(id), Ok(id));
            assert!(!seen.contains(&name), "{name}");
            seen.push(name);
        }
    }

    #[test]
    fn the_name_of_a_tool_alone_must_be_that_of_one_server() {
        let names = ToolNames::new(["a:read", "b:read", "b:write"]);
        assert_eq!(names.id("write"), Ok("b:write"));
        assert_eq!(names.id("a.read"), Ok("a:read"));
        let message = names.id("read").unwrap_err().to_string();
        assert!(message.contains("a:read, b:read"), "{message}");
    }
}
