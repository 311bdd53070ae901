//! Mistakes that only show against the schema: unknown attributes, wrong types, actions without tools.

use std::collections::BTreeSet;
use std::str::FromStr;

use cedar_policy::{
    ActionConstraint, PolicySet, Schema, ValidationError, ValidationMode, Validator,
};
use serde_json::{Value, json};

use super::error::Mistake;
use super::policy_file::{PolicyFile, diagnostic};
use super::schema::schema;

/// The mistakes of a file, given all tools by id and input schema.
pub fn validate<'a>(
    file: &PolicyFile,
    tools: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> Vec<Mistake> {
    let mut mistakes = against(file, &schema(tools), |_| true);
    mistakes.extend(groups_as_actions(file));
    mistakes.sort();
    mistakes.dedup();
    mistakes
}

/// The mistakes of a file that are mistakes whatever the tools and their arguments are.
pub(super) fn without_tools(file: &PolicyFile) -> Vec<Mistake> {
    let none = json!({});
    let mut named: BTreeSet<String> = file
        .policies()
        .iter()
        .flat_map(|known| known.policy.entity_literals())
        .filter(|literal| literal.type_name().to_string() == "Action")
        .map(|literal| literal.id().unescaped().to_owned())
        .filter(|id| id.contains(':'))
        .collect();
    named.insert("any:tool".to_owned());
    let text = schema(named.iter().map(|id| (id.as_str(), &none)));
    let mut mistakes = against(file, &text, |error| !is_about_arguments(error));
    mistakes.extend(groups_as_actions(file));
    mistakes
}

/// Whether the schemas of tools decide if it is a mistake.
fn is_about_arguments(error: &ValidationError) -> bool {
    match error {
        ValidationError::UnsafeAttributeAccess(_)
        | ValidationError::UnsafeOptionalAttributeAccess(_) => error.to_string().contains("args"),
        _ => false,
    }
}

fn against(
    file: &PolicyFile,
    schema: &str,
    counts: impl Fn(&ValidationError) -> bool,
) -> Vec<Mistake> {
    let schema = match Schema::from_str(schema) {
        Ok(schema) => schema,
        Err(error) => {
            let message = format!("the schema of the tools is not valid: {error}");
            return vec![Mistake::at(file.text(), 0, message)];
        }
    };
    let policies = file.policies().iter().map(|known| known.policy.clone());
    // The ids of a file are unique: `PolicyFile::parse` checks it.
    let policies = PolicySet::from_policies(policies).unwrap_or_default();
    let result = Validator::new(schema).validate(&policies, ValidationMode::Strict);
    let errors = result.validation_errors().filter(|error| counts(error));
    let mut places = BTreeSet::new();
    errors
        .map(|error| diagnostic(file.text(), error))
        // A policy for all tools has the same mistake once per tool.
        .filter(|mistake| places.insert((mistake.line, mistake.column)))
        .map(|mistake| match mistake.help {
            None if mistake.message.contains("args") => mistake.with_help(Some(
                "if only some tools have the argument, write `context.args has NAME && …`"
                    .to_owned(),
            )),
            _ => mistake,
        })
        .collect()
}

/// `action == Action::"call"` never applies: `call` is the group of all tools.
fn groups_as_actions(file: &PolicyFile) -> impl Iterator<Item = Mistake> {
    file.policies().iter().filter_map(|known| {
        let ActionConstraint::Eq(action) = known.policy.action_constraint() else {
            return None;
        };
        let name = action.id().unescaped();
        matches!(name, "call" | "see").then(|| {
            let text = file.text();
            let at = text[known.start..].find("==").unwrap_or(0);
            let message =
                format!("`action == Action::\"{name}\"` never applies: `{name}` is a group");
            let help = format!("write `action in Action::\"{name}\"`");
            Mistake::at(text, known.start + at, message).with_help(Some(help))
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::PolicyFileError;
    use super::*;

    fn mistakes(text: &str) -> Vec<String> {
        match PolicyFile::parse("p.cedar".as_ref(), text) {
            Ok(_) => Vec::new(),
            Err(PolicyFileError::Mistakes { mistakes, .. }) => {
                mistakes.iter().map(ToString::to_string).collect()
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        for (text, place, words) in [
            (
                "permit(principal, action, resource)",
                "1:",
                "unexpected end",
            ),
            ("permit(principal,\n  actoin, resource);", "2:3", "actoin"),
            (
                "permit(principal, action == Action::\"call\", resource);",
                "1:26",
                "action in Action::\"call\"",
            ),
            (
                "\npermit(principal, action in Action::\"call\", resource) when { resource.efect == \"read\" };",
                "2:",
                "efect",
            ),
            (
                "permit(principal, action in Action::\"cal\", resource);",
                "1:",
                "cal",
            ),
            (
                "permit(principal, action, resource in Glob::\"fs\");",
                "1:",
                "`fs:*`",
            ),
            (
                "permit(principal, action, resource == Tool::\"fs\");",
                "1:39",
                "server:tool",
            ),
            (
                "permit(principal == ?principal, action, resource);",
                "1:1",
                "template",
            ),
            (
                "@id(\"a\") permit(principal, action, resource);\n@id(\"a\") permit(principal, action, resource);",
                "2:1",
                "`a`",
            ),
            (
                "@approve(\"yes\") permit(principal, action, resource);",
                "1:1",
                "@approve(\"true\")",
            ),
            (
                "permit(principal == User::\"ann\", action, resource);",
                "1:",
                "User",
            ),
        ] {
            let found = mistakes(text);
            assert!(
                found
                    .iter()
                    .any(|found| found.starts_with(place) && found.contains(words)),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn arguments_are_checked_once_the_tools_are_known() {
        let text = "permit(principal, action == Action::\"fs:write\", resource) when { context.args.path like \"/tmp/*\" };";
        let file = PolicyFile::parse("p.cedar".as_ref(), text).unwrap();
        let path = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
        let other = json!({ "type": "object", "properties": { "file": { "type": "string" } } });
        assert_eq!(validate(&file, [("fs:write", &path)]), []);
        let found = validate(&file, [("fs:write", &other)]);
        assert!(found[0].to_string().contains("path"), "{found:?}");
        let unknown = validate(&file, [("fs:read", &path)]);
        assert!(unknown[0].to_string().contains("fs:write"), "{unknown:?}");
    }

    #[test]
    fn a_policy_for_all_tools_may_ask_whether_an_argument_exists() {
        let text = "forbid(principal, action in Action::\"call\", resource) when { context.args has path && context.args.path like \"/etc/*\" };";
        let file = PolicyFile::parse("p.cedar".as_ref(), text).unwrap();
        let path = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
        assert_eq!(
            validate(&file, [("fs:write", &path), ("fs:pwd", &json!({}))]),
            []
        );
    }
}
