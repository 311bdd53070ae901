//! The policy: the action for a finding, by its kind, its detector and the tool that returned it.

use std::collections::BTreeMap;

use crate::config::{Action, CustomPattern, Profile, Rule, ScrubConfig};
use crate::detect::{CUSTOM, DETECTORS, DefaultPolicy, Detector, entities};
use crate::{ConfigError, Kind};

/// The decision for one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) action: Action,
    pub(crate) reversible: bool,
}

/// The rules of the configuration.
pub(crate) struct Policy {
    detectors: BTreeMap<String, Rule>,
    tools: Vec<(String, BTreeMap<String, Rule>)>,
    patterns: BTreeMap<Kind, (Option<Action>, Option<bool>)>,
    reversible: bool,
    profile: Profile,
    entities: Option<bool>,
}

impl Policy {
    pub(crate) fn new(config: &ScrubConfig) -> Result<Self, ConfigError> {
        let own: Vec<_> = config
            .patterns
            .iter()
            .map(|p| p.name.to_ascii_lowercase())
            .collect();
        let check = |key: &str, rules: &BTreeMap<String, Rule>, any: bool| {
            rules.keys().try_for_each(|name| {
                if (any && name == "*")
                    || name == CUSTOM.name
                    || own.contains(name)
                    || is_known(name)
                {
                    return Ok(());
                }
                Err(ConfigError::UnknownDetector {
                    key: key.to_owned(),
                    name: name.clone(),
                    known: crate::detector_names().collect::<Vec<_>>().join(", "),
                })
            })
        };
        check("pml.scrub.detectors", &config.detectors, false)?;
        for rules in &config.tools {
            if rules.tool.is_empty() {
                let key = "pml.scrub.tools".to_owned();
                return Err(ConfigError::EmptyEntry { key });
            }
            let key = format!("pml.scrub.tools[{}]", rules.tool);
            check(&key, &rules.detectors, true)?;
        }
        let pattern = |p: &CustomPattern| (Kind::intern(&p.name), (p.policy, p.reversible));
        Ok(Self {
            detectors: config.detectors.clone(),
            tools: config
                .tools
                .iter()
                .map(|t| (t.tool.clone(), t.detectors.clone()))
                .collect(),
            patterns: config.patterns.iter().map(pattern).collect(),
            reversible: config.reversible,
            profile: config.profile,
            entities: config.entities,
        })
    }

    /// Whether any rule could act on the detector's findings.
    pub(crate) fn is_enabled(&self, detector: &Detector) -> bool {
        let acts = |rules: &BTreeMap<String, Rule>| {
            rules.iter().any(|(name, rule)| {
                let named = name == "*"
                    || name == detector.name
                    || (detector.kinds)()
                        .iter()
                        .any(|k| k.as_str().eq_ignore_ascii_case(name));
                named && rule.policy().is_some_and(|action| action != Action::Allow)
            })
        };
        let default = match self.detectors.get(detector.name).and_then(|r| r.policy()) {
            Some(action) => action != Action::Allow,
            None => self.is_in_profile(detector),
        };
        default || acts(&self.detectors) || self.tools.iter().any(|(_, rules)| acts(rules))
    }

    /// The decision for a finding of this kind and detector in the output of this tool.
    pub(crate) fn verdict(&self, kind: Kind, detector: &Detector, tool: Option<&str>) -> Verdict {
        let rules = match self.detectors.is_empty() && self.tools.is_empty() {
            true => Vec::new(),
            false => self.rules(&kind.as_str().to_ascii_lowercase(), detector.name, tool),
        };
        let own = self.patterns.get(&kind).copied().unwrap_or_default();
        let action = rules.iter().find_map(|r| r.policy()).or(own.0);
        let reversible = rules.iter().find_map(|r| r.reversible()).or(own.1);
        Verdict {
            action: action.unwrap_or(match self.is_in_profile(detector) {
                true => Action::Redact,
                false => Action::Allow,
            }),
            reversible: self.reversible
                && reversible.unwrap_or(detector.default_policy != DefaultPolicy::OneWay),
        }
    }

