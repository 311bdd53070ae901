//! Decides the effect class of a tool.

use std::fmt;
use std::sync::Arc;

use pml_protocol::EffectClass;
use serde_json::Value;

use super::config::{EffectRule, EffectsConfig};
use super::precedence::{Specificity, deciding_glob, overlap};
use super::reconcile::Reconcile;
use crate::config::{Config, ConfigError, Endpoint, ServerConfig, ServerTrust};
use crate::policy::globs::ToolGlob;
use crate::registry::Tool;

/// What a call of a tool does to the world, and how that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The class.
    pub class: EffectClass,
    /// The argument that takes the idempotency key; set exactly if the class is `keyed`.
    pub key_argument: Option<String>,
    /// How to find out whether a guarded call happened, if the operator says how.
    pub reconcile: Option<Arc<Reconcile>>,
    /// Where the class comes from.
    pub source: EffectSource,
}

/// Where the class of a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectSource {
    /// A rule of `pml.effects`.
    Rule(ToolGlob),
    /// The annotations of a server whose entry has `"trust": "annotations"`.
    Annotations,
    /// A glob of `pml.policy.retry.idempotent`.
    RetryIdempotent(ToolGlob),
    /// The HTTP method of an operation, and its header for an idempotency key.
    Method,
    /// Nothing is known about the tool.
    Default,
}

impl EffectSource {
    /// The name in machine-readable output: `rule`, `annotations`, `alias`, `method` or `default`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Rule(_) => "rule",
            Self::Annotations => "annotations",
            Self::RetryIdempotent(_) => "alias",
            Self::Method => "method",
            Self::Default => "default",
        }
    }

    /// The operator's pattern that decided, if one did.
    pub fn pattern(&self) -> Option<&ToolGlob> {
        match self {
            Self::Rule(glob) | Self::RetryIdempotent(glob) => Some(glob),
            Self::Annotations | Self::Method | Self::Default => None,
        }
    }
}

