//! Merges the servers of several clients into one list.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::find::{Found, Source};

/// A server of the merged list.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedServer {
    /// Unique in the list, and usable before the colon of a tool's id.
    pub name: String,
    /// Its entry in `.mcp.json`.
    pub entry: Map<String, Value>,
    /// Every file that has it, the most specific first.
    pub sources: Vec<Source>,
    /// What the user should know or do.
    pub notes: Vec<String>,
}

/// Merges servers that are the same in several clients. Of different servers with one name, the
/// first keeps it and the others get their client's name as a suffix.
pub fn merge(found: Found) -> Vec<MergedServer> {
    let mut merged: Vec<MergedServer> = Vec::new();
    // The original name of each merged server: a renamed server is still the same as one that was
    // found under its original name.
    let mut found_as: Vec<String> = Vec::new();
    let mut taken = HashSet::new();
    for server in found.servers {
        let same = merged
            .iter_mut()
            .zip(&found_as)
            .find(|(known, name)| **name == server.name && known.entry == server.entry);
        if let Some((known, _)) = same {
            known.sources.push(server.source);
            continue;
        }
        let name = free_name(&server.name, server.source.client.slug(), &taken);
        let mut notes = server.notes;
        if name != server.name {
            notes.push(format!("it was called `{}` there", server.name));
        }
        taken.insert(name.clone());
        found_as.push(server.name);
        merged.push(MergedServer {
            name,
            entry: server.entry,
            sources: vec![server.source],
            notes,
        });
    }
    merged
}

/// Bytes of a name. With a suffix it still has less than the 128 that a configuration allows.
const MAX_NAME: usize = 96;

fn free_name(found: &str, client: &str, taken: &HashSet<String>) -> String {
    let name = usable(found);
    let candidates = [name.clone(), format!("{name}-{client}")];
    let numbered = (2..).map(|n| format!("{name}-{client}-{n}"));
    candidates
        .into_iter()
        .chain(numbered)
        .find(|candidate| !taken.contains(candidate))
        .unwrap_or(name)
}

/// The name without colons, spaces and invisible characters, which a tool's id `server:tool` cannot
/// hold, and cut to 96 bytes.
fn usable(name: &str) -> String {
    let name = name.trim();
    let name: String = name[..name.floor_char_boundary(MAX_NAME)]
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c.is_ascii_punctuation() && c != ':' {
                c
            } else {
                '-'
            }
        })
        .collect();
    if name.is_empty() {
        "server".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, FoundServer, Scope};
    use proptest::prelude::*;
    use serde_json::json;

    fn server(name: &str, client: Client, entry: Value) -> FoundServer {
        FoundServer {
            name: name.to_owned(),
            source: Source {
                client,
                scope: Scope::User,
                path: client.slug().into(),
            },
            entry: entry.as_object().unwrap().clone(),
            notes: Vec::new(),
        }
    }

    fn merged(servers: Vec<FoundServer>) -> Vec<MergedServer> {
        merge(Found {
            servers,
            problems: Vec::new(),
        })
    }

    #[test]
    fn the_same_server_of_two_clients_is_listed_once_with_both() {
        let entry = json!({"command": "x"});
        let merged = merged(vec![
            server("fs", Client::ClaudeDesktop, entry.clone()),
            server("fs", Client::VsCode, entry),
        ]);
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].sources.len(), 2);
    }

    #[test]
    fn different_servers_of_one_name_are_kept_apart() {
        let merged = merged(vec![
            server("fs", Client::ClaudeDesktop, json!({"command": "x"})),
            server("fs", Client::Cursor, json!({"command": "y"})),
            server("fs", Client::Cursor, json!({"command": "z"})),
            server("fs", Client::Codex, json!({"command": "y"})),
        ]);
        let names: Vec<_> = merged.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["fs", "fs-cursor", "fs-cursor-2"]);
        assert_eq!(merged[1].sources.len(), 2);
        assert!(merged[1].notes[0].contains("`fs`"));
    }

    #[test]
    fn a_name_that_no_tool_id_could_hold_is_changed_and_noted() {
        let merged = merged(vec![server(
            "my files: new",
            Client::Cursor,
            json!({"command": "x"}),
        )]);
        assert_eq!(merged[0].name, "my-files--new");
        assert_eq!(merged[0].notes, ["it was called `my files: new` there"]);
    }

    proptest! {
        #[test]
        fn no_server_is_lost_and_no_name_is_used_twice(
            found in prop::collection::vec(("[ab:]{0,2}", 0usize..5, 0u8..3), 0..20)
        ) {
            let servers: Vec<_> = found
                .iter()
                .map(|(name, client, command)| {
                    server(name, Client::ALL[*client], json!({"command": command.to_string()}))
                })
                .collect();
            let different: HashSet<_> = found.iter().map(|(name, _, command)| (name, command)).collect();
            let merged = merged(servers);
            let names: HashSet<_> = merged.iter().map(|server| &server.name).collect();
            prop_assert_eq!(names.len(), merged.len());
            prop_assert_eq!(merged.len(), different.len());
            let sources: usize = merged.iter().map(|server| server.sources.len()).sum();
            prop_assert_eq!(sources, found.len());
        }
    }
}
