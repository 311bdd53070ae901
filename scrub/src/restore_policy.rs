//! `pml.scrub.restore`: which destinations receive values of which servers.

use std::collections::BTreeMap;

use crate::ConfigError;
use crate::origins::Origin;
use crate::policy::glob_matches;

const KEY: &str = "pml.scrub.restore";
/// An unknown server, in words.
pub(crate) const UNKNOWN_SERVER: &str = "an unknown server";

/// The rules of the configuration. Without a rule, a value is restored for its own server only.
pub(crate) struct RestorePolicy {
    /// A glob over tools, and globs over the servers whose values they may receive.
    rules: Vec<(String, Vec<String>)>,
}

impl RestorePolicy {
    pub(crate) fn new(rules: &BTreeMap<String, Vec<String>>) -> Result<Self, ConfigError> {
        let empty = |key: String| Err(ConfigError::EmptyEntry { key });
        for (destination, servers) in rules {
            if destination.is_empty() {
                return empty(KEY.to_owned());
            }
            if servers.iter().any(String::is_empty) {
                return empty(format!("{KEY}.{destination}"));
            }
            if let Some(server) = servers.iter().find(|server| server.contains(':')) {
                return Err(ConfigError::RestoreFromTool {
                    key: format!("{KEY}.{destination}"),
                    name: server.clone(),
                });
            }
        }
        let tools = |destination: &String| match destination.contains(':') || destination == "*" {
            true => destination.clone(),
            false => format!("{destination}:*"),
        };
        Ok(Self {
            rules: rules
                .iter()
                .map(|(destination, servers)| (tools(destination), servers.clone()))
                .collect(),
        })
    }

    /// The foreign servers that a tool receives the value from; `None` if it may not have it. Each
    /// of the `origins` explains the value alone; without one, its origin is unknown.
    pub(crate) fn crossing(&self, origins: &[Origin], tool: &str) -> Option<Vec<String>> {
        let own = server_of(tool);
        let foreign = |origin: &Origin| -> Vec<String> {
            let servers = origin.servers().filter(|server| *server != own);
            servers.map(str::to_owned).collect()
        };
        if origins.is_empty() {
            return self
                .allows("", tool)
                .then(|| vec![UNKNOWN_SERVER.to_owned()]);
        }
        let mut permitted: Vec<Vec<String>> = origins
            .iter()
            .map(foreign)
            .filter(|foreign| foreign.iter().all(|server| self.allows(server, tool)))
            .collect();
        permitted.sort_by_key(Vec::len);
        let shortest = permitted.into_iter().next()?;
        Some(shortest.into_iter().map(in_words).collect())
    }

    /// Only `*` allows values of an unknown server, whose name is empty.
    fn allows(&self, server: &str, tool: &str) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|(tools, servers)| {
            let named = |glob: &String| match server.is_empty() {
                true => glob == "*",
                false => glob_matches(glob, server),
            };
            glob_matches(tools, tool) && servers.iter().any(named)
        })
    }
}

/// The name of a server; an unknown one has none.
fn in_words(server: String) -> String {
    match server.is_empty() {
        true => UNKNOWN_SERVER.to_owned(),
        false => server,
    }
}

/// The server of a tool id: the part before the first colon.
pub(crate) fn server_of(tool: &str) -> &str {
    tool.split_once(':').map_or(tool, |(server, _)| server)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(rules: &[(&str, &[&str])]) -> Result<RestorePolicy, ConfigError> {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let rules = rules
            .iter()
            .map(|(to, from)| ((*to).to_owned(), list(from)));
        RestorePolicy::new(&rules.collect())
    }

    fn of(servers: &[&str]) -> Origin {
        let run = crate::RunOrigins::default();
        for server in servers {
            run.received(&Origin::server(server), "");
        }
        run.label()
    }

    #[test]
    fn without_rules_a_value_returns_to_its_own_server_only() {
        let none = policy(&[]).unwrap();
        assert_eq!(none.crossing(&[of(&["crm"])], "crm:find"), Some(vec![]));
        assert_eq!(none.crossing(&[of(&["crm"])], "mail:send"), None);
        assert_eq!(none.crossing(&[of(&["crm"])], "crm2:find"), None);
        // Made from data of two servers: neither may have what is perhaps the other's.
        assert_eq!(none.crossing(&[of(&["crm", "mail"])], "crm:find"), None);
        // Seen from both: each knows it.
        let seen = [of(&["crm"]), of(&["mail"])];
        assert_eq!(none.crossing(&seen, "mail:send"), Some(vec![]));
        // The model's own text.
        assert_eq!(none.crossing(&[of(&[])], "mail:send"), Some(vec![]));
        assert_eq!(none.crossing(&[], "mail:send"), None);
    }

    #[test]
    fn a_rule_names_tools_and_the_servers_whose_values_they_receive() {
        let rules = policy(&[("mail:send", &["crm", "hr*"]), ("log", &["*"]), ("*", &[])]);
        let rules = rules.unwrap();
        let from = |server: &str, tool| rules.crossing(&[of(&[server])], tool);
        assert_eq!(from("crm", "mail:send"), Some(vec!["crm".to_owned()]));
        assert_eq!(from("hr_eu", "mail:send"), Some(vec!["hr_eu".to_owned()]));
        assert_eq!(from("crm", "mail:list"), None);
        assert_eq!(from("bank", "mail:send"), None);
        assert_eq!(from("bank", "log:write"), Some(vec!["bank".to_owned()]));
        assert_eq!(rules.crossing(&[], "mail:send"), None);
        assert!(rules.crossing(&[], "log:write").is_some());
        // Texts of servers that are not distinguished.
        assert_eq!(rules.crossing(&[Origin::unknown()], "mail:send"), None);
        assert_eq!(
            rules.crossing(&[Origin::unknown()], "log:write"),
            Some(vec![UNKNOWN_SERVER.to_owned()])
        );
        let both = [of(&["crm", "mail"])];
        assert_eq!(
            rules.crossing(&both, "mail:send"),
            Some(vec!["crm".to_owned()])
        );
    }

    #[test]
    fn entries_that_say_nothing_are_refused() {
        assert!(policy(&[("", &["crm"])]).is_err());
        assert!(policy(&[("mail:send", &[""])]).is_err());
        let error = policy(&[("mail:send", &["crm:find"])]).err().unwrap();
        assert!(error.to_string().contains("`crm`"), "{error}");
    }
}
