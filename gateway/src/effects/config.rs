//! The configuration key `pml.effects`.

use std::fmt;
use std::sync::Arc;

use pml_protocol::EffectClass;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use super::reconcile::Reconcile;
use crate::policy::globs::ToolGlob;

/// The `pml.effects` key of the configuration file.
///
/// ```jsonc
/// {
///   "fs:read_*": "read",
///   "pay:*": { "keyed": "idempotency_key" },
///   "mail:send": {
///     "class": "guarded",
///     "reconcile": { "tool": "mail:find_sent", "args": { "subject": "$ARGS.subject" } }
///   }
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EffectsConfig {
    /// The rules in the order of the file, which has no meaning: the most specific glob wins.
    pub rules: Vec<(ToolGlob, EffectRule)>,
}

/// What `pml.effects` says about the tools that a glob matches.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectRule {
    /// The class.
    pub class: EffectClass,
    /// The argument that takes the idempotency key; set exactly if the class is `keyed`.
    pub key_argument: Option<String>,
    /// How to find out whether a guarded call happened.
    pub reconcile: Option<Arc<Reconcile>>,
}

impl<'de> Deserialize<'de> for EffectsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rules;

        impl<'de> Visitor<'de> for Rules {
            type Value = EffectsConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object: pattern → effect class")
            }

            // Not a map type: `*` and `*:*` are the same glob, and neither may get lost.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EffectsConfig, A::Error> {
                let mut rules = Vec::new();
                while let Some(rule) = map.next_entry()? {
                    rules.push(rule);
                }
                Ok(EffectsConfig { rules })
            }
        }

        deserializer.deserialize_map(Rules)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongForm {
    class: Option<ClassName>,
    keyed: Option<String>,
    reconcile: Option<Reconcile>,
}

/// A class that needs no argument, by its name.
struct ClassName(EffectClass);

impl<'de> Deserialize<'de> for ClassName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        named_class(&name).map(Self).map_err(D::Error::custom)
    }
}

fn named_class(name: &str) -> Result<EffectClass, String> {
    match name.parse() {
        Ok(EffectClass::Keyed) => Err(
            "the class `keyed` needs the name of the argument that takes the key: write `{ \"keyed\": \"idempotency_key\" }`"
                .to_owned(),
        ),
        Ok(class) => Ok(class),
        Err(()) => {
            let known = EffectClass::ALL.map(EffectClass::as_str);
            let remedy = match pml_nearest::typo_of(name, known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("expected one of {}", known.join(", ")),
            };
            Err(format!(
                "unknown effect class `{}`: {remedy}",
                crate::printable(name)
            ))
        }
    }
}

impl TryFrom<LongForm> for EffectRule {
    type Error = &'static str;

    fn try_from(written: LongForm) -> Result<Self, &'static str> {
        let (class, key_argument) = match (written.class, written.keyed) {
            (Some(ClassName(class)), None) => (class, None),
            (None, Some(argument)) if argument.is_empty() => {
                return Err("`keyed` needs the name of an argument");
            }
            (None, Some(argument)) => (EffectClass::Keyed, Some(argument)),
            (Some(_), Some(_)) => {
                return Err("has both `class` and `keyed`: remove one of them");
            }
            (None, None) => return Err("needs `class`, or `keyed` with the name of an argument"),
        };
        if written.reconcile.is_some() && class != EffectClass::Guarded {
            return Err(
                "`reconcile` is for the class `guarded`: a call of another class is sent again",
            );
        }
        Ok(Self {
            class,
            key_argument,
            reconcile: written.reconcile.map(Arc::new),
        })
    }
}

impl<'de> Deserialize<'de> for EffectRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rule;

        impl<'de> Visitor<'de> for Rule {
            type Value = EffectRule;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an effect class, or an object with `class` or `keyed`")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<EffectRule, E> {
                Ok(EffectRule {
                    class: named_class(name).map_err(E::custom)?,
                    key_argument: None,
                    reconcile: None,
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EffectRule, A::Error> {
                let written = LongForm::deserialize(MapAccessDeserializer::new(map))?;
                EffectRule::try_from(written).map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_any(Rule)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_documented_example_is_read_in_full() {
        let config: EffectsConfig = serde_json::from_value(json!({
            "fs:read_*": "read",
            "pay:*": { "keyed": "idempotency_key" },
            "mail:send": {
                "class": "guarded",
                "reconcile": { "tool": "mail:find_sent", "args": { "subject": "$ARGS.subject" } }
            }
        }))
        .unwrap();
        let rule = |glob: &str| {
            let glob: ToolGlob = glob.parse().unwrap();
            &config
                .rules
                .iter()
                .find(|(known, _)| *known == glob)
                .unwrap()
                .1
        };
        assert_eq!(rule("fs:read_*").class, EffectClass::Read);
        assert_eq!(rule("pay:*").class, EffectClass::Keyed);
        assert_eq!(
            rule("pay:*").key_argument.as_deref(),
            Some("idempotency_key")
        );
        let reconcile = rule("mail:send").reconcile.as_ref().unwrap();
        assert_eq!(reconcile.tool().as_str(), "mail:find_sent");
    }

    #[test]
    fn a_mistake_is_refused_with_the_remedy() {
        for (rule, reason) in [
            (json!("raed"), "did you mean `read`?"),
            (
                json!("safe"),
                "expected one of read, idempotent, keyed, guarded",
            ),
            (json!("keyed"), "`{ \"keyed\": \"idempotency_key\" }`"),
            (
                json!({ "class": "keyed" }),
                "needs the name of the argument",
            ),
            (json!({ "keyed": "" }), "needs the name of an argument"),
            (
                json!({ "class": "read", "keyed": "k" }),
                "remove one of them",
            ),
            (json!({}), "needs `class`"),
            (json!({ "clas": "read" }), "unknown field `clas`"),
            (json!(7), "expected an effect class, or an object"),
            (
                json!({ "class": "read", "reconcile": { "tool": "a:b" } }),
                "is for the class `guarded`",
            ),
            (
                json!({ "class": "guarded", "reconcile": { "tool": "find" } }),
                "expected `server:tool`",
            ),
        ] {
            let error = serde_json::from_value::<EffectsConfig>(json!({ "a:*": rule }))
                .unwrap_err()
                .to_string();
            assert!(error.contains(reason), "{rule}: {error}");
        }
        let error = serde_json::from_value::<EffectsConfig>(json!({ "mail": "read" })).unwrap_err();
        assert!(error.to_string().contains("`mail:*`"), "{error}");
    }
}