impl fmt::Display for EffectSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(glob) => write!(f, "rule `{glob}`"),
            Self::Annotations => f.write_str("annotations"),
            Self::Method => f.write_str("HTTP method"),
            Self::RetryIdempotent(glob) => write!(f, "alias `retry.idempotent: {glob}`"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl Effect {
    fn of(class: EffectClass, source: EffectSource) -> Self {
        Self {
            class,
            key_argument: None,
            reconcile: None,
            source,
        }
    }

    /// The effect of a tool about which nothing is known.
    pub fn unknown() -> Self {
        Self::of(EffectClass::Guarded, EffectSource::Default)
    }

    /// Whether a call with `arguments` may be sent again when its outcome is not known. A call of a
    /// `keyed` tool needs its key for that.
    pub fn is_repeatable(&self, arguments: &Value) -> bool {
        self.class.is_repeatable()
            && self
                .key_argument
                .as_deref()
                .is_none_or(|key| arguments.get(key).is_some_and(|key| !key.is_null()))
    }

    /// Whether the operator says that the tool has no effect.
    pub(crate) fn is_read_by_rule(&self) -> bool {
        self.class == EffectClass::Read && matches!(self.source, EffectSource::Rule(_))
    }
}

/// The classification of tools by the operator. The first of these that says something decides:
///
/// 1. the most specific rule of `pml.effects` that matches;
/// 2. the HTTP method of an operation of a service with an OpenAPI document;
/// 3. the annotations of a server with `"trust": "annotations"`;
/// 4. `pml.policy.retry.idempotent`, an older way to write the class `idempotent`;
/// 5. otherwise the tool is `guarded`.
#[derive(Debug, Default)]
pub struct EffectRules {
    /// The most specific ones first.
    rules: Vec<(ToolGlob, EffectRule)>,
    retry_idempotent: Vec<ToolGlob>,
}

impl EffectRules {
    /// The rules of a configuration; `retry_idempotent` is its `pml.policy.retry.idempotent`.
    ///
    /// # Errors
    /// `pml.effects` is invalid, names a server that the file does not have, or has two rules for the
    /// same tool of which neither is more specific.
    pub fn new(config: &Config, retry_idempotent: &[ToolGlob]) -> Result<Self, ConfigError> {
        let EffectsConfig { mut rules } = config.section("effects")?;
        rules.sort_by_key(|(glob, _)| Specificity::of(glob).sort_key());
        let rules = Self {
            rules,
            retry_idempotent: retry_idempotent.to_vec(),
        };
        rules.check_servers(config)?;
        rules.check_ties(config)?;
        rules.check_reconcile(config)?;
        Ok(rules)
    }

    /// The effect of a call of `tool`, a tool of `server`.
    pub fn class_of(&self, tool: &Tool, server: &ServerConfig) -> Effect {
        let id = tool.id.as_str();
        if let Some((glob, rule)) = self.rule_for(id) {
            return Effect {
                class: rule.class,
                key_argument: rule.key_argument.clone(),
                reconcile: rule.reconcile.clone(),
                source: EffectSource::Rule(glob.clone()),
            };
        }
        if let Ok(Endpoint::OpenApi(_)) = &server.endpoint {
            return by_method(tool);
        }
        let annotations = match server.trust {
            ServerTrust::Annotations => tool.annotations.as_ref(),
            ServerTrust::None => None,
        };
        if let Some(class) = annotations.and_then(annotated_class) {
            return Effect::of(class, EffectSource::Annotations);
        }
        let alias = self.retry_idempotent.iter().find(|glob| glob.matches(id));
        match alias {
            Some(glob) => Effect::of(
                EffectClass::Idempotent,
                EffectSource::RetryIdempotent(glob.clone()),
            ),
            None if annotations.is_some() => {
                Effect::of(EffectClass::Guarded, EffectSource::Annotations)
            }
            None => Effect::unknown(),
        }
    }

    /// Whether a rule makes the tool with this id `keyed`; `None` without a rule.
    pub(crate) fn is_keyed(&self, id: &str) -> Option<bool> {
        let (_, rule) = self.rule_for(id)?;
        Some(rule.class == EffectClass::Keyed)
    }

    fn rule_for(&self, id: &str) -> Option<&(ToolGlob, EffectRule)> {
        self.rules.iter().find(|(glob, _)| glob.matches(id))
    }

    /// Every server that a rule names must be one of the file: a rule for another one would never
    /// apply.
    fn check_servers(&self, config: &Config) -> Result<(), ConfigError> {
        for (glob, rule) in &self.rules {
            let written = glob.to_string();
            if !glob.server().contains(['*', '?']) {
                check_server(config, &["effects", &written], glob.server())?;
            }
            if let Some(reconcile) = &rule.reconcile {
                let place = ["effects", &written, "reconcile", "tool"];
                check_server(config, &place, reconcile.tool().server())?;
            }
        }
        Ok(())
    }

    /// Refuses two rules that say different things about a tool, unless one is more specific or a third
    /// rule decides.
    fn check_ties(&self, config: &Config) -> Result<(), ConfigError> {
        for (n, (glob, rule)) in self.rules.iter().enumerate() {
            for (other, other_rule) in &self.rules[..n] {
                let order = Specificity::of(glob).partial_cmp(&Specificity::of(other));
                let is_decided = matches!(order, Some(order) if order.is_ne());
                if is_decided || rule == other_rule || !overlap(glob, other) {
                    continue;
                }
                let remedy = match deciding_glob(glob, other) {
                    Some(deciding) if self.rules.iter().any(|(known, _)| *known == deciding) => {
                        continue;
                    }
                    Some(deciding) => format!("add a rule for `{deciding}`"),
                    None => "make one of them more specific".to_owned(),
                };
                let message = format!(
                    "can match the same tool as `{other}`, and neither is more specific: {remedy}"
                );
                return Err(config.section_error(&["effects", &glob.to_string()], message));
            }
        }
        Ok(())
    }

    /// A tool that is asked whether a call happened must not have effects itself.
    fn check_reconcile(&self, config: &Config) -> Result<(), ConfigError> {
        for (glob, rule) in &self.rules {
            let Some(reconcile) = &rule.reconcile else {
                continue;
            };
            let asked = reconcile.tool();
            let Some((by, known)) = self.rule_for(asked.as_str()) else {
                continue;
            };
            if known.class != EffectClass::Read {
                let message = format!(
                    "`{asked}` is `{}` by the rule `{by}`: `reconcile` needs a tool of the class `read`",
                    known.class
                );
                let place = ["effects", &glob.to_string(), "reconcile", "tool"];
                return Err(config.section_error(&place, message));
            }
        }
        Ok(())
    }
}

fn check_server(config: &Config, place: &[&str], name: &str) -> Result<(), ConfigError> {
    if config.servers.contains_key(name) {
        return Ok(());
    }
    let known = config.servers.keys().map(String::as_str);
    let remedy = match pml_nearest::typo_of(name, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "name a server of this file, or use `*` in a pattern".to_owned(),
    };
    let message = format!("there is no server `{}`: {remedy}", crate::printable(name));
    Err(config.section_error(place, message))
}

/// The effect of an operation, whose annotations pml makes from the method.
fn by_method(tool: &Tool) -> Effect {
    let annotations = tool.annotations.as_ref();
    let key = annotations.and_then(|it| it.get("idempotencyKey")?.as_str());
    let class = match key {
        Some(_) => Some(EffectClass::Keyed),
        None => annotations.and_then(annotated_class),
    };
    Effect {
        key_argument: key.map(str::to_owned),
        ..Effect::of(class.unwrap_or(EffectClass::Guarded), EffectSource::Method)
    }
}

/// The class that annotations claim, if they claim that a call may be repeated. A tool that is marked
/// as destructive as well is not `read`, and the absence of that mark proves nothing.
fn annotated_class(annotations: &Value) -> Option<EffectClass> {
    let claims = |hint: &str| annotations.get(hint).and_then(Value::as_bool) == Some(true);
    if claims("readOnlyHint") && !claims("destructiveHint") {
        Some(EffectClass::Read)
    } else if claims("idempotentHint") {
        Some(EffectClass::Idempotent)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(effects: &str, entry: &str) -> Config {
        let text = format!(
            "{{ \"mcpServers\": {{ \"fs\": {entry}, \"mail\": {{ \"command\": \"x\" }} }},\n\"pml\": {{ \"effects\": {effects} }} }}"
        );
        Config::parse("m.json".as_ref(), &text, &|_| None).unwrap()
    }

    fn rules(effects: &str) -> Result<EffectRules, String> {
        EffectRules::new(&parsed(effects, r#"{ "command": "x" }"#), &[])
            .map_err(|error| error.to_string())
    }

    fn tool(server: &str, name: &str, annotations: Value) -> Tool {
        let described = json!({ "name": name, "annotations": annotations });
        Tool::read(server, &described).unwrap().unwrap()
    }

    fn untrusted(server: &str) -> ServerConfig {
        ServerConfig::stdio(server, "x", Vec::new())
    }

    fn trusted(server: &str) -> ServerConfig {
        ServerConfig {
            trust: ServerTrust::Annotations,
            ..untrusted(server)
        }
    }

    fn decided(rules: &EffectRules, id: &str) -> (EffectClass, String) {
        let (server, name) = id.split_once(':').unwrap();
        let effect = rules.class_of(&tool(server, name, Value::Null), &untrusted(server));
        (effect.class, effect.source.to_string())
    }

    #[test]
    fn the_most_specific_rule_decides_whatever_its_place_in_the_file() {
        let rules = rules(
            r#"{ "*": "guarded", "fs:*": "idempotent", "fs:read_*": "read", "fs:read_and_clear": "guarded" }"#,
        )
        .unwrap();
        for (id, class, by) in [
            ("mail:send", EffectClass::Guarded, "rule `*:*`"),
            ("fs:write", EffectClass::Idempotent, "rule `fs:*`"),
            ("fs:read_file", EffectClass::Read, "rule `fs:read_*`"),
            (
                "fs:read_and_clear",
                EffectClass::Guarded,
                "rule `fs:read_and_clear`",
            ),
        ] {
            assert_eq!(decided(&rules, id), (class, by.to_owned()), "{id}");
        }
    }

    #[test]
    fn two_rules_that_could_both_decide_are_refused_with_the_remedy() {
        assert_eq!(
            rules("{ \"fs:*\": \"read\",\n\"*:delete_*\": \"guarded\" }").unwrap_err(),
            "m.json:3: `pml.effects.*:delete_*`: can match the same tool as `fs:*`, and neither is more specific: add a rule for `fs:delete_*`"
        );
        let error = rules(r#"{ "fs:a*b": "read", "fs:ab*": "guarded" }"#).unwrap_err();
        assert!(error.contains("make one of them more specific"), "{error}");
        assert!(rules(r#"{ "*": "read", "*:*": "guarded" }"#).is_err());
        for accepted in [
            r#"{ "fs:*": "read", "*:delete_*": "guarded", "fs:delete_*": "guarded" }"#,
            r#"{ "fs:a*b": "read", "fs:ab*": "read" }"#,
            r#"{ "fs:a*": "read", "fs:b*": "guarded" }"#,
            r#"{ "fs:*": "read", "mail:*": "guarded" }"#,
        ] {
            assert!(rules(accepted).is_ok(), "{accepted}");
        }
    }

    #[test]
    fn a_mistake_names_its_place_and_the_nearest_name() {
        for (effects, message) in [
            (
                r#"{ "fss:*": "read" }"#,
                "m.json:2: `pml.effects.fss:*`: there is no server `fss`: did you mean `fs`?",
            ),
            (
                r#"{ "calendar:*": "read" }"#,
                "m.json:2: `pml.effects.calendar:*`: there is no server `calendar`: name a server of this file, or use `*` in a pattern",
            ),
            (
                r#"{ "fs:*": "raed" }"#,
                "m.json:2: `pml.effects.fs:*`: unknown effect class `raed`: did you mean `read`?",
            ),
            (
                "{ \"fs:*\": {\n\"clas\": \"read\" } }",
                "m.json:3: unknown key `pml.effects.fs:*.clas`: did you mean `class`?",
            ),
            (
                "{ \"fs:*\": { \"class\": \"guarded\",\n\"reconcile\": { \"tool\": \"mial:find\" } } }",
                "m.json:3: `pml.effects.fs:*.reconcile.tool`: there is no server `mial`: did you mean `mail`?",
            ),
            (
                r#"{ "mail:*": { "class": "guarded", "reconcile": { "tool": "mail:find" } } }"#,
                "m.json:2: `pml.effects.mail:*.reconcile.tool`: `mail:find` is `guarded` by the rule `mail:*`: `reconcile` needs a tool of the class `read`",
            ),
        ] {
            assert_eq!(rules(effects).unwrap_err(), message);
        }
    }

    #[test]
    fn annotations_decide_only_for_a_server_that_is_trusted() {
        let rules = EffectRules::default();
        for (annotations, class) in [
            (json!({ "readOnlyHint": true }), EffectClass::Read),
            (
                json!({ "readOnlyHint": true, "destructiveHint": true }),
                EffectClass::Guarded,
            ),
            (
                json!({ "idempotentHint": true, "destructiveHint": true }),
                EffectClass::Idempotent,
            ),
            (json!({ "destructiveHint": false }), EffectClass::Guarded),
            (json!({ "readOnlyHint": "true" }), EffectClass::Guarded),
        ] {
            let tool = tool("fs", "x", annotations.clone());
            let effect = rules.class_of(&tool, &trusted("fs"));
            assert_eq!(effect.class, class, "{annotations}");
            assert_eq!(effect.source, EffectSource::Annotations);
            assert_eq!(
                rules.class_of(&tool, &untrusted("fs")),
                Effect::unknown(),
                "{annotations}"
            );
        }
        let bare = tool("fs", "x", Value::Null);
        assert_eq!(rules.class_of(&bare, &trusted("fs")), Effect::unknown());
    }

    #[test]
    fn a_rule_wins_over_annotations_and_annotations_over_the_alias() {
        let alias: Vec<ToolGlob> = vec!["fs:*".parse().unwrap()];
        let config = parsed(r#"{ "fs:reset": "guarded" }"#, r#"{ "command": "x" }"#);
        let rules = EffectRules::new(&config, &alias).unwrap();
        let class = |name: &str| {
            let tool = tool("fs", name, json!({ "readOnlyHint": true }));
            rules.class_of(&tool, &trusted("fs")).class
        };
        assert_eq!(class("reset"), EffectClass::Guarded);
        assert_eq!(class("look"), EffectClass::Read);
        assert_eq!(
            decided(&rules, "fs:put"),
            (
                EffectClass::Idempotent,
                "alias `retry.idempotent: fs:*`".to_owned()
            )
        );
    }

    #[test]
    fn a_keyed_call_may_be_repeated_only_with_its_key() {
        let rules = rules(r#"{ "fs:*": { "keyed": "key" } }"#).unwrap();
        let effect = rules.class_of(&tool("fs", "pay", Value::Null), &untrusted("fs"));
        assert_eq!(effect.class, EffectClass::Keyed);
        assert!(effect.is_repeatable(&json!({ "key": "k1" })));
        assert!(!effect.is_repeatable(&json!({ "key": null })));
        assert!(!effect.is_repeatable(&json!({})));
        assert!(!Effect::unknown().is_repeatable(&json!({})));
    }
}