    /// The key of the configuration that decides about a finding outside of the rules for tools.
    pub(crate) fn rule_of(&self, kind: Kind, detector: &Detector) -> String {
        let kind_name = kind.as_str().to_ascii_lowercase();
        let named = [kind_name.as_str(), detector.name].into_iter();
        let mut rules = named.filter(|name| {
            self.detectors
                .get(*name)
                .is_some_and(|r| r.policy().is_some())
        });
        if let Some(name) = rules.next() {
            return format!("`pml.scrub.detectors.{name}`");
        }
        if self.patterns.contains_key(&kind) {
            return format!("the pattern `{kind}` of `pml.scrub.patterns`");
        }
        if detector.name == entities::DETECTOR.name && self.entities.is_some() {
            return "`pml.scrub.entities`".to_owned();
        }
        let profile = match self.profile {
            Profile::SecretsOnly => "secrets-only",
            Profile::Default => "default",
            Profile::Strict => "strict",
            Profile::Hipaa => "hipaa",
        };
        format!("the profile `{profile}`")
    }

    /// Whether the profile redacts the detector's findings. The operator's own patterns are in every one.
    fn is_in_profile(&self, detector: &Detector) -> bool {
        if detector.name == entities::DETECTOR.name
            && let Some(enabled) = self.entities
        {
            return enabled;
        }
        match self.profile {
            Profile::Default => detector.default_policy != DefaultPolicy::Off,
            Profile::Strict | Profile::Hipaa => true,
            Profile::SecretsOnly => {
                let secret = detector.default_policy == DefaultPolicy::OneWay;
                // Encoded secrets are found by `base64`.
                secret && detector.name != "card"
                    || [CUSTOM.name, "base64"].contains(&detector.name)
            }
        }
    }

    /// Whether `pml.scrub.tools` names this tool.
    pub(crate) fn has_rules_for(&self, tool: &str) -> bool {
        self.tools.iter().any(|(glob, _)| glob_matches(glob, tool))
    }

    /// The rules that apply, from the most specific to the most general; the first that sets a
    /// field wins.
    fn rules(&self, kind: &str, detector: &str, tool: Option<&str>) -> Vec<Rule> {
        let of_tools = self
            .tools
            .iter()
            .rev()
            .filter(|(glob, _)| tool.is_some_and(|tool| glob_matches(glob, tool)))
            .flat_map(|(_, rules)| [rules.get(kind), rules.get(detector), rules.get("*")]);
        let of_all = [self.detectors.get(kind), self.detectors.get(detector)];
        of_tools.chain(of_all).flatten().copied().collect()
    }
}

fn is_known(name: &str) -> bool {
    DETECTORS.iter().any(|d| {
        d.name == name
            || (d.kinds)()
                .iter()
                .any(|k| k.as_str().to_ascii_lowercase() == name)
    })
}

/// Whether a tool id or a server name matches a glob in which `*` is any run of characters.
pub(crate) fn glob_matches(glob: &str, tool: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = tool.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            let Some(at) = rest.find(part) else {
                return false;
            };
            rest = &rest[at + part.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last: &str| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asterisk_matches_any_run_of_characters() {
        for (glob, tool) in [
            ("crm:*", "crm:find"),
            ("*", "fs:read"),
            ("*:read_*", "fs:read_file"),
            ("fs:read", "fs:read"),
            ("a*a", "aa"),
        ] {
            assert!(glob_matches(glob, tool), "{glob} {tool}");
        }
        for (glob, tool) in [
            ("crm:*", "crmx:find"),
            ("fs:read", "fs:read_file"),
            ("a*a", "a"),
        ] {
            assert!(!glob_matches(glob, tool), "{glob} {tool}");
        }
    }
}
